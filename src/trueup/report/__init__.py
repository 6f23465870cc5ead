"""The report: one self-contained HTML page, from values that say what is on it.

A page is a `Page` of plain numbers and texts. `render_page` makes it an HTML file that opens from disk without any
network, and `render_summary` a small piece of HTML for notebooks. What an audit or a comparison says on its page is
written beside it, in its own package.
"""

from trueup.report._forms import in_form, p_value_in_form
from trueup.report._render import can_render, render_page, render_summary, require_packages, write_page
from trueup.report._values import (
    Check,
    Choice,
    Column,
    Estimate,
    Fact,
    Finding,
    Form,
    Headline,
    Number,
    Numbers,
    Option,
    Page,
    Round,
    Rounds,
    Segments,
    Series,
    Story,
)

__all__ = [
    "Check",
    "Choice",
    "Column",
    "Estimate",
    "Fact",
    "Finding",
    "Form",
    "Headline",
    "Number",
    "Numbers",
    "Option",
    "Page",
    "Round",
    "Rounds",
    "Segments",
    "Series",
    "Story",
    "can_render",
    "in_form",
    "p_value_in_form",
    "render_page",
    "render_summary",
    "require_packages",
    "write_page",
]
