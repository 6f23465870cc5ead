"""Category codes: learned at fit, looked up in tables and single rows."""

from trueup._features._codes import FeatureCodes, holds_between, holds_missing, holds_one_of
from trueup._features._encode import FeatureEncoder
from trueup._features._learn import FeatureLearner, chosen_columns, learn_column, learn_columns, learn_features
from trueup._features._suspects import (
    FEWEST_FOR_AN_ID,
    ID_NAME,
    SHARE_OF_AN_ID,
    rank_auc,
    rates_of_bins,
    warn_of_suspects,
)

__all__ = [
    "FEWEST_FOR_AN_ID",
    "ID_NAME",
    "SHARE_OF_AN_ID",
    "FeatureCodes",
    "FeatureEncoder",
    "FeatureLearner",
    "chosen_columns",
    "holds_between",
    "holds_missing",
    "holds_one_of",
    "learn_column",
    "learn_columns",
    "learn_features",
    "rank_auc",
    "rates_of_bins",
    "warn_of_suspects",
]
