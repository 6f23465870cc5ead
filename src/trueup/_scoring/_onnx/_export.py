"""Exporting a model: made, compared with the model, and only then kept."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import listed, read_scores, read_table
from trueup._model import CalibrationModel, encode_value, read_model
from trueup._runtime import atomic_path
from trueup._scoring._calibrator import Calibrator
from trueup._scoring._load import load
from trueup._scoring._onnx._chain import build_graph
from trueup._scoring._onnx._signature import FloatType, GraphInput, Signature, feeds_of_table, plan_signature
from trueup._scoring._onnx._verify import BOUND, expected_of, largest_difference, make_rows
from trueup.errors import ColumnError, ExportError, ModelFileError, ParameterError, ScoreError


def metadata_of(
    model: CalibrationModel, signature: Signature, sha256: str, difference: float, n_rows: int
) -> dict[str, str]:
    """Texts by name; those that are not plain are JSON."""
    facts: dict[str, Any] = {
        "versions": {name: version(name) for name in ("trueup", "numpy", "onnx", "onnxruntime")},
        "model_sha256": sha256,
        "rounds": len(model.rounds),
        "classes": [encode_value(label) for label in model.classes],
        "features": [
            {
                "name": graph_input.name,
                "type": graph_input.element,
                "holds": graph_input.feature.kind.value,
                "categories": None if graph_input.feature.categories is None else len(graph_input.feature.categories),
            }
            for graph_input in signature.features
            if graph_input.feature is not None
        ],
        "score": None if signature.score is None else _score_entry(signature.score),
        "output": {"name": signature.output, "type": "float64"},
        "missing": {
            "string": signature.missing_text,
            "number": "NaN",
            "boolean": "NaN; 0 and 1 are false and true",
            "score": "NaN, which gives NaN, as does a score outside [0, 1]",
        },
        "largest_difference": difference,  # of an answer, relative to it
        "difference_bound": BOUND,
        "rows_compared": n_rows,
    }
    return {
        f"trueup.{name}": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in facts.items()
    }


def _score_entry(score: GraphInput) -> dict[str, Any]:
    """The score's input, and the least and the largest score that its type can tell from 0 and from 1."""
    kind = np.dtype(score.element).type
    lowest = max(float(np.finfo(kind).smallest_subnormal), _native.LOWEST_SCORE)
    return {
        "name": score.name,
        "type": score.element,
        "lowest": lowest,
        "highest": float(np.nextafter(kind(1), kind(0))),
    }


_OLDEST_ONNXRUNTIME = (1, 24)


@dataclass(frozen=True)
class OnnxExport:
    """An ONNX file that gives a model's answers.

    Attributes
    ----------
    path : Path
        The file.
    inputs : tuple of GraphInput
        The inputs: the features, and the base score last if there is one.
    output : str
        The name of the output, one float64 per row.
    missing_text : str
        What stands for a missing string. Missing numbers and booleans are NaN.
    largest_difference : float
        The largest difference from the model's probabilities that was measured, relative to them.
    n_rows_compared : int
        On how many rows.
    metadata : mapping
        What the file says about itself.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import trueup
    >>> from trueup.baselines import IsotonicCalibrator
    >>> fitted = IsotonicCalibrator().fit({"x": [0, 0, 0]}, [0, 1, 1], scores=[0.1, 0.3, 0.5])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export = trueup.export_onnx(fitted, Path(folder) / "model.onnx")
    >>> [(graph_input.name, graph_input.element) for graph_input in export.inputs]
    [('score', 'float64')]
    >>> export.feeds({"x": [0]}, [0.2])
    {'score': array([0.2])}
    """

    path: Path
    inputs: tuple[GraphInput, ...]
    output: str
    missing_text: str
    largest_difference: float
    n_rows_compared: int
    metadata: Mapping[str, str] = field(repr=False)
    _signature: Signature = field(repr=False)
    _positive: int = field(repr=False)  # the column of scores that have two

    def feeds(self, X: Any, scores: Any = None) -> dict[str, npt.NDArray[Any]]:
        """The rows of a table as onnxruntime takes them.

        Parameters
        ----------
        X : table
            The rows; columns are found by name.
        scores : array-like, optional
            The base model's probabilities, for a model that was fitted on scores. Not needed if `X` has a column of
            the name that the graph's input for them has.

        Returns
        -------
        dict of arrays
            One array per input: numbers and booleans with NaN where missing, texts with `missing_text`.
        """
        table = read_table(X)
        wanted = [graph_input.name for graph_input in self._signature.features]
        absent = [name for name in wanted if name not in table]
        if absent:
            raise ColumnError(f"X has no column {listed(absent)}. Present: {listed(table.names, 12) or 'none'}.")
        score = self._signature.score
        if scores is None and score is not None and score.name in table:
            scores = table.column(score.name)
        if (scores is None) != (score is None):
            needs = "was fitted on scores; pass them" if scores is None else "was fitted without scores, and takes none"
            raise ScoreError(f"The model {needs}.")
        base = None
        if scores is not None:
            base = read_scores(scores, table.n_rows, name="scores", missing_allowed=True, positive=self._positive)
        return feeds_of_table(self._signature, table, base)


def export_onnx(model: Any, path: str | os.PathLike[str], *, float_type: FloatType = "float64") -> OnnxExport:
    """Write a model as one ONNX graph, from raw features and the base score to the calibrated probability.

    The graph has one input per feature, under the feature's own name, and one for the base model's probability, each
    with one value per row. It computes in float64 throughout and is compared with the model, in onnxruntime, before the
    file is kept: on the rows that the model file carries, on each category, on and right beside each threshold,
    and with missing and unseen values. Needs the extra ``onnx``.

    Parameters
    ----------
    model : path-like, MCGrad, Calibrator or one of `trueup.baselines`
        A model file, or a fitted model.
    path : path-like
        Where to; by custom it ends in ``.onnx``. Written whole or not at all.
    float_type : {"float64", "float32"}, default="float64"
        The type of the inputs that hold numbers. Numbers that come as float32 are compared with the model's
        thresholds as they are, so the answers are the model's answers for these very float32 numbers.

    Returns
    -------
    OnnxExport
        Names and types of the inputs, and the largest difference that was measured.

    Raises
    ------
    ExportError
        If ONNX can't express the model, which the message explains, or if the graph's probability differs from the
        model's by more than 1e-9 of it in any row, or if the extra is not installed.

    Notes
    -----
    ONNX tensors can't hold a missing string, so one that is missing is the text `OnnxExport.missing_text`: the empty
    one, unless that is a category. Missing numbers are NaN. Booleans are numbers too, 0 and 1, so that they can be
    missing. A score that is missing or outside [0, 1] gives NaN, for a graph can't raise an error.

    A float32 can't tell scores below 1.4e-45 from 0, nor scores above 1 - 6e-8 from 1. With float64 scores the graph
    follows the model from 1e-300 to 1 - 1e-16. The file's metadata say where its own scores end, as ``lowest`` and
    ``highest`` in ``trueup.score``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import onnxruntime
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(5000, random_state=0)
    >>> fitted = trueup.MCGrad(max_rounds=2, validation=None, rescale="train")
    >>> fitted = fitted.fit(traffic.X, traffic.y, scores=traffic.scores)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export = trueup.export_onnx(fitted, Path(folder) / "model.onnx")
    ...     session = onnxruntime.InferenceSession(export.path)
    >>> calibrated = session.run(["calibrated"], export.feeds(traffic.X, traffic.scores))[0]
    >>> bool(abs(calibrated - fitted.calibrate(traffic.X, traffic.scores)).max() < 1e-9)
    True
    """
    _require_onnx()
    from onnx import helper

    with _model_file(model) as source:
        sha256 = _sha256(source)
        calibrator = load(source)
        parity = read_model(source)[1]
        if _sha256(source) != sha256:
            raise ModelFileError(f"{os.fspath(source)!r} was replaced while it was read. Export it again.")
    signature = plan_signature(calibrator.model, float_type)
    graph = build_graph(calibrator.model, signature)
    rows = make_rows(calibrator.model, signature, parity)
    comparison = expected_of(calibrator, signature, rows)
    difference = largest_difference(graph.SerializeToString(), comparison)
    n_rows = len(comparison[1])
    metadata = metadata_of(calibrator.model, signature, sha256, difference, n_rows)
    helper.set_model_props(graph, metadata)
    graph.producer_version = version("trueup")
    with atomic_path(path) as temporary:
        temporary.write_bytes(graph.SerializeToString())
        largest_difference(temporary, comparison)  # what is kept is what was compared
    target = Path(os.fsdecode(path))
    return OnnxExport(
        target,
        signature.inputs,
        signature.output,
        signature.missing_text,
        difference,
        n_rows,
        metadata,
        signature,
        calibrator.model.positive_column,
    )


def _require_onnx() -> None:
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError as error:
        raise ExportError(
            f'Exporting needs onnx and onnxruntime, and {error.name} is not installed: pip install "trueup[onnx]". '
            "There is no onnxruntime of this kind for Python 3.10."
        ) from None
    installed = onnxruntime.__version__
    if tuple(int(part) for part in installed.split(".")[:2]) < _OLDEST_ONNXRUNTIME:
        oldest = ".".join(map(str, _OLDEST_ONNXRUNTIME))
        raise ExportError(
            f"Exporting needs onnxruntime {oldest} or later, and {installed} is installed, which sums trees wrongly: "
            'pip install --upgrade "trueup[onnx]".'
        )


@contextmanager
def _model_file(model: Any) -> Iterator[str | os.PathLike[str]]:
    """The file of a model; one that is not in a file yet is saved in a folder that goes away."""
    if isinstance(model, (str, os.PathLike)):
        yield model
        return
    calibrator = _calibrator(model)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "model.trueup"
        calibrator.save(source)
        yield source


def _calibrator(model: Any) -> Calibrator:
    if isinstance(model, Calibrator):
        return model
    found = getattr(model, "model_", model)  # of an estimator that was fitted
    if isinstance(found, CalibrationModel):
        return Calibrator(found)
    if hasattr(model, "calibrator_"):
        raise ExportError(
            f"A {type(model).__name__} holds a classifier too, which can't be exported here. Export its calibrator_, "
            "and feed it the classifier's probabilities."
        )
    raise ParameterError(
        f"model must be a model file, a fitted MCGrad or baseline, or a calibrator, got {type(model).__name__}."
    )


def _sha256(path: str | os.PathLike[str]) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
