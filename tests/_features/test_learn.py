"""What is learned of the columns of a table."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trueup._data import read_table
from trueup._features import learn_features
from trueup._model import Feature, ValueKind
from trueup.errors import ColumnError, ParameterError, TableError

TABLE = {"city": ["b", None, "a"], "age": [1.5, None, 3], "vip": [True, False, True], "p": [0.1, 0.2, 0.3]}


def learned(values: Any, **options: Any) -> Feature:
    return learn_features(read_table({"c": values}), **options)["c"]


def test_types_tell_categories_from_numbers() -> None:
    spec = learn_features(read_table(TABLE))
    assert spec.columns == spec.names == ("city", "age", "vip", "p")
    assert spec["city"] == Feature("city", ValueKind.STRING, ("a", "b"))
    assert spec["age"] == Feature("age", ValueKind.NUMBER)
    assert spec["vip"] == Feature("vip", ValueKind.BOOLEAN, (False, True))


def test_features_are_in_the_order_in_which_they_are_named() -> None:
    spec = learn_features(read_table(TABLE), features=["vip", "city"], score_column="p")
    assert spec.names == ("vip", "city")
    assert spec.columns == tuple(TABLE)
    assert spec.score_column == "p"
    assert learn_features(read_table(TABLE), score_column="p").names == ("city", "age", "vip")


def test_columns_may_be_named_by_position() -> None:
    spec = learn_features(read_table(np.array([[1, 5], [2, 5]])), features=[1, 0], categorical_features=[-1])
    assert spec.names == ("x1", "x0")
    assert not spec.named
    assert spec["x1"].categories == (5,)
    assert spec["x0"].categories is None


@pytest.mark.parametrize(
    ("values", "categories"),
    [
        ([3, 1, None, 1], (1, 3)),
        ([2.0, 0.5, np.nan, np.inf], (0.5, 2, np.inf)),
        ([2**64, -1], (-1, 2**64)),
        ([dt.date(2024, 1, 2), dt.date(2024, 1, 1)], (dt.date(2024, 1, 1), dt.date(2024, 1, 2))),
        (["b", 1, None, b"x", 2.5], (b"x", 2.5, 1, "b")),
        (pd.Categorical(["b", "a"], categories=["a", "b", "unused"]), ("a", "b")),
        (pl.Series(["b", "a"], dtype=pl.Enum(["unused", "a", "b"])), ("a", "b")),
        (["\ud800", "a", "é", "Z"], ("Z", "a", "é", "\ud800")),
        ([None, None], ()),
    ],
)
def test_categories_are_the_distinct_values_in_order(values: Any, categories: tuple[Any, ...]) -> None:
    assert learned(values, categorical_features=["c"]).categories == categories


def test_the_order_of_rows_does_not_change_what_is_learned() -> None:
    values = ["b", 1, None, b"x", 2.5, dt.date(2024, 1, 1), (1, 2), "a", True, 7] * 3
    expected = learned(values)
    for seed in range(5):
        random.Random(seed).shuffle(values)
        assert learned(values) == expected


def test_only_the_categories_of_rows_that_count_are_learned() -> None:
    counts = np.array([True, False, True])
    for values in (
        ["a", "b", None],
        pd.Categorical(["a", "b", None]),
        np.array(["a", "b", "a"]),
        pl.Series(["a", "b", "a"]),
    ):
        assert learned(values, rows=counts).categories == ("a",)
    assert learned([1, 2, 3], rows=counts, categorical_features=["c"]).categories == (1, 3)


def test_categoricals_of_anything_are_categories() -> None:
    assert learned(pd.Categorical([3, 1])).categories == (1, 3)
    days = pd.Categorical([dt.date(2024, 1, 1)])
    assert learned(days).categories == (dt.date(2024, 1, 1),)
    assert learned(pd.Categorical(pd.to_timedelta([1], "D"))).categories == (dt.timedelta(1),)


@pytest.mark.parametrize(
    ("options", "error", "what"),
    [
        ({"features": "city"}, ParameterError, r"features must be a list .* Use \['city'\]"),
        ({"features": ["city", "city"]}, ParameterError, "features names a column twice"),
        ({"features": ["town"]}, ColumnError, "features: X has no column 'town'. Its columns are 'city', 'age'"),
        ({"features": [4]}, ParameterError, "features names column 4, but X has 4 columns"),
        ({"features": [-5]}, ParameterError, "features names column -5"),
        ({"categorical_features": "city"}, ParameterError, r"Use \['city'\] to name one column"),
        ({"categorical_features": ["town"]}, ColumnError, "categorical_features: X has no column 'town'"),
        ({"score_column": "q"}, ColumnError, "score_column: X has no column 'q'"),
        ({"score_column": "p", "features": ["p"]}, ParameterError, "score_column 'p' can't be one of the features"),
    ],
)
def test_columns_that_are_not_there_are_refused_by_name(
    options: dict[str, Any], error: type[Exception], what: str
) -> None:
    with pytest.raises(error, match=what):
        learn_features(read_table(TABLE), **options)


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([dt.date(2024, 1, 1)], "holds dates. Name it in categorical_features="),
        ([dt.datetime(2024, 1, 1)], "holds datetimes"),
        ([dt.timedelta(1), None], "holds durations or times of day"),
        (np.array([1], "m8[ns]"), "holds durations or times of day"),
        ([object()], "an address in memory"),
        ([lambda: 1], "an address in memory"),
        (["a", 2**1025], "more than 1,024 bits"),
    ],
)
def test_values_that_mean_neither_a_number_nor_a_category_are_refused(values: Any, what: str) -> None:
    with pytest.raises(ColumnError, match=f"Column 'c' .*{what}"):
        learned(values)


def test_times_that_python_cannot_hold_are_refused_as_categories() -> None:
    far = np.array(["20000-01-01", "2024-01-01"], dtype="M8[us]")
    with pytest.raises(ColumnError, match="datetimes outside the years 1 to 9999"):
        learned(far, categorical_features=["c"])


def test_a_table_without_columns_is_refused() -> None:
    with pytest.raises(TableError, match=r"0 feature\(s\)"):
        learn_features(read_table(np.empty((3, 0))))
