"""Fitting, scoring and auditing on a cluster of Dask workers."""

from trueup._runtime import pin_to
from trueup.distributed._audit import audit_dask
from trueup.distributed._fit import fit_dask
from trueup.distributed._score import calibrate_dask

__all__ = ["audit_dask", "calibrate_dask", "fit_dask"]

pin_to(__name__, __all__, globals())
