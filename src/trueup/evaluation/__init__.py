"""The evaluation: from scored rows to a verdict on rows that were held out, for one model or for many."""

from trueup._runtime import pin_to
from trueup.evaluation._diagnosis._diagnose import diagnose
from trueup.evaluation._diagnosis._finding import Diagnosis, Finding
from trueup.evaluation._evaluate import evaluate
from trueup.evaluation._result import Evaluation, Seconds
from trueup.evaluation._save import FILES
from trueup.evaluation._split import RowFacts, SplitFacts
from trueup.evaluation._summary import PERCENTILES, SHOWN_METRICS, Outcome, Summary, summarize

__all__ = [
    "FILES",
    "PERCENTILES",
    "Diagnosis",
    "Evaluation",
    "Finding",
    "Outcome",
    "RowFacts",
    "Seconds",
    "SplitFacts",
    "Summary",
    "diagnose",
    "evaluate",
    "summarize",
]

pin_to(__name__, __all__, globals())
