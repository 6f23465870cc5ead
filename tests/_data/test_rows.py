"""The one reader of a table and what goes with its rows: as arrays, or as names of its columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from trueup._data import read_rows
from trueup.errors import ColumnError, DataError, LabelError, ParameterError, ScoreError, TableError, WeightError

TABLE = {
    "clicked": ["no", "yes", "no", "yes"],
    "old": [0.1, 0.4, 0.2, 0.9],
    "new": [0.2, 0.5, 0.1, 0.8],
    "weight": [1.0, 2.0, 0.0, 1.0],
    "user": ["u", "v", "u", "w"],
    "day": [3, 1, 2, 1],
    "hour": [8, 9, 10, 11],
}
NAMED: dict[str, Any] = {"sample_weight": "weight", "groups": "user", "time": "day"}


@pytest.mark.parametrize(
    "library", [pd.DataFrame, pl.DataFrame, pa.table, dict], ids=["pandas", "polars", "arrow", "dict"]
)
def test_names_of_columns_and_arrays_say_the_same(library: Any) -> None:
    named = read_rows(library(TABLE), "clicked", {"base": "old", "candidate": "new"}, **NAMED)
    arrays = {role: TABLE[name] for role, name in NAMED.items()}
    beside = read_rows(
        library({"hour": TABLE["hour"]}), TABLE["clicked"], {"base": TABLE["old"], "candidate": TABLE["new"]}, **arrays
    )
    assert named.features == beside.features == ["hour"]
    for one in (named, beside):
        assert one.labels.classes == ("no", "yes")
        assert one.labels.values.tolist() == [0, 1, 0, 1]
        assert {role: values.tolist() for role, values in one.scores.items()} == {
            "base": TABLE["old"],
            "candidate": TABLE["new"],
        }
        assert one.weights is not None
        assert one.weights.tolist() == TABLE["weight"]
        assert one.groups is not None
        assert one.groups[0] == one.groups[2]
        assert sorted(set(one.groups.tolist())) == [0, 1, 2]
        assert one.of_counted(one.scores["base"]).tolist() == [0.1, 0.4, 0.9]
    assert type(named.part(np.array([True, False, True, True]), "old")) is type(library(TABLE))


def test_numbers_of_groups_do_not_depend_on_the_order_of_the_rows() -> None:
    users = np.array(["u", "v", "u", "w"])
    forward, backward = (read_rows(None, [0, 1, 0, 1], {"scores": [0.5] * 4}, groups=of) for of in (users, users[::-1]))
    assert forward.groups is not None
    assert backward.groups is not None
    assert forward.groups.tolist() == backward.groups[::-1].tolist()


def test_without_a_table_all_that_is_given_are_arrays() -> None:
    rows = read_rows(None, [0, 1, 1], {"scores": [[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]]})
    assert (rows.n, rows.features, rows.groups, rows.counted) == (3, [], None, None)
    assert rows.scores["scores"].tolist() == [0.1, 0.5, 0.8]


def test_the_positive_class_may_be_the_first() -> None:
    rows = read_rows(TABLE, "clicked", {"scores": "old"}, pos_label="no")
    assert rows.labels.values.tolist() == [1, 0, 1, 0]
    assert rows.pos_label == "no"
    assert rows.label_values().tolist() == TABLE["clicked"]


def test_a_column_that_says_when_or_whose_may_be_a_feature_if_it_is_named() -> None:
    assert read_rows(TABLE, "clicked", {"scores": "old"}, features=["day", -1], time="day").features == ["day", "hour"]
    same = read_rows(TABLE, "clicked", {"scores": "old"}, groups="day", time="day")
    assert same.groups is not None
    assert same.groups.max() == 2


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": None}, LabelError, "y is None. Pass one label per row, or the name of their column"),
        ({"y": 3, "X": None, "scores": [0.5]}, LabelError, "y is a int"),
        ({"y": "Clicked"}, ColumnError, r"y: X has no column 'Clicked'. Did you mean 'clicked'\? Its columns are"),
        ({"y": "user"}, LabelError, "The labels, column 'user': .* 3 classes"),
        ({"y": [0, 1]}, LabelError, "y"),
        ({"y": [], "X": None, "scores": []}, TableError, "There are no rows"),
        ({"scores": None}, ScoreError, "scores is None. Pass a model's probabilities"),
        ({"scores": "day"}, ScoreError, r"Column 'day': .* scores are outside \[0, 1\]"),
        ({"scores": "clicked"}, ParameterError, "y and scores both name the column 'clicked'"),
        ({"X": None}, ParameterError, "y names the column 'clicked', but X is None"),
        ({"sample_weight": "user"}, WeightError, "The weights, column 'user'"),
        ({"groups": [1, 2]}, DataError, "groups"),
        ({"features": "hour"}, ParameterError, r"features must be a list of names, got the string 'hour'"),
        ({"features": [7]}, ParameterError, "features names column 7, but X has 7 columns"),
        ({"features": ["our"]}, ColumnError, "features: X has no column 'our'. Did you mean 'hour'?"),
        ({"features": ["old"]}, ParameterError, "features names 'old', which is the column of scores"),
        ({"X": None, "y": [0, 1], "scores": [0.5] * 2, "features": ["hour"]}, ParameterError, "X is None. Pass X"),
    ],
)
def test_what_is_wrong_is_told_in_the_users_own_names(
    change: dict[str, Any], error: type[Exception], message: str
) -> None:
    given: dict[str, Any] = {"X": TABLE, "y": "clicked", "scores": "old"} | change
    with pytest.raises(error, match=message):
        read_rows(given.pop("X"), given.pop("y"), {"scores": given.pop("scores")}, **given)
