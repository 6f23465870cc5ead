"""The compiled sums of cells agree with a mask for every segment, to the last bit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_cells import Case, cases
from trueup import _native
from trueup.segments import evidence

# A chunk of rows is 512.
SIZES = st.one_of(st.integers(0, 40), st.sampled_from([0, 1, 2, 511, 512, 513, 1025]))
MIN_ROWS = st.sampled_from([0, 1, 2, 10, 10**6])
LANES, DRAWS = _native.SUM_LANES, _native.DRAW_LANES


@settings(max_examples=100)
@given(case=cases(SIZES), min_rows=MIN_ROWS, whole=st.booleans(), seed=st.integers(0, 2**32))
def test_sums_and_ranges_agree_with_a_mask_a_segment(case: Case, min_rows: int, whole: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    lanes = rng.normal(size=(case.n_rows, LANES))
    if whole:  # with sums that come back to where they were
        lanes = np.round(lanes)
    combination, cell, rows, sums, range_ = case.cells.sums(case.offsets, case.members, lanes, min_rows)
    expected = case.segments(max(1, min_rows))
    assert list(zip(combination.tolist(), cell.tolist(), strict=True)) == [segment[:2] for segment in expected]
    assert rows.tolist() == [np.count_nonzero(segment.inside) for segment in expected]
    for i, segment in enumerate(expected):
        path = case.path(lanes[:, 0], segment.inside)
        np.testing.assert_array_equal(sums[i], case.path(lanes, segment.inside)[-1])
        assert range_[i] == path.max() - path.min()


@settings(max_examples=40)
@given(case=cases(SIZES), seed=st.integers(0, 2**32))
def test_drawn_labels_agree_with_a_mask_a_segment(case: Case, seed: int) -> None:
    assert_draws_agree(case, np.random.default_rng(seed), n_threads=1)


def assert_draws_agree(case: Case, rng: np.random.Generator, n_threads: int) -> None:
    given_draws = draws_of(case, rng)
    sigmas, rest, slots = case.cells.drawn(**given_draws, n_threads=n_threads)
    expected = case.segments(1)
    most_sigmas, most_rest = np.zeros((2, DRAWS))
    by_slot = np.zeros_like(slots)
    labels = given_draws["draws"][:, None] >> np.arange(DRAWS, dtype=np.uint8) & 1
    steps = np.where(labels, given_draws["residual_if_one"][:, None], given_draws["residual_if_zero"][:, None])
    for i, segment in enumerate(expected):
        path = case.path(steps, segment.inside).astype(np.float64)
        range_ = path.max(axis=0) - path.min(axis=0)
        variance, unit, slot = (given_draws[name][i] for name in ("variance", "unit", "slot"))
        worth = evidence(range_, np.full(DRAWS, variance), np.full(DRAWS, unit))
        of_sigma = max(variance, given_draws["min_variance"] * unit**2)
        most_sigmas = np.maximum(most_sigmas, range_ / math.sqrt(of_sigma))
        if slot >= 0:
            by_slot[slot] = worth
        else:
            most_rest = np.maximum(most_rest, worth)
    np.testing.assert_allclose(sigmas, most_sigmas, rtol=1e-6)
    np.testing.assert_allclose(rest, most_rest, rtol=1e-6)
    np.testing.assert_allclose(slots, by_slot, rtol=1e-6)


def draws_of(case: Case, rng: np.random.Generator) -> dict[str, Any]:
    """All cells that have rows, each third without a slot, and draws of any kind."""
    chosen = case.segments(1)
    counts = np.bincount([segment.combination for segment in chosen], minlength=len(case.combinations))
    slot = np.where(np.arange(len(chosen)) % 3 == 0, -1, np.arange(len(chosen)))
    residuals = rng.random(case.n_rows).astype(np.float32)
    return {
        "offsets": case.offsets,
        "members": case.members,
        "chosen_offsets": np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        "cell": np.array([segment.cell for segment in chosen], dtype=np.int32),
        "variance": rng.uniform(0.1, 9, len(chosen)) * rng.choice([1, 1e6]),  # evidence below sigmas, or all but equal
        "unit": rng.uniform(0.5, 2, len(chosen)),
        "min_variance": float(rng.choice([0.0, 2.0])),
        "slot": slot.astype(np.int32),
        "n_slots": len(chosen) + 1,
        "draws": rng.integers(0, 256, case.n_rows).astype(np.uint8),
        "residual_if_zero": -residuals,
        "residual_if_one": 1 - residuals,
    }


@settings(max_examples=30)
@given(case=cases(st.sampled_from([1, 40, 600])), seed=st.integers(0, 2**32), n_threads=st.integers(2, 4))
def test_the_number_of_threads_does_not_change_a_bit(case: Case, seed: int, n_threads: int) -> None:
    rng = np.random.default_rng(seed)
    lanes = rng.normal(size=(case.n_rows, LANES))
    for one, other in zip(
        case.cells.sums(case.offsets, case.members, lanes, 1, 1),
        case.cells.sums(case.offsets, case.members, lanes, 1, n_threads),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)
    drawn = draws_of(case, rng)
    for one, other in zip(
        case.cells.drawn(**drawn, n_threads=1), case.cells.drawn(**drawn, n_threads=n_threads), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def many_combinations(n_alone: int, rng: np.random.Generator) -> Case:
    """The triples of ten partitions, after a few that stand alone.

    64 combinations are walked together. With 2 or 3 before the triples, the next 64 begin with one whose first two
    partitions are those of the one before.
    """
    triples = [list(triple) for triple in itertools.combinations(range(10), 3)]
    return Case(
        codes=rng.integers(0, 3, (10, 600)).astype(np.uint8),
        n_values=np.full(10, 3, dtype=np.uint32),
        skips_zero=np.zeros(10, dtype=np.uint8),
        score_ids=np.sort(rng.integers(0, 600, 600)).astype(np.uint32),
        combinations=[[place] for place in range(n_alone)] + triples,
    )


@pytest.mark.parametrize("n_alone", [0, 1, 2, 3])
@pytest.mark.parametrize("n_threads", [1, 4])
def test_sums_of_a_hundred_combinations_agree_with_masks(n_alone: int, n_threads: int) -> None:
    rng = np.random.default_rng(0)
    case = many_combinations(n_alone, rng)
    lanes = rng.normal(size=(600, LANES))
    combination, cell, _, sums, range_ = case.cells.sums(case.offsets, case.members, lanes, 5, n_threads)
    expected = case.segments(5)
    assert len(expected) > 3_000
    assert list(zip(combination.tolist(), cell.tolist(), strict=True)) == [segment[:2] for segment in expected]
    paths = [case.path(lanes, segment.inside) for segment in expected]
    np.testing.assert_array_equal(sums, [path[-1] for path in paths])
    np.testing.assert_array_equal(range_, [path[:, 0].max() - path[:, 0].min() for path in paths])


@pytest.mark.parametrize("seed", [0, 1])
def test_draws_of_a_hundred_combinations_agree_with_masks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert_draws_agree(many_combinations(2, rng), rng, n_threads=4)


def test_a_tie_counts_only_at_its_end() -> None:
    # +3, then -1 at the same score: the sums seen are 0 and 2. Apart: 0, 3 and 2.
    lanes = np.zeros((2, LANES))
    lanes[:, 0] = [3, -1]
    for ids, expected in (([0, 0], 2), ([0, 1], 3)):
        cells = _native.Cells(
            np.zeros((0, 2), np.uint8), np.zeros(0, np.uint32), np.zeros(0, np.uint8), np.array(ids, np.uint32)
        )
        assert cells.sums(np.zeros(2, np.int32), np.zeros(0, np.int32), lanes, 1)[4].tolist() == [expected]


def test_a_tie_across_chunks_counts_only_at_its_end() -> None:
    # Row 511 ends a chunk of 512, and its score goes on: 512 steps up, one down.
    lanes = np.zeros((513, LANES))
    lanes[:, 0] = [1] * 512 + [-1]
    ids = np.array([0] * 511 + [1, 1], np.uint32)
    cells = _native.Cells(np.zeros((0, 513), np.uint8), np.zeros(0, np.uint32), np.zeros(0, np.uint8), ids)
    assert cells.sums(np.zeros(2, np.int32), np.zeros(0, np.int32), lanes, 1)[4].tolist() == [511]


def test_rows_of_code_nought_are_in_no_cell_of_a_partition_that_skips_it() -> None:
    lanes = np.ones((4, LANES))
    cells = _native.Cells(
        np.array([[0, 1, 0, 1], [0, 0, 1, 1]], np.uint8),
        np.array([2, 2], np.uint32),
        np.array([1, 0], np.uint8),
        np.arange(4, dtype=np.uint32),
    )
    offsets, members = np.array([0, 1, 2, 4], np.int32), np.array([0, 1, 0, 1], np.int32)
    combination, cell, rows, _, _ = cells.sums(offsets, members, lanes, 1)
    # The first partition: cell 1. The second: 0 and 1. Both: 10 and 11, which are cells 2 and 3.
    assert combination.tolist() == [0, 1, 1, 2, 2]
    assert cell.tolist() == [1, 0, 1, 2, 3]
    assert rows.tolist() == [2, 2, 2, 1, 1]


RANGES = st.floats(0, 1e6)
VARIANCES = st.floats(1e-3, 1e9)
UNITS = st.floats(1e-2, 1e2)


@given(RANGES, VARIANCES, UNITS)
def test_evidence_is_the_same_compiled_and_plain(range_: float, variance: float, unit: float) -> None:
    (plain,) = evidence(np.array([range_]), np.array([variance]), np.array([unit]))
    assert _native.evidence_of(range_, variance, unit) == pytest.approx(float(plain), rel=1e-12)


@given(RANGES, VARIANCES, UNITS)
def test_evidence_is_never_more_than_the_sigmas(range_: float, variance: float, unit: float) -> None:
    assert 0 <= _native.evidence_of(range_, variance, unit) <= range_ / math.sqrt(variance) * (1 + 1e-12)


@given(st.tuples(RANGES, RANGES), VARIANCES, UNITS)
def test_a_wider_range_is_more_evidence(ranges: tuple[float, float], variance: float, unit: float) -> None:
    less, more = sorted(ranges)
    assert _native.evidence_of(less, variance, unit) <= _native.evidence_of(more, variance, unit) * (1 + 1e-12)


@given(RANGES, VARIANCES, UNITS, st.floats(1e-3, 1e3))
def test_the_scale_of_weights_does_not_change_the_evidence(
    range_: float, variance: float, unit: float, scale: float
) -> None:
    scaled = _native.evidence_of(range_ * scale, variance * scale**2, unit * scale)
    assert scaled == pytest.approx(_native.evidence_of(range_, variance, unit), rel=1e-6, abs=1e-100)


@pytest.mark.parametrize("sigmas", [0.5, 2, 5, 20])
def test_with_a_large_variance_evidence_is_the_sigmas(sigmas: float) -> None:
    # h(u) is u²/2 - u³/6: with 1e14 rows a share of sigmas / 6e7 is lost, at most.
    worth = _native.evidence_of(sigmas * 1e7, 1e14, 1)
    assert worth == pytest.approx(sigmas, rel=1e-6)
    assert worth < sigmas


def test_evidence_by_hand() -> None:
    # v = 1, u = e - 1: h = e · 1 - (e - 1) = 1, and the evidence is √2.
    assert _native.evidence_of(math.e - 1, 1, 1) == pytest.approx(math.sqrt(2), rel=1e-14)
    # In units of 2, with a variance of 4: the same.
    assert _native.evidence_of(2 * (math.e - 1), 4, 2) == pytest.approx(math.sqrt(2), rel=1e-14)
    assert _native.evidence_of(0, 5, 1) == 0


def test_both_formulas_of_the_evidence_meet() -> None:
    # u is 1e-4 where the series takes over; the next term of it is u⁴/12, a share of 1.7e-9 of h.
    below, above = (_native.evidence_of(math.nextafter(1e-4, to) * 1e6, 1e6, 1) for to in (0, 1))
    assert below == pytest.approx(above, rel=2e-9)
