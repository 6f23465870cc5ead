"""Trees as flat arrays: joined, taken apart, and joined again."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trueup._model import ARRAY_TYPES, Trees


@st.composite
def trees(draw: st.DrawFn) -> Trees:
    """Up to four trees of random shapes, whose categorical splits have a set of up to three words each."""
    columns: dict[str, list[float]] = {name: [] for name in ARRAY_TYPES}
    columns["node_offsets"].append(0)
    columns["category_offsets"].append(0)
    for _ in range(draw(st.integers(0, 4))):
        left, right = [], []
        for split in range(draw(st.integers(0, 5))):
            if split:  # the new split takes the place of a leaf; that leaf and a new one are below it
                side, parent = draw(st.sampled_from([(s, i) for s in (left, right) for i in range(split) if s[i] < 0]))
                leaf, side[parent] = side[parent], split
            else:
                leaf = ~0
            left.append(leaf)
            right.append(~(split + 1))
            is_set = draw(st.booleans())
            if is_set:
                words = draw(st.lists(st.integers(0, 2**32 - 1), max_size=3))
                columns["category_words"] += words
                columns["category_offsets"].append(len(columns["category_words"]))
            n_sets = len(columns["category_offsets"]) - 1
            columns["threshold"].append(n_sets - 1 if is_set else draw(st.floats(allow_nan=False)))
            columns["decision_type"].append(draw(st.sampled_from([0, 2, 4, 8, 10])) | is_set)
            columns["split_feature"].append(draw(st.integers(0, 9)))
        columns["left_child"] += left
        columns["right_child"] += right
        columns["leaf_values"] += draw(st.lists(st.floats(-9, 9), min_size=len(left) + 1, max_size=len(left) + 1))
        columns["node_offsets"].append(len(columns["threshold"]))
    return Trees(**{name: np.array(values, ARRAY_TYPES[name]) for name, values in columns.items()})


def same(first: Trees, second: Trees) -> bool:
    pairs = [(first.arrays()[name], second.arrays()[name]) for name in ARRAY_TYPES]
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in pairs)


@given(st.lists(trees(), max_size=4))
def test_slices_of_joined_trees_are_the_parts(parts: list[Trees]) -> None:
    joined = Trees.concatenate(parts)
    first = 0
    for part in parts:
        assert same(joined.slice(first, first + part.n_trees), part)
        first += part.n_trees
    assert joined.n_trees == first


@given(trees(), st.data())
def test_joined_slices_are_the_whole(whole: Trees, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, whole.n_trees), max_size=3)))
    ends = [0, *cuts, whole.n_trees]
    assert same(Trees.concatenate([whole.slice(a, b) for a, b in pairwise(ends)]), whole)


def test_no_trees_at_all_are_trees_too() -> None:
    nothing = Trees.concatenate([])
    assert (nothing.n_trees, nothing.n_splits) == (0, 0)
    assert same(nothing, nothing.slice(0, 0))
    assert {name: array.dtype for name, array in nothing.arrays().items()} == ARRAY_TYPES


def test_a_slice_takes_only_the_sets_that_it_uses() -> None:
    # Two trees of one split each; the first names set 1, the second set 0.
    both = Trees(
        node_offsets=np.array([0, 1, 2], np.int32),
        split_feature=np.zeros(2, np.int32),
        threshold=np.array([1.0, 0.0]),
        decision_type=np.ones(2, np.uint8),
        left_child=np.full(2, ~0, np.int32),
        right_child=np.full(2, ~1, np.int32),
        leaf_values=np.arange(4.0),
        category_offsets=np.array([0, 1, 3], np.int32),
        category_words=np.array([7, 8, 9], np.uint32),
    )
    first = both.slice(0, 1)
    assert first.threshold.tolist() == [0.0]
    assert first.category_offsets.tolist() == [0, 2]
    assert first.category_words.tolist() == [8, 9]
    assert first.leaf_values.tolist() == [0.0, 1.0]
