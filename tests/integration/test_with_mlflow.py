"""Logging to MLflow and loading again, with a store in local files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import trueup
from small_fits import quick
from trueup.datasets import make_traffic

# Other people's warnings are not ours to repair.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow"),
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow"),
    pytest.mark.filterwarnings("ignore:.*type hint:UserWarning"),
]


@pytest.fixture(scope="module")
def mlflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """MLflow that writes to a folder of its own, and tells nobody of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed: pip install --group integration")
        pytest.importorskip("mlflow.sklearn")
        before = mlflow.get_tracking_uri()
        mlflow.set_tracking_uri((tmp_path_factory.mktemp("mlflow") / "runs").as_uri())
        yield mlflow
        mlflow.set_tracking_uri(before)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Simulated traffic with the model's scores in a column."""
    rows = make_traffic(3000, random_state=0)
    return rows.X.to_pandas().assign(p=rows.scores, clicked=rows.y)


def log(mlflow: Any, model: Any) -> str:
    with mlflow.start_run():
        # MLflow keeps estimators in skops files. Without requirements it would look for them in a process of its own.
        trusted = list(trueup.TRUSTED_TYPES)
        requirements = ["trueup"]
        logged = mlflow.sklearn.log_model(
            model, name="model", skops_trusted_types=trusted, pip_requirements=requirements
        )
        return logged.model_uri


def test_mcgrad_comes_back_as_it_was(mlflow, table):
    X, y = table.drop(columns="clicked"), table["clicked"]
    model = quick(score_column="p").fit(X, y)
    uri = log(mlflow, model)
    loaded = mlflow.sklearn.load_model(uri)
    assert isinstance(loaded, trueup.MCGrad)
    np.testing.assert_array_equal(loaded.calibrate(X), model.calibrate(X))
    assert np.abs(model.calibrate(X) - X["p"]).max() > 0.01
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(uri).predict(X), model.predict(X))


def test_a_classifier_and_its_calibration_come_back(mlflow, table):
    X, y = table[["country", "device", "hour"]], table["clicked"]
    base = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    model = trueup.MulticalibratedClassifier(base, calibrator=quick(), cv=2).fit(X, y)
    uri = log(mlflow, model)
    np.testing.assert_array_equal(mlflow.sklearn.load_model(uri).predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(mlflow.pyfunc.load_model(uri).predict(X), model.predict(X))


def test_a_model_file_as_a_pyfunc_gives_probabilities(mlflow, table, tmp_path):
    """What docs/integrations.md shows: nothing is pickled but a loader of a few lines."""
    X, y = table.drop(columns="clicked"), table["clicked"]
    model = quick(score_column="p").fit(X, y)
    model.save(tmp_path / "model.trueup")

    class Calibrated(mlflow.pyfunc.PythonModel):
        def load_context(self, context):
            self.calibrator = trueup.load(context.artifacts["model"])

        def predict(self, context, model_input: pd.DataFrame, params=None):
            return self.calibrator.calibrate(model_input)

    with mlflow.start_run():
        info = mlflow.pyfunc.log_model(
            name="model",
            python_model=Calibrated(),
            artifacts={"model": str(tmp_path / "model.trueup")},
            pip_requirements=["trueup"],
        )
    loaded = mlflow.pyfunc.load_model(info.model_uri)
    np.testing.assert_array_equal(loaded.predict(X), model.calibrate(X))
