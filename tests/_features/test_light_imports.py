"""Scoring from a model file imports nothing heavy, even where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trueup import MCGrad

HEAVY = ["pandas", "lightgbm", "sklearn", "scipy"]
N = 200
RNG = np.random.default_rng(5)
TABLE: dict[str, list[Any]] = {
    "city": [None if i % 9 == 0 else city for i, city in enumerate(RNG.choice(["Oslo", "Bergen", "Kiel"], N).tolist())],
    "age": [None if i % 7 == 0 else age for i, age in enumerate(RNG.normal(40, 9, N).tolist())],
    "shop": [None if i % 5 == 0 else shop for i, shop in enumerate(RNG.integers(0, 9, N).tolist())],
    "vip": (RNG.random(N) < 0.5).tolist(),
}
SCORES = RNG.random(N).tolist()

SCRIPT = """
import json, sys
folder, heavy, sources = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
table, scores = json.load(open(folder + "/rows.json"))
import trueup
calibrator = trueup.load(folder + "/model.trueup")
found = {}
if "lists" in sources:
    found["lists"] = calibrator.calibrate(table, scores).tolist()
if "one" in sources:
    rows = [dict(zip(table, row)) for row in zip(*table.values())]
    found["one"] = [calibrator.calibrate_one(row, score) for row, score in zip(rows, scores)]
if "arrays" in sources:
    import numpy as np
    types = {"age": float, "vip": bool}
    arrays = {name: np.array(values, types.get(name, object)) for name, values in table.items()}
    found["arrays"] = calibrator.calibrate(arrays, np.array(scores)).tolist()
if "pyarrow" in sources:
    import pyarrow as pa
    with pa.ipc.open_file(folder + "/rows.arrow") as file:
        found["pyarrow"] = calibrator.calibrate(file.read_all(), scores).tolist()
if "polars" in sources:
    import polars as pl
    found["polars"] = calibrator.calibrate(pl.DataFrame(table), pl.Series(scores)).tolist()
print(json.dumps([found, [name for name in heavy if name in sys.modules]]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, and rows as JSON and as an Arrow file in chunks and with a dictionary."""
    import pyarrow as pa

    path = tmp_path_factory.mktemp("light")
    growth = {"min_child_samples": 1, "n_estimators": 9, "num_leaves": 4, "min_gain_to_split": 0.0}
    growth |= {"min_data_per_group": 1, "cat_smooth": 1}
    y = [int(city == "Oslo" or (age or 0) > 45) for city, age in zip(TABLE["city"], TABLE["age"], strict=True)]
    model = MCGrad(
        max_rounds=2,
        validation=None,
        rescale="train",
        min_sum_hessian_in_leaf=0.0,
        lightgbm_params=growth,
        categorical_features=["shop"],
    ).fit(pd.DataFrame(TABLE).astype({"shop": "Int64"}), y, scores=SCORES)
    model.save(path / "model.trueup")
    (path / "rows.json").write_text(json.dumps([TABLE, SCORES]), encoding="utf-8")
    arrow = pa.table(TABLE)
    arrow = arrow.set_column(2, "shop", arrow["shop"].dictionary_encode())
    with pa.OSFile(str(path / "rows.arrow"), "wb") as file, pa.ipc.new_file(file, arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=64)
    expected = model.calibrate(TABLE, SCORES)
    assert not np.array_equal(expected, SCORES)
    (path / "expected.json").write_text(json.dumps(expected.tolist()), encoding="utf-8")
    return path


@pytest.mark.parametrize("sources", [["lists", "one"], ["arrays"], ["pyarrow"], ["polars"]], ids=" and ".join)
def test_scoring_imports_nothing_heavy_and_gives_the_same_bits(sources: list[str], folder: Path) -> None:
    arguments = [str(folder), json.dumps(HEAVY), json.dumps(sources)]
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    found, imported = json.loads(run.stdout)
    assert imported == []
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert found == dict.fromkeys(sources, expected)
