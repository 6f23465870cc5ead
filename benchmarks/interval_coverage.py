"""How often intervals for differences of ECCE and ECE cover what samples show on average, by how wrong models are.

Takes half an hour: ``python benchmarks/interval_coverage.py``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import trueup
from trueup.metrics import ecce

Floats: TypeAlias = npt.NDArray[np.float64]

# By how much logits are off, of a feature between -1 and 1.
SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "up": np.ones_like,
    "down": lambda feature: -np.ones_like(feature),
    "steep": lambda feature: feature,
    "flat": lambda feature: -feature,
    "S": lambda feature: np.sin(2 * np.pi * feature),
    "bump": lambda feature: ((feature > 0.2) & (feature < 0.5)).astype(np.float64),
}


class Scenario(NamedTuple):
    """Two models, each off by so many sigmas of ECCE, in a shape."""

    n: int = 2_000
    rate: float = 0.45
    base: str = "up"
    base_off: float = 0.0
    candidate: str = "up"
    candidate_off: float = 0.0
    rows: str = "plain"

    def __str__(self) -> str:
        models = f"base {self.base_off:g} {self.base}, candidate {self.candidate_off:g} {self.candidate}"
        return f"{self.n:,} {self.rows} rows, {self.rate:.1%} positive: {models}"


class Truth(NamedTuple):
    """The chances of rows, and the scores of two models that are right but know different features."""

    chance: Floats
    scores: tuple[Floats, Floats]
    features: Floats


def truth_of(rate: float, n: int, rng: np.random.Generator) -> Truth:
    features = rng.uniform(-1, 1, (2, n))
    slope = 0.35 if rate > 0.1 else 1.5  # chances stay below 1
    base, candidate = rate * np.exp(slope * features) * slope / np.sinh(slope)
    return Truth(base * candidate / rate, (base, candidate), features)


def off(scores: Floats, feature: Floats, shape: str, size: float) -> Floats:
    return np.asarray(1 / (1 + (1 / scores - 1) * np.exp(-size * SHAPES[shape](feature))))


def sizes_of(scenario: Scenario) -> list[float]:
    """What to add to the logits for errors of so many sigmas: bisection on many rows."""
    truth = truth_of(scenario.rate, 100_000, np.random.default_rng(0))
    found = []
    wanted = ((scenario.base, scenario.base_off), (scenario.candidate, scenario.candidate_off))
    for scores, feature, (shape, sigmas) in zip(truth.scores, truth.features, wanted, strict=True):
        sigma = np.sqrt(np.mean(scores * (1 - scores)) / scenario.n)
        low, high = 0.0, 8.0 if sigmas else 0.0
        for _ in range(20):
            middle = (low + high) / 2
            error = ecce(truth.chance, off(scores, feature, shape, middle))
            low, high = (middle, high) if error < sigmas * sigma else (low, middle)
        found.append(high)
    return found


class Sample(NamedTuple):
    """What `trueup.compare` wants."""

    y: Floats
    base: Floats
    candidate: Floats
    weights: Floats | None = None
    group: npt.NDArray[np.int64] | None = None


def sample_of(scenario: Scenario, sizes: list[float], rng: np.random.Generator) -> Sample:
    truth = truth_of(scenario.rate, scenario.n, rng)
    shapes = (scenario.base, scenario.candidate)
    base, candidate = (off(*both) for both in zip(truth.scores, truth.features, shapes, sizes, strict=True))
    labels = (rng.random(scenario.n) < truth.chance).astype(np.float64)
    if scenario.rows == "tied":
        return Sample(labels, np.round(base, 2), np.round(candidate, 2))
    if scenario.rows == "weighted":
        return Sample(labels, base, candidate, weights=rng.exponential(size=scenario.n) + 0.1)
    if scenario.rows == "grouped":  # every row comes three times
        labels, base, candidate = (np.tile(values, 3) for values in (labels, base, candidate))
        return Sample(labels, base, candidate, groups=np.tile(np.arange(scenario.n), 3))
    return Sample(labels, base, candidate)


def coverage_of(scenario: Scenario, number: int, seeds: range) -> dict[str, float]:
    sizes = sizes_of(scenario)
    found: dict[str, list[tuple[float, float, float]]] = {"ecce": [], "ece": []}
    for seed in seeds:
        rows = sample_of(scenario, sizes, np.random.default_rng([seed, number]))
        result = trueup.compare(
            None,
            rows.y,
            rows.base,
            rows.candidate,
            sample_weight=rows.weights,
            groups=rows.group,
            random_state=seed,
            n_jobs=1,
        )
        for row in result.metrics.to_pylist():
            if row["metric"] in found:
                found[row["metric"]].append((row["difference"], row["low"], row["high"]))
    covered = {}
    for name, values in found.items():
        differences, lows, highs = np.array(values).T
        true = differences.mean()
        covered[name] = float(np.mean((lows <= true) & (true <= highs)))
    return covered


def scenarios() -> Iterator[Scenario]:
    yield from (Scenario(n=n) for n in (1_000, 2_000, 10_000))
    for shape in ("up", "steep"):
        yield from (Scenario(base=shape, base_off=sigmas) for sigmas in (2, 5))
    yield Scenario(base="bump", base_off=3)
    yield Scenario(base="S", base_off=3)
    for shapes in (("up", "up"), ("up", "down"), ("steep", "flat")):
        yield Scenario(2_000, 0.45, shapes[0], 2, shapes[1], 2)
    yield from (Scenario(rate=0.05, base_off=sigmas) for sigmas in (0, 2, 5))
    yield from (Scenario(rate=0.016, base_off=sigmas) for sigmas in (0, 3))
    for kind in ("tied", "weighted", "grouped"):
        yield from (Scenario(1_000, base_off=sigmas, rows=kind) for sigmas in (0, 2))


def main() -> None:
    """Print the share covered, of how many runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--first-seed", type=int, default=0)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.runs)
    for number, scenario in enumerate(scenarios()):
        covered = coverage_of(scenario, number, seeds)
        print("  ".join(f"{name} {share:.1%}" for name, share in covered.items()), f" {scenario}", flush=True)


if __name__ == "__main__":
    main()
