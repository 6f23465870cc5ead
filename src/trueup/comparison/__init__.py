"""The comparison: whether a candidate model should replace the base, by stated rules."""

from trueup._runtime import pin_to
from trueup.comparison._compare import compare
from trueup.comparison._page import comparison_page
from trueup.comparison._reasons import Reason
from trueup.comparison._result import Comparison

__all__ = [
    "Comparison",
    "Reason",
    "compare",
]

pin_to(__name__, __all__, globals())
