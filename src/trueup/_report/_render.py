"""From a page's values to HTML: a whole file, or a small piece for a notebook."""

from __future__ import annotations

import functools
import os
from importlib import resources
from typing import Any

from trueup._report._bundle import content_hash, vega_bundle
from trueup._report._forms import digits_of, in_form, interval_in_form, p_value_in_form
from trueup._report._island import island_of, safe_json
from trueup._report._layout import interval_mark, outcome_words
from trueup._report._segment_values import Form
from trueup._report._values import Page
from trueup._runtime import atomic_path

__all__ = ["page_out", "render_page", "render_summary", "write_page"]

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
    """A text of our own, or one that was made safe, which is not to be escaped again."""
    import markupsafe

    return markupsafe.Markup(text)


def _encodable(html: str) -> str:
    """The text without what UTF-8 can't say: halves of characters, which names from odd files may hold."""
    return html.encode("utf-8", "replace").decode("utf-8")
