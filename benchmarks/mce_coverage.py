"""How often intervals for differences of the MCE cover what samples show on average, by how wrong models are.

Takes an hour: ``python benchmarks/mce_coverage.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np

import trueup
from simulated_pairs import Kind, Pair, better_model, equal_models, logit, off_in_a_segment, sigmoid

Scenario: TypeAlias = Callable[[int], tuple[Pair, dict[str, Any]]]


def equal(seed: int, kind: Kind, depth: int = 2) -> tuple[Pair, dict[str, Any]]:
    return equal_models(seed, 3_000, kind), {"max_depth": depth}


def off(
    seed: int, base: float, candidate: float = 0.0, depth: int = 2, rows: str = "plain"
) -> tuple[Pair, dict[str, Any]]:
    pair = off_in_a_segment(seed, 3_000, base, candidate, apart=rows == "apart")
    if rows == "weighted":
        weights = np.random.default_rng([seed, 5]).exponential(size=3_000) + 0.1
        return pair, {"max_depth": depth, "sample_weight": weights}
    if rows == "tied":
        tied = (np.clip(np.round(scores, 2), 0.01, 0.99) for scores in (pair.base, pair.candidate))
        return Pair(pair.y, *tied, pair.X), {"max_depth": depth}
    return pair, {"max_depth": depth}


def off_in_groups(seed: int) -> tuple[Pair, dict[str, Any]]:
    pair = equal_models(seed, 3_000, "grouped")
    return pair._replace(base=sigmoid(logit(pair.base) + 0.4 * (pair.X["device"] == "desktop"))), {"max_depth": 2}


def better(seed: int, n: int, *, swapped: bool = False) -> tuple[Pair, dict[str, Any]]:
    pair = better_model(seed, n)
    return pair._replace(base=pair.candidate, candidate=pair.base) if swapped else pair, {"max_depth": 2}


SCENARIOS: dict[str, Scenario] = {
    **{f"equal, {kind}": partial(equal, kind=kind) for kind in ("noisy", "rare", "skewed", "low", "grouped")},
    **{f"base off by {sigmas} sigmas": partial(off, base=sigmas) for sigmas in (0, 2, 3, 4, 6)},
    "3 sigmas up and down": partial(off, base=3, candidate=-3),
    "both 3 sigmas up": partial(off, base=3, candidate=3),
    "4 sigmas in two segments": partial(off, base=4, candidate=4, rows="apart"),
    "base off by 3 sigmas, weighted": partial(off, base=3, rows="weighted"),
    "base off by 3 sigmas, ties": partial(off, base=3, rows="tied"),
    "base off by 4 sigmas, depth 3": partial(off, base=4, depth=3),
    "equal, noisy, depth 3": partial(equal, kind="noisy", depth=3),
    "base off, grouped": off_in_groups,
    **{f"base wrong, {n:,} rows": partial(better, n=n) for n in (2_000, 5_000, 20_000)},
    "candidate wrong, 5,000 rows": partial(better, n=5_000, swapped=True),
}


def coverage_of(scenario: Scenario, seeds: range) -> float:
    found = []
    for seed in seeds:
        pair, options = scenario(seed)
        result = trueup.compare(
            pair.X,
            pair.y,
            pair.base,
            pair.candidate,
            groups=pair.groups,
            null_samples=0,
            n_bootstrap=200,
            random_state=seed,
            n_jobs=1,
            **options,
        )
        row = result.metrics.to_pylist()[-1]
        found.append((row["difference"], row["low"], row["high"]))
    differences, lows, highs = np.array(found).T
    return float(np.mean((lows <= differences.mean()) & (differences.mean() <= highs)))


def main() -> None:
    """Print the share covered, of how many runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.runs)
    for name, scenario in SCENARIOS.items():
        print(f"{coverage_of(scenario, seeds):.1%}  {name}", flush=True)


if __name__ == "__main__":
    main()
