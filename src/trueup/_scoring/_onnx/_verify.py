"""Comparing an ONNX graph with the model that it was made from, in onnxruntime."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._scoring._calibrator import Calibrator
from trueup._scoring._onnx._rows import WRONG_SCORES, CheckedRows
from trueup._scoring._onnx._signature import Signature, feeds_of_table
from trueup.errors import ExportError

__all__ = ["BOUND", "Comparison", "expected_of", "largest_difference"]

# Graph and model do the same arithmetic in doubles; only exp and log may differ in the last bit. Of a probability near
# 1e-300 that is the 13th digit, for its logit is near -690. The bound is relative, or small ones would not be compared.
BOUND = 1e-9
_ROWS_A_RUN = 16384  # the matrix of a round may have hundreds of columns

Floats = npt.NDArray[np.float64]
Comparison = tuple[dict[str, npt.NDArray[Any]], Floats]


def expected_of(calibrator: Calibrator, signature: Signature, rows: CheckedRows) -> Comparison:
    """The inputs of rows, and what the model makes of them; the last rows have scores that are none."""
    scores = None if signature.score is None else rows.scores
    expected = calibrator.calibrate(rows.table, scores)
    feeds = feeds_of_table(signature, rows.table, scores)
    if signature.score is None:
        return feeds, expected
    n_wrong = len(WRONG_SCORES)
    feeds = {name: np.concatenate([values, values[:n_wrong]]) for name, values in feeds.items()}
    feeds[signature.score.name][-n_wrong:] = WRONG_SCORES
    return feeds, np.concatenate([expected, np.full(n_wrong, np.nan)])


def largest_difference(graph: bytes | Path, comparison: Comparison) -> float:
    """The largest relative difference between a graph and the model; `ExportError` if it is above the bound."""
    feeds, expected = comparison
    found = _run(graph, feeds)
    if found.shape != expected.shape or found.dtype != np.float64:
        raise ExportError(_wrong(f"it gives {found.dtype} of shape {found.shape} for {len(expected):,} rows"))
    missing = np.isnan(expected)
    # Subnormal numbers have few digits or none, so all below the normal ones are the same.
    ours, theirs = (np.maximum(values, _native.LOWEST_SCORE) for values in (found, expected))
    differences = np.where(missing & np.isnan(found), 0.0, np.abs(ours - theirs) / theirs)
    wrong = ~(differences <= BOUND)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ExportError(
            _wrong(
                f"{int(wrong.sum()):,} of {len(expected):,} rows differ by more than {BOUND:g} of the model's answer "
                f"(the first gets {found[first]!r} instead of {expected[first]!r})"
            )
        )
    return float(differences.max(initial=0.0))


def _run(graph: bytes | Path, feeds: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    import onnxruntime

    try:
        source = graph if isinstance(graph, bytes) else str(graph)
        session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
        n_rows = len(next(iter(feeds.values())))
        # Empty and single rows have code paths of their own.
        bounds = [0, 0, 1, *range(_ROWS_A_RUN, n_rows, _ROWS_A_RUN), n_rows]
        parts = [
            session.run(None, {name: values[begin:end] for name, values in feeds.items()})[0]
            for begin, end in pairwise(bounds)
        ]
    except Exception as error:  # onnxruntime's own errors derive from nothing else
        raise ExportError(_wrong(f"onnxruntime {onnxruntime.__version__} can't run it: {error}")) from error
    return np.concatenate(parts)


def _wrong(what: str) -> str:
    return (
        f"The exported graph does not give the model's answers: {what}. Nothing was written. This is a bug in trueup."
    )
