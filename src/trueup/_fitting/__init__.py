"""The loop of rounds, LightGBM's part in it, packed bins and splits; in memory, streamed, on shards."""

from trueup._fitting._booster_text import trees_and_gains
from trueup._fitting._data import TrainingData
from trueup._fitting._facts import SAMPLE_ROWS, TableFacts
from trueup._fitting._folds import LossSums, Rescale, Step, convergence_bound
from trueup._fitting._growing import Cancelled, copy_bins, grow_trees
from trueup._fitting._in_memory import fit_model
from trueup._fitting._lightgbm import GrownRound
from trueup._fitting._lightgbm_private import add_columns
from trueup._fitting._loop import FitOutcome, FitPlan, fit_folds
from trueup._fitting._options import FitOptions
from trueup._fitting._packed import ColumnCodes, edges_of_sample, with_real_thresholds
from trueup._fitting._packed_bins import PACKED_PARAMETERS, packed_dataset
from trueup._fitting._parameters import DEFAULTS, PAPER_DEFAULTS, GrowthParameters
from trueup._fitting._plan import PackedRows, PackingPlan
from trueup._fitting._progress import shown_rounds
from trueup._fitting._rescale import (
    LOGIT_LIMIT,
    Rescaling,
    fit_rescaling,
    fit_theta,
    rescaling_from_sums,
    theta_from_sums,
)
from trueup._fitting._roles import StreamRoles, batch_scores, batch_weights, naming_roles
from trueup._fitting._rounds import fitted_model, growth_of, rescale_with, too_few, warn_of_too_few
from trueup._fitting._sample import row_hashes
from trueup._fitting._splits import (
    EMPTY_FOLD,
    ONE_CLASS,
    STRATIFIED_MAX_ROWS,
    Dealing,
    Split,
    dealing_for,
    few_groups,
    make_splits,
)
from trueup._fitting._streaming import check_before_reading, fit_stream_model, most_intervals
from trueup._fitting._summary import json_parameters, package_versions, seeds_from

__all__ = [
    "DEFAULTS",
    "EMPTY_FOLD",
    "LOGIT_LIMIT",
    "ONE_CLASS",
    "PACKED_PARAMETERS",
    "PAPER_DEFAULTS",
    "SAMPLE_ROWS",
    "STRATIFIED_MAX_ROWS",
    "Cancelled",
    "ColumnCodes",
    "Dealing",
    "FitOptions",
    "FitOutcome",
    "FitPlan",
    "GrownRound",
    "GrowthParameters",
    "LossSums",
    "PackedRows",
    "PackingPlan",
    "Rescale",
    "Rescaling",
    "Split",
    "Step",
    "StreamRoles",
    "TableFacts",
    "TrainingData",
    "add_columns",
    "batch_scores",
    "batch_weights",
    "check_before_reading",
    "convergence_bound",
    "copy_bins",
    "dealing_for",
    "edges_of_sample",
    "few_groups",
    "fit_folds",
    "fit_model",
    "fit_rescaling",
    "fit_stream_model",
    "fit_theta",
    "fitted_model",
    "grow_trees",
    "growth_of",
    "json_parameters",
    "make_splits",
    "most_intervals",
    "naming_roles",
    "package_versions",
    "packed_dataset",
    "rescale_with",
    "rescaling_from_sums",
    "row_hashes",
    "seeds_from",
    "shown_rounds",
    "theta_from_sums",
    "too_few",
    "trees_and_gains",
    "warn_of_too_few",
    "with_real_thresholds",
]
