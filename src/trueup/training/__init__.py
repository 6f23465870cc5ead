"""The loop of rounds, LightGBM's part in it, rescaling, splits and stopping."""

from trueup.training._booster_text import trees_and_gains
from trueup.training._data import Rows, TrainingData
from trueup.training._growing import Cancelled, copy_bins, grow_trees, naming_lightgbm
from trueup.training._lightgbm import GrownRound, LightGBMGrower
from trueup.training._lightgbm_private import add_columns
from trueup.training._loop import FitOutcome, FitPlan, fit_parts, fit_rounds
from trueup.training._packed import ColumnCodes, PackedMatrix, edges_of_sample, with_real_thresholds
from trueup.training._packed_bins import PACKED_PARAMETERS, packed_dataset
from trueup.training._parameters import DEFAULTS, PAPER_DEFAULTS, GrowthParameters, growth_parameters
from trueup.training._parts import LossSums, Rescale, Step, convergence_bound
from trueup.training._progress import shown_progress
from trueup.training._rescale import (
    LOGIT_LIMIT,
    Rescaling,
    fit_rescaling,
    fit_theta,
    rescaling_from_sums,
    theta_from_sums,
)
from trueup.training._splits import AUTO_FOLDS, AUTO_FOLDS_MAX_ROWS, AUTO_HOLDOUT, Split, make_splits

__all__ = [
    "AUTO_FOLDS",
    "AUTO_FOLDS_MAX_ROWS",
    "AUTO_HOLDOUT",
    "DEFAULTS",
    "LOGIT_LIMIT",
    "PACKED_PARAMETERS",
    "PAPER_DEFAULTS",
    "Cancelled",
    "ColumnCodes",
    "FitOutcome",
    "FitPlan",
    "GrownRound",
    "GrowthParameters",
    "LightGBMGrower",
    "LossSums",
    "PackedMatrix",
    "Rescale",
    "Rescaling",
    "Rows",
    "Split",
    "Step",
    "TrainingData",
    "add_columns",
    "convergence_bound",
    "copy_bins",
    "edges_of_sample",
    "fit_parts",
    "fit_rescaling",
    "fit_rounds",
    "fit_theta",
    "grow_trees",
    "growth_parameters",
    "make_splits",
    "naming_lightgbm",
    "packed_dataset",
    "rescaling_from_sums",
    "shown_progress",
    "theta_from_sums",
    "trees_and_gains",
    "with_real_thresholds",
]
