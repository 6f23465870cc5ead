"""Fitting, scoring and auditing on a cluster of Dask workers."""

from trueup.distributed._audit import audit
from trueup.distributed._estimator import DaskMCGrad

__all__ = ["DaskMCGrad", "audit"]
