"""What is refused in a file of format 2, and what the error says."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup
from trueup.errors import ModelFileError
from trueup.inference import BaselineCalibrator
from trueup.model import BaselineModel, CellUpdates, FeatureSpec, Group, ScoreMap

GOLDEN = Path(__file__).parent / "golden"

Edit = Callable[[dict[str, Any]], object]


def rewritten(path: Path, kind: str, edit: Edit, arrays: dict[str, Any] | None = None) -> Path:
    """The golden file of a kind with an edited manifest, other arrays, and checksums that are right."""
    with zipfile.ZipFile(GOLDEN / f"format_2_{kind}.trueup") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(parts["manifest.json"])
    edit(manifest)
    parts["manifest.json"] = json.dumps(manifest).encode()
    for name, array in (arrays or {}).items():
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.asarray(array), version=(1, 0))
        parts[f"{name}.npy"] = buffer.getvalue()
    parts["checksums.json"] = json.dumps(
        {name: hashlib.sha256(content).hexdigest() for name, content in parts.items() if name != "checksums.json"}
    ).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def nothing(manifest: dict[str, Any]) -> None:
    """Leave the manifest as it is."""


def group_is(**entry: Any) -> Edit:
    return lambda manifest: manifest["groups"].__setitem__(0, {"name": "far", "conditions": None, **entry})


def condition_is(**entry: Any) -> Edit:
    return group_is(conditions=[entry])


CLOSED = {"includes_low": True, "includes_high": True, "or_missing": True}
NUMBERS = {"name": "age", "kind": "NUMBER", "categories": None}
NAMED = {"name": "country", "kind": "STRING", "categories": ["a"]}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda manifest: manifest.pop("groups"), "the field 'groups' is missing"),
        (lambda manifest: manifest.update(rounds=[]), "the field 'rounds' is unknown"),
        (lambda manifest: manifest.update(kind="forest"), "names no kind of model"),
        (lambda manifest: manifest.update(kind=["cell_updates"]), "names no kind of model"),
        (lambda manifest: manifest.update(kind="score_map"), "its parts are not those of a model file"),
        (lambda manifest: manifest.update(format=1), "its parts are not those of a model file"),
        (lambda manifest: manifest["body"].update(bin_width=1e-9), "the width of a bin is none"),
        (lambda manifest: manifest["body"].update(n_levels=3), "the field 'n_levels' is unknown"),
        (lambda manifest: manifest["body"].update(bin_width=0.2), "an update is of a cell that is none"),
        (lambda manifest: manifest["groups"].pop(), "cell that is none|values? a feature"),
        (group_is(name="vip"), "two groups have the same name"),
        (group_is(name=5), "expected str, found int"),
        (group_is(conditions={}), "expected list, found dict"),
        (group_is(conditions=[{}] * 10_001), "10,006 conditions, and 10,000 is the limit"),
        (condition_is(test="equals"), "a condition has no known test"),
        (condition_is(test="missing", column="nowhere", excluded=False), "about a column that is none"),
        (condition_is(test="missing", column="age", excluded=0), "expected bool, found int"),
        (condition_is(test="missing", column="age"), "the field 'excluded' is missing"),
        (
            condition_is(test="one_of", values=NUMBERS, excluded=True, or_missing=True),
            "a condition names no values",
        ),
        (
            condition_is(test="one_of", values={**NAMED, "categories": ["b", "a"]}, excluded=True, or_missing=True),
            "categories must be sorted",
        ),
        (
            condition_is(test="between", column="age", low=None, high=None, **CLOSED),
            "an interval has no bound",
        ),
        (
            condition_is(test="between", column="age", low={"float": "nan"}, high=None, **CLOSED),
            "a bound is NaN",
        ),
        (lambda manifest: manifest["parity"]["expected"].reverse(), "a row that must get"),
        (lambda manifest: manifest["parity"]["rows"][0].pop(), "one value a feature"),
        (lambda manifest: manifest["parity"]["rows"][1].__setitem__(1, "x"), "its parity rows can't be read"),
    ],
)  # fmt: skip
def test_a_manifest_that_trueup_can_not_have_written_is_refused(edit: Edit, message: str, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "model", "cell_updates", edit)
    with pytest.raises(ModelFileError, match=message):
        trueup.load(path)


@pytest.mark.parametrize(
    ("kind", "arrays", "message"),
    [
        ("cell_updates", {"delta": [0.1]}, "the arrays of updates differ in length"),
        ("cell_updates", {"bin_means": [0.5]}, "there must be a mean a bin"),
        ("cell_updates", {"bin_means": [1.5] * 10}, "there must be a mean a bin"),
        ("cell_updates", {"delta": np.array([1], "<f4")}, "is not a one-dimensional array of type float64"),
        ("score_map", {"scores": [0.1, 0.2]}, "a map must have a value a knot"),
        ("score_map", {"scores": [0.2, 0.1], "values": [0.0, 1.0]}, "the knots of a map must ascend"),
        ("score_map", {"scores": [0.1, 0.2], "values": [0.9, 0.1]}, "must be probabilities that don't fall"),
        ("score_map", {"scores": [0.1, 0.2], "values": [0.9, 1.1]}, "must be probabilities that don't fall"),
        ("score_map", {"scores": np.empty(0), "values": np.empty(0)}, "a map must have a value a knot"),
    ],
)
def test_arrays_that_are_not_those_of_the_kind_are_refused(
    kind: str, arrays: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = rewritten(tmp_path / "model", kind, nothing, {f"{kind}/{name}": array for name, array in arrays.items()})
    with pytest.raises(ModelFileError, match=message):
        trueup.load(path)


def test_a_leaf_that_is_no_probability_is_refused_where_leaves_are_probabilities(tmp_path: Path) -> None:
    with zipfile.ZipFile(GOLDEN / "format_2_level_trees.trueup") as archive:
        leaves = np.load(io.BytesIO(archive.read("trees/leaf_values.npy")))
    path = rewritten(tmp_path / "model", "level_trees", nothing, {"trees/leaf_values": leaves + 1})
    with pytest.raises(ModelFileError, match="a leaf is not a probability"):
        trueup.load(path)


def small(body: Any, groups: tuple[Group, ...] = ()) -> BaselineCalibrator:
    return BaselineCalibrator(BaselineModel(FeatureSpec(("x",), ()), groups, body))


def moves(n: int) -> CellUpdates:
    return CellUpdates(0.1, np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n), np.empty(0))


def test_what_could_not_be_loaded_is_not_saved(tmp_path: Path) -> None:
    for calibrator, message in (
        (small(moves(2**22 + 1), (Group("a"),)), "4,194,305 updates, and 4,194,304 is the limit"),
        (small(ScoreMap(np.array([0.0, 1.0]), np.array([1.0, 0.0]))), "probabilities that don't fall"),
        (small(moves(1), (Group("a"), Group("a"))), "two groups have the same name"),
    ):
        with pytest.raises(ModelFileError, match=message):
            calibrator.save(tmp_path / "model")
        assert not (tmp_path / "model").exists()


def test_a_column_may_be_called_as_a_group_is(tmp_path: Path) -> None:
    model = BaselineModel(FeatureSpec(("a",), ()), (Group("a"),), moves(1))
    BaselineCalibrator(model).save(tmp_path / "model")
    assert trueup.load(tmp_path / "model").calibrate({"a": ["x"]}, [0.3], {"a": [True]}).tolist() == [0.3]
