"""The description of the service that people read: one page, with nothing to load from elsewhere."""

from __future__ import annotations

from html import escape
from typing import Any

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
_EXAMPLE = """curl -s http://127.0.0.1:8000/v1/calibrate -H 'content-type: application/json' \\
     -H "authorization: Bearer $TRUEUP_TOKEN" \\
     -d '{"rows": [{"country": "NO", "age": 31}], "scores": [0.2]}'"""


def docs_page(document: dict[str, Any]) -> str:
    """A page from an OpenAPI document."""
    info = document["info"]
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{escape(info["title"])}</title><style>{_STYLE}</style></head><body>
<h1>{escape(info["title"])}</h1>
<p>{escape(info["summary"])} {_code(info["description"])} The same for programs:
<a href="/openapi.json">/openapi.json</a>.</p>
<pre>{escape(_EXAMPLE)}</pre>
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
