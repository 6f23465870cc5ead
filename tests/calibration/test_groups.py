"""Groups of rows that belong together, in a fit in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from small_fits import quick
from trueup import MCGrad
from trueup.errors import DataError, InsufficientDataWarning

N = 4_000
RNG = np.random.default_rng(3)
DAYS = RNG.integers(0, 40, N)
MOOD = RNG.normal(size=40)[DAYS]  # a day's own, which tells nothing of other days
X = pd.DataFrame({"day": DAYS.astype(float), "x": RNG.normal(size=N)})
Y = (RNG.random(N) < 1 / (1 + np.exp(-MOOD))).astype(int)
SCORES = np.full(N, Y.mean())


def test_whole_days_validate_so_that_learning_single_days_does_not_pay() -> None:
    torn = quick(validation=5, max_rounds=3).fit(X, Y, scores=SCORES)
    whole = quick(validation=5, max_rounds=3).fit(X, Y, scores=SCORES, groups=DAYS)
    assert torn.n_rounds_ > 0
    assert torn.history_[1].validation_loss < torn.history_[0].validation_loss - 0.02
    assert whole.n_rounds_ == 0
    assert whole.history_[0].validation_loss == pytest.approx(torn.history_[0].validation_loss)


@pytest.mark.parametrize("kind", [str, float, lambda day: f"day {day}"], ids=["words", "floats", "names"])
def test_groups_are_values_of_any_kind(kind: Any) -> None:
    groups = [kind(day) for day in DAYS.tolist()]
    model = quick(validation=0.3, max_rounds=1).fit(X, Y, scores=SCORES, groups=groups)
    again = quick(validation=0.3, max_rounds=1).fit(X, Y, scores=SCORES, groups=pd.Series(groups).astype("category"))
    np.testing.assert_array_equal(model.calibrate(X, SCORES), again.calibrate(X, SCORES))


def test_a_splitter_gets_the_groups() -> None:
    model = quick(validation=GroupKFold(4), max_rounds=1).fit(X, Y, scores=SCORES, groups=DAYS)
    assert model.n_rounds_ == 0


def test_rows_without_weight_are_in_no_fold() -> None:
    weights = (np.arange(N) % 3 > 0).astype(float)
    kept = weights > 0
    for groups in (None, DAYS):
        ours = quick(validation=3, max_rounds=1).fit(X, Y, scores=SCORES, sample_weight=weights, groups=groups)
        theirs = quick(validation=3, max_rounds=1).fit(
            X[kept], Y[kept], scores=SCORES[kept], groups=None if groups is None else groups[kept]
        )
        assert ours.history_[0].validation_loss == pytest.approx(theirs.history_[0].validation_loss, rel=1e-12)


def test_one_group_can_not_be_split() -> None:
    with pytest.warns(InsufficientDataWarning, match="too few groups to split"):
        assert MCGrad().fit(X, Y, scores=SCORES, groups=np.ones(N)).n_rounds_ == 0


def test_a_row_of_no_group_and_groups_of_other_rows_are_refused() -> None:
    with pytest.raises(DataError, match=r"groups: 1 of 4,000 rows belong to no group \(first at row 7\)"):
        MCGrad().fit(X, Y, scores=SCORES, groups=np.where(np.arange(N) == 7, np.nan, DAYS))
    with pytest.raises(DataError, match=r"groups has 3 values, but X has 4,000 rows"):
        MCGrad().fit(X, Y, scores=SCORES, groups=[1, 2, 3])
