"""Writes the golden files of format 2, one a kind of model, with their rows and scores as JSON beside them.

Run once, when the format is released, by ``python tests/model/golden/make_format_2.py``; never again.
"""

from __future__ import annotations

import datetime as dt
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from trueup import MCGrad
from trueup.baselines import HKRR, GroupMCGrad, IsotonicCalibrator, LSBoost
from trueup.errors import RescaleWarning
from trueup.model import encode_value

GOLDEN = Path(__file__).parent
N = 3000
SHOWN = 60
CONDITIONS = {
    "far": "country not in {Österreich, 中国}",
    "young": "18 <= age < 40 or missing",
    "new": "since = 2025-12-31 and plan > 1.5",
    "unknown": "age is missing",
    "member": "member = true",
}


def main() -> None:
    generator = np.random.default_rng(2)
    choices: dict[str, list[Any]] = {
        "country": ["Österreich", "中国", "a \" \\ 'b", "", None],
        "plan": [1, 2, 2.5, None],
        "member": [True, False, None],
        "since": [dt.date(2024, 2, 29), dt.date(2025, 12, 31), None],
    }
    table: dict[str, Any] = {
        name: [values[i] for i in generator.integers(len(values), size=N)] for name, values in choices.items()
    }
    table["age"] = [None if age > 80 else age for age in generator.uniform(18, 90, N).tolist()]
    scores = generator.uniform(0.02, 0.98, N)
    masks = {"marked": generator.random(N) < 0.3, "vip": generator.random(N) < 0.1}
    young = np.array([age is not None and age < 40 for age in table["age"]])
    logits = np.log(scores / (1 - scores)) * 0.7 + 1.2 * young - 0.9 * masks["marked"]
    labels = np.where(generator.random(N) < 1 / (1 + np.exp(-logits)), "yes", "no")
    rows = {"X": table, "y": labels, "scores": scores}
    boosting = MCGrad(max_rounds=2, validation=None, rescale="train", lightgbm_params={"n_estimators": 5})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RescaleWarning)
        write("score_map", IsotonicCalibrator(), rows, {})
        write("cell_updates", HKRR(alpha=0.05), rows, {**CONDITIONS, **masks})
        write("group_rounds", GroupMCGrad(estimator=boosting), rows, {**CONDITIONS, **masks})
        levels = LSBoost(n_levels=8, max_rounds=2, categorical_features=["plan", "since"])
        write("level_trees", levels, rows, {})


def write(kind: str, model: Any, rows: dict[str, Any], groups: dict[str, Any]) -> None:
    """Fit, save, and tell what the first rows get."""
    model.fit(rows["X"], rows["y"], scores=rows["scores"], groups=groups or None)
    model.save(GOLDEN / f"format_2_{kind}.trueup")
    first = {name: values[:SHOWN] for name, values in rows["X"].items()}
    masks = {name: group[:SHOWN] for name, group in groups.items() if not isinstance(group, str)}
    calibrated = model.calibrate(first, rows["scores"][:SHOWN], masks or None)
    golden = {
        "rows": [{name: encode_value(values[i]) for name, values in first.items()} for i in range(SHOWN)],
        "scores": rows["scores"][:SHOWN].tolist(),
        "groups": {name: mask.tolist() for name, mask in masks.items()},
        "calibrated": calibrated.tolist(),
    }
    (GOLDEN / f"format_2_{kind}.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
