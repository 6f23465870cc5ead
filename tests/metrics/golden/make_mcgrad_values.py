"""Make mcgrad_values.json: what Meta's package mcgrad computes on seeded data, segment by segment.

Run it where mcgrad is installed, which trueup doesn't need: ``python make_mcgrad_values.py``.

The data are such that both packages mean the same segments. No two scores are equal: mcgrad may stop inside a tie. No
column is constant: mcgrad counts its one value as a segment. And a categorical column has missing values or more than
three values, not both: for mcgrad, a missing category is one of the values of which the most frequent stay.
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

# color: two values, or missing. shape: five values, of which two stay. age: cut at its terciles, or missing. kids:
# three numbers, or missing.
CATEGORICAL, NUMERICAL = ["color", "shape"], ["age", "kids"]
CASES: dict[str, dict[str, Any]] = {
    "depth 2": {"rows": 300, "max_depth": 2},
    "depth 3": {"rows": 400, "max_depth": 3},
    "weights": {"rows": 350, "max_depth": 2, "max_weight": 4.0},
    "four values": {"rows": 500, "max_depth": 2, "max_values": 4},
}


def draw(rows: int, max_weight: float = 1.0, **_: Any) -> dict[str, Any]:
    """Draw labels, scores, weights and columns, always the same; scores are too low where the color is red."""
    rng = np.random.default_rng(rows)
    color, shape, age, kids = rng.random((4, rows))
    scores = 0.05 + 0.9 * rng.random(rows)
    labels = (rng.random(rows) < np.minimum(1, scores + 0.15 * (color < 0.4))).astype(np.float64)
    return {
        "label": labels,
        "score": scores,
        "weight": 1 + (max_weight - 1) * rng.random(rows),
        "color": [None if u > 0.85 else "red" if u < 0.4 else "blue" for u in color],
        "shape": np.array(["disk", "cube", "ball", "cone", "ring"])[np.searchsorted([0.4, 0.7, 0.85, 0.95], shape)],
        "age": np.where(age < 0.1, np.nan, 20 + 60 * age),
        "kids": np.where(kids < 0.2, np.nan, np.floor(3 * kids)),
    }


def measure(name: str) -> dict[str, Any]:
    """Measure a case with mcgrad; segments come by their number of rows and their ECCE, for its order is not ours."""
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]
    from mcgrad.metrics import MulticalibrationError  # type: ignore[import-not-found,unused-ignore]

    options = CASES[name]
    error = MulticalibrationError(
        pd.DataFrame(draw(**options)),
        "label",
        "score",
        weight_column="weight" if "max_weight" in options else None,
        categorical_segment_columns=CATEGORICAL,
        numerical_segment_columns=NUMERICAL,
        max_depth=options["max_depth"],
        max_values_per_segment_feature=options.get("max_values", 3),
        max_n_segments=None,
        precision_dtype="float64",
    )
    masks = error._segments[0].reshape(-1, options["rows"])[: error.total_number_segments]
    segments = zip(masks.sum(axis=1).tolist(), error.segments_ecce, error.segments_ecce_sigma, strict=True)
    return {
        "mce_sigma": _short(error.mce_sigma),
        "mce": _short(error.mce),
        "mce_pvalue": _short(error.mce_pvalue),
        "global_ecce": _short(error.global_ecce),
        "global_ecce_sigma": _short(error.global_ecce_sigma),
        "global_ecce_pvalue": _short(error.global_ecce_pvalue),
        "segments": sorted((rows, _short(ecce), _short(sigmas)) for rows, ecce, sigmas in segments),
    }


def _short(value: float) -> float:
    return float(f"{value:.12g}")


if __name__ == "__main__":
    versions = {package: version(package) for package in ("mcgrad", "numpy", "pandas")}
    values = {name: measure(name) for name in CASES}
    Path(__file__).with_name("mcgrad_values.json").write_text(json.dumps({**versions, "values": values}) + "\n")
