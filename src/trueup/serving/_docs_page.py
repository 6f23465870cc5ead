"""The description of the service that people read: one page, with nothing to load from elsewhere."""

from __future__ import annotations

import json
import re
import shlex
from html import escape
from typing import Any

from trueup.serving._gateway import Scope
from trueup.serving._models import Served
from trueup.serving._problems import KINDS

__all__ = ["docs_page"]

_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; }
code, pre { font: 14px/1.45 ui-monospace, monospace; }
pre { padding: .75rem 1rem; overflow-x: auto; border: 1px solid #8884; border-radius: 6px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #8884; }
td:first-child { white-space: nowrap; }
.method { display: inline-block; min-width: 3.2rem; font-weight: 600; }
:target { background: #fc03; }
"""
_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,260}")
_VALUES = {"a number": 1, "true or false": True, "a date as YYYY-MM-DD": "2026-01-31"}
_VALUES["a time as YYYY-MM-DDTHH:MM:SS"] = "2026-01-31T12:00:00"


def example_of(served: Served) -> dict[str, Any]:
    """A request that a model answers: its own columns, each with a value of its type."""
    spec = served.loaded.calibrator.model.features
    row = {}
    for name in served.plan.columns:
        known = next((value for value in (name in spec and spec[name].categories) or () if type(value) is str), "a")
        row[name] = _VALUES.get(served.plan.types[name][1], known)
    return {"rows": [row], **({"scores": [0.2]} if served.plan.base_rate is None else {})}


def _curl(example: dict[str, Any], scope: Scope) -> str:
    """A command that sends the example to where this page came from."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    address = f"{scope.get('scheme', 'http')}://{host if _HOST.fullmatch(host) else '127.0.0.1:8000'}"
    token = any(name == b"authorization" for name, _ in scope["headers"])
    return " \\\n     ".join(
        [
            f"curl -s {address}{scope.get('root_path', '')}/v1/calibrate -H 'content-type: application/json'",
            *(['-H "authorization: Bearer $TRUEUP_TOKEN"'] if token else []),
            f"-d {shlex.quote(json.dumps(example, ensure_ascii=False))}",
        ]
    )


def docs_page(document: dict[str, Any], example: dict[str, Any], scope: Scope) -> str:
    """A page from an OpenAPI document, with an example for whoever asked for it."""
    info = document["info"]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(info["title"])}</title><style>{_STYLE}</style></head><body>
<h1>{escape(info["title"])}</h1>
<p>{escape(info["summary"])} {_code(info["description"])} The same for programs:
<a href="/openapi.json">/openapi.json</a>.</p>
<pre>{escape(_curl(example, scope))}</pre>
<h2>Addresses</h2>
<table>{"".join(_address(path, methods) for path, methods in document["paths"].items())}</table>
<h2>Problems</h2>
<table><tr><th>Kind</th><th>Status</th><th>What</th><th>What to do</th></tr>
{"".join(_problem(kind) for kind in KINDS)}</table>
</body></html>
"""


def _address(path: str, methods: dict[str, Any]) -> str:
    return "".join(
        f'<tr><td><span class="method">{method.upper()}</span> <code>{escape(path)}</code></td>'
        f"<td>{escape(described['summary'])}{_query(described)}</td></tr>"
        for method, described in methods.items()
    )


def _query(described: dict[str, Any]) -> str:
    asked = [parameter for parameter in described.get("parameters", []) if parameter["in"] == "query"]
    return "".join(f"<br><code>?{escape(one['name'])}=</code> {escape(one['description'])}" for one in asked)


def _problem(name: str) -> str:
    kind = KINDS[name]
    return (
        f'<tr id="{name}"><td><code>{name}</code></td><td>{kind.status}</td><td>{escape(kind.title)}</td>'
        f"<td>{escape(kind.advice)}</td></tr>"
    )


def _code(text: str) -> str:
    """Text whose words between backticks are code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))
