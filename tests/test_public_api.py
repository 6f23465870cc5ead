"""The public names, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import trueup

PUBLIC = {
    "trueup": "AuditResult BatchScorer Calibrator Comparison Diagnosis Evaluation Finding MCGrad "
    "MulticalibratedClassifier OnnxExport Stream TRUSTED_TYPES __version__ audit auditing baselines calibration "
    "compare comparison datasets diagnose errors evaluate evaluation export_onnx load metrics open_stream plot "
    "segments serving",
}


def test_the_public_names_are_these() -> None:
    assert sorted(trueup.__all__) == sorted(PUBLIC["trueup"].split())
    assert dir(trueup) == sorted(trueup.__all__)


@pytest.mark.parametrize("name", [name for name in trueup.__all__ if name[0] != "_"])
def test_public_objects_say_that_they_are_of_a_public_package(name: str) -> None:
    thing = getattr(trueup, name)
    own = [getattr(thing, inner) for inner in thing.__all__] if isinstance(thing, ModuleType) else [thing]
    for value in own:
        module = getattr(value, "__module__", "trueup")
        assert not any(part.startswith("_") for part in module.split(".")), (value, module)


@pytest.mark.parametrize("name", trueup.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(trueup, name) is getattr(trueup, name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'calibrate_everything'"):
        _ = trueup.calibrate_everything  # type: ignore[attr-defined]


def modules_after(code: str) -> set[str]:
    program = f"{code}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_import_trueup_loads_nothing_heavy() -> None:
    heavy = {"numpy", "scipy", "sklearn", "lightgbm", "matplotlib", "pandas", "pyarrow", "narwhals", "rich", "typer"}
    heavy |= {"onnx", "onnxruntime", "granian", "altair", "jinja2"}
    assert modules_after("import trueup") & heavy == set()
