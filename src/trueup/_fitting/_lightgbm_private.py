"""What we use of LightGBM that is not public. Each function does without if a version lacks it."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb

_append: Any = getattr(getattr(lgb.basic, "_LIB", None), "LGBM_DatasetAddFeaturesFrom", None)
_check: Any = getattr(lgb.basic, "_safe_call", None)

ADDS_QUIETLY = _append is not None and _check is not None and hasattr(lgb.Dataset, "get_feature_name")


def add_columns(to: lgb.Dataset, more: lgb.Dataset) -> None:
    """Append the binned columns of one constructed data set to another.

    The public `Dataset.add_features_from` does this too, but always warns that the raw data are gone, as we want.
    """
    if ADDS_QUIETLY:
        _check(_append(to._handle, more._handle))
        to.feature_name = to.get_feature_name()
    else:
        to.add_features_from(more)


def leave_network() -> None:
    """Close this thread's connections to other machines, if there are any. A booster that failed leaves them open."""
    free: Any = getattr(getattr(lgb.basic, "_LIB", None), "LGBM_NetworkFree", None)
    if free is not None:
        free()


def parameter_aliases() -> dict[str, list[str]]:
    """All parameters of LightGBM with their other names; empty if this version does not tell."""
    dump: Any = getattr(getattr(lgb.basic, "_ConfigAliases", None), "_get_all_param_aliases", None)
    try:
        return {} if dump is None else dict(dump())
    except Exception:
        return {}
