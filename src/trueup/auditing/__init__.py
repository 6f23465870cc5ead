"""The audit: where a model is wrong, by how much, and whether that is more than noise."""

from trueup.auditing._audit import audit
from trueup.auditing._page import segments_before_and_after
from trueup.auditing._result import AuditResult
from trueup.auditing._words import detectable_in_words, verdict_in_words

__all__ = ["AuditResult", "audit", "detectable_in_words", "segments_before_and_after", "verdict_in_words"]
