"""The audit: where a model is wrong, by how much, and whether that is more than noise."""

from trueup._runtime import pin_to
from trueup.auditing._audit import audit
from trueup.auditing._page import segments_before_and_after
from trueup.auditing._power import critical_evidence, detectable_sum
from trueup.auditing._result import AuditResult
from trueup.auditing._sketches._builder import SummaryBuilder, summarize
from trueup.auditing._sketches._file import load_summary
from trueup.auditing._sketches._result import SummaryAudit
from trueup.auditing._sketches._spec import SummarySpec
from trueup.auditing._sketches._stream import audit_stream, naming_bad_scores, summarize_stream
from trueup.auditing._sketches._summary import SegmentSummary, merge_summaries
from trueup.auditing._words import detectable_in_words, verdict_in_words

__all__ = [
    "AuditResult",
    "SegmentSummary",
    "SummaryAudit",
    "SummaryBuilder",
    "SummarySpec",
    "audit",
    "audit_stream",
    "load_summary",
    "merge_summaries",
    "summarize",
    "summarize_stream",
]

pin_to(__name__, __all__, globals())
