"""Arrays that are no trees are refused before anything is indexed with them.

Run as a program, this file feeds garbage to the kernel: a crash would take pytest with it.
"""

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup import _native

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
DTYPES: dict[str, Any] = {
    "categorical": np.uint8,
    "round_offsets": np.int32,
    "thetas": np.float64,
    "node_offsets": np.int32,
    "split_feature": np.int32,
    "threshold": np.float64,
    "decision_type": np.uint8,
    "left_child": np.int32,
    "right_child": np.int32,
    "leaf_values": np.float64,
    "category_offsets": np.int32,
    "category_words": np.uint32,
}
NAN = 8  # decision_type: what counts as missing is NaN

# Two rounds of one tree each. Feature 0 is a number, feature 1 is categorical, and 2 stands for the logit.
#   tree 0: x0 <= 0.5 ? (x1 in {0, 2} ? 1 : 2) : 3
#   tree 1: logit <= 0 ? 10 : 20
GOOD: dict[str, list[float]] = {
    "categorical": [0, 1],
    "round_offsets": [0, 1, 2],
    "thetas": [1.0, 2.0],
    "node_offsets": [0, 2, 3],
    "split_feature": [0, 1, 2],
    "threshold": [0.5, 0, 0.0],
    "decision_type": [NAN, 1, NAN],
    "left_child": [1, ~0, ~0],
    "right_child": [~2, ~1, ~1],
    "leaf_values": [1, 2, 3, 10, 20],
    "category_offsets": [0, 1],
    "category_words": [0b101],
}


def arrays(**changed: Any) -> dict[str, Any]:
    return {name: np.array(values, DTYPES[name]) for name, values in {**GOOD, **changed}.items()}


def forest(**changed: Any) -> _native.Forest:
    return _native.Forest(**arrays(**changed))


def rows(*values: tuple[float, ...]) -> Any:
    return np.asfortranarray(np.array(values, dtype=np.float64))


def test_good_arrays_are_trees() -> None:
    # Row 0 goes left twice: 1 > 0, so 2 (1 + 20) = 42. Row 1: category 1 is not in the set, 2 (2 + 20) = 44.
    # Row 2 goes right: 2 (3 + 20) = 46; row 3 begins at -9: -9 + 1 <= 0, so 2 (-8 + 10) = 4.
    matrix = rows((0.5, 2), (0, 1), (math.inf, 0), (0, 0))
    logits = np.array([0.0, 0.0, 0.0, -9.0])
    assert forest().advance(matrix, logits, 0, 2).tolist() == [42, 44, 46, 4]
    assert forest().corrections(matrix, logits, 1).tolist() == [10, 10, 10, 10]


MALFORMED = {
    "a split that is its own child": {"left_child": [0, ~0, ~0]},
    "a second split that is its own child": {"left_child": [~0, 1, ~0]},
    "a ring of splits": {"node_offsets": [0, 3, 3], "left_child": [~0, 2, 1], "right_child": [~1, ~2, ~3]},
    "a child that comes before its parent": {
        "node_offsets": [0, 3, 3], "left_child": [2, ~0, 1], "right_child": [~1, ~2, ~3],
    },
    "a split with two parents": {"right_child": [1, ~1, ~1]},
    "a leaf with two parents": {"right_child": [~0, ~1, ~1]},
    "a leaf that both sides share": {"right_child": [~2, ~0, ~1]},
    "a split beyond the tree": {"left_child": [2, ~0, ~0]},
    "a split far beyond the tree": {"left_child": [INT_MAX, ~0, ~0]},
    "a leaf beyond the tree": {"right_child": [~3, ~1, ~1]},
    "the lowest child there is": {"left_child": [INT_MIN, ~0, ~0]},
    "the second lowest": {"right_child": [INT_MIN + 1, ~1, ~1]},
    "a child of a tree of one split": {"left_child": [1, ~0, 1]},
    "a negative feature": {"split_feature": [-1, 1, 2]},
    "the lowest feature there is": {"split_feature": [INT_MIN, 1, 2]},
    "a feature beyond the logit": {"split_feature": [3, 1, 2]},
    "the highest feature there is": {"split_feature": [INT_MAX, 1, 2]},
    "no features, but splits by them": {"categorical": []},
    "a categorical split by a number": {"split_feature": [0, 0, 2]},
    "a categorical split by the logit": {"split_feature": [0, 2, 2]},
    "a split by a threshold on a category": {"split_feature": [1, 1, 2]},
    "a kind of missing that is none": {"decision_type": [12, 1, NAN]},
    "a kind of missing beyond all": {"decision_type": [16, 1, NAN]},
    "all bits of a decision": {"decision_type": [NAN, 255, NAN]},
    "a threshold of NaN": {"threshold": [math.nan, 0, 0]},
    "a set of number NaN": {"threshold": [0.5, math.nan, 0]},
    "a set that is not there": {"threshold": [0.5, 1, 0]},
    "a negative set": {"threshold": [0.5, -1, 0]},
    "a set just below the first": {"threshold": [0.5, -1e-300, 0]},
    "a set of infinite number": {"threshold": [0.5, math.inf, 0]},
    "a set beyond all integers": {"threshold": [0.5, 1e300, 0]},
    "a set where there are none": {"category_offsets": [0], "category_words": []},
    "an infinite leaf": {"leaf_values": [1, math.inf, 3, 10, 20]},
    "a leaf of NaN": {"leaf_values": [1, 2, 3, 10, math.nan]},
    "a theta of NaN": {"thetas": [1, math.nan]},
    "an infinite theta": {"thetas": [-math.inf, 1]},
    "a theta too few": {"thetas": [1]},
    "a theta too many": {"thetas": [1, 1, 1]},
    "a leaf too few": {"leaf_values": [1, 2, 3, 10]},
    "a leaf too many": {"leaf_values": [1, 2, 3, 10, 20, 30]},
    "no leaves": {"leaf_values": []},
    "a threshold too few": {"threshold": [0.5, 0]},
    "a decision too many": {"decision_type": [NAN, 1, NAN, NAN]},
    "no left children": {"left_child": []},
    "a right child too few": {"right_child": [~2, ~1]},
    "a feature too few": {"split_feature": [0, 1]},
    "node offsets that begin late": {"node_offsets": [1, 2, 3]},
    "node offsets that begin early": {"node_offsets": [-1, 2, 3]},
    "node offsets that decrease": {"node_offsets": [0, 4, 3]},
    "node offsets that fall as far as they can": {"node_offsets": [0, INT_MAX, INT_MIN]},
    "node offsets that end early": {"node_offsets": [0, 1, 2]},
    "node offsets that end late": {"node_offsets": [0, 2, 4]},
    "no node offsets": {"node_offsets": []},
    "no trees, but splits": {"node_offsets": [0], "round_offsets": [0, 0, 0]},
    "round offsets that decrease": {"round_offsets": [0, 3, 2]},
    "round offsets that end early": {"round_offsets": [0, 1, 1]},
    "round offsets that end late": {"round_offsets": [0, 1, 3]},
    "round offsets below 0": {"round_offsets": [0, -1, 2]},
    "round offsets that begin late": {"round_offsets": [1, 1, 2]},
    "no round offsets": {"round_offsets": []},
    "category offsets that decrease": {"category_offsets": [0, 2, 1]},
    "category offsets that end early": {"category_offsets": [0, 0]},
    "category offsets that end late": {"category_offsets": [0, 2]},
    "category offsets below 0": {"category_offsets": [0, INT_MIN, 1]},
    "category offsets that begin late": {"category_offsets": [1, 1]},
    "no category offsets": {"category_offsets": []},
}  # fmt: skip


@pytest.mark.parametrize("what", MALFORMED)
def test_arrays_that_are_no_trees_are_refused(what: str) -> None:
    with pytest.raises(ValueError):
        forest(**MALFORMED[what])


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_of_two_dimensions_and_things_that_are_no_arrays_are_refused(name: str) -> None:
    good = arrays()
    for wrong in (good[name].reshape(1, -1), good[name].tolist(), None, "x", np.array(object()), 5):
        with pytest.raises(TypeError):
            _native.Forest(**{**good, name: wrong})


@pytest.mark.parametrize("name", DTYPES)
def test_arrays_of_another_type_are_refused(name: str) -> None:
    good = arrays()
    for other in (np.int64, np.float32, np.uint16, np.complex128, bool):
        with pytest.raises(TypeError):
            _native.Forest(**{**good, name: good[name].astype(other)})


def test_a_missing_or_unknown_array_is_refused() -> None:
    good = arrays()
    with pytest.raises(TypeError):
        _native.Forest(**{name: array for name, array in good.items() if name != "left_child"})
    with pytest.raises(TypeError):
        _native.Forest(**good, weights=good["thetas"])
    with pytest.raises(TypeError):
        _native.Forest(*good.values())


def test_no_trees_leave_the_logits_as_they_are() -> None:
    nothing = {name: [] for name in DTYPES} | {name: [0] for name in DTYPES if name.endswith("offsets")}
    empty = forest(**nothing)
    logits = np.array([0.5, math.inf, math.nan])
    assert (empty.n_features, empty.n_rounds) == (0, 0)
    np.testing.assert_array_equal(empty.advance(np.empty((3, 0), order="F"), logits, 0, 0), logits)
    assert empty.probability_of_one([], 0.25) == pytest.approx(0.25)


def test_rounds_without_trees_only_rescale() -> None:
    nothing = {name: [] for name in DTYPES} | {name: [0] for name in DTYPES if name.endswith("offsets")}
    rescaling = forest(**{**nothing, "round_offsets": [0, 0, 0], "thetas": [2.0, 3.0]})
    assert rescaling.advance(np.empty((1, 0), order="F"), np.array([1.0]), 0, 2).tolist() == [6.0]


def test_trees_of_one_leaf_need_no_features() -> None:
    nothing = {name: [] for name in DTYPES} | {name: [0] for name in DTYPES if name.endswith("offsets")}
    leaves = {"round_offsets": [0, 2], "thetas": [1.0], "node_offsets": [0, 0, 0], "leaf_values": [1.0, 2.0]}
    assert forest(**{**nothing, **leaves}).advance(np.empty((1, 0), order="F"), np.array([0.0]), 0, 1).tolist() == [3.0]


def test_no_rows_give_no_scores() -> None:
    for n_threads in (1, 8):
        assert forest().advance(np.empty((0, 2), order="F"), np.empty(0), 0, 2, n_threads).tolist() == []
        assert forest().corrections(np.empty((0, 2), order="F"), np.empty(0), 0, n_threads).tolist() == []
        assert _native.sigmoid(np.empty(0), n_threads).tolist() == []


@pytest.mark.parametrize("n_threads", [0, -1, INT_MIN, 1, 2, 7, 1000, INT_MAX])
def test_any_number_of_threads_gives_the_same_scores(n_threads: int) -> None:
    generator = np.random.default_rng(0)
    matrix = np.asfortranarray(np.column_stack([generator.normal(size=3000), generator.integers(0, 4, 3000)]))
    logits = generator.normal(size=3000)
    assert np.array_equal(forest().advance(matrix, logits, 0, 2, n_threads), forest().advance(matrix, logits, 0, 2))


def test_a_number_of_threads_that_is_no_int_is_refused() -> None:
    for n_threads in (2**31, -(2**40), 1.5, "2", None):
        with pytest.raises(TypeError):
            forest().advance(rows((0, 0)), np.zeros(1), 0, 2, n_threads)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, 1e308, -1e308, 5e-324, -0.0])
def test_extreme_numbers_and_codes_find_a_leaf(value: float) -> None:
    # One of the leaves 1, 2 and 3 of the first tree, whatever the number, the category and the logit are.
    matrix = rows((value, 0), (0, value), (value, value))
    logits = np.array([0.0, 0.0, value])
    assert set(forest().corrections(matrix, logits, 0).tolist()) <= {1.0, 2.0, 3.0}
    assert set(forest().corrections(matrix, logits, 1).tolist()) <= {10.0, 20.0}
    after = forest().advance(matrix, logits, 0, 2)
    assert np.isfinite(after[:2]).all()
    ones = [forest().probability_of_one(row.tolist(), 0.5) for row in matrix[:2]]
    assert ones == _native.sigmoid(after[:2]).tolist()


@pytest.mark.parametrize("code", [2**16, 2**16 + 2, 2**31, 2**32, 2**32 + 2, 2**53, -1, -2, -(2**31), 33, 64])
def test_codes_beyond_all_categories_are_no_category(code: float) -> None:
    assert forest().corrections(rows((0, code)), np.zeros(1), 0).tolist() == [2.0]


def test_codes_are_cut_off_towards_zero() -> None:
    # -0.9 and 0.9 are category 0, which is in the set; 1.9 is category 1, which is not.
    matrix = rows((0, -0.9), (0, 0.9), (0, 1.9), (0, -1.0))
    assert forest().corrections(matrix, np.zeros(4), 0).tolist() == [1.0, 1.0, 2.0, 2.0]


def chain(n_splits: int, **changed: Any) -> _native.Forest:
    """One tree of n categorical splits by feature 0; each sends what is not in its set on to the next."""
    nodes = np.arange(n_splits)
    tree = {
        "categorical": [1],
        "round_offsets": [0, 1],
        "thetas": [1.0],
        "node_offsets": [0, n_splits],
        "split_feature": nodes * 0,
        "threshold": nodes * 0,
        "decision_type": nodes * 0 + 1,
        "left_child": ~nodes,
        "right_child": [*(nodes[1:]), ~n_splits],
        "leaf_values": np.arange(n_splits + 1),
        "category_offsets": [0, 1],
        "category_words": [0b101],
    }
    return forest(**{**tree, **changed})


def test_nothing_is_in_a_set_that_is_empty() -> None:
    # Set 0 is empty, and the word of set 1 stands right behind it. Trees of 9 leaves are walked, of 3 not.
    for n_splits in (2, 8):
        two_sets = {"category_offsets": [0, 0, 1], "category_words": [0xFFFFFFFF]}
        for code in (-0.5, 0.0, 0.5, 31.0):
            found = chain(n_splits, **two_sets).corrections(rows((code,)), np.zeros(1), 0)
            assert found.tolist() == [n_splits]


def test_a_tree_of_a_hundred_thousand_levels_is_walked_to_its_end() -> None:
    assert chain(100_000).corrections(rows((1.0,), (2.0,)), np.zeros(2), 0).tolist() == [100_000.0, 0.0]


def test_infinite_thresholds_are_thresholds() -> None:
    matrix, logits = rows((math.inf, 0), (1e308, 0), (-math.inf, 0), (math.nan, 0)), np.zeros(4)
    assert forest(threshold=[math.inf, 0, 0]).corrections(matrix, logits, 0).tolist() == [1, 1, 1, 3]
    assert forest(threshold=[-math.inf, 0, 0]).corrections(matrix, logits, 0).tolist() == [3, 3, 1, 3]


def test_a_matrix_in_another_order_gives_the_same_scores() -> None:
    generator = np.random.default_rng(0)
    matrix = np.ascontiguousarray(np.column_stack([generator.normal(size=50), generator.integers(0, 4, 50)]))
    wide = np.repeat(matrix, 2, axis=1)[:, ::2]
    expected = forest().advance(np.asfortranarray(matrix), np.zeros(50), 0, 2)
    assert np.array_equal(forest().advance(matrix, np.zeros(50), 0, 2), expected)
    assert np.array_equal(forest().advance(wide, np.zeros(100)[::2], 0, 2), expected)


def test_matrices_and_rounds_that_do_not_fit_are_refused() -> None:
    for matrix, logits in ((rows((0, 0)), 2), (rows((0,)), 1), (rows((0, 0, 0)), 1)):
        with pytest.raises(ValueError, match=r"another number of features|differ in length"):
            forest().advance(matrix, np.zeros(logits), 0, 2)
    for first, last in ((1, 0), (0, 3), (3, 3)):
        with pytest.raises(ValueError, match="no such rounds"):
            forest().advance(rows((0, 0)), np.zeros(1), first, last)
    with pytest.raises(ValueError, match="no such round"):
        forest().corrections(rows((0, 0)), np.zeros(1), 2)
    with pytest.raises(TypeError):
        forest().advance(rows((0, 0)), np.zeros(1), -1, 2)


def test_rows_that_do_not_fit_are_refused() -> None:
    for row in ([], [1.0], [1.0, 2.0, 3.0]):
        with pytest.raises(ValueError, match="another number of features"):
            forest().probability_of_one(row, 0.5)
    for wrong in (None, 5, ["a", "b"], [None, 1.0]):
        with pytest.raises(TypeError):
            forest().probability_of_one(wrong, 0.5)  # type: ignore[arg-type]


INTEGERS = st.one_of(st.integers(-3, 9), st.sampled_from([INT_MIN, INT_MIN + 1, INT_MAX, 2**16, 32, 33, 255]))
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    np.int32: INTEGERS,
    np.float64: st.one_of(INTEGERS.map(float), st.floats()),
    np.uint8: st.one_of(st.sampled_from([0, 1, 2, 3, NAN, NAN + 2, 12]), st.integers(0, 255)),
    np.uint32: st.integers(0, 2**32 - 1),
}


@settings(max_examples=800, database=None, deadline=None, derandomize=True)
@given(st.data())
def feed_garbage(data: st.DataObject) -> None:
    """Good arrays with some values, or whole arrays, that are garbage; what is taken for trees must score."""
    changed: dict[str, list[Any]] = {}
    for name in data.draw(st.sets(st.sampled_from(sorted(DTYPES)), max_size=4)):
        values = VALUES[DTYPES[name]]
        if data.draw(st.integers(0, 3)):
            changed[name] = list(GOOD[name])
            changed[name][data.draw(st.integers(0, len(GOOD[name]) - 1))] = data.draw(values)
        else:
            changed[name] = data.draw(st.lists(values, max_size=6))
    try:
        trees = forest(**changed)
    except ValueError:
        return
    n_rows = data.draw(st.integers(0, 3))
    numbers = VALUES[np.float64]
    matrix = np.array(
        data.draw(st.lists(numbers, min_size=n_rows * trees.n_features, max_size=n_rows * trees.n_features))
    )
    matrix = np.asfortranarray(matrix.reshape(n_rows, trees.n_features), dtype=np.float64)
    logits = np.array(data.draw(st.lists(numbers, min_size=n_rows, max_size=n_rows)), dtype=np.float64)
    scores = _native.sigmoid(trees.advance(matrix, logits, 0, trees.n_rounds, data.draw(INTEGERS)))
    assert len(scores) == n_rows
    assert ((scores >= 0) & (scores <= 1) | np.isnan(scores)).all()
    for t in range(trees.n_rounds):
        assert len(trees.corrections(matrix, logits, t)) == n_rows
    for row in matrix:
        trees.probability_of_one(row.tolist(), 0.5)


@pytest.mark.slow
def test_garbage_never_crashes() -> None:
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "done\n"


if __name__ == "__main__":
    feed_garbage()
    print("done")
