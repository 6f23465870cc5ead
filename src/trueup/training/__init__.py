"""The loop of rounds, LightGBM's part in it, rescaling, splits and stopping."""

from trueup.training._booster_text import trees_and_gains
from trueup.training._data import TrainingData
from trueup.training._lightgbm import LightGBMGrower
from trueup.training._loop import FitOutcome, FitPlan, fit_rounds
from trueup.training._parameters import DEFAULTS, PAPER_DEFAULTS, GrowthParameters, growth_parameters
from trueup.training._progress import shown_progress
from trueup.training._rescale import Rescaling, fit_rescaling, fit_theta
from trueup.training._splits import Split, make_splits

__all__ = [
    "DEFAULTS",
    "PAPER_DEFAULTS",
    "FitOutcome",
    "FitPlan",
    "GrowthParameters",
    "LightGBMGrower",
    "Rescaling",
    "Split",
    "TrainingData",
    "fit_rescaling",
    "fit_rounds",
    "fit_theta",
    "growth_parameters",
    "make_splits",
    "shown_progress",
    "trees_and_gains",
]
