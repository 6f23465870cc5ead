"""The public names, and what importing them costs."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from types import FunctionType, ModuleType

import pytest

import trueup

PUBLIC = {
    "trueup": """
        AuditResult BatchScorer Calibrator Comparison Diagnosis Evaluation Finding MCGrad
        MulticalibratedClassifier OnnxExport Stream TRUSTED_TYPES __version__ audit auditing baselines
        calibration compare comparison datasets diagnose distributed errors evaluate evaluation export_onnx
        load metrics open_stream plot segments serving
    """,
    "trueup.auditing": """
        AuditResult Sketch SketchBuilder SketchSpec audit audit_stream load_sketch make_sketch
        merge_sketches sketch_stream
    """,
    "trueup.baselines": "DFMC HKRR IsotonicCalibrator LSBoost PlattCalibrator SegmentMCGrad TemperatureCalibrator",
    "trueup.calibration": "MCGrad MulticalibratedClassifier TRUSTED_TYPES",
    "trueup.comparison": "Comparison Reason compare",
    "trueup.datasets": "Flights Traffic flight_scores load_flights make_traffic",
    "trueup.distributed": "audit_dask calibrate_dask fit_dask",
    "trueup.errors": """
        ClusterWarning ColumnError ConvergenceWarning CostWarning DataError DataFileError DataWarning
        DiagnosisError ExportError FileError InsufficientDataWarning LabelError MissingExtraError
        MissingScoreWarning ModelFileError ParameterError RescaleWarning ScoreError SketchFileError
        SuspiciousDataWarning TableError TrainingError TrueupError TrueupWarning UnseenCategoryWarning WeightError
    """,
    "trueup.evaluation": """
        Diagnosis Evaluation FILES Finding Outcome PERCENTILES RowFacts Seconds SplitFacts Summary diagnose
        evaluate summarize
    """,
    "trueup.metrics": """
        CumulativeCurve ReliabilityCurve ScoreDensity average_precision brier_calibration brier_refinement
        brier_score cumulative_curve ecce ecce_pvalue ecce_sigma ecce_standard_error
        expected_calibration_error log_loss maximum_over_segments multicalibration_error multicalibration_scorer
        regression_ecce regression_ecce_pvalue regression_ecce_sigma regression_ecce_standard_error
        reliability_curve roc_auc score_density smooth_calibration_error
    """,
    "trueup.plot": """
        CumulativeDisplay FeatureGridDisplay LearningCurveDisplay ReliabilityDisplay SegmentsDisplay
        SlopesDisplay
    """,
    "trueup.segments": "Interval Missing OneOf Segment enumerate_segments parse_segment",
    "trueup.serving": "LoadedModel ModelSlot ServerOptions asgi_app read_token serve",
}


def test_the_public_names_are_these() -> None:
    assert dir(trueup) == sorted(trueup.__all__)
    packages = [name for name in trueup.__all__ if isinstance(getattr(trueup, name), ModuleType)]
    assert sorted(f"trueup.{name}" for name in packages) == sorted(PUBLIC.keys() - {"trueup"})


@pytest.mark.parametrize("package", PUBLIC)
def test_the_names_of_a_package_are_these_and_they_say_that_they_are_of_it(package: str) -> None:
    module = import_module(package)
    assert sorted(module.__all__) == PUBLIC[package].split()
    for name in module.__all__:
        value = getattr(module, name)
        if isinstance(value, (type, FunctionType)):
            home = import_module(value.__module__)  # where a pickle looks for it
            assert home.__name__ in PUBLIC, f"{name} says that it is of {home.__name__}"
            assert getattr(home, name) is value


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
