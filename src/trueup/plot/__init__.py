"""Plots of calibration with matplotlib, in the manner of scikit-learn's displays (extra ``plot``).

Each display is made by ``from_predictions`` or ``from_estimator``, keeps what it drew, and draws into ``ax=`` if
that is given. Two models are compared by drawing both into the same axes.
"""

from trueup._runtime import pin_to
from trueup.plot._by_feature import FeatureGridDisplay
from trueup.plot._cumulative import CumulativeDisplay
from trueup.plot._learning import LearningCurveDisplay
from trueup.plot._reliability import ReliabilityDisplay
from trueup.plot._segments import SegmentsDisplay
from trueup.plot._slopes import SlopesDisplay

__all__ = [
    "CumulativeDisplay",
    "FeatureGridDisplay",
    "LearningCurveDisplay",
    "ReliabilityDisplay",
    "SegmentsDisplay",
    "SlopesDisplay",
]

pin_to(__name__, __all__, globals())
