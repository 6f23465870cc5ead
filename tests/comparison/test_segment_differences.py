"""Differences in segments, against a mask a segment."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup
from plain_cells import Case, cases
from simulated_pairs import better_model, equal_models, logit, sigmoid
from trueup._data import read_rows
from trueup.comparison import Comparison
from trueup.comparison._page import comparison_page
from trueup.comparison._rows import paired_loss, paired_rows
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


@pytest.mark.parametrize("kind", ["noisy", "grouped"])
def test_every_segment_is_what_its_mask_says(kind: str) -> None:
    pair = equal_models(4, 1_500, kind)  # type: ignore[arg-type]
    weights = np.random.default_rng(0).uniform(0.5, 2, 1_500)
    result = trueup.compare(
        pair.X, pair.y, pair.base, pair.candidate, sample_weight=weights, groups=pair.groups, max_depth=2, **QUICK
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
        if pair.groups is None:
            spread = np.sum((w * (difference - mean)) ** 2)
        else:
            of_groups = np.bincount(pair.groups[inside], w * difference)
            spread = of_groups @ of_groups
        assert row["standard_error"] == pytest.approx(np.sqrt(max(expected, spread)) / w.sum())
        assert row["high"] - row["low"] == pytest.approx(2 * 1.959964 * row["standard_error"])


@pytest.mark.parametrize("loss", ["log_loss", "brier"])
def test_at_the_neutral_probability_both_models_lose_the_same(loss: str) -> None:
    pair = equal_models(1, 200)
    rows = read_rows(None, pair.y, {"base": pair.base, "candidate": pair.candidate})
    losses = paired_loss(paired_rows(rows, np.arange(200)), loss)
    between = np.sort([pair.base, pair.candidate], axis=0)
    assert ((losses.neutral >= between[0]) & (losses.neutral <= between[1])).all()

    def expected(scores: np.ndarray) -> np.ndarray:
        one, zero = (-np.log(scores), -np.log1p(-scores)) if loss == "log_loss" else ((1 - scores) ** 2, scores**2)
        return losses.neutral * one + (1 - losses.neutral) * zero

    np.testing.assert_allclose(expected(pair.base), expected(pair.candidate), rtol=1e-9)


def test_without_draws_the_level_is_shared_among_the_segments() -> None:
    pair = better_model(0, 20_000, harmed_by=1.0)
    result = trueup.compare(
        pair.X, pair.y, pair.base, pair.candidate, n_bootstrap=100, null_samples=0, max_depth=1, n_jobs=1
    )
    worst = next(row for row in result.segments.to_pylist() if row["outcome"] == "harmed")
    assert worst["segment"] == "region = north"
    assert 0 < worst["adjusted_p_value"] < 1e-6
    alone = next(row for row in result.segments.to_pylist() if row["outcome"] == "unclear")
    assert alone["adjusted_p_value"] > alone["p_value"]


def test_a_pattern_is_told_once() -> None:
    pair = better_model(0, 20_000, harmed_by=1.0)
    rows = trueup.compare(pair.X, pair.y, pair.base, pair.candidate, **QUICK).segments.to_pylist()
    harmed = [row for row in rows if row["outcome"] == "harmed"]
    assert len(harmed) > 1
    assert [row["segment"] for row in harmed if row["is_pattern"]] == ["region = north"]


def _harmed_in_the_north(**columns: list[str]) -> Comparison:
    """2,000 rows of which a tenth, the north, is harmed, and the others gain; each column tells them apart."""
    rng = np.random.default_rng(0)
    north = np.arange(2_000) % 10 == 0
    truth = rng.uniform(0.2, 0.8, 2_000)
    y = (rng.random(2_000) < truth).astype(np.int64)
    base = np.where(north, truth, sigmoid(logit(truth) + 1))
    candidate = np.where(north, sigmoid(logit(truth) - 3), truth)
    X = {name: np.where(north, *values) for name, values in columns.items()}
    return trueup.compare(X, y, base, candidate, max_depth=2, n_bootstrap=50, null_samples=50, random_state=0, n_jobs=1)


def _shown(result: Comparison) -> list[str]:
    return [row["segment"] for row in result._rows_of(result._listing.ranked(10))]


def test_segments_with_the_same_rows_are_shown_once_by_the_shortest_description() -> None:
    result = _harmed_in_the_north(hemisphere=["northern", "southern"], region=["north", "south"])
    both = "hemisphere = northern and region = north"
    assert {"hemisphere = northern", "region = north", both} <= set(result.segments.column("segment").to_pylist())
    assert _shown(result) == ["region = north", "region = south"]
    assert [row["segment"] for row in result.segments.to_pylist() if row["is_pattern"]] == [
        "region = south",
        "region = north",
    ]


def test_segments_with_other_rows_of_the_same_sums_are_both_shown() -> None:
    y, side = np.tile([0, 0, 0, 1], 500), np.repeat(["left", "right"], 1_000)
    result = trueup.compare(
        {"side": side}, y, np.full(2_000, 0.6), np.full(2_000, 0.25), n_bootstrap=50, null_samples=50, n_jobs=1
    )
    assert sorted(_shown(result)) == ["side = left", "side = right"]


def test_what_holds_nearly_all_rows_is_not_shown_beside_the_metrics() -> None:
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.1, 0.9, 4_000)
    y = (rng.random(4_000) < truth).astype(np.int64)
    X = {"bot": rng.choice(["no", "yes"], 4_000, p=[0.96, 0.04]), "device": rng.choice(["phone", "desktop"], 4_000)}
    result = trueup.compare(X, y, sigmoid(logit(truth) + 1), truth, n_bootstrap=50, null_samples=50, n_jobs=1)
    gaining = {row["segment"] for row in result.segments.to_pylist() if row["outcome"] == "gains"}
    assert {"all rows", "bot = no", "device = phone"} <= gaining
    assert {"device = phone", "device = desktop"} <= set(_shown(result))
    assert not {"all rows", "bot = no"} & set(_shown(result))


def test_nearly_all_rows_are_shown_if_they_fare_otherwise_than_all() -> None:
    result = _harmed_in_the_north(region=["north", "south"])
    outcomes = {row["segment"]: row["outcome"] for row in result.segments.to_pylist()}
    assert (outcomes["region = north"], outcomes["region = south"]) == ("harmed", "gains")
    assert outcomes["all rows"] != "gains"
    assert "region = south" in _shown(result)


def test_the_page_tells_the_same_segments_as_the_console_in_the_same_order() -> None:
    pair = better_model(0, 20_000, harmed_by=1.0)
    result = trueup.compare(pair.X, pair.y, pair.base, pair.candidate, **QUICK)
    (table,) = comparison_page(result).segments
    ranked = [row for row in result._rows_of(result._listing.ranked(100)) if row["outcome"] != "unclear"]
    on_screen = [
        row["segment"]
        for outcome in ("harmed", "gains")
        for row in [row for row in ranked if row["outcome"] == outcome][:3]
    ]
    assert on_screen[0] == "region = north"
    assert [table.words[pattern.place] for pattern in table.patterns] == on_screen
