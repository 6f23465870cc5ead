"""Make relplot_values.json: what the package relplot computes on seeded data.

Run it where relplot is installed, which trueup doesn't need: ``python make_relplot_values.py``.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

# A score is u ** power, u uniform; rounded to a multiple of 1 / steps if there are steps. A label is drawn with a
# chance of share * score; with noise it is soft: that chance, give or take half the noise at most. Weights are whole
# numbers up to max_weight: relplot has no weights, and gets every row that often.
CASES: dict[str, dict[str, Any]] = {
    "100 rows": {"rows": 100, "power": 1},
    "true scores": {"rows": 5_000, "power": 1},
    "many low scores": {"rows": 5_000, "power": 8},
    "scores too high by a tenth": {"rows": 5_000, "power": 2, "share": 0.9},
    "scores twice too high": {"rows": 1_000, "power": 1, "share": 0.5},
    "labels all 0": {"rows": 300, "power": 0.2, "share": 0.0},
    "five scores, 0 and 1 among them": {"rows": 1_000, "power": 1, "steps": 4, "share": 0.8},
    "scores 0 and 1": {"rows": 1_000, "power": 1, "steps": 1, "share": 0.8},
    "weights": {"rows": 2_000, "power": 2, "share": 0.8, "max_weight": 5},
    "width 2 of 1024": {"rows": 2_000, "power": 1, "noise": 0.03},
    "width 3 of 1024": {"rows": 2_000, "power": 1, "noise": 0.05},
    "width 7 of 1024": {"rows": 2_000, "power": 1, "noise": 0.2},
    "width 9 of 1024": {"rows": 2_000, "power": 1, "noise": 0.25},
}


def draw(
    rows: int, power: float, share: float = 1.0, steps: int = 0, max_weight: int = 1, noise: float = 0.0
) -> tuple[FloatArray, FloatArray, NDArray[np.intp]]:
    """Draw labels, scores and whole weights, always the same."""
    rng = np.random.default_rng(rows)
    scores = rng.random(rows) ** power
    if steps:
        scores = np.round(scores * steps) / steps
    chances, luck = share * scores, rng.random(rows)
    labels = np.clip(chances + noise * (luck - 0.5), 0, 1) if noise else (luck < chances).astype(np.float64)
    weights = 1 + (rng.random(rows) * max_weight).astype(np.intp)
    return labels, scores, weights


def make_values() -> dict[str, Any]:
    from relplot.metrics import smECE  # type: ignore[import-not-found,unused-ignore]

    values = {}
    for name, options in CASES.items():
        labels, scores, weights = draw(**options)
        value, width = smECE(np.repeat(scores, weights), np.repeat(labels, weights), return_width=True)
        values[name] = {"smece": float(value), "width": float(width)}
    return {"relplot": version("relplot"), "values": values}


if __name__ == "__main__":
    Path(__file__).with_name("relplot_values.json").write_text(json.dumps(make_values(), indent=1) + "\n")
