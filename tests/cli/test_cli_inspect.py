"""`trueup inspect`."""

import zipfile

import numpy as np
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.baselines import IsotonicCalibrator, PlattCalibrator


def test_it_shows_rounds_features_losses_and_versions(run, shared):
    outcome = run("inspect", shared.model)
    assert (outcome.code, outcome.err) == (0, "")
    for part in (
        "2 rounds, 30 trees",
        "format 1",
        "2,000 rows",
        "country",
        "strings",
        "Theta",
        "lightgbm",
        "kB",
    ):
        assert part in outcome.out


def test_names_are_printed_as_they_are_and_line_breaks_do_not_break_lines(run, shared):
    out = run("inspect", shared.model).out
    assert "größe→[red]x[/red]" in out
    assert 'say "hi", or not' in out


def test_json_holds_everything(run, shared):
    found = run("inspect", shared.model, "--json").json
    model = trueup.load(shared.model).model
    assert found["format"] == 1
    assert found["bytes"] == shared.model.stat().st_size
    assert found["thetas"] == [fitted.theta for fitted in model.rounds]
    assert found["rows"] == 2000
    assert found["positive_rate"] == pytest.approx(shared.rate)
    assert found["classes"] == [0, 1]
    assert found["score_column"] == "p"
    assert [feature["name"] for feature in found["features"]] == list(model.features.names)
    by_name = {feature["name"]: feature for feature in found["features"]}
    assert by_name["country"]["categories"] == 3
    assert by_name["country"]["kind"] == "strings"
    assert by_name["amount"]["categories"] is None
    assert [record["round"] for record in found["history"]] == list(range(len(found["history"])))
    assert found["history"][0]["validation_loss"] == model.summary.history[0].validation_loss
    assert found["parameters"]["max_rounds"] == 2
    assert "numpy" in found["versions"]


def test_a_model_without_validation_has_no_validation_loss(run, shared, tmp_path):
    options = [
        "--max-rounds=1",
        "--validation=none",
        "--rescale=train",
        "--min-sum-hessian=1",
        "--jobs=1",
        "-q",
    ]
    path = tmp_path / "m.trueup"
    run("fit", shared.table, "--label=y", "--score=p", "-o", path, *options)
    found = run("inspect", path, "--json").json
    assert found["history"][1]["validation_loss"] is None
    assert found["loss"]["rows"] == "training"
    assert "–" in run("inspect", path).out


def test_a_file_that_is_no_model_is_exit_code_4(run, shared, tmp_path):
    whole = shared.model.read_bytes()
    (tmp_path / "cut.trueup").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.trueup").write_text("not a model")
    with zipfile.ZipFile(tmp_path / "zip.trueup", "w") as archive:
        archive.writestr("x", "y")
    for name in ("cut.trueup", "text.trueup", "zip.trueup"):
        outcome = run("inspect", tmp_path / name)
        assert outcome.code == 4
        assert outcome.err.startswith("error: ")
        assert outcome.err.count("\n") == 1
        applied = run("apply", shared.table, "-m", tmp_path / name, "-o", tmp_path / "o.csv")
        assert applied.code == 4


def test_a_map_of_the_score_is_shown(run, shared, tmp_path):
    table, path = shared.scored, tmp_path / "platt.trueup"
    model = PlattCalibrator().fit(table, table["y"].to_numpy(), scores=table["p"].to_numpy())
    model.save(path)
    out = run("inspect", path).out
    for part in ("0 rounds", "2,000 rows", "Map", "logit", '"PlattCalibrator"'):
        assert part in out
    found = run("inspect", path, "--json").json["score_map"]
    assert (found["form"], found["slope"], found["bend"], found["tilt"]) == ("logit", model.theta_, 0.0, 0.0)
    IsotonicCalibrator().fit(table, table["y"].to_numpy(), scores=table["p"].to_numpy()).save(path)
    assert "straight lines between knots" in run("inspect", path).out


def test_a_map_of_the_score_can_be_applied(run, shared, tmp_path):
    table, path = shared.scored, tmp_path / "isotonic.trueup"
    model = IsotonicCalibrator().fit(table, table["y"].to_numpy(), scores=table["p"].to_numpy())
    model.save(path)
    assert run("apply", shared.table, "--score=p", "--model", path, "-o", tmp_path / "o.parquet").code == 0
    found = pq.read_table(tmp_path / "o.parquet")["calibrated"].to_numpy()
    np.testing.assert_array_equal(found, model.calibrate(table, table["p"].to_numpy()))
