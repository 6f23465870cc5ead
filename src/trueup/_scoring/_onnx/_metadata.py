"""What an exported graph says about itself."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Any

import numpy as np

from trueup import _native
from trueup._model import CalibrationModel, encode_value
from trueup._scoring._onnx._signature import GraphInput, Signature
from trueup._scoring._onnx._verify import BOUND

__all__ = ["metadata_of"]


def metadata_of(
    model: CalibrationModel,
    signature: Signature,
    *,
    model_sha256: str,
    largest_difference: float,
    n_rows_compared: int,
) -> dict[str, str]:
    """Texts by name; those that are not plain are JSON."""
    facts: dict[str, Any] = {
        "versions": {name: version(name) for name in ("trueup", "numpy", "onnx", "onnxruntime")},
        "model_sha256": model_sha256,
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
        "largest_difference": largest_difference,  # of an answer, relative to it
        "difference_bound": BOUND,
        "rows_compared": n_rows_compared,
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
