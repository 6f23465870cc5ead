"""A model does not depend on how many workers there are, nor on which of them holds what."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from dask_fits import COLUMNS, content_of, frame_of, quick_estimator, rows_of_traffic
from trueup.distributed import fit_dask

ROWS = rows_of_traffic(1_200)
FEATURES = ["country", "device", "hour", "account_age_days", "referrer"]
PARTS = [ROWS[:500], ROWS[500:800], ROWS[800:800], ROWS[800:]]
FRAME = frame_of(*PARTS)


def fitted(client: Client, frame: Any = FRAME, columns: dict[str, str] | None = None, **options: Any) -> Any:
    return fit_dask(
        frame, client=client, estimator=quick_estimator(features=FEATURES, **options), **(columns or COLUMNS)
    )


CASES: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "plain": ({}, COLUMNS),
    "labels that are probabilities, weights": ({}, {"label": "chance", "score": "p", "weight": "w"}),
    "no scores, no rescaling": ({"rescale": None, "max_rounds": 1}, {"label": "clicked"}),
    "hold-out by group": ({"validation": 0.3, "rescale": "honest", "max_rounds": 1}, {**COLUMNS, "group": "user"}),
    "folds, weights, honest": ({"validation": 2, "rescale": "honest", "max_rounds": 1}, {**COLUMNS, "weight": "w"}),
}


@pytest.mark.parametrize("case", CASES)
def test_one_worker_and_two_give_the_same_file(client: Client, alone: Client, case: str) -> None:
    options, columns = CASES[case]
    two, one = (fitted(where, columns=columns, **options) for where in (client, alone))
    assert two.n_rounds_ >= 1
    assert two.model_.summary.n_rows == 1_200
    assert content_of(two) == content_of(one)


def test_the_model_does_not_depend_on_where_partitions_are(client: Client) -> None:
    first, second = sorted(client.nthreads())
    expected = content_of(fitted(client))
    for place in ([first] * 4, [second, first, first, second]):
        parts = [
            client.submit(pd.DataFrame.copy, part, workers=[worker], pure=False)
            for part, worker in zip(PARTS, place, strict=True)
        ]
        frame = dd.from_delayed(parts, meta=ROWS.head(0), verify_meta=False)
        assert content_of(fitted(client, frame)) == expected


def test_another_partition_of_the_rows_grows_the_same_trees_in_the_first_round(client: Client) -> None:
    # Sums of derivatives are exact, so that trees don't depend on it; theta is a quotient of plain sums, in some order.
    one, other = (
        fitted(client),
        fitted(client, frame_of(*(ROWS[begin : begin + 240] for begin in range(0, 1_200, 240)))),
    )
    ours, theirs = (model.model_.rounds[0] for model in (one, other))
    for name in ("split_feature", "threshold", "leaf_values"):
        np.testing.assert_array_equal(getattr(ours.trees, name), getattr(theirs.trees, name))
    assert ours.theta == pytest.approx(theirs.theta, rel=1e-9)
