"""What can't be loaded, or must not be saved, and what the error says."""

import dataclasses
import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup
from trueup._model import (
    ARRAY_TYPES,
    CalibrationModel,
    Feature,
    FeatureSpec,
    FittedRound,
    KnotMap,
    ParityRows,
    Trees,
    ValueKind,
    read_file_bytes,
    read_model,
    write_model,
)
from trueup.errors import ModelFileError

GOLDEN = Path(__file__).parent / "golden" / "format_1.trueup"

Edit = Callable[[dict[str, Any]], object]


def with_manifest(path: Path, edit: Edit, extra: dict[str, bytes] | None = None, source: Path = GOLDEN) -> Path:
    """The golden file with an edited manifest, more parts (compressed), and checksums that are right."""
    with zipfile.ZipFile(source) as archive:
        own = {name: archive.read(name) for name in archive.namelist()}
    parts = own | (extra or {})
    manifest = json.loads(parts["manifest.json"])
    edit(manifest)
    parts["manifest.json"] = json.dumps(manifest).encode()
    parts["checksums.json"] = json.dumps(
        {name: hashlib.sha256(content).hexdigest() for name, content in parts.items() if name != "checksums.json"}
    ).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name in own else zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.parametrize("load", [trueup.load, trueup.MCGrad.load, read_model])
def test_what_is_no_model_file_is_refused_by_name(load: Callable[[Path], object], tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a model")
    with pytest.raises(ModelFileError, match=r"notes.txt' can't be used as a trueup model: it is not a model file"):
        load(path)


def test_a_file_that_is_not_there_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        trueup.load(tmp_path / "nothing")


@pytest.mark.parametrize("threshold", [5e300, 1e300, -5e300, -np.inf])
def test_thresholds_beyond_where_numbers_are_cut_would_score_rows_unlike_tables(
    threshold: float, tmp_path: Path
) -> None:
    with zipfile.ZipFile(GOLDEN) as archive:
        thresholds = np.load(io.BytesIO(archive.read("trees/threshold.npy")))
        is_set = np.load(io.BytesIO(archive.read("trees/decision_type.npy"))) & 1
    written = io.BytesIO()
    thresholds[np.flatnonzero(is_set == 0)[0]] = threshold
    np.save(written, thresholds)
    path = with_manifest(tmp_path / "beyond", lambda manifest: None, {"trees/threshold.npy": written.getvalue()})
    with pytest.raises(ModelFileError, match=r"1 thresholds are not numbers within ±1e\+300"):
        trueup.load(path)


@pytest.mark.parametrize("extra", [{}, {"trees/new.npy": bytes(10**6)}])
def test_a_file_of_a_newer_format_says_to_upgrade(extra: dict[str, bytes], tmp_path: Path) -> None:
    path = with_manifest(tmp_path / "new", lambda manifest: manifest.update(format=2, new_field=1), extra)
    with pytest.raises(ModelFileError, match=r"it is of format 2, and 1 is the newest known here\. Upgrade trueup\."):
        trueup.load(path)


def test_a_folder_is_no_model_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="it is not a file"):
        trueup.load(tmp_path)


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs devices")
@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_no_model_file(device: str) -> None:
    with pytest.raises(ModelFileError, match="it is not a file"):
        trueup.load(device)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    program = f"import trueup; trueup.load({str(tmp_path / 'pipe')!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "ModelFileError" in done.stderr


def test_a_huge_file_is_refused_unread(tmp_path: Path) -> None:
    with open(tmp_path / "huge", "wb") as file:
        file.truncate(2**40)  # of holes: it takes no space
    with pytest.raises(ModelFileError, match="1,099,511,627,776 bytes, and 1,073,741,824 is the limit"):
        trueup.load(tmp_path / "huge")


def test_a_pickle_is_not_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", np.array([object], dtype=object), allow_pickle=True)
    with pytest.raises(ModelFileError):
        trueup.load(tmp_path / "array.npy")


def test_damage_is_told_from_a_stranger(tmp_path: Path) -> None:
    good = bytearray(GOLDEN.read_bytes())
    good[good.index(b"NUMPY") + 200] ^= 1
    (tmp_path / "damaged").write_bytes(good)
    with pytest.raises(ModelFileError, match="Copy or save the file again"):
        trueup.load(tmp_path / "damaged")


def categories_of(feature: int, values: list[Any], kind: str | None = None) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        manifest["features"][feature]["categories"] = values
        manifest["features"][feature]["kind"] = kind or manifest["features"][feature]["kind"]

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda manifest: manifest.pop("classes"), "the field 'classes' is missing"),
        (lambda manifest: manifest.update(link="identity"), "the field 'link' is unknown"),
        (lambda manifest: manifest.update(format=0), "no format number"),
        (lambda manifest: manifest.update(named=1), "expected bool, found int"),
        (lambda manifest: manifest.update(base_rate=1.5), "the base rate is not a probability"),
        (lambda manifest: manifest.update(score_column="nowhere"), "the score column is no column"),
        (lambda manifest: manifest.update(score_column="age"), "no column, or a feature too"),
        (lambda manifest: manifest.update(classes=["a", "a"]), "two different classes"),
        (lambda manifest: manifest.update(classes=[None, 1]), "two different classes"),
        (lambda manifest: manifest.update(classes=[0.5, 10**400]), "too large to convert"),
        (lambda manifest: manifest["rounds"][0].update(n_trees=7), "more trees than there are"),
        (lambda manifest: manifest["rounds"][0].update(n_trees=5), "fewer trees than there are"),
        (lambda manifest: manifest["rounds"][0].update(theta=1e300), "logits could become infinite"),
        (lambda manifest: manifest["rounds"].extend(manifest["rounds"] * 5000), "5,000 is the limit"),
        (lambda manifest: manifest["columns"].append("age"), "names of columns and features"),
        (lambda manifest: manifest["summary"]["gains"].pop(), "one gain a feature"),
        (lambda manifest: manifest["parity"]["expected"].reverse(), "a row that must get"),
        (lambda manifest: manifest["parity"]["rows"][1].__setitem__(6, "x"), "its parity rows can't be read"),
        (lambda manifest: manifest["parity"].update(rows=[], scores=[], expected=[]), "1 to 100 parity rows"),
        (categories_of(0, ["b", "a"]), "sorted"),
        (categories_of(0, ["a", "a"]), "each must be there once"),
        (categories_of(0, ["a", None]), "a feature of strings has categories that are something else"),
        (categories_of(1, [1, "2"]), "a feature of numbers has"),
        (categories_of(1, [True, 2]), "a feature of numbers has"),
        (categories_of(1, [1.0, 2]), "a feature of numbers has"),
        (categories_of(1, [1, 10**400]), "too large to convert"),
        (categories_of(1, [{"float": "nan"}]), "a feature of numbers has"),
        (categories_of(3, [{"datetime": "2020-01-01T00:00:00"}]), "a feature of dates has"),
        (categories_of(3, [{"date": "20200101"}]), "is no value|isoformat"),
        (categories_of(4, [{"datetime": "2020-01-01T00:00:00+00:00"}]), "a feature of datetimes has"),
        (categories_of(5, [1, True]), "each must be there once"),
        (categories_of(5, [i * (2**61 - 1) for i in range(60)]), "looked up slowly"),
        (categories_of(8, ["a"]), "a feature of missing values only has"),
        (categories_of(6, None, "STRING"), "a numerical feature must hold numbers"),
        (categories_of(6, None, "COMPLEX"), "'COMPLEX' is no kind of value"),
    ],
)  # fmt: skip
def test_a_manifest_that_trueup_can_not_have_written_is_refused(edit: Edit, message: str, tmp_path: Path) -> None:
    path = with_manifest(tmp_path / "model", edit)
    for load in (trueup.load, trueup.MCGrad.load):
        with pytest.raises(ModelFileError, match=message):
            load(path)


def test_a_deep_nest_of_parameters_is_refused(tmp_path: Path) -> None:
    nest: Any = []
    for _ in range(30):
        nest = [nest]
    path = with_manifest(tmp_path / "model", lambda manifest: manifest["summary"]["parameters"].update(features=nest))
    with pytest.raises(ModelFileError, match="nested more than 20 levels deep"):
        trueup.load(path)


def test_a_message_stays_short_whatever_the_file_holds(tmp_path: Path) -> None:
    path = with_manifest(tmp_path / "model", lambda manifest: manifest.update({"x" * 10**6: 1}))
    with pytest.raises(ModelFileError) as refused:
        trueup.load(path)
    assert len(str(refused.value)) < 600


def test_an_edited_file_with_old_checksums_is_refused(tmp_path: Path) -> None:
    # The zip's own checksums are right, ours are not.
    buffer = io.BytesIO()
    with zipfile.ZipFile(GOLDEN) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"kind"', b'"kind" '))
    (tmp_path / "model").write_bytes(buffer.getvalue())
    with pytest.raises(ModelFileError, match=r"manifest\.json is damaged \(its checksum differs\)"):
        trueup.load(tmp_path / "model")


def stump(leaves: list[float], **changed: Any) -> Trees:
    """One categorical split on feature 0 with a set of one word."""
    arrays = {
        "node_offsets": np.array([0, 1], np.int32),
        "split_feature": np.array([0], np.int32),
        "threshold": np.array([0.0]),
        "decision_type": np.array([1], np.uint8),
        "left_child": np.array([~0], np.int32),
        "right_child": np.array([~1], np.int32),
        "leaf_values": np.array(leaves),
        "category_offsets": np.array([0, 1], np.int32),
        "category_words": np.array([1], np.uint32),
    }
    return Trees(**{**arrays, **changed})


def calibrator_of(*rounds: FittedRound) -> trueup.Calibrator:
    spec = FeatureSpec(("x",), (Feature("x", ValueKind.STRING, ("a", "b")),))
    return trueup.Calibrator(CalibrationModel(spec, rounds))


def test_a_model_of_one_stump_is_saved_and_loaded(tmp_path: Path) -> None:
    calibrator_of(FittedRound(stump([1.0, -1.0]), 2.0)).save(tmp_path / "model")
    # A score of 1/2 has the logit 0; "a" is in the set, so the logit becomes 2 (0 + 1) = 2.
    loaded = trueup.load(tmp_path / "model")
    assert loaded.calibrate_one({"x": "a"}, 0.5) == pytest.approx(1 / (1 + np.exp(-2)))
    assert loaded.calibrate_one({"x": None}, 0.5) == pytest.approx(1 / (1 + np.exp(2)))


@pytest.mark.parametrize(
    ("rounds", "message"),
    [
        ([FittedRound(stump([1.0, 2.0]), 1e200)] * 2, "logits could become infinite"),
        (
            [FittedRound(stump([1.0, 2.0], category_offsets=np.array([0, 1, 1], np.int32)), 1.0)],
            "that of one split",
        ),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(rounds: list[FittedRound], message: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(GOLDEN.read_bytes())
    with pytest.raises(ModelFileError, match=message):
        calibrator_of(*rounds).save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == GOLDEN.read_bytes()
    assert os.listdir(tmp_path) == ["model"]


def test_a_summary_that_json_can_not_hold_is_not_saved(tmp_path: Path) -> None:
    model = trueup.load(GOLDEN).model
    summary = dataclasses.replace(model.summary, parameters={"validation": object()})
    with pytest.raises(ModelFileError, match="The model can't be saved: Object of type object is not JSON"):
        trueup.Calibrator(dataclasses.replace(model, summary=summary)).save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "edit", "reason"),
    [
        ("format_1_logit", {"slope": None}, "expected|number"),
        ("format_1_logit", {"form": "cubic"}, "no known form"),
        ("format_1_logit", {"more": 1.0}, "the field 'more' is unknown"),
        ("format_1_logit", {"bend": 1e300}, "a row that must get|infinite"),
        ("format_1_logit", {"form": "knots"}, "its parts are not those of a model file"),
        ("format_1_knots", {"form": "logit"}, "its parts are not those of a model file"),
        ("format_1_knots", {"shift": 1.0}, "the field 'shift' is unknown"),
    ],
)
def test_a_map_that_trueup_can_not_have_written_is_refused(
    name: str, edit: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    source = GOLDEN.with_name(f"{name}.trueup")
    path = with_manifest(tmp_path / "edited", lambda manifest: manifest["score_map"].update(edit), source=source)
    with pytest.raises(ModelFileError, match=reason):
        trueup.load(path)


@pytest.mark.parametrize(
    ("scores", "values", "reason"),
    [
        ([], [], "one value per knot"),
        ([0.1, 0.2], [0.5], "one value per knot"),
        ([0.2, 0.1], [0.1, 0.2], "knots of a map must ascend"),
        ([0.1, float("inf")], [0.1, 0.2], "knots of a map must ascend"),
        ([0.1, 0.2], [0.2, 0.1], "probabilities that never fall"),
        ([0.1, 0.2], [0.2, 1.5], "probabilities that never fall"),
        ([0.1, 0.2], [0.2, float("nan")], "probabilities that never fall"),
    ],
)
def test_knots_that_make_no_map_are_not_saved(
    scores: list[float], values: list[float], reason: str, tmp_path: Path
) -> None:
    knots = KnotMap(np.array(scores), np.array(values))
    model = CalibrationModel(FeatureSpec(("x",), ()), (), score_map=knots)
    parity = ParityRows(((),), (0.5,), (0.5,))
    with pytest.raises(ModelFileError, match=reason):
        write_model(model, parity, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_file_that_declares_more_than_fits_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "many trees"
    n = 1_000_000
    trees = {name: np.empty(0, dtype) for name, dtype in ARRAY_TYPES.items()}
    trees |= {
        "node_offsets": np.zeros(n + 1, np.int32),
        "leaf_values": np.zeros(n),
        "category_offsets": np.zeros(1, np.int32),
    }
    model, parity = read_model(GOLDEN)
    write_model(dataclasses.replace(model, rounds=(FittedRound(Trees(**trees), 1.0),)), parity, path)
    assert path.stat().st_size < 13e6
    with pytest.raises(ModelFileError, match=r"many trees' .*could take 13\d MiB of memory, and 100 MiB is the"):
        read_file_bytes(path, max_memory=100 * 2**20)
    assert read_file_bytes(path, max_memory=200 * 2**20) == path.read_bytes()


def test_a_limit_on_memory_lets_ordinary_models_pass_and_says_what_is_no_model(tmp_path: Path) -> None:
    assert read_file_bytes(GOLDEN, max_memory=2**23) == GOLDEN.read_bytes()
    (tmp_path / "text").write_text("no model at all, but some text")
    with pytest.raises(ModelFileError, match="it is not a model file"):
        read_file_bytes(tmp_path / "text", max_memory=2**23)
