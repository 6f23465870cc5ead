"""Arguments that don't fit together are refused before anything is indexed with them.

Run as a program, this file feeds garbage to the kernel: a crash would take pytest with it.
"""

import math
import subprocess
import sys
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup import _native

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
LANES, DRAWS = _native.SUM_LANES, _native.DRAW_LANES

CELLS: dict[str, Any] = {"codes": np.uint8, "n_values": np.uint32, "skips_zero": np.uint8, "score_ids": np.uint32}
SUMS: dict[str, Any] = {"offsets": np.int32, "members": np.int32, "lanes": np.float64}
DRAWN: dict[str, Any] = {
    "offsets": np.int32,
    "members": np.int32,
    "chosen_offsets": np.int64,
    "cell": np.int32,
    "variance": np.float64,
    "unit": np.float64,
    "slot": np.int32,
    "draws": np.uint8,
    "residual_if_zero": np.float32,
    "residual_if_one": np.float32,
}
DTYPES = {**CELLS, **SUMS, **DRAWN}

# Three rows with scores a, a, b; partitions of 2 and 3 values; combinations (), (0), (0, 1). All cells but an empty one
# of the last are chosen, and the first two have a slot.
GOOD: dict[str, list[Any]] = {
    "codes": [[0, 1, 1], [2, 0, 1]],
    "n_values": [2, 3],
    "skips_zero": [0, 0],
    "score_ids": [0, 0, 1],
    "offsets": [0, 0, 1, 3],
    "members": [0, 0, 1],
    "lanes": [[0.5] * LANES, [-1.0] * LANES, [0.25] * LANES],
    "chosen_offsets": [0, 1, 3, 6],
    "cell": [0, 0, 1, 2, 3, 4],
    "variance": [1.0, 2.0, 3.0, 1.0, 1.0, 1.0],
    "unit": [1.0] * 6,
    "slot": [0, 1, -1, -1, -1, -1],
    "draws": [0, 255, 5],
    "residual_if_zero": [-0.5, -0.5, -0.25],
    "residual_if_one": [0.5, 0.5, 0.75],
}


def arrays(names: Any, **changed: Any) -> dict[str, Any]:
    return {name: np.array({**GOOD, **changed}[name], DTYPES[name]) for name in names}


def cells(**changed: Any) -> _native.Cells:
    return _native.Cells(**arrays(CELLS, **changed))


def sums(**changed: Any) -> Any:
    n_threads, min_rows = changed.pop("n_threads", 1), changed.pop("min_rows", 1)
    return cells(**changed).sums(**arrays(SUMS, **changed), min_rows=min_rows, n_threads=n_threads)


def drawn(**changed: Any) -> Any:
    n_threads, n_slots = changed.pop("n_threads", 1), changed.pop("n_slots", 2)
    min_variance = changed.pop("min_variance", 0.0)
    return cells(**changed).drawn(
        **arrays(DRAWN, **changed), min_variance=min_variance, n_slots=n_slots, n_threads=n_threads
    )


def test_good_arguments_give_sums() -> None:
    combination, cell, rows, totals, range_ = sums()
    assert combination.tolist() == [0, 1, 1, 2, 2, 2]
    assert cell.tolist() == [0, 0, 1, 2, 3, 4]
    assert rows.tolist() == [3, 1, 2, 1, 1, 1]
    # All rows: 0.5 - 1 is seen, then -0.25. Code 1 of the first partition: -1, then -0.75.
    assert totals[:, 0].tolist() == [-0.25, 0.5, -0.75, 0.5, -1.0, 0.25]
    assert range_.tolist() == [0.5, 0.5, 1.0, 0.5, 1.0, 0.25]


def test_good_arguments_give_draws() -> None:
    sigmas, rest, slots = drawn()
    # Draw 0 has labels 0, 1, 1. All rows: 0 is seen after the tie, then 0.75, with a variance of 1. Rows 1 and 2, of
    # code 1: 0.5, then 1.25, with a variance of 3, which is less in sigmas and more in evidence.
    assert sigmas.shape == rest.shape == (DRAWS,)
    assert slots.shape == (2, DRAWS)
    assert sigmas[0] == pytest.approx(0.75)
    assert slots[0, 0] == pytest.approx(_native.evidence_of(0.75, 1, 1))
    assert slots[1, 0] == pytest.approx(_native.evidence_of(0.5, 2, 1))
    assert rest[0] == pytest.approx(_native.evidence_of(1.25, 3, 1))


MALFORMED_CELLS: dict[str, dict[str, Any]] = {
    "a code beyond the values": {"n_values": [2, 2]},
    "a code far beyond the values": {"codes": [[0, 255, 1], [2, 0, 1]]},
    "no values": {"n_values": [0, 3]},
    "more values than a byte has": {"n_values": [257, 3]},
    "as many values as an int has": {"n_values": [2**32 - 1, 3]},
    "a number of values too few": {"n_values": [2]},
    "a number of values too many": {"n_values": [2, 3, 3]},
    "a flag too few": {"skips_zero": [0]},
    "a flag too many": {"skips_zero": [0, 0, 0]},
    "no flags": {"skips_zero": []},
    "a score too few": {"score_ids": [0, 0]},
    "a score too many": {"score_ids": [0, 0, 1, 2]},
    "no scores": {"score_ids": []},
    "scores that decrease": {"score_ids": [0, 2, 1]},
    "scores that fall as far as they can": {"score_ids": [0, 2**32 - 1, 0]},
}
MALFORMED_COMBINATIONS: dict[str, dict[str, Any]] = {
    "no offsets": {"offsets": []},
    "offsets that begin late": {"offsets": [1, 1, 1, 3]},
    "offsets that begin early": {"offsets": [-1, 0, 1, 3]},
    "offsets that decrease": {"offsets": [0, 2, 1, 3]},
    "offsets that fall as far as they can": {"offsets": [0, INT_MAX, INT_MIN, 3]},
    "offsets that end early": {"offsets": [0, 0, 1, 2]},
    "offsets that end late": {"offsets": [0, 0, 1, 4]},
    "offsets that end far beyond": {"offsets": [0, 0, 1, INT_MAX]},
    "one offset, but members": {"offsets": [0]},
    "a negative partition": {"members": [0, -1, 1]},
    "the lowest partition there is": {"members": [INT_MIN, 0, 1]},
    "a partition beyond the last": {"members": [0, 0, 2]},
    "the highest partition there is": {"members": [0, 0, INT_MAX]},
    "a member too few": {"members": [0, 0]},
    "no members": {"members": []},
    "too many cells": {"offsets": [0, 0, 0, 25], "members": [0] * 25},
    "too many cells for any integer": {"offsets": [0, 0, 0, 90], "members": [1] * 90},
}
MALFORMED_SUMS: dict[str, dict[str, Any]] = {
    "a row of lanes too few": {"lanes": [[0.0] * LANES] * 2},
    "a row of lanes too many": {"lanes": [[0.0] * LANES] * 4},
    "a lane too few": {"lanes": [[0.0] * (LANES - 1)] * 3},
    "a lane too many": {"lanes": [[0.0] * (LANES + 1)] * 3},
    "no lanes": {"lanes": np.zeros((0, LANES))},
}
MALFORMED_DRAWS: dict[str, dict[str, Any]] = {
    "a draw too few": {"draws": [0, 1]},
    "a draw too many": {"draws": [0, 1, 2, 3]},
    "a step too few": {"residual_if_zero": [0, 0]},
    "a step too many": {"residual_if_one": [0, 0, 0, 0]},
    "chosen offsets that begin late": {"chosen_offsets": [1, 1, 3, 6]},
    "chosen offsets that begin early": {"chosen_offsets": [-1, 1, 3, 6]},
    "chosen offsets that decrease": {"chosen_offsets": [0, 3, 1, 6]},
    "chosen offsets that go far beyond and come back": {"chosen_offsets": [0, 10**9, 3, 6]},
    "chosen offsets that go far beyond cells that are all good": {
        "offsets": [0, 0, 0], "members": [], "chosen_offsets": [0, 10**9, 2],
        "cell": [0, 0], "variance": [1.0, 1.0], "unit": [1.0, 1.0], "slot": [-1, -1],
    },
    "chosen offsets that go below and come back": {"chosen_offsets": [0, -(10**9), 3, 6]},
    "chosen offsets beyond all integers": {"chosen_offsets": [0, 2**63 - 1, -(2**63), 6]},
    "chosen offsets that end early": {"chosen_offsets": [0, 1, 3, 5]},
    "chosen offsets that end late": {"chosen_offsets": [0, 1, 3, 7]},
    "a chosen offset too few": {"chosen_offsets": [0, 1, 6]},
    "a chosen offset too many": {"chosen_offsets": [0, 1, 3, 6, 6]},
    "no chosen offsets": {"chosen_offsets": []},
    "no offsets of any kind": {"chosen_offsets": [], "offsets": []},
    "a cell beyond the combination": {"cell": [1, 0, 1, 2, 3, 4]},
    "a cell beyond the last": {"cell": [0, 0, 1, 2, 3, 6]},
    "a negative cell": {"cell": [0, 0, 1, 2, -1, 4]},
    "the highest cell there is": {"cell": [0, 0, 1, 2, 3, INT_MAX]},
    "the lowest cell there is": {"cell": [0, 0, 1, INT_MIN, 3, 4]},
    "a cell too few": {"cell": [0, 0, 1, 2, 3]},
    "a slot beyond the last": {"slot": [0, 2, -1, -1, -1, -1]},
    "the highest slot there is": {"slot": [INT_MAX, 1, -1, -1, -1, -1]},
    "a slot too few": {"slot": [0, 1, -1, -1, -1]},
    "slots where there are none": {"n_slots": 0},
    "more slots than there is memory for": {"n_slots": 2**40},
    "as many slots as make none": {"n_slots": 2**61},
    "a variance of 0": {"variance": [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]},
    "a variance below 0": {"variance": [1.0, 1.0, -1.0, 1.0, 1.0, 1.0]},
    "a variance of NaN": {"variance": [1.0, 1.0, 1.0, math.nan, 1.0, 1.0]},
    "a least variance below 0": {"min_variance": -1.0},
    "a least variance of NaN": {"min_variance": math.nan},
    "a variance too few": {"variance": [1.0] * 5},
    "a unit of 0": {"unit": [0.0] * 6},
    "a unit of NaN": {"unit": [math.nan] * 6},
    "a unit too many": {"unit": [1.0] * 7},
}  # fmt: skip


@pytest.mark.parametrize("what", MALFORMED_CELLS)
def test_arrays_that_are_no_cells_are_refused(what: str) -> None:
    with pytest.raises(ValueError):
        cells(**MALFORMED_CELLS[what])


@pytest.mark.parametrize("what", {**MALFORMED_COMBINATIONS, **MALFORMED_SUMS})
def test_sums_of_what_does_not_fit_are_refused(what: str) -> None:
    with pytest.raises(ValueError):
        sums(**{**MALFORMED_COMBINATIONS, **MALFORMED_SUMS}[what])


@pytest.mark.parametrize("what", {**MALFORMED_COMBINATIONS, **MALFORMED_DRAWS})
def test_draws_of_what_does_not_fit_are_refused(what: str) -> None:
    with pytest.raises(ValueError):
        drawn(**{**MALFORMED_COMBINATIONS, **MALFORMED_DRAWS}[what])


@pytest.mark.parametrize("call", [(CELLS, "Cells"), (SUMS, "sums"), (DRAWN, "drawn")], ids=lambda call: call[1])
def test_arrays_of_another_type_or_shape_and_things_that_are_no_arrays_are_refused(call: Any) -> None:
    dtypes, method = call
    extra = {"sums": {"min_rows": 1}, "drawn": {"n_slots": 2, "min_variance": 0.0}}.get(method, {})
    function: Any = _native.Cells if method == "Cells" else getattr(cells(), method)
    good = arrays(dtypes)
    function(**good, **extra)
    for name, array in good.items():
        strided = np.repeat(array, 2, axis=-1)[..., ::2]
        for wrong in (
            array[None],
            array.tolist(),
            array.astype(np.int16),
            array.astype(complex),
            strided,
            None,
            "x",
            5,
        ):
            with pytest.raises(TypeError):
                function(**{**good, name: wrong}, **extra)


def test_numbers_of_rows_and_threads_must_be_such() -> None:
    for wrong in (-1, 1.5, "2", None, 2**64):
        with pytest.raises(TypeError):
            sums(min_rows=wrong)
        with pytest.raises(TypeError):
            drawn(n_slots=wrong)
    for wrong in (2**31, 1.5, "2", None):
        with pytest.raises(TypeError):
            sums(n_threads=wrong)


@pytest.mark.parametrize("n_threads", [0, -1, INT_MIN, 1, 2, 7, 1000, INT_MAX])
def test_any_number_of_threads_gives_the_same(n_threads: int) -> None:
    for function in (sums, drawn):
        for one, other in zip(function(), function(n_threads=n_threads), strict=True):
            np.testing.assert_array_equal(one, other)


def test_no_rows_no_partitions_and_no_combinations_give_nothing() -> None:
    no_rows = {"codes": np.zeros((2, 0)), "score_ids": [], "lanes": np.zeros((0, LANES))}
    assert [len(found) for found in sums(**no_rows)] == [0] * 5
    steps = {"draws": [], "residual_if_zero": [], "residual_if_one": []}
    assert not np.concatenate(drawn(**no_rows, **steps), axis=None).any()
    nothing = {"codes": np.zeros((0, 3)), "n_values": [], "skips_zero": [], "offsets": [0], "members": []}
    assert [len(found) for found in sums(**nothing)] == [0] * 5


def test_arrays_live_as_long_as_the_cells_that_read_them() -> None:
    held = cells()
    for _ in range(100):
        cells()
    assert held.sums(**arrays(SUMS), min_rows=1)[2].tolist() == [3, 1, 2, 1, 1, 1]


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, -math.inf, 5e-324])
def test_the_evidence_of_nonsense_is_a_number(value: float) -> None:
    for arguments in ((value, 1.0, 1.0), (1.0, value, 1.0), (1.0, 1.0, value)):
        assert isinstance(_native.evidence_of(*arguments), float)


INTEGERS = st.one_of(st.integers(-2, 7), st.sampled_from([INT_MIN, INT_MAX, 2**16, 255, 256]))
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    np.int32: INTEGERS,
    np.int64: st.one_of(INTEGERS, st.sampled_from([2**63 - 1, -(2**63), 10**9])),
    np.float64: st.floats(),
    np.float32: st.floats(width=32),
    np.uint8: st.integers(0, 255),
    np.uint32: st.one_of(st.integers(0, 4), st.sampled_from([2**32 - 1, 256, 257])),
}


@settings(max_examples=200, database=None, deadline=None, derandomize=True)
@given(st.data())
def feed_garbage(data: st.DataObject) -> None:
    """Good arrays with some values, or whole arrays, that are garbage; what is taken must be summed."""
    changed: dict[str, Any] = {}
    for name in data.draw(st.sets(st.sampled_from(sorted(DTYPES)), max_size=4)):
        good, values = np.array(GOOD[name], DTYPES[name]), VALUES[DTYPES[name]]
        if data.draw(st.integers(0, 3)) or good.ndim == 2:
            good.flat[data.draw(st.integers(0, good.size - 1))] = data.draw(values)
            changed[name] = good
        else:
            changed[name] = data.draw(st.lists(values, max_size=8))
    for function in (sums, drawn):
        with suppress(ValueError):
            function(**changed, n_threads=data.draw(st.integers(1, 3)))


def test_garbage_never_crashes() -> None:
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout == "done\n"


if __name__ == "__main__":
    feed_garbage()
    print("done")
