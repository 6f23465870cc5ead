"""Learn and apply: category codes, numerical columns, what is missing and what is unseen."""

from trueup.features._codes import FeatureCodes
from trueup.features._conditions import holds_between, holds_missing, holds_one_of
from trueup.features._encode import EncodedTable, FeatureEncoder
from trueup.features._learn import FeatureLearner, chosen_columns, learn_column, learn_columns, learn_features

__all__ = [
    "EncodedTable",
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
]
