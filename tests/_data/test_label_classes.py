"""Which two classes there are, when no piece of the table need hold both."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup._data import LabelClasses, read_labels
from trueup.errors import LabelError


def learned(*pieces: Any) -> LabelClasses:
    classes = LabelClasses()
    for piece in pieces:
        classes.add(piece)
    return classes


LABELS = st.sampled_from([("no", "yes"), (False, True), (0, 1), (-1.0, 1.0), (3, 8)])


@given(LABELS, st.lists(st.integers(0, 1), min_size=2, max_size=20), st.integers(1, 5), st.randoms())
def test_pieces_in_any_order_hold_the_classes_of_the_whole(
    two: tuple[Any, Any], which: list[int], size: int, order: random.Random
) -> None:
    values = [two[0], two[1], *(two[i] for i in which)]
    pieces = [values[first : first + size] for first in range(0, len(values), size)]
    order.shuffle(pieces)
    whole = read_labels(np.array(values), len(values))
    found = learned(*pieces).labels()
    assert found.classes == whole.classes
    assert list(map(type, found.classes)) == list(map(type, whole.classes))
    half = len(pieces) // 2
    merged = learned(*pieces[:half])
    merged.merge(learned(*pieces[half:]))
    assert merged.labels().classes == whole.classes


@pytest.mark.parametrize(
    "pieces",
    [([0.0, 0.5], [1.0]), ([1, 0], [0.25]), ([0.0], [1.0], [0.5, 0.1]), ([True, False], [0.5])],
    ids=["fractions first", "integers first", "fractions last", "booleans"],
)
def test_a_single_fraction_makes_all_labels_probabilities(pieces: Sequence[Any]) -> None:
    for ordered in (pieces, pieces[::-1]):
        labels = learned(*ordered).labels()
        assert labels.soft
        assert labels.classes == (0, 1)


def test_one_class_in_all_pieces_is_refused_with_the_number_of_rows() -> None:
    with pytest.raises(LabelError, match="one class only: all 3 labels are 'no'"):
        learned(["no"], ["no", "no"]).labels()


def test_three_classes_are_refused_in_whatever_pieces_they_are() -> None:
    with pytest.raises(LabelError, match=r"3 classes \('a', 'b', 'c'"):
        learned(["c", "a"], ["b"]).labels()


def test_so_many_classes_are_counted_no_further_than_needed() -> None:
    with pytest.raises(LabelError, match="multiclass"):
        learned(*(np.arange(first, first + 500) for first in range(0, 5_000, 500))).labels()


@pytest.mark.parametrize(
    ("pieces", "message"),
    [
        (([0.5], [2.0]), "fractions such as 0.5, and others are 2"),
        (([0.5], ["yes"]), "fractions such as 0.5, and others are 'yes'"),
        ((["yes"], [1]), "mixes labels of different types"),
        (([0.5, 1.5],), r"1 of 2 labels are outside \[0, 1\] \(first at row 1: 1.5"),
        ((["no"], ["yes", None]), "1 of 2 labels are missing"),
        (([0.0, np.nan],), "1 of 2 labels are missing"),
        (([0.5, np.nan],), "1 of 2 labels are missing"),
        (([0.0, np.inf],), "infinity"),
        ((), "y is empty"),
        (([], []), "y is empty"),
    ],
)
def test_labels_that_can_be_no_labels_are_told_of(pieces: Sequence[Any], message: str) -> None:
    with pytest.raises(LabelError, match=message):
        learned(*pieces).labels()
