"""The first rows of the table are different patterns, told in the simplest words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trueup
from simulated import PLANTED, scores_wrong_in, true_scores
from trueup.segments import parse_segment


def listed(result: trueup.AuditResult, n: int | None = None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.segments.to_pylist()
    return rows[:n]


def mask_of(row: dict[str, Any], X: dict[str, Any]) -> Any:
    if row["segment"] == "all rows":
        return np.ones(len(next(iter(X.values()))), dtype=bool)
    return parse_segment(row["segment"]).mask(X)


@pytest.mark.parametrize("words", PLANTED)
def test_segments_around_and_inside_a_planted_one_are_folded_under_it(words: str) -> None:
    y, p, X = scores_wrong_in(words, 0.15, seed=11)
    rows = listed(trueup.audit(X, y, p))
    assert rows[0]["segment"] == words
    inside = parse_segment(words).mask(X)
    related = [row for row in rows[1:] if row["adjusted_p_value"] <= 0.05 and (mask_of(row, X) & inside).any()]
    assert len(related) >= 2
    assert {row["explained_by"] for row in related} == {words}


def test_an_error_everywhere_is_one_pattern_about_all_rows() -> None:
    y, p, X = true_scores(0, n=20_000)
    rows = listed(trueup.audit(X, y, 1 / (1 + np.exp(-(np.log(p / (1 - p)) + 0.4)))))
    assert rows[0]["segment"] == "all rows"
    assert rows[0]["direction"] == "over-estimates"
    significant = [row for row in rows if row["adjusted_p_value"] <= 0.05]
    assert len(significant) > 100
    # One segment in 700 may be off by chance besides.
    assert sum(row["explained_by"] == "all rows" for row in significant) >= len(significant) - 2


def test_two_planted_errors_are_two_patterns() -> None:
    _, p, X = true_scores(1, n=40_000)
    over = (X["site"] == "u") & (X["device"] == "desktop")
    under = (X["plan"] == "pro") & (X["device"] == "phone")
    rng = np.random.default_rng(0)
    truth = np.clip(p + 0.12 * under - 0.12 * over, 0.01, 0.99)
    rows = listed(trueup.audit(X, (rng.random(len(p)) < truth).astype(int), p), 3)
    found = {row["segment"]: row["direction"] for row in rows if row["adjusted_p_value"] <= 0.05}
    assert found == {
        "site = u and device = desktop": "over-estimates",
        "device = phone and plan = pro": "under-estimates",
    }


def test_segments_of_the_same_rows_are_listed_once_before_others() -> None:
    y, p, X = scores_wrong_in("region = north", 0.15, seed=2)
    twice = {**X, "copy": X["region"]}
    rows = listed(trueup.audit(twice, y, p), 10)
    about_north = [row["segment"] for row in rows if "north" in row["segment"]]
    assert about_north == ["region = north"]


def test_the_first_ten_rows_of_noise_are_different_too() -> None:
    y, p, X = true_scores(2)
    rows = listed(trueup.audit(X, y, p), 10)
    masks = [mask_of(row, X) for row in rows]
    for place, one in enumerate(masks):
        for other in masks[place + 1 :]:
            assert (one & other).sum() < 0.9 * (one | other).sum()


def test_errors_that_cancel_are_said_to_go_both_ways() -> None:
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.3, 0.7, 20_000)
    y = (rng.random(20_000) < truth).astype(int)
    spread = 0.5 + 2 * (truth - 0.5)  # too low at the low end, too high at the high end
    row = listed(trueup.audit(None, y, np.clip(spread, 0.01, 0.99)))[0]
    assert row["adjusted_p_value"] <= 0.05
    assert row["direction"] == "both"


def test_folded_segments_come_last_and_name_a_listed_pattern() -> None:
    y, p, X = scores_wrong_in("region = north", 0.15, seed=3)
    rows = listed(trueup.audit(X, y, p))
    folded = [row["explained_by"] is not None for row in rows]
    assert folded == sorted(folded)
    patterns = {row["segment"] for row in rows if row["explained_by"] is None}
    assert {row["explained_by"] for row in rows if row["explained_by"] is not None} <= patterns
