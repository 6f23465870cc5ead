"""Running an exported graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from trueup import OnnxExport, export_onnx

Run = Callable[[OnnxExport, dict[str, Any]], npt.NDArray[np.float64]]


@pytest.fixture(autouse=True)
def onnx_installed() -> None:
    """Skip where the extra is not installed."""
    for name in ("onnx", "onnxruntime"):
        pytest.importorskip(name, reason=f"{name} is not installed: pip install 'trueup[onnx]'")


@pytest.fixture
def export(tmp_path: Path) -> Callable[..., OnnxExport]:
    """Export a model to a folder that goes away."""
    return lambda model, **options: export_onnx(model, tmp_path / "model.onnx", **options)


@pytest.fixture
def run() -> Run:
    """What a graph makes of its inputs."""

    def run(exported: OnnxExport, feeds: dict[str, Any]) -> npt.NDArray[np.float64]:
        import onnxruntime

        session = onnxruntime.InferenceSession(exported.path, providers=["CPUExecutionProvider"])
        return np.asarray(session.run([exported.output], feeds)[0])

    return run


@pytest.fixture
def rounded() -> Callable[[pa.Table], pa.Table]:
    """A table whose numbers are all float32, widened again."""

    def rounded(table: pa.Table) -> pa.Table:
        for place, field in enumerate(table.schema):
            if pa.types.is_integer(field.type) or pa.types.is_floating(field.type):
                numbers = table.column(place).cast(pa.float32(), safe=False).cast(pa.float64())
                table = table.set_column(place, field.name, numbers)
        return table

    return rounded
