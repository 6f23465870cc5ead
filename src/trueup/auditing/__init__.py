"""The audit: where a model is wrong, by how much, and whether that is more than noise."""

from trueup.auditing._audit import audit
from trueup.auditing._result import AuditResult

__all__ = ["AuditResult", "audit"]
