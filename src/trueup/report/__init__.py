"""The report: one self-contained HTML page, from values that say what is on it.

A page is a `Page` of plain numbers and texts. `render_page` makes it an HTML file that opens from disk without any
network, and `render_summary` a small piece of HTML for notebooks. What an audit or a comparison says on its page is
written beside it, in its own package.
"""

from trueup.report._forms import in_form, p_value_in_form, percent_digits
from trueup.report._limits import MOST_CURVES, MOST_SEGMENTS, made_by, made_with
from trueup.report._render import page_out, render_page, render_summary, write_page
from trueup.report._segment_values import Choice, Column, Form, Option, Segments, Series, Story
from trueup.report._series import series_of
from trueup.report._values import (
    Check,
    Estimate,
    Fact,
    Finding,
    Headline,
    Number,
    Numbers,
    Outcome,
    Page,
    Round,
    Rounds,
    Severity,
    Tone,
)

__all__ = [
    "MOST_CURVES",
    "MOST_SEGMENTS",
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
    "Outcome",
    "Page",
    "Round",
    "Rounds",
    "Segments",
    "Series",
    "Severity",
    "Story",
    "Tone",
    "in_form",
    "made_by",
    "made_with",
    "p_value_in_form",
    "page_out",
    "percent_digits",
    "render_page",
    "render_summary",
    "series_of",
    "write_page",
]
