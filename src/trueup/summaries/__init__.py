"""Summaries of data too large to hold: what an audit needs of it, in a fixed size, to be added up and kept.

A `SummarySpec` says what is counted. `summarize` counts a table, `SummaryBuilder` a table batch by batch; summaries of
the same spec are merged over partitions, days and machines, saved as one Arrow file each, and audited.
"""

from trueup.summaries._builder import SummaryBuilder, summarize
from trueup.summaries._file import load_summary
from trueup.summaries._result import SummaryAudit
from trueup.summaries._spec import SummarySpec
from trueup.summaries._stream import audit_stream, summarize_stream
from trueup.summaries._summary import SegmentSummary, merge_summaries

__all__ = [
    "SegmentSummary",
    "SummaryAudit",
    "SummaryBuilder",
    "SummarySpec",
    "audit_stream",
    "load_summary",
    "merge_summaries",
    "summarize",
    "summarize_stream",
]
