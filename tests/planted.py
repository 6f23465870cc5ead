"""Clean rows to fit on and to test on, and every fault that a diagnosis must find, planted in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import trueup
from trueup.evaluation import Diagnosis


@dataclass(frozen=True, eq=False)
class Rows:
    """Features as a dict of arrays, with labels, scores and weights."""

    X: dict[str, Any]
    y: Any
    scores: Any
    weights: Any = None

    def of(self, rows: Any) -> Rows:
        """The same for some rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Rows({name: values[rows] for name, values in self.X.items()}, self.y[rows], self.scores[rows], weights)

    def with_column(self, name: str, values: Any) -> Rows:
        """The same with one column more, or another."""
        return replace(self, X=self.X | {name: values})

    def __len__(self) -> int:
        return len(self.y)


def clean_rows(n: int, seed: int) -> Rows:
    """Rows of one population: two columns of categories, one of them with many, and four of numbers."""
    rng = np.random.default_rng(seed)
    X = {
        "site": rng.choice(list("uvwxyz"), n, p=[0.35, 0.25, 0.2, 0.1, 0.06, 0.04]),
        "city": np.array([f"city {k}" for k in rng.geometric(0.01, n)]),
        "hour": rng.integers(0, 24, n),
        "income": rng.normal(size=n),
        "tenure": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n)),
        "cents": rng.integers(0, 100_000, n),
    }
    scores = 1 / (1 + np.exp(1 - rng.normal(size=n) - 0.3 * X["income"]))
    return Rows(X, (rng.random(n) < scores).astype(np.int64), scores)


def coarse_rows(n: int, seed: int) -> Rows:
    """Rows of three coarse columns and the score that goes with them: most rows have twins."""
    rng = np.random.default_rng(seed)
    X = {"site": rng.choice(list("uvw"), n), "hour": rng.integers(0, 24, n), "member": rng.random(n) < 0.3}
    scores = 0.1 + 0.02 * X["hour"] + 0.1 * X["member"]
    return Rows(X, (rng.random(n) < scores).astype(np.int64), scores)


def diagnosed(train: Rows, test: Rows | None = None, **options: Any) -> Diagnosis:
    """What `trueup.diagnose` finds."""
    other = None if test is None else (test.X, test.y, test.scores, test.weights)
    return trueup.diagnose(train.X, train.y, train.scores, sample_weight=train.weights, test=other, n_jobs=1, **options)


def codes(diagnosis: Diagnosis) -> dict[str, str]:
    """The severity of each finding, by its code."""
    return {finding.code: finding.severity for finding in diagnosis.findings}
