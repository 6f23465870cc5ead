"""Which rows grow trees and which ones watch."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trueup.errors import ParameterError

__all__ = ["Split", "make_splits"]

Split = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]

AUTO_FOLDS = 5
AUTO_FOLDS_MAX_ROWS = 500_000
AUTO_HOLDOUT = 0.2
_VALIDATION = 'validation must be "auto", a fraction, a number of folds, a splitter or None'


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
    from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, check_cv

    n_rows = len(labels)
    if isinstance(validation, str):
        if validation != "auto":
            raise ParameterError(f"{_VALIDATION}, got {validation!r}.")
        validation = AUTO_FOLDS if n_rows <= AUTO_FOLDS_MAX_ROWS else AUTO_HOLDOUT
    rarest = n_rows if soft else int(min((labels == 1).sum(), (labels == 0).sum()))
    if isinstance(validation, (int, np.integer)) and not isinstance(validation, bool):
        if validation < 2:
            raise ParameterError(
                f"validation={validation}: there must be at least 2 folds. A fraction makes a hold-out."
            )
        if rarest < validation:
            return f"{validation} folds need {validation} rows of each class, and one class has {rarest}"
        kind = KFold if soft else StratifiedKFold
        splitter = kind(int(validation), shuffle=True, random_state=seed)
    elif isinstance(validation, (float, np.floating)):
        if not 0 < validation < 1:
            raise ParameterError(f"validation={validation}: a hold-out's fraction must be between 0 and 1.")
        held = round(n_rows * float(validation))
        if rarest < 2 or min(held, n_rows - held) < 2:
            return f"a hold-out needs at least 2 rows of each class on each side, and there are {n_rows} rows"
        kind = ShuffleSplit if soft else StratifiedShuffleSplit
        splitter = kind(1, test_size=float(validation), random_state=seed)
    else:
        splitter = _user_splitter(validation, check_cv)
    splits = [(np.sort(train), np.sort(valid)) for train, valid in splitter.split(np.zeros((n_rows, 1)), labels)]
    for train, valid in splits:
        if len(train) == 0 or len(valid) == 0:
            return "a split of validation= has an empty side"
        if not soft and len(np.unique(labels[train])) < 2:
            return "a split of validation= trains on one class only"
    return splits


def _user_splitter(validation: Any, check_cv: Any) -> Any:
    try:
        return check_cv(validation)
    except (ValueError, TypeError) as error:
        raise ParameterError(f"{_VALIDATION}, got {validation!r}.") from error
