"""Which rows grow trees and which ones watch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._fitting._data import Rows
from trueup.errors import ParameterError

__all__ = ["Split", "make_splits"]

Split = tuple[Rows, Rows]

AUTO_FOLDS = 5
AUTO_FOLDS_MAX_ROWS = 1_000_000
AUTO_HOLDOUT = 0.2


def make_splits(validation: Any, labels: npt.NDArray[np.float64], *, soft: bool, seed: int) -> list[Split] | str:
    """Training and validation rows, or why the rows are too few for them.

    Parameters
    ----------
    validation : "auto", float, int or splitter
        A hold-out's fraction, a number of folds, or anything that scikit-learn takes as ``cv``.
    labels : float64 array
        The labels; classes are kept in proportion.
    soft : bool
        Whether the labels are probabilities.
    seed : int
        For the shuffle.

    Returns
    -------
    list of pairs of index arrays, or str
        The splits; or a reason.
    """
    from sklearn.model_selection import check_cv

    if isinstance(validation, str) and validation == "auto":
        validation = AUTO_FOLDS if len(labels) <= AUTO_FOLDS_MAX_ROWS else AUTO_HOLDOUT
    splitter: Any
    if isinstance(validation, (int, np.integer)) and not isinstance(validation, bool):
        splitter = _folds(int(validation), labels, soft, seed)
    elif isinstance(validation, (float, np.floating)):
        splitter = _hold_out(float(validation), labels, soft, seed)
    else:
        try:
            splitter = check_cv(validation)
        except (ValueError, TypeError) as error:
            raise ParameterError(
                f'validation must be "auto", a fraction, a number of folds, a splitter or None, got {validation!r}.'
            ) from error
    if isinstance(splitter, str):
        return splitter
    rows = np.zeros((len(labels), 1), dtype=np.uint8)  # a splitter wants to see as many rows, and looks at nothing else
    try:
        splits = [(_sorted(train), _sorted(valid)) for train, valid in splitter.split(rows, labels)]
    except (ValueError, TypeError) as error:
        raise ParameterError(f"validation={validation!r} can't split these rows: {error}") from error
    for train, valid in splits:
        if len(train) == 0 or len(valid) == 0:
            return "a split of validation= has an empty side"
        if not soft and len(np.unique(labels[train])) < 2:
            return "a split of validation= trains on one class only"
    return splits


def _sorted(rows: npt.NDArray[Any]) -> Rows:
    narrow = np.asarray(rows).astype(np.int32)
    narrow.sort()
    return narrow


def _folds(n_folds: int, labels: npt.NDArray[np.float64], soft: bool, seed: int) -> Any:
    from sklearn.model_selection import KFold, StratifiedKFold

    if n_folds < 2:
        raise ParameterError(f"validation={n_folds}: there must be at least 2 folds. A fraction makes a hold-out.")
    if soft and len(labels) < n_folds:
        return f"{n_folds} folds need {n_folds} rows, and there are {len(labels)}"
    if not soft and _rarest(labels) < n_folds:
        return f"{n_folds} folds need {n_folds} rows of each class, and one class has {_rarest(labels)}"
    kind = KFold if soft else StratifiedKFold
    return kind(n_folds, shuffle=True, random_state=seed)


def _hold_out(fraction: float, labels: npt.NDArray[np.float64], soft: bool, seed: int) -> Any:
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    if not 0 < fraction < 1:
        raise ParameterError(f"validation={fraction}: a hold-out's fraction must be between 0 and 1.")
    held = round(len(labels) * fraction)
    if min(held, len(labels) - held) < 2 or (not soft and _rarest(labels) < 2):
        which = "" if soft else " of each class"
        return f"a hold-out needs at least 2 rows{which} on each side, and there are {len(labels)} rows"
    kind = ShuffleSplit if soft else StratifiedShuffleSplit
    return kind(1, test_size=fraction, random_state=seed)


def _rarest(labels: npt.NDArray[np.float64]) -> int:
    """How many rows the rarer class has."""
    positive = int((labels == 1).sum())
    return min(positive, len(labels) - positive)
