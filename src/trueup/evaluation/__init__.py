"""The evaluation: from scored rows to a verdict on rows that were held out, for one model or for many."""

from trueup.evaluation._evaluate import evaluate
from trueup.evaluation._result import Evaluation, Seconds
from trueup.evaluation._save import FILES
from trueup.evaluation._sides import Side, SplitFacts
from trueup.evaluation._summary import PERCENTILES, Outcome, Summary, summarize

__all__ = [
    "FILES",
    "PERCENTILES",
    "Evaluation",
    "Outcome",
    "Seconds",
    "Side",
    "SplitFacts",
    "Summary",
    "evaluate",
    "summarize",
]
