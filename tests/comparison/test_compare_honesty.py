"""Verdicts, p-values and intervals are right as often as they say.

The larger runs are in benchmarks/compare_honesty.py.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import trueup
from simulated_pairs import Kind, Pair, better_model, blurred_model, equal_models, logit, sigmoid
from trueup.comparison import Comparison
from trueup.metrics import average_precision, brier_score, ecce, expected_calibration_error, log_loss, roc_auc

pytestmark = pytest.mark.slow

QUICK = {"n_bootstrap": 100, "null_samples": 60, "max_depth": 2, "n_jobs": 1}


def compared(pair: Pair, seed: int = 0, **options: object) -> Comparison:
    chosen = QUICK | {"random_state": seed} | options
    return trueup.compare(pair.X, pair.y, pair.base, pair.candidate, groups=pair.groups, **chosen)  # type: ignore[arg-type]


def test_equal_models_ship_in_at_most_one_comparison_in_twenty_counting_both_directions() -> None:
    # The primary metric is significant in 5 % of comparisons, half of them for the worse; guardrails and segments
    # stop some of the rest. Counted both ways, that is at most 10 of 200.
    shipped = 0
    for seed in range(200):
        pair = equal_models(seed, 2_000)
        swapped = pair._replace(base=pair.candidate, candidate=pair.base)
        shipped += "ship" in (compared(pair, seed).verdict, compared(swapped, seed).verdict)
    assert shipped <= 10


@pytest.mark.parametrize("kind", ["noisy", "skewed", "low", "grouped"])
def test_a_segment_of_equal_models_gains_or_is_harmed_in_at_most_one_comparison_in_twenty(kind: Kind) -> None:
    runs, found = 150, 0
    for seed in range(runs):
        result = compared(equal_models(seed, 3_000, kind), seed)
        assert result.n_segments > 50
        found += result.n_harmed + result.n_gaining > 0
    # 5 % of 150 is 7.5, with a standard deviation of 2.7.
    assert found <= 7.5 + 2.5 * 2.7


def test_a_better_model_of_50000_rows_ships() -> None:
    verdicts = Counter(compared(better_model(seed)).verdict for seed in range(20))
    assert verdicts["ship"] >= 18


def test_a_model_that_is_better_but_worse_in_a_segment_of_five_percent_never_ships() -> None:
    for seed in range(20):
        result = compared(better_model(seed, harmed_by=0.8))
        assert result.metrics["outcome"].to_pylist()[0] == "improves"
        assert result.verdict == "keep"
        harmed = next(reason for reason in result.reasons if reason.code == "segment_harmed")
        assert "region = north" in harmed.values["worst"][0]


def test_a_model_of_better_log_loss_that_ranks_worse_does_not_ship_from_2000_rows_on() -> None:
    # PRAUC falls by 3 %, and 2 % are allowed. In benchmarks/compare_honesty.py, 1 of 200 such models ships.
    shipped = 0
    for seed in range(40):
        result = compared(blurred_model(seed, 2_000, steep=2.5), seed, max_depth=1)
        assert result.reasons[0].code == "primary_improves"
        shipped += result.verdict == "ship"
    assert shipped <= 2


METRICS = {
    "log_loss": log_loss,
    "brier": brier_score,
    "prauc": average_precision,
    "auroc": roc_auc,
    "ecce": ecce,
    "ece": expected_calibration_error,
}


def pair_of(truth: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is true, and two models: both right but knowing different things, or one of them wrong, or a little."""
    first, second = rng.uniform(-1, 1, (2, n))
    base, candidate = 0.45 + 0.2 * first, 0.45 + 0.2 * second  # E[y | first] and E[y | second]
    if truth == "base is wrong":
        base = sigmoid(logit(base) * 2 + 0.3)
    if truth == "base is a little wrong":
        base = base + 0.03  # two sigmas of 1,000 rows: nobody can tell whether that is noise
    return 0.45 + 0.2 * first + 0.2 * second, base, candidate


@pytest.mark.parametrize(
    ("truth", "groups", "runs"),
    [
        ("both are right", False, 1_000),
        ("base is a little wrong", False, 1_000),
        ("base is wrong", False, 300),
        ("base is wrong", True, 300),
    ],
)
def test_intervals_cover_as_often_as_they_say(truth: str, groups: bool, runs: int) -> None:
    n = 1_000
    covered: Counter[str] = Counter()
    results = []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        chance, base, candidate = pair_of(truth, n // 2 if groups else n, rng)
        y = (rng.random(len(chance)) < chance).astype(np.int64)
        group = None
        if groups:  # every row comes twice: as much is known as from half of the rows
            y, base, candidate = (np.tile(values, 2) for values in (y, base, candidate))
            group = np.tile(np.arange(n // 2), 2)
        results.append(trueup.compare(None, y, base, candidate, groups=group, n_bootstrap=200, n_jobs=1).to_dict())
    chance, base, candidate = pair_of(truth, 400_000, np.random.default_rng(0))
    for place, (name, metric) in enumerate(METRICS.items()):
        rows = [result["metrics"][place] for result in results]
        # Of calibration errors, intervals are for what samples of this size show on average.
        if name in ("ecce", "ece"):
            true = np.mean([row["difference"] for row in rows])
        else:
            true = metric(chance, candidate) - metric(chance, base)
        covered[name] = sum(row["low"] <= true <= row["high"] for row in rows)
    # 92 to 98 % are allowed, and 1.5 standard deviations: of 1,000 runs, 90.7 to 98.7 %. Intervals that cover in 99 %
    # fail there in six of seven such tests, and those that cover in 99.5 % always; with 300 runs, 99.2 % is the most.
    low, high = (end + side * 1.5 * math.sqrt(end * (1 - end) / runs) for end, side in ((0.92, -1), (0.98, 1)))
    for name in METRICS:
        assert low < covered[name] / runs < high, (name, covered[name])
