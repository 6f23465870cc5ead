"""Pages: values in, one HTML file out."""

from trueup._report._forms import in_form, p_value_in_form, percent_digits
from trueup._report._limits import MOST_CURVES, MOST_SEGMENTS, made_by, made_with
from trueup._report._render import page_out, render_summary
from trueup._report._result import MOST_LISTED, Result, SegmentListing, SegmentResult
from trueup._report._segment_values import Choice, Form, Option, PageColumn, Pattern, Segments, Series
from trueup._report._series import series_of
from trueup._report._values import (
    Check,
    Estimate,
    Fact,
    Headline,
    Number,
    Outcome,
    Page,
    PageFinding,
    PageNumbers,
    Round,
    Rounds,
    Tone,
)

__all__ = [
    "MOST_CURVES",
    "MOST_LISTED",
    "MOST_SEGMENTS",
    "Check",
    "Choice",
    "Estimate",
    "Fact",
    "Form",
    "Headline",
    "Number",
    "Option",
    "Outcome",
    "Page",
    "PageColumn",
    "PageFinding",
    "PageNumbers",
    "Pattern",
    "Result",
    "Round",
    "Rounds",
    "SegmentListing",
    "SegmentResult",
    "Segments",
    "Series",
    "Tone",
    "in_form",
    "made_by",
    "made_with",
    "p_value_in_form",
    "page_out",
    "percent_digits",
    "render_summary",
    "series_of",
]
