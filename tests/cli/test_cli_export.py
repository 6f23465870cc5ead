"""`trueup export`."""

import datetime as dt

import pyarrow as pa
import pytest

import trueup
from trueup._scoring._onnx import _export

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'trueup[onnx]'")


def test_it_writes_a_graph_that_gives_the_models_answers(run, shared, tmp_path):
    target = tmp_path / "model.onnx"
    outcome = run("export", shared.model, "--onnx", target)
    assert (outcome.code, outcome.err) == (0, "")
    for part in ("Wrote", "differs by at most", "calibrated", "country", "string", "größe→[red]x[/red]"):
        assert part in outcome.out
    exported = trueup.export_onnx(shared.model, tmp_path / "again.onnx")
    assert exported.path.read_bytes() == target.read_bytes()
    feeds = exported.feeds(shared.scored, shared.scored["p"].to_numpy())
    found = onnxruntime.InferenceSession(target).run(["calibrated"], feeds)[0]
    assert found == pytest.approx(shared.expected, abs=1e-12)


def test_json_holds_the_inputs_and_the_difference(run, shared, tmp_path):
    target = tmp_path / "model.onnx"
    found = run("export", shared.model, "--onnx", target, "--numbers=float32", "--json").json
    assert found["output"] == str(target)
    assert found["bytes"] == target.stat().st_size
    types = {entry["name"]: entry["type"] for entry in found["inputs"]}
    assert types["country"] == "string"
    assert types["amount"] == types["flag"] == types["p"] == "float32"
    assert 0 <= found["largest_difference"] < 1e-12
    assert found["rows_compared"] > 4000
    assert (found["result"], found["missing_text"]) == ("calibrated", "")


def test_what_onnx_cannot_express_is_exit_code_4_and_one_line(run, shared, tmp_path):
    table = shared.scored
    days = table.append_column("day", pa.array([dt.date(2024, 1, 1 + i % 9) for i in range(len(table))]))
    fitted = trueup.MCGrad(categorical_features=["day"], max_rounds=0).fit(
        days.select(["day"]), table["y"].to_numpy(), scores=table["p"].to_numpy()
    )
    fitted.save(tmp_path / "h.trueup")
    outcome = run("export", tmp_path / "h.trueup", "--onnx", tmp_path / "h.onnx")
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.err.startswith("error: ONNX can't express")
    assert outcome.err.count("\n") == 1
    assert not (tmp_path / "h.onnx").exists()


def test_the_model_file_is_not_written_over(run, shared):
    before = shared.model.read_bytes()
    outcome = run("export", shared.model, "--onnx", shared.model)
    assert outcome.code == 3
    assert "is the model file itself" in outcome.err
    assert shared.model.read_bytes() == before


def test_a_folder_that_is_not_there_is_told_before_the_work(run, shared, tmp_path):
    outcome = run("export", shared.model, "--onnx", tmp_path / "nowhere" / "model.onnx")
    assert outcome.code == 3
    assert "there is no folder" in outcome.err


def test_ctrl_c_leaves_nothing_behind(run, shared, tmp_path, monkeypatch):
    def stopped(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(_export, "largest_difference", stopped)
    outcome = run("export", shared.model, "--onnx", tmp_path / "model.onnx")
    assert outcome.code == 130
    assert "Nothing was written" in outcome.err
    assert list(tmp_path.iterdir()) == []
