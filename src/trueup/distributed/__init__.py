"""Fitting, scoring and auditing on a cluster of Dask workers."""

from trueup._runtime import pin_to
from trueup.distributed._audit import audit
from trueup.distributed._estimator import DaskMCGrad

__all__ = ["DaskMCGrad", "audit"]

pin_to(__name__, __all__, globals())
