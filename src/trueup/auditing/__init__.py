"""The audit: where a model is wrong, by how much, and whether that is more than noise."""

from trueup._runtime import pin_to
from trueup.auditing._audit import audit
from trueup.auditing._measured import critical_evidence, detectable_sum
from trueup.auditing._page import segments_before_and_after
from trueup.auditing._result import AuditResult, detectable_in_words, verdict_in_words
from trueup.auditing._sketches._file import load_sketch
from trueup.auditing._sketches._sketch import Sketch, merge_sketches
from trueup.auditing._sketches._spec import SketchSpec
from trueup.auditing._sketches._stream import SketchBuilder, audit_stream, make_sketch, naming_bad_scores, sketch_stream

__all__ = [
    "AuditResult",
    "Sketch",
    "SketchBuilder",
    "SketchSpec",
    "audit",
    "audit_stream",
    "load_sketch",
    "make_sketch",
    "merge_sketches",
    "sketch_stream",
]

pin_to(__name__, __all__, globals())
