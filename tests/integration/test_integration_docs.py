"""The code in docs/integrations.md runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "integrations.md"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow")
@pytest.mark.filterwarnings("ignore::FutureWarning:mlflow")
@pytest.mark.filterwarnings("ignore:.*type hint:UserWarning")  # of a part of MLflow itself
def test_the_page_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    for name in ("onnx", "onnxruntime", "skops", "mlflow"):
        pytest.importorskip(name, reason=f"{name} is not installed")
    import mlflow

    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    try:
        code = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
        exec(compile(code, str(PAGE), "exec", dont_inherit=True), {"__name__": "page"})
    finally:
        mlflow.set_tracking_uri(before)
    assert {path.name for path in tmp_path.iterdir()} >= {"model.trueup", "model.onnx", "model.skops"}
