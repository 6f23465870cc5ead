"""Differences in segments, against a mask a segment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup
from plain_cells import Case, cases
from simulated_pairs import better_model, equal_models
from trueup.comparison._losses import paired_loss
from trueup.segments import parse_segment

QUICK = {"n_bootstrap": 100, "null_samples": 40, "n_jobs": 1}


@settings(max_examples=60, deadline=None)
@given(case=cases(st.integers(0, 300)), seed=st.integers(0, 2**32), threads=st.sampled_from([1, 3]))
def test_products_of_sums_over_ids_are_those_of_masks(case: Case, seed: int, threads: int) -> None:
    lanes = np.random.default_rng(seed).normal(size=(case.n_rows, 2))
    segments = case.segments(1)
    place = np.array([segment.combination for segment in segments], dtype=np.int64)
    found = case.cells.products(
        offsets=case.offsets,
        members=case.members,
        chosen_offsets=np.searchsorted(place, np.arange(len(case.combinations) + 1)).astype(np.int64),
        cell=np.array([segment.cell for segment in segments], dtype=np.int32),
        lanes=lanes,
        n_threads=threads,
    )
    for segment, (uu, uv, vv) in zip(segments, found, strict=True):
        u, v = (np.bincount(case.score_ids[segment.inside], lane[segment.inside]) for lane in lanes.T)
        assert (uu, uv, vv) == pytest.approx((u @ u, u @ v, v @ v))


@pytest.mark.parametrize("kind", ["noisy", "clustered"])
def test_every_segment_is_what_its_mask_says(kind: str) -> None:
    pair = equal_models(4, 1_500, kind)  # type: ignore[arg-type]
    weights = np.random.default_rng(0).uniform(0.5, 2, 1_500)
    result = trueup.compare(
        pair.y, pair.base, pair.candidate, pair.X, sample_weight=weights, cluster=pair.cluster, max_depth=2, **QUICK
    )
    table = {name: values.tolist() for name, values in pair.X.items()}
    losses = [-(pair.y * np.log(p) + (1 - pair.y) * np.log1p(-p)) for p in (pair.base, pair.candidate)]
    rows = result.segments.to_pylist()
    assert len(rows) == result.n_segments > 100
    for row in rows[:60]:
        inside = np.ones(1_500, bool) if row["segment"] == "all rows" else parse_segment(row["segment"]).mask(table)
        w, difference = weights[inside], (losses[1] - losses[0])[inside]
        mean = w @ difference / w.sum()
        assert row["rows"] == inside.sum()
        assert row["share"] == pytest.approx(w.sum() / weights.sum())
        assert row["base_loss"] == pytest.approx(w @ losses[0][inside] / w.sum())
        assert row["difference"] == pytest.approx(mean, abs=1e-12)
        assert row["candidate_loss"] == pytest.approx(row["base_loss"] + mean)
        assert row["observed_rate"] == pytest.approx(w @ pair.y[inside] / w.sum())
        assert row["mean_base"] == pytest.approx(w @ pair.base[inside] / w.sum())
        assert row["mean_candidate"] == pytest.approx(w @ pair.candidate[inside] / w.sum())
        slope = np.log(pair.candidate / (1 - pair.candidate)) - np.log(pair.base / (1 - pair.base))
        neutral = np.log((1 - pair.base) / (1 - pair.candidate)) / slope
        expected = np.sum((w * slope[inside]) ** 2 * neutral[inside] * (1 - neutral[inside]))
        if pair.cluster is None:
            spread = np.sum((w * (difference - mean)) ** 2)
        else:
            of_clusters = np.bincount(pair.cluster[inside], w * difference)
            spread = of_clusters @ of_clusters
        assert row["standard_error"] == pytest.approx(np.sqrt(max(expected, spread)) / w.sum())
        assert row["high"] - row["low"] == pytest.approx(2 * 1.959964 * row["standard_error"])


@pytest.mark.parametrize("loss", ["log_loss", "brier"])
def test_at_the_neutral_probability_both_models_lose_the_same(loss: str) -> None:
    pair = equal_models(1, 200)
    from trueup.comparison._input import read_input

    given_rows = read_input(pair.y, pair.base, pair.candidate, None, sample_weight=None, cluster=None)
    losses = paired_loss(given_rows.paired(np.arange(200)), loss)
    between = np.sort([pair.base, pair.candidate], axis=0)
    assert ((losses.neutral >= between[0]) & (losses.neutral <= between[1])).all()

    def expected(scores: np.ndarray) -> np.ndarray:
        one, zero = (-np.log(scores), -np.log1p(-scores)) if loss == "log_loss" else ((1 - scores) ** 2, scores**2)
        return losses.neutral * one + (1 - losses.neutral) * zero

    np.testing.assert_allclose(expected(pair.base), expected(pair.candidate), rtol=1e-9)


def test_without_draws_the_level_is_shared_among_the_segments() -> None:
    pair = better_model(0, 20_000, harmed_by=1.0)
    result = trueup.compare(
        pair.y, pair.base, pair.candidate, pair.X, n_bootstrap=100, null_samples=0, max_depth=1, n_jobs=1
    )
    worst = next(row for row in result.segments.to_pylist() if row["outcome"] == "harmed")
    assert worst["segment"] == "region = north"
    assert 0 < worst["adjusted_p_value"] < 1e-6
    alone = next(row for row in result.segments.to_pylist() if row["outcome"] == "unclear")
    assert alone["adjusted_p_value"] > alone["p_value"]


def test_a_story_is_told_once() -> None:
    pair = better_model(0, 20_000, harmed_by=1.0)
    rows = trueup.compare(pair.y, pair.base, pair.candidate, pair.X, **QUICK).segments.to_pylist()
    harmed = [row for row in rows if row["outcome"] == "harmed"]
    assert len(harmed) > 1
    assert [row["segment"] for row in harmed if row["is_story"]] == ["region = north"]
