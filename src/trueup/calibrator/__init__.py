"""The estimators: they wire, they compute nothing."""

from trueup.calibrator._classifier import MulticalibratedClassifier
from trueup.calibrator._mcgrad import MCGrad
from trueup.calibrator._summary import json_parameters as json_parameters
from trueup.calibrator._summary import package_versions as package_versions
from trueup.calibrator._summary import seeds_from as seeds_from
from trueup.calibrator._trusted import TRUSTED_TYPES

__all__ = ["TRUSTED_TYPES", "MCGrad", "MulticalibratedClassifier"]
