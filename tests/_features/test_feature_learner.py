"""Learning what a column holds from a piece of it at a time."""

from __future__ import annotations

import datetime as dt
import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup._data import read_table
from trueup._features import FeatureLearner
from trueup._features._learn import learn_column
from trueup._model import Feature, ValueKind
from trueup.errors import ColumnError


def column(values: list[Any], arrow_type: pa.DataType | None = None) -> Any:
    return read_table(pa.table({"x": pa.array(values, arrow_type)})).column("x")


def learned(pieces: list[Any], *, categorical: bool = False) -> FeatureLearner:
    learner = FeatureLearner("x", categorical)
    for piece in pieces:
        learner.add(piece)
    return learner


KINDS = st.sampled_from(
    [
        (st.text(max_size=3).map(lambda text: text.encode("utf-8", "ignore").decode()), pa.string(), False),
        (st.integers(-5, 5), pa.int64(), True),
        (st.integers(-5, 5), pa.int64(), False),
        (st.booleans(), pa.bool_(), False),
        (st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 9)), pa.date32(), True),
    ]
)


@given(KINDS, st.integers(1, 4), st.randoms(), st.data())
def test_pieces_in_any_order_teach_what_the_whole_does(
    kind: tuple[Any, pa.DataType, bool], size: int, order: random.Random, data: st.DataObject
) -> None:
    values, arrow_type, categorical = kind
    rows = data.draw(st.lists(st.none() | values, min_size=1, max_size=15))
    whole = learn_column(column(rows, arrow_type), categorical)
    pieces = [column(rows[first : first + size], arrow_type) for first in range(0, len(rows), size)]
    order.shuffle(pieces)
    assert learned(pieces, categorical=categorical).feature() == whole
    half = len(pieces) // 2
    merged = learned(pieces[:half], categorical=categorical)
    merged.merge(learned(pieces[half:], categorical=categorical))
    assert merged.feature() == whole


def test_a_piece_without_values_says_nothing() -> None:
    for pieces in ([column([None, None]), column([1.5])], [column([1.5]), column([None])]):
        learner = learned(pieces)
        assert learner.may_hold_numbers
        assert learner.feature() == Feature("x", ValueKind.NUMBER)


def test_a_column_of_nothing_at_all_has_no_categories() -> None:
    learner = learned([column([None]), column([None])])
    assert learner.may_hold_numbers
    assert learner.feature() == Feature("x", ValueKind.EMPTY, ())
    learner.add(column([None], pa.string()))  # its type says more than its values
    assert not learner.may_hold_numbers
    assert learner.feature() == Feature("x", ValueKind.STRING, ())


def test_codes_and_plain_strings_are_the_same_categories() -> None:
    in_codes = read_table(pa.table({"x": pa.array(["b", "a"]).dictionary_encode()})).column("x")
    assert learned([in_codes, column(["c"])]).feature() == Feature("x", ValueKind.STRING, ("a", "b", "c"))


def test_true_and_one_are_one_category_where_types_are_mixed() -> None:
    pieces = [read_table({"x": values}).column("x") for values in ([True, "a"], ["a", 1])]
    for ordered in (pieces, pieces[::-1]):
        assert learned(ordered).feature().categories == (1, "a")


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ([1.5], ["a"], "holds strings, as categories, but in rows before it held numbers"),
        (["a"], [1.5], "holds numbers, but in rows before it held strings, as categories"),
        ([True], [1], "holds numbers, but in rows before it held booleans, as categories"),
    ],
)
def test_a_column_that_changes_its_kind_is_refused(first: list[Any], second: list[Any], words: str) -> None:
    with pytest.raises(ColumnError, match=rf"Column 'x' {words}"):
        learned([column(first), column(second)])
    ours, theirs = learned([column(first)]), learned([column(second)])
    with pytest.raises(ColumnError, match=rf"Column 'x' {words}"):
        ours.merge(theirs)


def test_numbers_that_are_codes_here_and_plain_there_are_refused() -> None:
    in_codes = read_table(pa.table({"x": pa.array([1, 2]).dictionary_encode()})).column("x")
    with pytest.raises(ColumnError, match="categorical_features="):
        learned([in_codes, column([1, 2])])


def test_dates_are_refused_unless_they_were_named() -> None:
    dates = column([dt.date(2024, 1, 2)])
    with pytest.raises(ColumnError, match=r"Column 'x' holds dates. Name it in categorical_features="):
        learned([dates])
    assert learned([dates], categorical=True).feature().categories == (dt.date(2024, 1, 2),)
