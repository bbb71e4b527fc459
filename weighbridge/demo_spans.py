"""The demo's own spans: the request at the gateway, prefill and decode at the node.

The decision and the call to the node are made by the engine's recorder; these complete the trace:

    gateway.request                 llm-gateway
      schedule <policy>             llm-gateway   (recorder, at once)
      upstream <node>               llm-gateway   (recorder, when it ended)
        prefill                     vllm, the node
        decode                      vllm, the node
"""

import math
from collections.abc import Sequence

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from engine import Decision
from engine.semconv import REQUEST_MODEL, SERVICE_INSTANCE_ID, SERVICE_NAME, TENANT_ID
from engine.simulation import End, Job, NodeSpec
from weighbridge.demo_clock import DemoClock
from weighbridge.demo_gateway import TRACE_STATE, Flight

GATEWAY = "llm-gateway"
INSTANCE = "gateway-1"
DEMO = "weighbridge.demo"
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)
_STATE = TraceState.from_header([TRACE_STATE])
_HTTP_STATUS = {End.OK: 200, End.ERROR: 502, End.DROPPED: 504}


def gateway_resource() -> Resource:
    """The resource of everything the gateway says."""
    return Resource({SERVICE_NAME: GATEWAY, SERVICE_INSTANCE_ID: INSTANCE, DEMO: True})


class DemoSpans:
    """Makes the spans of finished requests; ``clock`` turns virtual into wall-clock times."""

    def __init__(self, fleet: Sequence[NodeSpec], clock: DemoClock) -> None:
        self._clock = clock
        self._gateway = gateway_resource()
        self._nodes = {spec.name: _node_resource(spec) for spec in fleet}
        self._gateway_scope = InstrumentationScope("weighbridge.demo.gateway")
        self._node_scope = InstrumentationScope("weighbridge.demo.node")
        # Span ids of prefill and decode are derived from the call's, so nothing random is needed here.
        self._bits = (1 << 64) - 1

    def of(self, flight: Flight) -> list[ReadableSpan]:
        """The root of a finished request, and prefill and decode of each attempt that got that far."""
        spans = [self._root(flight)]
        for decision, job in flight.attempts:
            if not math.isnan(job.started):
                spans += self._work(decision, job)
        return spans

    def _root(self, flight: Flight) -> ReadableSpan:
        arrival, failed = flight.arrival, flight.end is not End.OK
        return ReadableSpan(
            name="gateway.request",
            context=SpanContext(flight.context.trace_id, flight.context.span_id, False, _SAMPLED, _STATE),
            resource=self._gateway,
            attributes={
                "gen_ai.operation.name": "chat",
                REQUEST_MODEL: arrival.model,
                TENANT_ID: arrival.tenant,
                "session.id": f"session-{arrival.session}",
                "request.priority": arrival.priority,
                "http.response.status_code": _HTTP_STATUS[flight.end] if flight.attempts else 503,
                "gen_ai.usage.input_tokens": arrival.prompt,
            },
            kind=SpanKind.SERVER,
            status=Status(StatusCode.ERROR, flight.message) if failed else Status(),
            start_time=flight.started_ns,
            end_time=self._clock.at(flight.ended),
            instrumentation_scope=self._gateway_scope,
        )

    def _work(self, decision: Decision, job: Job) -> list[ReadableSpan]:
        prompt = {"gen_ai.usage.input_tokens": job.prompt, "gen_ai.usage.cache_read.input_tokens": job.cached}
        answer = {"gen_ai.usage.output_tokens": job.output}
        return [
            self._node_span(decision, 1, "prefill", prompt, (job.started, job.first_token)),
            self._node_span(decision, 2, "decode", answer, (job.first_token, job.finished)),
        ]

    def _node_span(
        self,
        decision: Decision,
        number: int,
        name: str,
        attributes: dict[str, int],
        times: tuple[float, float],
    ) -> ReadableSpan:
        identity = decision.identity
        span_id = (identity.upstream_span_id + number) & self._bits or 1
        return ReadableSpan(
            name=name,
            context=SpanContext(identity.trace_id, span_id, False, _SAMPLED, _STATE),
            parent=SpanContext(identity.trace_id, identity.upstream_span_id, True, _SAMPLED),
            resource=self._nodes[decision.node.name],
            attributes=attributes,
            kind=SpanKind.INTERNAL,
            start_time=self._clock.at(times[0]),
            end_time=self._clock.at(times[1]),
            instrumentation_scope=self._node_scope,
        )


def _node_resource(spec: NodeSpec) -> Resource:
    return Resource(
        {
            SERVICE_NAME: "vllm",
            SERVICE_INSTANCE_ID: spec.name,
            "host.name": spec.name,
            "accelerator": spec.accelerator,
            "cloud.availability_zone": spec.zone,
            DEMO: True,
        }
    )
