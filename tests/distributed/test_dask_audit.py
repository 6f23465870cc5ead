"""Auditing a Dask frame: the audit of the same rows in one process."""

from __future__ import annotations

from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from dask_fits import frame_of, without_other
from simulated import scores_wrong_in
from trueup._fitting import StreamRoles
from trueup.auditing import SketchSpec, audit_stream
from trueup.distributed import audit_dask
from trueup.distributed._audit import _sampled
from trueup.errors import ColumnError, LabelError, ParameterError, ScoreError, TableError, WeightError

Y, P, FEATURES = scores_wrong_in("device = desktop and plan = pro", -0.2, seed=1, n=4_000)
ROWS = pd.DataFrame({**FEATURES, "y": Y, "p": P, "w": np.random.default_rng(2).integers(1, 4, 4_000) / 2})
PARTS = [ROWS[:0], ROWS[:1_500], ROWS[1_500:1_500].astype(object), ROWS[1_500:]]
FRAME = frame_of(*PARTS, like=ROWS)
COLUMNS: dict[str, Any] = {"label": "y", "score": "p"}
X = pd.DataFrame(FEATURES)


@pytest.mark.parametrize("weight", [None, "w"])
def test_it_is_the_audit_of_a_stream_with_the_same_spec(client: Client, weight: str | None) -> None:
    spec = SketchSpec.learn(X, P, max_depth=2)
    options = {**COLUMNS, "weight": weight, "spec": spec, "significance": 0.01, "min_rows": 20}
    ours, theirs = audit_dask(FRAME, client=client, **options), audit_stream([PARTS[1], PARTS[3]], **options)
    assert ours.segments.equals(theirs.segments)
    assert str(ours) == str(theirs)
    assert (ours.n, ours.significance) == (4_000, 0.01)
    assert ours.segments["segment"][0].as_py() == "device = desktop and plan = pro"


def test_a_spec_is_learned_from_the_rows_of_all_partitions(client: Client) -> None:
    ours = audit_dask(FRAME, client=client, weight="w", max_depth=2, features=["device", "plan", "income"], **COLUMNS)
    spec = SketchSpec.learn(X[["device", "plan", "income"]], P, sample_weight=ROWS["w"], max_depth=2)
    assert ours.segments.equals(audit_stream(ROWS, weight="w", spec=spec, **COLUMNS).segments)


def test_the_rows_that_a_spec_is_learned_from_are_about_as_many_as_asked_for(client: Client) -> None:
    numbered = ROWS[["device", "y", "p"]].assign(row=np.arange(4_000.0))
    frame = frame_of(*(numbered[begin : begin + 400] for begin in range(0, 4_000, 400)))
    few = audit_dask(frame, client=client, sample_rows=100, max_depth=1, **COLUMNS)
    all_rows = audit_dask(frame, client=client, max_depth=1, **COLUMNS)
    assert few.n == all_rows.n == 4_000
    names = [{name for name in found.segments["segment"].to_pylist() if "device" in name} for found in (few, all_rows)]
    assert names[0] == names[1]
    assert few.segments["segment"].to_pylist() != all_rows.segments["segment"].to_pylist()  # other cuts of the numbers
    roles = StreamRoles("y", "p", None, None, ())
    drawn = [_sampled(numbered, tuple(numbered.columns), roles, 2**64 // 40, number).num_rows for number in range(5)]
    # A row in 40 of 5 times 4,000, and the first of each: 505, give or take four times 22.
    assert 417 < sum(drawn) < 593


def test_scores_are_not_audited_against_themselves(client: Client) -> None:
    with pytest.raises(ParameterError, match=r"name 'p', 'p'\. They must differ\."):
        audit_dask(FRAME, client=client, label="p", score="p")
    with pytest.raises(ParameterError, match="They must differ"):
        audit_stream(ROWS, label="p", score="p")


def test_a_spec_may_cut_the_scores_too(client: Client) -> None:
    spec = SketchSpec.learn(ROWS[["device", "p"]], P, max_depth=1)
    ours = audit_dask(FRAME, client=client, spec=spec, **COLUMNS)
    assert ours.segments.equals(audit_stream(ROWS, spec=spec, **COLUMNS).segments)


def test_scores_alone_can_be_audited(client: Client) -> None:
    found = audit_dask(frame_of(ROWS[["y", "p"]]), client=client, **COLUMNS)
    assert found.segments["segment"].to_pylist() == ["all rows"]


def test_a_feature_of_other_dictionaries_is_one_column(client: Client) -> None:
    parts = [part.assign(device=part["device"].astype("category")) for part in (ROWS[:10], ROWS[10:])]
    ours = audit_dask(frame_of(*parts), client=client, features=["device"], **COLUMNS)
    assert ours.segments.equals(audit_dask(FRAME, client=client, features=["device"], **COLUMNS).segments)


@pytest.mark.parametrize("learned", [True, False])
@pytest.mark.parametrize(
    ("second", "error", "message"),
    [
        (ROWS.assign(p=2.0), ScoreError, "^Partition 1: Column 'p': 4,000 of 4,000 scores are outside"),
        (ROWS.assign(y=np.nan), LabelError, "^Partition 1: The labels, column 'y': .*4,000 of 4,000"),
        (ROWS.assign(w=-1.0), WeightError, "^Partition 1: The weights, column 'w': .*4,000 of 4,000"),
        (ROWS.drop(columns="plan"), ColumnError, "^Partition 1.*'plan'"),
        (ROWS.assign(income="high"), (TableError, ColumnError), "income"),
    ],
    ids=["scores", "labels", "weights", "no column", "another type"],
)
def test_what_is_wrong_in_a_partition_is_told_with_the_partition(
    client: Client, learned: bool, second: pd.DataFrame, error: type[Exception], message: str
) -> None:
    spec = None if learned else SketchSpec.learn(X, P, max_depth=1)
    more = {"max_depth": 1} if learned else {}
    with pytest.raises(error, match=message):
        audit_dask(frame_of(ROWS, second, ROWS), client=client, weight="w", spec=spec, **more, **COLUMNS)


def test_columns_that_are_not_there_are_told_of(client: Client) -> None:
    for options in ({"label": "z"}, {"score": "q"}, {"weight": "v"}, {"features": ["plan", "k"]}):
        name = "k" if "features" in options else next(iter(options.values()))
        with pytest.raises(ColumnError, match=f"The frame has no column '{name}'. Its columns are 'region'"):
            audit_dask(FRAME, client=client, **{**COLUMNS, **options})
    spec = SketchSpec.learn(X.rename(columns={"plan": "contract"}), P, max_depth=1)
    with pytest.raises(ColumnError, match="no column 'contract'"):
        audit_dask(FRAME, client=client, spec=spec, **COLUMNS)


def test_what_a_spec_has_learned_can_not_be_learned_again(client: Client) -> None:
    with pytest.raises(TypeError, match="'max_depth' can't be given with a spec"):
        audit_dask(FRAME, client=client, spec=SketchSpec.learn(X, P), max_depth=2, **COLUMNS)


def test_columns_that_are_no_feature_are_not_read(client: Client) -> None:
    frame = dd.from_pandas(ROWS.assign(other=1.0), npartitions=2)
    read = frame.map_partitions(without_other, meta=ROWS.assign(other=1.0).head(0), enforce_metadata=False)
    assert audit_dask(read, client=client, features=["device"], **COLUMNS).n == 4_000
