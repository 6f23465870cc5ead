"""Curves of calibration as values: what a plot draws and a report shows, computed once.

Arrays in, frozen values out; `trueup.plot` draws them.
"""

from trueup.curves._cumulative import CumulativeCurve, cumulative_curve
from trueup.curves._density import ScoreDensity, score_density
from trueup.curves._reliability import ReliabilityCurve, reliability_curve

__all__ = [
    "CumulativeCurve",
    "ReliabilityCurve",
    "ScoreDensity",
    "cumulative_curve",
    "reliability_curve",
    "score_density",
]
