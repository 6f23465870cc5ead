"""Category codes: learned at fit, looked up in tables and single rows."""

from trueup._features._codes import FeatureCodes, holds_between, holds_missing, holds_one_of
from trueup._features._encode import FeatureEncoder
from trueup._features._learn import FeatureLearner, chosen_columns, learn_column, learn_columns, learn_features

__all__ = [
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
