"""What the engine writes is what the store returns, field by field.

The path is the real one: scheduler, recorder, official encoder, decoder, adapters, writer, reader. Only
the sockets are left out; tests/e2e has those.
"""

import dataclasses
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from collector.adapters.registry import adapt
from collector.decode import Encoding, decode_traces
from engine import Decision, ManualClock, Node, PolicySplit, Request, Scheduler, build_profile, semconv
from engine.recorder import Recorder
from storage.database import Database
from storage.migrate import upgrade
from storage.queries import Reader
from storage.records import AdaptedBatch, CandidateDetail, DecisionDetail, DecisionRow
from storage.writer import Writer

NOW = 1_764_600_000_000_000_000


class Keeping(SpanExporter):
    """Keeps what the recorder exports."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []
        self._lock = threading.Lock()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        with self._lock:
            self.spans += spans
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Nothing to close."""


@dataclasses.dataclass
class Travelled:
    """One decision as the engine made it, as it was sent and as the store returns it."""

    decision: Decision
    sent: dict[str, Any]
    outcome_sent: dict[str, Any]
    stored: DecisionDetail
    reader: Reader


@pytest.fixture(scope="module")
def travelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Travelled]:
    """A decision with everything a decision can say, through the whole path."""
    exporter = Keeping()
    recorder = Recorder(exporter, service="router", instance="router-1")
    clock = ManualClock(NOW)
    nodes = [Node(f"gpu-{i:02d}", models=frozenset({"llama" if i < 6 else "other"})) for i in range(8)]
    scheduler = Scheduler(nodes, _split(), clock=clock, rng=np.random.default_rng(3), recorder=recorder)
    for index, node in enumerate(nodes):
        scheduler.update_signals(node.name, {"queue_depth": float(index), "kv_utilisation": 0.1 * index})
    clock.advance(0.04)
    decision = scheduler.decide(Request(delta=0.9, tenant="acme", model="llama"))
    clock.advance(0.25)
    decision.succeeded(latency_ms=231.5)
    assert recorder.flush(10)
    recorder.shutdown()

    url = f"sqlite:///{tmp_path_factory.mktemp('contract') / 'store.db'}"
    upgrade(url)
    database = Database(url)
    batch = decode_traces(encode_spans(exporter.spans).SerializeToString(), Encoding.PROTOBUF).batch
    found = adapt(batch)
    assert not found.warnings
    Writer(database, lambda: NOW).write([AdaptedBatch(batch, found.decisions, found.outcomes)])
    reader = Reader(database)
    stored = reader.decision(decision.trace_id, decision.span_id)
    assert stored is not None
    own = next(s for s in exporter.spans if s.name.startswith(semconv.SPAN_NAME_PREFIX))
    other = next(s for s in exporter.spans if s is not own)
    yield Travelled(decision, dict(own.attributes or {}), dict(other.attributes or {}), stored, reader)
    database.dispose()


def _split() -> PolicySplit:
    """Two arms that draw by weight, so that propensity says something."""
    profile = build_profile({"name": "llm-cost-aware", "version": "42", "picker": "weighted_random"})
    return PolicySplit("picker-trial", {"control": (profile, 1.0), "candidate": (profile, 1.0)})


# Where each attribute of the wire contract comes out. `None`: on the outcome's span, see below.
FIELDS: dict[str, Callable[[DecisionDetail], Any]] = {
    semconv.DECISION_ID: lambda d: d.row.decision_id,
    semconv.DECISION_NODE: lambda d: d.row.node,
    semconv.WEIGHT: lambda d: d.row.weight,
    semconv.CONFIDENCE: lambda d: d.row.confidence,
    semconv.POLICY_NAME: lambda d: d.row.policy,
    semconv.POLICY_VERSION: lambda d: d.row.policy_version,
    semconv.POLICY_FINGERPRINT: lambda d: d.row.policy_fingerprint,
    semconv.STRATEGY: lambda d: d.row.strategy,
    semconv.REASON: lambda d: d.row.reason,
    semconv.CANDIDATES: lambda d: d.detail.candidates,
    semconv.CANDIDATE_WEIGHTS: lambda d: d.detail.weights,
    semconv.CANDIDATE_SCORES: lambda d: d.detail.scores,
    semconv.CANDIDATES_TOTAL: lambda d: d.row.candidates_total,
    semconv.SCORER_NAMES: lambda d: d.detail.scorer_names,
    semconv.SCORER_WEIGHTS: lambda d: d.detail.scorer_weights,
    semconv.SCORER_SCORES: lambda d: d.detail.scorer_scores,
    semconv.FILTERED: lambda d: d.detail.filtered,
    semconv.FILTER_REASONS: lambda d: d.detail.filter_reasons,
    semconv.MARGIN: lambda d: d.row.margin,
    semconv.TIE_COUNT: lambda d: d.row.tie_count,
    semconv.PROPENSITY: lambda d: d.row.propensity,
    semconv.SIGNAL_AGE_MS: lambda d: d.row.signal_age_ms,
    semconv.FEATURE_FLAG_KEY: lambda d: d.row.experiment,
    semconv.FEATURE_FLAG_VARIANT: lambda d: d.row.variant,
    semconv.TENANT_ID: lambda d: d.row.tenant,
    semconv.REQUEST_MODEL: lambda d: d.row.model,
}
OUTCOME_FIELDS: dict[str, Callable[[DecisionDetail], Any]] = {
    semconv.OUTCOME: lambda d: d.row.outcome,
    semconv.OUTCOME_LATENCY_MS: lambda d: d.row.outcome_latency_ms,
    semconv.DECISION_ID: lambda d: d.row.decision_id,
}
ELSEWHERE = {
    semconv.WEIGHT_ALIAS: "accepted, never written",
    semconv.CONFIDENCE_ALIAS: "accepted, never written",
    semconv.DECISION_SCHEMA: "checked on the way in, kept among the span's attributes",
    semconv.SERVICE_NAME: "on the resource: DecisionRow.service",
    semconv.SERVICE_INSTANCE_ID: "on the resource: DecisionRow.instance",
}
NOT_ATTRIBUTES = {
    "trace_id",
    "span_id",
    "time_unix_nano",
    "duration_nano",
    "service",
    "instance",
    "inferred",
    "adjusted_count",
}


def _plain(value: Any) -> Any:
    """Values as the wire has them: lists of lists, JSON parsed."""
    if isinstance(value, str) and value.startswith("[["):
        value = json.loads(value)
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def test_every_name_of_the_wire_contract_is_accounted_for() -> None:
    """A name added to semconv must be given a place here, or this fails."""
    constants = {v for k, v in vars(semconv).items() if k.isupper() and isinstance(v, str)}
    constants -= {semconv.SCOPE_NAME, semconv.SPAN_NAME_PREFIX, semconv.DEFAULT_POLICY}
    assert constants == set(FIELDS) | set(OUTCOME_FIELDS) | set(ELSEWHERE)


def test_every_field_of_the_store_is_fed_by_the_contract() -> None:
    """A field added to a record must be read by a row of FIELDS, or this fails."""
    read: set[str] = set()

    class Watching:
        def __getattr__(self, name: str) -> "Watching":
            read.add(name)
            return self

    for get in [*FIELDS.values(), *OUTCOME_FIELDS.values()]:
        get(Watching())  # type: ignore[arg-type]
    fields = {f.name for f in dataclasses.fields(DecisionRow)} | {
        f.name for f in dataclasses.fields(CandidateDetail)
    }
    assert fields - read == NOT_ATTRIBUTES


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_what_the_engine_writes_is_what_the_store_returns(travelled: Travelled, name: str) -> None:
    """One attribute of the decision's span."""
    assert name in travelled.sent, "the decision under test does not say this, so nothing is proved"
    assert _plain(FIELDS[name](travelled.stored)) == _plain(travelled.sent[name])


@pytest.mark.parametrize("name", sorted(OUTCOME_FIELDS))
def test_what_became_of_the_request_joins_its_decision(travelled: Travelled, name: str) -> None:
    """One attribute of the outcome's span, read on the decision."""
    assert OUTCOME_FIELDS[name](travelled.stored) == travelled.outcome_sent[name]


def test_identity_time_and_sender_survive(travelled: Travelled) -> None:
    """What is not an attribute."""
    row, decision = travelled.stored.row, travelled.decision
    assert (row.trace_id, row.span_id) == (decision.trace_id, decision.span_id)
    assert (row.service, row.instance) == ("router", "router-1")
    assert NOW <= row.time_unix_nano <= NOW + 50_000_000
    assert row.inferred is False


def test_the_engine_s_own_view_equals_the_stored_one(travelled: Travelled) -> None:
    """Candidates, scores and funnel as objects of the engine, to the six decimals that are written."""
    detail, decision = travelled.stored.detail, travelled.decision
    assert detail.candidates == tuple(c.node.name for c in decision.candidates)
    assert detail.weights == pytest.approx([c.weight for c in decision.candidates], abs=1e-6)
    assert dict(zip(detail.filtered, detail.filter_reasons, strict=True)) == decision.filtered
    assert len(detail.candidates) == 6
    assert len(detail.filtered) == 2


def test_the_span_s_attributes_are_returned_whole(travelled: Travelled) -> None:
    """The arrays that are kept beside the decision stand on the span again, as they were sent."""
    trace = travelled.reader.trace(travelled.decision.trace_id)
    assert trace is not None
    span = next(s for s in trace.spans if s.span_id == travelled.decision.span_id)
    assert {k: _plain(v) for k, v in span.attributes.items()} == {
        k: _plain(v) for k, v in travelled.sent.items()
    }


def test_every_candidate_feeds_the_live_weights(travelled: Travelled) -> None:
    """One series for each candidate, with its weight, total and score by scorer."""
    samples = {s.node: s for s in travelled.reader.weights()}
    detail = travelled.stored.detail
    assert set(samples) == set(detail.candidates)
    for index, node in enumerate(detail.candidates):
        assert samples[node].weight == pytest.approx(detail.weights[index], abs=1e-6)  # the winner's is exact
        assert samples[node].score == detail.scores[index]
        assert samples[node].scores == dict(
            zip(detail.scorer_names, detail.scorer_scores[index], strict=True)
        )
