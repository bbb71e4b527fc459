"""Snippets that send one decision, with this installation's own addresses in them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from dash import html

from dashboard.components import attrs

LANGUAGES: Final[Mapping[str, str]] = {
    "python": "Python",
    "javascript": "JavaScript",
    "collector": "OTel Collector",
    "llm-d": "llm-d",
    "litellm": "LiteLLM",
}
"""Key in the address to the name on the tab."""

_PYTHON: Final = """\
# pip install opentelemetry-sdk opentelemetry-exporter-otlp
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider(resource=Resource.create({"service.name": "my-router"}))
provider.add_span_processor(BatchSpanProcessor(
    OTLPSpanExporter(endpoint="http://GRPC", insecure=True)))
tracer = provider.get_tracer("my-router")

with tracer.start_as_current_span("schedule llm-cost-aware") as span:
    span.set_attributes({
        "decision.node": "gpu-a100-05",       # required
        "weight": 0.62,                       # required
        "confidence": 0.64,
        "decision.policy.name": "llm-cost-aware",
        "decision.candidates": ["gpu-a100-05", "gpu-h100-02"],
        "decision.candidate.weights": [0.62, 0.61],
        "decision.candidate.scores": [0.62, 0.61],
    })
provider.shutdown()  # a short script must flush before it ends
"""

_JAVASCRIPT: Final = """\
// npm install @opentelemetry/api @opentelemetry/sdk-node @opentelemetry/exporter-trace-otlp-http
import { trace } from "@opentelemetry/api";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";

const sdk = new NodeSDK({
  serviceName: "my-router",
  traceExporter: new OTLPTraceExporter({ url: "http://HTTP/v1/traces" }),
});
sdk.start();

trace.getTracer("my-router").startActiveSpan("schedule mesh-wrr", (span) => {
  span.setAttributes({
    "decision.node": "gpu-a100-05",           // required
    "weight": 0.62,                           // required
    "decision.policy.name": "mesh-wrr",
  });
  span.end();
});
await sdk.shutdown();  // a short script must flush before it ends
"""

_COLLECTOR: Final = """\
# otel-collector.yaml: add one exporter to the traces pipeline
exporters:
  otlp/weighbridge:
    endpoint: "GRPC"
    tls:
      insecure: true
    retry_on_failure:
      enabled: true

service:
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlp/weighbridge]
"""

_LLM_D: Final = """\
# its spans are kept and searchable; reading them as decisions is not built yet
# environment of the endpoint picker; it samples 10 % unless told otherwise
env:
  - name: OTEL_EXPORTER_OTLP_ENDPOINT
    value: "http://GRPC"
  - name: OTEL_TRACES_EXPORTER
    value: "otlp"
  - name: OTEL_TRACES_SAMPLER
    value: "parentbased_traceidratio"
  - name: OTEL_TRACES_SAMPLER_ARG
    value: "1"
"""

_LITELLM: Final = """\
# its spans are kept and searchable; reading them as decisions is not built yet
# litellm config.yaml
litellm_settings:
  callbacks: ["otel"]

# environment of the proxy
# OTEL_EXPORTER=otlp_http
# OTEL_ENDPOINT=http://HTTP/v1/traces
"""

_TEXTS: Final = {
    "python": _PYTHON,
    "javascript": _JAVASCRIPT,
    "collector": _COLLECTOR,
    "llm-d": _LLM_D,
    "litellm": _LITELLM,
}

_TOKENS: Final = re.compile(
    r"""(?P<c>\#.*|(?<![:"])//.*)|(?P<s>"[^"\n]*")|"""
    r"(?P<k>\b(?:from|import|with|as|new|const|await|True|true)\b)"
)


def snippet(language: str, *, otlp_grpc: str, otlp_http: str) -> str:
    """The text to paste; ``language`` is a key of ``LANGUAGES``, addresses are ``host:port``."""
    return _TEXTS[language].replace("GRPC", otlp_grpc).replace("http://HTTP", f"http://{otlp_http}")


def coloured(text: str, label: str) -> Any:
    """The text as a numbered code block, with comments, strings and keywords told apart."""
    children: list[Any] = []
    for line in text.rstrip("\n").split("\n"):
        children += [html.Span(className="ln"), *_line(line), "\n"]
    return html.Pre(html.Code(children), className="code-block", tabIndex="0", **attrs(aria_label=label))


def _line(line: str) -> Iterator[Any]:
    done = 0
    for token in _TOKENS.finditer(line):
        if token.start() > done:
            yield line[done : token.start()]
        yield html.Span(token.group(), className=f"code-{token.lastgroup}")
        done = token.end()
    if done < len(line):
        yield line[done:]
