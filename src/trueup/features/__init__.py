"""Learn and apply: category codes, numerical columns, what is missing and what is unseen."""

from trueup.features._codes import FeatureCodes
from trueup.features._encode import FeatureEncoder
from trueup.features._learn import learn_columns, learn_features

__all__ = ["FeatureCodes", "FeatureEncoder", "learn_columns", "learn_features"]
