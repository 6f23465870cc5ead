"""From a page's values to HTML: a whole file, or a small piece for a notebook."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import math
import os
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from typing import Any

from trueup._report._island import island_of, safe_json
from trueup._report._values import Estimate, Form, Outcome, Page, digits_of, in_form, interval_in_form, p_value_in_form
from trueup._runtime import atomic_path, cache_folder

# With so many segments, and curves of so many of them, a page stays below 5 MB: benchmarks/html_report.py measures it.
MOST_SEGMENTS = 40_000
MOST_CURVES = 200


_COMMAND: ContextVar[str] = ContextVar("_COMMAND", default="")


@contextlib.contextmanager
def made_by(command: str) -> Iterator[None]:
    """Name a command in the last line of pages made inside this context."""
    before = _COMMAND.set(command)
    try:
        yield
    finally:
        _COMMAND.reset(before)


def made_with() -> str:
    """The last line of a page."""
    from datetime import datetime, timezone
    from importlib.metadata import version

    command = _COMMAND.get()
    by = f": {command}" if command else "."
    return f"Made with trueup {version('trueup')} on {datetime.now(timezone.utc):%Y-%m-%d}{by}"


_WIDTH = 120.0
_MARGIN = 6.0


@dataclass(frozen=True)
class IntervalMark:
    """Where an interval is drawn, with 0 in the middle."""

    low: float
    value: float
    high: float
    width: float = _WIDTH

    @property
    def zero(self) -> float:
        """Where 0 is."""
        return self.width / 2


def interval_mark(estimate: Estimate) -> IntervalMark | None:
    """Where to draw a change and its interval; None if it has none."""
    ends = (estimate.low, estimate.value, estimate.high)
    reach = max(abs(end) for end in ends)
    if not all(math.isfinite(end) for end in ends) or reach == 0:
        return None
    low, value, high = (_WIDTH / 2 + (_WIDTH / 2 - _MARGIN) * end / reach for end in ends)
    return IntervalMark(low, value, high)


def outcome_words(outcome: Outcome | None) -> str:
    """What a change means, in a word or two."""
    return {"better": "better", "worse": "worse", "unclear": "can't tell", "same": "no change", None: ""}[outcome]


_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.lru_cache(maxsize=1)
def vega_bundle() -> str:
    """The script that draws the charts, from vl-convert; kept in the user's cache, because making it takes seconds."""
    import vl_convert

    kept = cache_folder() / f"vega-by-vl-convert-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return kept.read_text("utf-8")
    bundle = str(vl_convert.javascript_bundle(_SNIPPET)).replace("\r\n", "\n").replace("</script", "<\\/script")
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(kept) as temporary:
            temporary.write_bytes(bundle.encode("utf-8"))
    return bundle


def content_hash(script: str) -> str:
    """The hash by which a Content-Security-Policy allows this script and no other."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


# The scripts of the page, in the order in which they are joined: each file is one subject.
_SCRIPTS = ("forms.js", "theme.js", "charts.js", "segments.js", "start.js")


def render_page(page: Page) -> str:
    """The page as one HTML file, which needs nothing besides itself."""
    bundle, script = vega_bundle(), _script()
    values = {
        "page": page,
        "bundle": _trusted(bundle),
        "script": _trusted(script),
        "style": _trusted(_text_of("page.css")),
        "hashes": f"{content_hash(bundle)} {content_hash(script)}",
        "island": _trusted(safe_json(island_of(page))),
    }
    return _encodable(_environment().get_template("page.html.j2").render(values))


def page_out(page: Page, path: str | os.PathLike[str] | None) -> str | None:
    """The page as HTML; None if there is a path, where it is written."""
    if path is None:
        return render_page(page)
    write_page(page, path)
    return None


def write_page(page: Page, path: str | os.PathLike[str]) -> None:
    """Write the page to a file, whole or not at all."""
    html = render_page(page)
    with atomic_path(path) as temporary:
        temporary.write_bytes(html.encode("utf-8"))


def render_summary(page: Page) -> str:
    """The page in brief, for a notebook: no scripts, no charts, and styles that touch nothing else."""
    return _encodable(_environment().get_template("summary.html.j2").render(page=page))


@functools.cache
def _environment() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_text_of),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {
        "digits_of": digits_of,
        "in_form": in_form,
        "interval_in_form": interval_in_form,
        "interval_mark": interval_mark,
        "outcome_words": outcome_words,
        "p_value_in_form": p_value_in_form,
        "percent": functools.partial(in_form, form=Form.PERCENT),
    }
    return environment


def _text_of(name: str) -> str:
    return resources.files("trueup._report").joinpath("templates", name).read_text("utf-8")


@functools.cache
def _script() -> str:
    return '"use strict";\n(() => {\n' + "\n".join(_text_of(name) for name in _SCRIPTS) + "})();\n"


def _trusted(text: str) -> Any:
    """Text that is safe already and must not be escaped again."""
    import markupsafe

    return markupsafe.Markup(text)


def _encodable(html: str) -> str:
    """The text without lone surrogates, which names from odd files may hold and UTF-8 can't encode."""
    return html.encode("utf-8", "replace").decode("utf-8")
