"""``/api/docs`` and ``/api/openapi.json``: the reference, as one page that fetches nothing from anywhere.

FastAPI's own pages load their scripts from other hosts, so the application switches them off
(``docs_url``, ``redoc_url`` and ``openapi_url`` None) and this page is rendered here from the same document.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from fastapi import APIRouter, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse

_DESCRIPTION = (
    "Decisions, weights and health as JSON; it only reads. Times are integer nanoseconds since the epoch "
    "and as RFC 3339 text. Numbers that are not finite are null; an error has status, title, detail, errors. "
    "Names and attributes are passed on as senders wrote them: escape them before showing them."
)
_STYLE = """
:root{color-scheme:light dark;--ink:light-dark(#1b1f24,#e6e8eb);--soft:light-dark(#57606a,#9aa4af);
--line:light-dark(#d5d9de,#30363d);--back:light-dark(#fff,#0f1216)}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);
max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;margin:1.5rem 0 .3rem}
h3,code{font-family:ui-monospace,monospace}table{border-collapse:collapse;width:100%;margin:.5rem 0}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}
th{color:var(--soft);font-weight:500}.soft{color:var(--soft)}summary{cursor:pointer}a{color:inherit}
p{margin:.3rem 0}
"""


def build_reference(routers: Sequence[APIRouter], *, version: str) -> APIRouter:
    """Routes of the reference of ``routers``, to be included without a prefix."""
    routes = [route for router in routers for route in router.routes]
    document = get_openapi(title="Weighbridge API", version=version, description=_DESCRIPTION, routes=routes)
    page = "".join(_page(document))
    router = APIRouter()

    @router.get("/api/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return JSONResponse(document)

    @router.get("/api/docs", include_in_schema=False)
    async def docs() -> Response:
        # The page needs no script at all, so none may run, whatever a description holds.
        return HTMLResponse(
            page, headers={"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
        )

    return router


def _page(document: Mapping[str, Any]) -> Iterator[str]:
    info = document["info"]
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(info["title"])}</title>'
    yield f'<meta name="viewport" content="width=device-width,initial-scale=1"><style>{_STYLE}</style>'
    yield f"<h1>{escape(info['title'])} <span class=soft>{escape(info['version'])}</span></h1>"
    yield f"<p>{escape(info['description'])}</p>"
    yield '<p>The same as a document for tools: <a href="openapi.json">openapi.json</a>. '
    yield '<a href="../ui/">Back to the dashboard</a>.</p>'
    yield "<h2>Questions</h2>"
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield from _operation(path, method, operation)
    yield "<h2>Answers</h2>"
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        if "properties" in schema and "Validation" not in name:
            yield from _schema(name, schema)


def _operation(path: str, method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"<section><h3>{method.upper()} {escape(path)}</h3>{_paragraph(operation)}"
    parameters = operation.get("parameters", [])
    if parameters:
        yield "<table><tr><th>Parameter<th>Value<th>Meaning"
        for p in parameters:
            meaning = p.get("description") or p["schema"].get("description", "")
            yield _row(p["name"], p["schema"], meaning + (" Required." if p.get("required") else ""))
        yield "</table>"
    yield "<p class=soft>Answers: "
    yield ", ".join(f"{escape(code)} {_body(r)}" for code, r in operation["responses"].items())
    yield "</p></section>"


def _schema(name: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield f'<section id="{escape(name)}"><h3>{escape(name)}</h3>{_paragraph(schema)}'
    yield "<details><summary>Fields</summary><table>"
    for field, value in schema["properties"].items():
        yield _row(field, value, value.get("description", ""))
    yield "</table></details></section>"


def _paragraph(described: Mapping[str, Any]) -> str:
    return f"<p>{escape(described.get('description', ''))}</p>"


def _row(name: str, schema: Mapping[str, Any], meaning: str) -> str:
    return f"<tr><td><code>{escape(name)}</code><td>{_value(schema)}<td>{escape(meaning.strip())}"


def _body(response: Mapping[str, Any]) -> str:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return _value(schema) if schema else escape(response.get("description", ""))


def _value(schema: Mapping[str, Any]) -> str:
    """One schema in words: its kind, its limits and its default."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        words = " or ".join(_value(s) for s in schema["anyOf"])
    elif "enum" in schema:
        words = " or ".join(f"<code>{escape(str(v))}</code>" for v in schema["enum"])
    elif schema.get("type") == "array":
        words = f"list of {_value(schema.get('items', {}))}"
    else:
        words = escape(str(schema.get("type", "any")))
    limits = [f"{sign} {schema[key]}" for key, sign in _LIMITS.items() if key in schema]
    if schema.get("default") is not None:
        limits.append(f"default {schema['default']}")
    return words + (f" <span class=soft>({escape(', '.join(limits))})</span>" if limits else "")


_LIMITS = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
