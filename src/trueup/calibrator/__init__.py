"""The estimators: they wire, they compute nothing."""

from trueup.calibrator._classifier import MulticalibratedClassifier
from trueup.calibrator._mcgrad import MCGrad
from trueup.calibrator._options import FitOptions as FitOptions
from trueup.calibrator._rounds import fitted_model as fitted_model
from trueup.calibrator._rounds import growth_of as growth_of
from trueup.calibrator._rounds import rescale_with as rescale_with
from trueup.calibrator._rounds import too_few as too_few
from trueup.calibrator._rounds import warn_of_too_few as warn_of_too_few
from trueup.calibrator._streaming import check_before_reading as check_before_reading
from trueup.calibrator._streaming import most_intervals as most_intervals
from trueup.calibrator._summary import json_parameters as json_parameters
from trueup.calibrator._summary import package_versions as package_versions
from trueup.calibrator._summary import seeds_from as seeds_from
from trueup.calibrator._trusted import TRUSTED_TYPES

__all__ = ["TRUSTED_TYPES", "MCGrad", "MulticalibratedClassifier"]
