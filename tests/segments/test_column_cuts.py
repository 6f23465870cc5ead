"""Cuts that are learned once put the rows that they were learned from where an audit puts them, and all others too."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._data import read_table
from trueup._model import ValueKind
from trueup.errors import ColumnError, ParameterError
from trueup.segments import ColumnCut, Missing, OneOf, cross_columns, learn_cuts

VALUES = st.one_of(
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "c", "d", "é", ""])), min_size=1, max_size=30),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=1, max_size=30),
    st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=True), min_size=1, max_size=30),
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.5, -2.0, np.inf, 2.0**60]), min_size=1, max_size=30),
)


@settings(max_examples=300)
@given(values=VALUES, max_values=st.sampled_from([2, 3, 5]))
def test_learned_rows_are_in_the_parts_that_an_audit_has(values: list[Any], max_values: int) -> None:
    table = read_table({"x": np.array(values, dtype=float) if isinstance(values[0], float) else values})
    partitions = cross_columns(table, max_values=max_values)
    cuts = learn_cuts(table, max_values=max_values)
    assert len(cuts) == len(partitions)
    for cut, partition in zip(cuts, partitions, strict=True):
        found = cut.codes(table.column("x"))
        assert [str(cut.parts[code]) for code in found] == [str(partition.parts[code]) for code in partition.codes]
        assert cut.n_seen == len(partition.parts)


def parts_of(learned: Any, later: Any, **options: Any) -> list[str]:
    """Where later values are, in words."""
    (cut,) = learn_cuts(read_table({"x": learned}), **options)
    codes = cut.codes(read_table({"x": later}).column("x"))
    return [str(cut.parts[code]) for code in codes]


def test_categories_never_seen_are_in_the_rest() -> None:
    assert parts_of(["a", "b"], ["a", "new", None]) == ["x = a", "x not in {a, b}", "x is missing"]
    assert parts_of(list("aaabbcd"), ["d", "new"]) == ["x not in {a, b}", "x not in {a, b}"]


def test_numbers_beyond_those_seen_are_in_the_outer_parts() -> None:
    assert parts_of(np.arange(9.0), [-99.0, 99.0, np.nan]) == ["x ≤ 2", "x > 5", "x is missing"]


def test_numbers_among_few_that_were_never_seen_are_in_the_rest() -> None:
    assert parts_of([1, 2, 2], [1, 3, -4]) == ["x = 1", "x not in {1, 2}", "x not in {1, 2}"]


def test_the_other_side_of_a_lump_has_its_place() -> None:
    lump = [0.0] * 50 + [1.0, 2.0, 3.0, 4.0]
    assert parts_of(lump, [0.0, 7.0, -7.0]) == ["x = 0", "x > 0", "x < 0"]
    assert parts_of([-value for value in lump], [0.0, 7.0, -7.0]) == ["x = 0", "x > 0", "x < 0"]


def test_days_are_categories_where_they_are_named_so() -> None:
    days = [dt.date(2026, 1, 1), dt.date(2026, 1, 2)]
    later = [days[0], dt.date(2027, 1, 1)]
    found = parts_of(days, later, categorical_features=["x"])
    assert found == ["x = 2026-01-01", "x not in {2026-01-01, 2026-01-02}"]


def test_a_column_of_one_value_is_left_out() -> None:
    assert learn_cuts(read_table({"x": [1, 1, 1], "y": ["a", "a", "a"], "z": [None, None, None]})) == ()


def test_a_column_of_missing_values_only_is_of_any_kind() -> None:
    assert parts_of(["a", "b"], [None, None]) == ["x is missing"] * 2
    assert parts_of([1.0, 2.0], [None, None]) == ["x is missing"] * 2


def test_strings_where_numbers_were_are_an_error() -> None:
    with pytest.raises(ColumnError, match="Column 'x' holds strings, but was cut as numbers"):
        parts_of([1.0, 2.0], ["a", "b"])


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ((), "must have 1 to 255 parts"),
        ((OneOf("z", ("a",)),), "about another column"),
        ((Missing("x"),), "its parts must be values"),
    ],
)
def test_a_cut_that_makes_no_sense_is_refused(conditions: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ColumnCut("x", ValueKind.STRING, True, conditions, 1)
