"""Drawing and halving rows, against the same written to be read: weights times how often each group came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup import _native
from trueup.comparison import _ranked
from trueup.comparison._ranked import HALVED, RESAMPLED, halve, rank_rows, resample
from trueup.comparison._rows import PairedRows, paired_loss
from trueup.metrics import (
    average_precision,
    brier_score,
    ecce,
    ecce_sigma,
    expected_calibration_error,
    log_loss,
    roc_auc,
)

PLAIN = {"auroc": roc_auc, "prauc": average_precision, "ecce": ecce, "ece": expected_calibration_error}


def rows_of(seed: int, n: int, *, ties: bool, weighted: bool, n_groups: int | None, soft: bool = False) -> PairedRows:
    rng = np.random.default_rng(seed)
    base, candidate = rng.random((2, n))
    if ties:
        base, candidate = np.round(base, 1), np.round(candidate, 1)
    labels = rng.random(n) if soft else (rng.random(n) < base).astype(np.float64)
    labels[:2] = 0, 1
    group = np.arange(n) if n_groups is None else np.sort(rng.integers(0, n_groups, n))
    group = np.unique(group, return_inverse=True)[1].reshape(-1).astype(np.int32)
    weights = rng.uniform(0.1, 3, n) if weighted else np.ones(n)
    return PairedRows(labels, base, candidate, weights, group, int(group.max()) + 1, n_groups is not None)


any_rows = given(
    seed=st.integers(0, 2**32),
    n=st.integers(2, 60),
    ties=st.booleans(),
    weighted=st.booleans(),
    n_groups=st.sampled_from([None, 3, 20]),
    soft=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@any_rows
def test_a_replicate_is_the_metric_with_weights_times_draws(seed: int, n: int, **kind: Any) -> None:
    rows = rows_of(seed, n, **kind)
    model = rank_rows(rows, rows.candidate)
    drawn = resample(model, n_replicates=3, seed=seed, n_threads=2)
    for replicate in range(3):
        counts = _native.draw_groups(seed, replicate, rows.n_groups)
        weights = rows.weights * counts[rows.group]
        positive, negative = weights @ rows.labels, weights @ (1 - rows.labels)
        for name in RESAMPLED:
            found = drawn[name][replicate]
            if positive == 0 or (name == "auroc" and negative == 0):
                assert np.isnan(found)
            else:
                plain = PLAIN[name](rows.labels, rows.candidate, sample_weight=weights)
                assert found == pytest.approx(plain, abs=1e-12)


@settings(max_examples=60, deadline=None)
@any_rows
def test_a_split_gives_the_metric_of_the_groups_inside_and_of_those_outside(seed: int, n: int, **kind: Any) -> None:
    rows = rows_of(seed, n, **kind)
    halves = halve(rank_rows(rows, rows.candidate), n_splits=3, seed=seed, n_threads=2)
    for split in range(3):
        inside = _native.draw_half(seed, split, rows.n_groups)
        for half, chosen in enumerate((inside, 1 - inside)):
            weights = rows.weights * chosen[rows.group]
            for name in HALVED:
                found = halves[name][split, half]
                if weights.sum() == 0:  # of one group, all is in one half
                    assert np.isnan(found)
                else:
                    plain = PLAIN[name](rows.labels, rows.candidate, sample_weight=weights)
                    assert found == pytest.approx(plain, abs=1e-12)


def test_sigmas_are_those_of_independent_groups() -> None:
    rows = rows_of(3, 4_000, ties=False, weighted=False, n_groups=None)
    found = rank_rows(rows, rows.base).ecce_in_sigmas()
    # The base is right, so that residuals spread as its scores promise, give or take some per cent.
    assert found == pytest.approx(ecce_sigma(rows.labels, rows.base), rel=0.05)
    labels, base, candidate, weights, group = (
        np.tile(values, 3) for values in (rows.labels, rows.base, rows.candidate, rows.weights, rows.group)
    )
    thrice = PairedRows(labels, base, candidate, weights, group, rows.n_groups, True)
    assert rank_rows(thrice, base).ecce_in_sigmas() == pytest.approx(found)
    assert rank_rows(rows, rows.labels).ecce_in_sigmas() == 0


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_what_is_measured_on_all_rows_is_what_the_metrics_say(ties: bool, soft: bool) -> None:
    rows = rows_of(3, 500, ties=ties, weighted=True, n_groups=None, soft=soft)
    for scores in (rows.base, rows.candidate):
        measured = rank_rows(rows, scores).measured()
        for name, metric in PLAIN.items():
            assert measured[name] == pytest.approx(metric(rows.labels, scores, sample_weight=rows.weights), abs=1e-12)
    for name, plain in (("log_loss", log_loss), ("brier", brier_score)):
        loss = paired_loss(rows, name)
        base, candidate = (plain(rows.labels, s, sample_weight=rows.weights) for s in (rows.base, rows.candidate))
        assert (loss.mean_base, loss.mean_difference) == pytest.approx((base, candidate - base), abs=1e-12)


def test_as_many_groups_are_drawn_as_there_are_and_each_as_likely() -> None:
    n, replicates = 50, 4_000
    counts = np.array([_native.draw_groups(1, replicate, n) for replicate in range(replicates)]).astype(float)
    assert (counts.sum(axis=1) == n).all()
    # A count is binomial, n draws of chance 1 / n: mean 1, variance 1 - 1/n, and two counts have covariance -1/n.
    assert np.abs(counts.mean(axis=0) - 1).max() < 5 * np.sqrt(0.98 / replicates)
    assert counts.var(axis=0).mean() == pytest.approx(0.98, abs=0.02)
    assert len({tuple(row) for row in counts.tolist()}) == replicates
    assert not np.array_equal(_native.draw_groups(2, 0, n), _native.draw_groups(1, 0, n))


def test_half_of_the_groups_are_inside_and_each_choice_is_as_likely() -> None:
    splits = 6_000
    for n in (5, 6):
        inside = np.array([_native.draw_half(1, split, n) for split in range(splits)])
        assert (inside.sum(axis=1) == n // 2).all()
        _, counts = np.unique(inside, axis=0, return_counts=True)
        # Two of 5 can be chosen in 10 ways, three of 6 in 20: so many splits each, give or take 5 standard deviations.
        ways = {5: 10, 6: 20}[n]
        assert len(counts) == ways
        assert np.abs(counts - splits / ways).max() < 5 * np.sqrt(splits / ways * (1 - 1 / ways))
    assert not np.array_equal(_native.draw_half(2, 0, 50), _native.draw_half(1, 0, 50))


@pytest.mark.parametrize("n_groups", [None, 40])
def test_the_standard_error_of_a_loss_is_what_draws_without_end_would_spread(n_groups: int | None) -> None:
    rows = rows_of(5, 400, ties=False, weighted=True, n_groups=n_groups)
    loss = paired_loss(rows, "log_loss")
    means = []
    for replicate in range(4_000):
        weights = rows.weights * _native.draw_groups(0, replicate, rows.n_groups)[rows.group]
        means.append(weights @ loss.difference / weights.sum())
    # A standard deviation of 4,000 draws is within 1.1 % of its limit; the ratio's second-order terms add some.
    unbiased = np.std(means) * np.sqrt(rows.n_groups / (rows.n_groups - 1))
    assert loss.standard_error == pytest.approx(unbiased, rel=0.06)


def test_the_number_of_threads_changes_no_bit() -> None:
    model = rank_rows(rows := rows_of(7, 300, ties=True, weighted=True, n_groups=30), rows.base)
    one, four = (resample(model, n_replicates=20, seed=9, n_threads=threads) for threads in (1, 4))
    for name in RESAMPLED:
        np.testing.assert_array_equal(one[name], four[name])
    one, four = (halve(model, n_splits=20, seed=9, n_threads=threads) for threads in (1, 4))
    for name in HALVED:
        np.testing.assert_array_equal(one[name], four[name])


def test_small_batches_change_no_replicate_and_no_split(monkeypatch: pytest.MonkeyPatch) -> None:
    model = rank_rows(rows := rows_of(7, 300, ties=True, weighted=True, n_groups=30), rows.base)
    whole = resample(model, n_replicates=20, seed=9, n_threads=1) | halve(model, n_splits=20, seed=9, n_threads=1)
    monkeypatch.setattr(_ranked, "_VISITS_A_BATCH", 2_000)
    parts = resample(model, n_replicates=20, seed=9, n_threads=1) | halve(model, n_splits=20, seed=9, n_threads=1)
    for name, values in whole.items():
        np.testing.assert_array_equal(parts[name], values)


def test_a_row_of_no_group_is_refused() -> None:
    model = rank_rows(rows := rows_of(7, 30, ties=True, weighted=True, n_groups=5), rows.base)
    arrays = vars(model) | {"group": model.group + np.int32(1)}
    for draw in (_native.resample, _native.halve):
        with pytest.raises(ValueError, match="no such group"):
            draw(**arrays, seed=0, first=0, last=1)
