"""What the search finds if the scores are true: draws that can be repeated, and p-values that keep their word."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup import _native
from trueup._data import read_table
from trueup.segments import (
    NullMaxima,
    ScoredRows,
    SegmentGrid,
    SegmentSums,
    cross_columns,
    draw_null,
    evidence,
    grid_of,
    measure_segments,
    sort_rows,
    step_down,
)
from trueup.segments import _measure as measure
from trueup.segments import _null as null_module

TOLERANCE = 1e-5  # the null is summed in single precision


class Search(NamedTuple):
    """Rows, and what was found in them."""

    rows: ScoredRows
    grid: SegmentGrid
    cells: _native.Cells
    sums: SegmentSums

    def null(self, n_draws: int = 50, seed: int = 0, n_threads: int = 1) -> NullMaxima:
        return draw_null(
            self.rows, self.grid, self.cells, self.sums, n_draws=n_draws, random_state=seed, n_threads=n_threads
        )

    def p_values(self, **options: Any) -> Any:
        return step_down(self.sums.evidence, self.null(**options))


def search(X: Any, y: Any, p: Any, w: Any = None, max_depth: int = 2) -> Search:
    rows = sort_rows(np.asarray(y, dtype=float), np.asarray(p), w)
    grid = grid_of(cross_columns(read_table(X), max_depth=max_depth), max_depth=max_depth)
    cells = grid.cells(rows, grid.codes_in_order(rows))
    options: Any = {"min_rows": 5, "min_variance": 0.5, "max_segments": None, "n_threads": 1}
    return Search(rows, grid, cells, measure_segments(rows, grid, cells, **options))


def traffic(seed: int, n: int = 400, *, ties: bool = False, weighted: bool = False, off: float = 0.0) -> Any:
    """A table, labels, scores and weights; scores are too low by `off` where the color is red."""
    rng = np.random.default_rng(seed)
    X = {"color": rng.choice(["red", "blue", "green"], n), "age": rng.integers(18, 80, n)}
    p = rng.uniform(0.1, 0.8, n)
    if ties:
        p = np.round(p, 1)
    y = rng.random(n) < p + off * (X["color"] == "red")
    return X, y, p, rng.uniform(0.5, 2, n) if weighted else None


def plain_step_down(observed: Any, drawn: Any) -> Any:
    """Westfall and Young (1993), algorithm 2.8, for maxima: a row a segment and a column a draw."""
    order = np.argsort(-observed, kind="stable")
    p_values = np.empty(len(observed))
    before = 0.0
    for rank, segment in enumerate(order):
        successive = np.array([max(drawn[other, draw] for other in order[rank:]) for draw in range(drawn.shape[1])])
        reached = np.count_nonzero(successive >= observed[segment] * (1 - TOLERANCE))
        before = p_values[segment] = max(before, (1 + reached) / (1 + drawn.shape[1]))
    return p_values


def maxima(observed: Any, drawn: Any, steps: int) -> NullMaxima:
    """What `draw_null` makes of the evidence of every segment in every draw."""
    order = np.argsort(-observed, kind="stable")
    leading, others = order[:steps], order[steps:]
    rest = drawn[others].max(axis=0, initial=0.0).astype(np.float32)
    sigmas = drawn.max(axis=0, initial=0.0).astype(np.float32)
    return NullMaxima(sigmas, leading, drawn[leading].astype(np.float32), rest)


MATRICES = st.tuples(st.integers(1, 12), st.integers(1, 20), st.integers(0, 2**32), st.booleans())


def matrix_of(shape: tuple[int, int, int, bool]) -> tuple[Any, Any]:
    n_segments, n_draws, seed, coarse = shape
    rng = np.random.default_rng(seed)
    observed, drawn = rng.uniform(0, 4, n_segments), rng.uniform(0, 3, (n_segments, n_draws))
    return (np.round(observed), np.round(drawn)) if coarse else (observed, drawn)


@given(MATRICES)
def test_step_down_is_that_of_the_book(shape: tuple[int, int, int, bool]) -> None:
    observed, drawn = matrix_of(shape)
    p_values = step_down(observed, maxima(observed, drawn, 1_000))
    np.testing.assert_allclose(p_values, plain_step_down(observed, drawn), rtol=1e-12)


@given(MATRICES, st.integers(0, 5))
def test_after_the_last_step_the_whole_rest_is_the_measure(shape: tuple[int, int, int, bool], steps: int) -> None:
    observed, drawn = matrix_of(shape)
    null = maxima(observed, drawn, steps)
    p_values, plain = step_down(observed, null), plain_step_down(observed, drawn)
    np.testing.assert_allclose(p_values[null.leading], plain[null.leading], rtol=1e-12)
    assert (p_values >= plain * (1 - 1e-12)).all()
    rest = np.setdiff1d(np.arange(len(observed)), null.leading)
    least = p_values[null.leading].max(initial=0.0)
    for segment in rest:
        reached = np.count_nonzero(null.rest >= observed[segment] * (1 - TOLERANCE))
        assert p_values[segment] == pytest.approx(max(least, (1 + reached) / (1 + null.n_draws)))


@given(MATRICES, st.integers(0, 12))
def test_more_evidence_is_never_less_significant(shape: tuple[int, int, int, bool], steps: int) -> None:
    observed, drawn = matrix_of(shape)
    p_values = step_down(observed, maxima(observed, drawn, steps))
    in_order = p_values[np.argsort(-observed, kind="stable")]
    assert (np.diff(in_order) >= 0).all()
    assert (p_values >= 1 / (1 + drawn.shape[1])).all()
    assert (p_values <= 1).all()


def test_p_values_by_hand() -> None:
    # Three segments, three draws. The maxima of all: 3, 1, 2; without the first segment: 2, 1, 2; of the last: 0, 1, 0.
    observed = np.array([2.5, 2.0, 0.5])
    drawn = np.array([[3.0, 0, 0], [2, 0, 2], [0, 1, 0]])
    null = maxima(observed, drawn, 3)
    # 2.5 is reached once: (1 + 1) / 4. 2 is reached twice: 3 / 4. 0.5 once, but p-values never fall again: 3 / 4.
    assert step_down(observed, null).tolist() == [0.5, 0.75, 0.75]
    assert null.evidence.tolist() == [3, 1, 2]
    assert (null.p_value_of_sigmas(2.5), null.p_value_of_sigmas(3.1), null.p_value_of_sigmas(0)) == (0.5, 0.25, 1.0)


def test_evidence_must_exceed_what_few_enough_draws_reach() -> None:
    # Of 19 draws, a level of 10 % allows one to reach it, for (1 + 1) / 20 = 0.1; 5 % none, and 4 % is out of reach.
    observed = np.array([1.0])
    null = maxima(observed, np.arange(1, 20.0)[None], 1)
    assert null.critical_evidence(0.1) == 18
    assert null.critical_evidence(0.05) == 19
    assert null.critical_evidence(0.04) == math.inf
    for level in (0.05, 0.1, 0.5):
        critical = null.critical_evidence(level)
        for factor, judged in ((1.001, True), (0.999, False)):
            (p_value,) = step_down(np.array([critical * factor]), null)
            assert (p_value <= level) == judged


def drawn_by_hand(found: Search, n_draws: int, seed: int) -> tuple[Any, Any]:
    """Ranges of every segment in sigmas and as evidence, a draw a column, with a mask a segment and no kernel."""
    rows, grid = found.rows, found.grid
    rng = np.random.default_rng(seed)
    codes = grid.codes_in_order(rows)
    sigmas, worth = np.empty((2, len(found.sums), n_draws))
    for draw in range(n_draws):
        residuals = steps_of(rows, rng.random(rows.n) < rows.scores)
        for i in range(len(found.sums)):
            inside = np.ones(rows.n, dtype=bool)
            for member, code in grid.parts_of(int(found.sums.combination[i]), int(found.sums.cell[i])):
                inside &= codes[member] == code
            ids = rows.score_ids[inside]
            path = np.cumsum(residuals[inside])[np.append(ids[1:] != ids[:-1], True)]
            span = max(0.0, path.max()) - min(0.0, path.min())
            sigmas[i, draw] = span / math.sqrt(found.sums.variance[i])
            worth[i, draw] = evidence(np.array([span]), found.sums.variance[i], found.sums.unit[i])[0]
    return sigmas, worth


def steps_of(rows: ScoredRows, labels: Any) -> Any:
    weights = 1.0 if rows.weights is None else rows.weights
    return weights * (labels - rows.scores)


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_are_those_of_a_plain_search(weighted: bool) -> None:
    found = search(*traffic(0, 150, weighted=weighted))
    null = found.null(n_draws=16, seed=5)
    sigmas, worth = drawn_by_hand(found, 16, 5)
    np.testing.assert_allclose(null.sigmas, sigmas.max(axis=0), rtol=1e-4)
    np.testing.assert_allclose(null.leading_evidence, worth[null.leading], rtol=1e-4, atol=1e-6)
    assert not null.rest.any()
    assert found.sums.evidence[null.leading].tolist() == sorted(found.sums.evidence, reverse=True)


def test_maxima_are_distributed_as_those_of_another_plain_search() -> None:
    # Two samples of 300 differ by less than 1.63 √(2/300) = 0.133 in 99 of 100 cases (Kolmogorov and Smirnov).
    found = search(*traffic(1, 120, ties=True))
    drawn = found.null(n_draws=300, seed=0).sigmas
    plain = drawn_by_hand(found, 300, 1)[0].max(axis=0)
    points = np.sort(np.concatenate([drawn, plain]))
    shares = [np.searchsorted(np.sort(sample), points, side="right") / 300 for sample in (drawn, plain)]
    assert np.abs(shares[0] - shares[1]).max() < 0.133


@pytest.mark.parametrize("steps", [0, 1, 5, 10_000])
def test_what_has_no_step_of_its_own_is_in_the_rest(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = search(*traffic(2, off=0.2))
    whole = found.null()
    monkeypatch.setattr(null_module, "STEPS", steps)
    null = found.null()
    assert null.leading.tolist() == whole.leading[:steps].tolist()
    np.testing.assert_array_equal(null.leading_evidence, whole.leading_evidence[:steps])
    np.testing.assert_array_equal(null.rest, whole.leading_evidence[steps:].max(axis=0, initial=0.0))
    np.testing.assert_array_equal(null.sigmas, whole.sigmas)
    np.testing.assert_array_equal(null.evidence, whole.evidence)
    plain = plain_step_down(found.sums.evidence, whole.leading_evidence[np.argsort(whole.leading)])
    p_values = step_down(found.sums.evidence, null)
    assert p_values[null.leading].tolist() == plain[null.leading].tolist()
    assert (p_values >= plain).all()


def test_batches_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X = {f"c{i}": rng.integers(0, 3, 300) for i in range(6)}
    p = np.round(rng.uniform(0.1, 0.9, 300), 2)
    found = search(X, rng.random(300) < p, p, max_depth=3)
    whole = found.null(20)
    monkeypatch.setattr(null_module, "STEPS", 7)
    few = found.null(20)
    monkeypatch.setattr(measure, "_VISITS_PER_BATCH", 1)
    again = found.null(20, n_threads=3)
    for name in ("sigmas", "leading", "leading_evidence", "rest"):
        np.testing.assert_array_equal(getattr(few, name), getattr(again, name))
    np.testing.assert_array_equal(whole.evidence, again.evidence)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_order_of_rows_does_not_change_p_values(ties: bool, weighted: bool) -> None:
    X, y, p, w = traffic(4, ties=ties, weighted=weighted, off=0.1)
    expected = search(X, y, p, w).p_values()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(y))
        shuffled = {name: column[order] for name, column in X.items()}
        found = search(shuffled, y[order], p[order], None if w is None else w[order])
        assert found.p_values().tolist() == expected.tolist()


def test_draws_are_repeated_with_their_seed_only() -> None:
    found = search(*traffic(5))
    one, same, other = found.null(seed=1), found.null(seed=1), found.null(seed=2)
    assert one.sigmas.tolist() == same.sigmas.tolist()
    assert one.sigmas.tolist() != other.sigmas.tolist()
    assert one.n_draws == 50
    # More draws begin with the same ones.
    assert found.null(80, seed=1).sigmas[:50].tolist() == one.sigmas.tolist()


def test_draws_do_not_depend_on_the_labels() -> None:
    X, y, p, _ = traffic(6, ties=True)
    np.testing.assert_allclose(search(X, y, p).null().sigmas, search(X, ~y, p).null().sigmas, rtol=1e-5)


def test_scores_of_0_and_1_are_drawn_as_they_say() -> None:
    # Only one score is uncertain, in 40 rows: the sigmas drawn are |S| / √10, S a sum of 40 fair steps of a half.
    p = np.array([0.0] * 30 + [0.5] * 40 + [1.0] * 30)
    found = search({}, p > 0.7, p)
    steps = found.null(200).sigmas * math.sqrt(10)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-4)
    assert steps.max() <= 20


@pytest.mark.slow
def test_one_true_model_in_twenty_raises_a_false_alarm() -> None:
    # Binomial(200, 0.05): 10 ± 3.1; three standard deviations either side. Without step-down's maxima, the least of
    # some 20 p-values would be below 5 % in most models.
    alarms = 0
    for seed in range(200):
        found = search(*traffic(100 + seed, 150))
        assert 10 < len(found.sums) < 30
        alarms += found.p_values(n_draws=19, seed=seed).min() <= 0.05
    assert 1 <= alarms <= 19


def test_a_segment_that_is_off_is_found_and_named() -> None:
    found = search(*traffic(7, 2_000, off=0.2))
    p_values = found.p_values(n_draws=99)
    worst = int(found.sums.evidence.argmax())
    segment = found.grid.segment(int(found.sums.combination[worst]), int(found.sums.cell[worst]))
    assert str(segment) == "color = red"
    assert p_values[worst] == 0.01
    significant = [found.grid.segment(*at) for at in places(found.sums, p_values <= 0.05)]
    blue_or_green = [segment for segment in significant if "blue" in str(segment) or "green" in str(segment)]
    assert significant
    assert not blue_or_green


def places(sums: SegmentSums, chosen: Any) -> list[tuple[int, int]]:
    some = sums.of(chosen)
    return list(zip(some.combination.tolist(), some.cell.tolist(), strict=True))
