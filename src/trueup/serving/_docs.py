"""What the service says of itself: OpenAPI for programs, one page for people, and requests that a model answers.

The document tells nothing of the models. The page loads nothing from elsewhere.
"""

from __future__ import annotations

import json
import re
import shlex
from html import escape
from string import Template
from typing import Any

from trueup.serving._gateway import Scope
from trueup.serving._models import Served
from trueup.serving._problems import KINDS, MEDIA_TYPE, template
from trueup.serving._serve import ServerOptions

__all__ = ["docs_page", "example_of", "openapi"]

_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,260}")
_TIMES = {"a date as YYYY-MM-DD": "2026-01-31", "a time as YYYY-MM-DDTHH:MM:SS": "2026-01-31T12:00:00"}


def openapi(options: ServerOptions) -> dict[str, Any]:
    """The OpenAPI 3.1 document of a server: the template with its limits, its problems, and who may ask."""
    document: dict[str, Any] = json.loads(template("openapi.json"))
    document["info"]["description"] = (
        f"A request holds at most {options.max_rows:,} rows and {options.max_body_bytes:,} bytes. "
        "Every error is a JSON problem (RFC 9457) whose `advice` says what to do."
    )
    document["components"]["schemas"]["Rows"]["properties"]["rows"]["maxItems"] = options.max_rows
    for path, methods in document["paths"].items():
        for described in methods.values():
            described["responses"].update((str(status), _refusal(status)) for status in described.pop("refusals"))
            if options.token is not None and path in ("/healthz", "/readyz"):
                described["security"] = []
    return document if options.token is None else {**document, "security": [{"token": []}]}


def _refusal(status: int) -> dict[str, Any]:
    titles = [f"{kind.title} (`{name}`)" for name, kind in KINDS.items() if kind.status == status]
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"description": "; ".join(titles) + ".", "content": content}


def example_of(served: Served) -> dict[str, Any]:
    """A request that a model answers: its own columns, each with a value of its type."""
    row = {name: _value_of(served, name) for name in served.plan.columns}
    return {"rows": [row], **({"scores": [0.2]} if served.plan.base_rate is None else {})}


def _value_of(served: Served, column: str) -> Any:
    """A category of the column if it has texts, else any value of its type."""
    spec, (allowed, words) = served.loaded.calibrator.model.features, served.plan.types[column]
    if words in _TIMES:
        return _TIMES[words]
    if str in allowed:
        categories = (column in spec and spec[column].categories) or ()
        return next((value for value in categories if type(value) is str), "a")
    return 1 if int in allowed else True if bool in allowed else None


def docs_page(document: dict[str, Any], example: dict[str, Any], scope: Scope) -> str:
    """A page from an OpenAPI document, with an example for whoever asked for it."""
    info = document["info"]
    return Template(template("docs.html")).substitute(
        title=escape(info["title"]),
        summary=escape(info["summary"]),
        description=re.sub("`(.*?)`", r"<code>\1</code>", escape(info["description"])),
        curl=escape(_curl(example, scope)),
        addresses="\n".join(_address(path, methods) for path, methods in document["paths"].items()),
        problems="\n".join(map(_problem, KINDS)),
    )


def _curl(example: dict[str, Any], scope: Scope) -> str:
    """A command that sends the example to where this page came from."""
    headers = dict(scope["headers"])
    host = headers.get(b"host", b"").decode("latin-1")
    if not _HOST.fullmatch(host):  # it is for a shell
        host = "{}:{}".format(*(scope.get("server") or ("127.0.0.1", 8000)))
    address = f"{scope.get('scheme', 'http')}://{host}{scope.get('root_path', '')}/v1/calibrate"
    token = ['-H "authorization: Bearer $TRUEUP_TOKEN"'] if b"authorization" in headers else []
    body = f"-d {shlex.quote(json.dumps(example, ensure_ascii=False))}"
    return " \\\n     ".join([f"curl -s {address} -H 'content-type: application/json'", *token, body])


def _address(path: str, methods: dict[str, Any]) -> str:
    return "".join(
        f'<tr><td><span class="method">{method.upper()}</span> <code>{escape(path)}</code></td>'
        f"<td>{escape(described['summary'])}{_query(described)}</td></tr>"
        for method, described in methods.items()
    )


def _query(described: dict[str, Any]) -> str:
    asked = [parameter for parameter in described.get("parameters", ()) if parameter["in"] == "query"]
    return "".join(f"<br><code>?{escape(one['name'])}=</code> {escape(one['description'])}" for one in asked)


def _problem(name: str) -> str:
    kind = KINDS[name]
    return (
        f'<tr id="{name}"><td><code>{name}</code></td><td>{kind.status}</td><td>{escape(kind.title)}</td>'
        f"<td>{escape(kind.advice)}</td></tr>"
    )
