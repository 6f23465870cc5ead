"""Rows to sketch, and what an audit that sees all of them says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import trueup
from trueup.auditing import Sketch, SketchSpec, make_sketch

KINDS = ("plain", "ties", "soft", "weights", "rare", "certain")
# Floats of an audit are rounded too: its sums of thousands of rows are right to about this much.
FLOAT_ERROR = 1e-12


@dataclass(frozen=True, eq=False)
class Rows:
    """Labels, scores, features and weights."""

    y: npt.NDArray[Any]
    p: npt.NDArray[np.float64]
    X: dict[str, npt.NDArray[Any]]
    weights: npt.NDArray[np.float64] | None

    @property
    def n(self) -> int:
        return len(self.y)

    def of(self, chosen: Any) -> Rows:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[chosen]
        return Rows(self.y[chosen], self.p[chosen], {name: values[chosen] for name, values in self.X.items()}, weights)

    def sketch(self, spec: SketchSpec, **options: Any) -> Sketch:
        return make_sketch(self.X, self.y, self.p, spec, sample_weight=self.weights, **options)

    def spec(self, **options: Any) -> SketchSpec:
        return SketchSpec.learn(self.X, self.p, sample_weight=self.weights, **options)

    def exact(self, **options: Any) -> trueup.AuditResult:
        return trueup.audit(self.X, self.y, self.p, sample_weight=self.weights, null_samples=0, **options)


def rows_of(seed: int, n: int = 2_000, kind: str = "plain") -> Rows:
    """Rows of one of the `KINDS`, whose scores are off by a little everywhere."""
    rng = np.random.default_rng(seed)
    X: dict[str, npt.NDArray[Any]] = {
        "site": rng.choice(list("uvwxyz"), n),
        "member": rng.random(n) < 0.4,
        "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
        "visits": np.where(rng.random(n) < 0.7, 0, rng.integers(1, 9, n)),
    }
    logits = rng.normal(size=n) - (4 if kind == "rare" else 0)
    p = 1 / (1 + np.exp(-logits))
    if kind == "ties":
        p = np.round(p, 1)
    if kind == "certain":
        p = np.where(rng.random(n) < 0.3, np.round(p), p)
    y: npt.NDArray[Any] = (rng.random(n) < np.clip(p + 0.05 * rng.normal(), 0, 1)).astype(np.int64)
    y[:2] = 0, 1
    if kind == "soft":
        y = np.clip(p + 0.3 * rng.normal(size=n), 0, 1)
    weights = np.where(rng.random(n) < 0.1, 0.0, rng.exponential(size=n) * 10.0) if kind == "weights" else None
    return Rows(y, p, X, weights)


def assert_within_bounds(rows: Rows, sketch: Sketch, **options: Any) -> None:
    """Check every number of a sketch's audit that has bounds against the audit of the rows themselves."""
    exact, audited = rows.exact(**options), sketch.audit()
    assert audited.n == exact.n
    assert audited.n_segments == exact.n_segments
    assert audited.ecce_low - FLOAT_ERROR <= exact.ecce <= audited.ecce_high + FLOAT_ERROR
    assert audited.ecce_low <= audited.ecce <= audited.ecce_high
    assert audited.mce_low - 1e-9 <= exact.mce <= audited.mce_high + 1e-9
    assert audited.p_value >= exact.p_value - 1e-9
    listed = {row["segment"]: row for row in audited.segments.to_pylist()}
    for expected in exact.segments.to_pylist():
        found = listed.pop(expected["segment"])
        assert found["rows"] == expected["rows"]
        assert found["ecce_low"] - FLOAT_ERROR <= expected["ecce"] <= found["ecce_high"] + FLOAT_ERROR
        assert found["ecce_low"] <= found["ecce"] <= found["ecce_high"]
        assert found["ecce_sigma_low"] - 1e-9 <= expected["ecce_sigma"] <= found["ecce_sigma_high"] + 1e-9
        for name in ("share", "mean_score", "observed_rate", "observed_low", "observed_high", "sigma"):
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-6, atol=1e-8)
    assert not listed
