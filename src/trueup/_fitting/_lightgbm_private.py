"""The functions of LightGBM that we use and that are not public. Each may be absent, and is done without then."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb

_append: Any = getattr(getattr(lgb.basic, "_LIB", None), "LGBM_DatasetAddFeaturesFrom", None)
_check: Any = getattr(lgb.basic, "_safe_call", None)

ADDS_QUIETLY = _append is not None and _check is not None and hasattr(lgb.Dataset, "get_feature_name")


def add_columns(to: lgb.Dataset, more: lgb.Dataset) -> None:
    """Append the binned columns of one constructed data set to another.

    The public `Dataset.add_features_from` does this too, but warns each time that the raw data are gone, which is
    what we want.
    """
    if ADDS_QUIETLY:
        _check(_append(to._handle, more._handle))
        to.feature_name = to.get_feature_name()
    else:
        to.add_features_from(more)


def leave_network() -> None:
    """Close this thread's connections to other processes, if it has any; a booster that failed leaves them open."""
    free: Any = getattr(getattr(lgb.basic, "_LIB", None), "LGBM_NetworkFree", None)
    if free is not None:
        free()


def parameter_aliases() -> dict[str, list[str]]:
    """All parameters of LightGBM with their other names; nothing where this version does not tell."""
    dump: Any = getattr(getattr(lgb.basic, "_ConfigAliases", None), "_get_all_param_aliases", None)
    try:
        return {} if dump is None else dict(dump())
    except Exception:
        return {}
