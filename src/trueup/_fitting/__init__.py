"""The loop of rounds, LightGBM's part in it, packed bins and splits; in memory, streamed, on shards."""

from trueup._fitting._data import TrainingData
from trueup._fitting._folds import Fold, LossSums, Rescale, Step, convergence_bound
from trueup._fitting._given import FitRows, naming_eval_set, read_eval_rows, read_fit_rows
from trueup._fitting._growing import Cancelled, copy_bins, grow_trees, trees_and_gains
from trueup._fitting._in_memory import fit_model
from trueup._fitting._lightgbm import GrownRound
from trueup._fitting._lightgbm_private import add_columns
from trueup._fitting._loop import FitOutcome, FitPlan, fit_folds, shown_rounds
from trueup._fitting._options import FitOptions, json_parameters, package_versions, seeds_from
from trueup._fitting._packed import (
    PACKED_PARAMETERS,
    ColumnCodes,
    edges_of_sample,
    packed_dataset,
    with_real_thresholds,
)
from trueup._fitting._packing import SAMPLE_ROWS, PackedRows, PackingPlan, TableFacts, row_hashes
from trueup._fitting._parameters import DEFAULTS, PAPER_DEFAULTS, GrowthParameters
from trueup._fitting._rescale import (
    LOGIT_LIMIT,
    Rescaling,
    fit_rescaling,
    fit_theta,
    rescaling_from_sums,
    theta_from_sums,
)
from trueup._fitting._roles import StreamRoles, batch_scores, batch_weights, naming_roles
from trueup._fitting._rounds import fitted_model, growth_of, no_rounds, plan_of, too_few
from trueup._fitting._splits import (
    AUTO_FOLDS,
    AUTO_FOLDS_MAX_ROWS,
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
