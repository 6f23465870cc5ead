"""What can't be exported is refused with the reason, and leaves no file."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import trueup
from small_fits import quick
from trueup import export_onnx
from trueup._model import CalibrationModel, Feature, FeatureSpec, ValueKind
from trueup._scoring._onnx import _export
from trueup.datasets import make_traffic
from trueup.errors import ColumnError, ExportError, ModelFileError, ParameterError, ScoreError

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'trueup[onnx]'")

GOLDEN = Path(__file__).parents[2] / "_model" / "golden"


def model_with(*features: Feature, **more) -> CalibrationModel:
    return CalibrationModel(FeatureSpec(tuple(f.name for f in features), features), (), **more)


@pytest.fixture
def refuse(tmp_path):
    """Export a model that can't be, and give the reason."""

    def refuse(model, error=ExportError, **options) -> str:
        target = tmp_path / "out" / "model.onnx"
        target.parent.mkdir(exist_ok=True)
        with pytest.raises(error) as raised:
            export_onnx(model, target, **options)
        assert list(target.parent.iterdir()) == []
        return str(raised.value)

    return refuse


def test_dates_and_mixed_values_are_all_named_at_once(refuse):
    said = refuse(GOLDEN / "format_1.trueup")
    assert "3 of 9 features" in said
    for part in (
        "'since': its categories are dates",
        "'seen': its categories are datetimes",
        "'mixed': its categories",
    ):
        assert part in said


@pytest.mark.parametrize(
    ("category", "float_type", "reason"),
    [
        (2**53 + 1, "float64", "the category 9007199254740993 is not exactly a float64"),
        (2**24 + 1, "float32", "the category 16777217 is not exactly a float32"),
        (0.1, "float32", "the category 0.1 is not exactly a float32"),
    ],
)
def test_numbers_that_the_inputs_cannot_hold(refuse, category, float_type, reason):
    feature = Feature("code", ValueKind.NUMBER, (0, category))
    assert reason in refuse(model_with(feature), float_type=float_type)


def test_texts_that_are_not_unicode(refuse):
    assert "'\\udcff' is not valid Unicode" in refuse(model_with(Feature("c", ValueKind.STRING, ("a", "\udcff"))))


def test_a_column_without_a_name(refuse):
    assert "must have a name" in refuse(model_with(Feature("", ValueKind.NUMBER)))


def test_a_graph_without_inputs(refuse):
    assert "can't know the number of rows" in refuse(model_with(base_rate=0.2))


def test_a_classifier_and_its_calibration_in_one(refuse):
    rows = make_traffic(2000, random_state=0)
    X = rows.X.select(["hour", "past_clicks"]).to_pandas().fillna(0.0)
    both = trueup.MulticalibratedClassifier(LogisticRegression(), calibrator=quick(), cv=2).fit(X, rows.y)
    assert "Export its calibrator_" in refuse(both)


def test_what_is_no_model(refuse, tmp_path):
    assert "got int" in refuse(3, ParameterError)
    assert "got MCGrad" in refuse(trueup.MCGrad(), ParameterError)  # not fitted
    (tmp_path / "text.trueup").write_text("not a model")
    assert "text.trueup" in refuse(tmp_path / "text.trueup", ModelFileError)
    assert "float_type" in refuse(model_with(Feature("x", ValueKind.NUMBER)), ParameterError, float_type="float16")


@pytest.fixture
def model():
    rows = make_traffic(3000, random_state=0)
    return quick().fit(rows.X, rows.y, scores=rows.scores)


def test_a_graph_that_differs_is_not_kept(refuse, model, monkeypatch):
    right = _export.build_graph

    def wrong(fitted, signature):
        graph = right(fitted, signature)
        thetas = [constant for constant in graph.graph.initializer if not constant.dims]
        for constant in thetas:
            if constant.raw_data == np.float64(fitted.rounds[0].theta).tobytes():
                constant.raw_data = np.float64(fitted.rounds[0].theta * (1 + 1e-6)).tobytes()
        return graph

    monkeypatch.setattr(_export, "build_graph", wrong)
    said = refuse(model)
    assert "does not give the model's answers" in said
    assert "differ by more than 1e-09" in said


def test_the_old_file_stays_if_the_new_one_is_wrong(model, monkeypatch, tmp_path):
    target = tmp_path / "model.onnx"
    target.write_bytes(b"old")

    def stopped(*_arguments, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(onnxruntime, "InferenceSession", stopped)
    with pytest.raises(KeyboardInterrupt):
        export_onnx(model, target)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_written_file_is_compared_too(refuse, model, monkeypatch):
    n_calls = 0
    session = onnxruntime.InferenceSession

    def second_time_broken(*arguments, **options):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 2:
            raise RuntimeError("no")
        return session(*arguments, **options)

    monkeypatch.setattr(onnxruntime, "InferenceSession", second_time_broken)
    assert "can't run it: no" in refuse(model)
    assert n_calls == 2


def test_a_missing_extra_names_the_command(refuse, model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert 'pip install "trueup[onnx]"' in refuse(model)


def test_an_onnxruntime_that_sums_wrongly_is_refused(refuse, model, monkeypatch):
    monkeypatch.setattr(onnxruntime, "__version__", "1.23.2")
    assert "needs onnxruntime 1.24 or later, and 1.23.2 is installed" in refuse(model)


def test_feeds_refuse_what_the_model_would(model, tmp_path):
    exported = export_onnx(model, tmp_path / "model.onnx")
    rows = make_traffic(10, random_state=1)
    with pytest.raises(ColumnError, match="no column 'country'"):
        exported.feeds(rows.X.drop_columns(["country"]), rows.scores)
    with pytest.raises(ColumnError, match="'country' holds numbers"):
        exported.feeds(rows.X.set_column(0, "country", [list(range(10))]), rows.scores)
    with pytest.raises(ScoreError, match="was fitted on scores; pass them"):
        exported.feeds(rows.X)
    without = export_onnx(model_with(Feature("x", ValueKind.NUMBER), base_rate=0.5), tmp_path / "without.onnx")
    with pytest.raises(ScoreError, match="fitted without scores"):
        without.feeds({"x": [1.0]}, [0.5])
