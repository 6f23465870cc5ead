"""Comparing an ONNX graph with the model that it was made from, in onnxruntime, on made-up rows.

Each category is in some row. Numbers lie on thresholds and right beside them, where a rounded threshold or a rounded
number would go the other way. Values are missing, unseen, infinite and zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import CalibrationTable, read_table
from trueup._model import LARGEST_NUMBER, CalibrationModel, Feature, ParityRows, ValueKind
from trueup._scoring._calibrator import Calibrator
from trueup._scoring._onnx._signature import GraphInput, Signature, feeds_of_table, free_name
from trueup.errors import ExportError

WRONG_SCORES = (-0.25, 1.25, float("nan"), float("inf"))  # rows of which a graph must make NaN
_N_ROWS = 4096
_ROWS_A_CATEGORY = 2
_SHARE_MISSING, _SHARE_UNSEEN = 0.1, 0.1
_EDGES = (0.0, 1.0, 0.5, 5e-324, 1e-310, 1e-300, 1e-100, 1e-6, 1.0 - 1e-6, 1.0 - 1e-16)  # of scores
_SHARE_SMALL = 0.3  # scores of any size down to 1e-300, which an even draw never gives
_SPECIAL = (0.0, -0.0, 1e-36, -1e-36, 1.0, -1.0, np.inf, -np.inf)  # numbers

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Rows as a table that the model reads, and their base scores, all of them probabilities."""

    table: CalibrationTable
    scores: Floats


def make_rows(model: CalibrationModel, signature: Signature, parity: ParityRows) -> CheckedRows:
    """The rows of the model file, which have outputs beside them, and then rows made from the model's splits. Where the
    graph's inputs are float32, so are the numbers of the rows."""
    rng = np.random.default_rng(0)
    most = max((len(f.feature.categories or ()) for f in signature.features if f.feature is not None), default=0)
    n_made = max(_N_ROWS, _ROWS_A_CATEGORY * most)
    columns: dict[str, Any] = {name: [None] * (len(parity.rows) + n_made) for name in model.features.columns}
    for place, graph_input in enumerate(signature.features):
        feature = graph_input.feature
        assert feature is not None
        known = [row[model.features.names.index(feature.name)] for row in parity.rows]
        if feature.categories is None:
            thresholds = _thresholds(model, place)
            values: Any = np.array([np.nan if value is None else value for value in known], dtype=np.float64)
            values = np.concatenate([values, _numbers(thresholds, graph_input, n_made, rng)])
            columns[feature.name] = _rounded(values, graph_input)
        else:
            columns[feature.name] = [*known, *_categories(feature, n_made, rng)]
    table = replace(read_table(columns), named=model.features.named)
    scores = np.concatenate([np.array(parity.scores, dtype=np.float64), _scores(n_made, rng)])
    return CheckedRows(table, scores if signature.score is None else _rounded(scores, signature.score))


def _rounded(values: Floats, graph_input: GraphInput) -> Floats:
    """The numbers that the graph's input can hold."""
    with np.errstate(over="ignore"):
        return values.astype(graph_input.element).astype(np.float64)


def _scores(n_rows: int, rng: np.random.Generator) -> Floats:
    scores = rng.random(n_rows)
    small = rng.random(n_rows) < _SHARE_SMALL
    scores[small] = 10.0 ** rng.uniform(-300, 0, int(small.sum()))
    scores[: len(_EDGES)] = _EDGES
    return scores


def _thresholds(model: CalibrationModel, feature: int) -> Floats:
    parts = [fitted.trees for fitted in model.rounds]
    return np.unique(np.concatenate([np.empty(0), *(part.threshold[part.split_feature == feature] for part in parts)]))


def _numbers(thresholds: Floats, graph_input: GraphInput, n_rows: int, rng: np.random.Generator) -> Floats:
    """Numbers on and beside thresholds, at the distance that the input's type knows, and anywhere between."""
    thresholds = thresholds[np.abs(thresholds) < LARGEST_NUMBER]
    with np.errstate(over="ignore"):
        near = thresholds.astype(graph_input.element)
        beside = [np.nextafter(near, np.full_like(near, end)) for end in (-np.inf, np.inf)]
    choices = [near, *beside, np.array(_SPECIAL, near.dtype)]
    on_and_beside = np.concatenate(choices).astype(np.float64)
    numbers = on_and_beside[_each_then_any(len(on_and_beside), n_rows, rng)]
    if len(thresholds):
        between = rng.uniform(thresholds[0] - 1, thresholds[-1] + 1, n_rows)
        numbers = np.where(rng.random(n_rows) < 0.3, between, numbers)
    return np.where(rng.random(n_rows) < _SHARE_MISSING, np.nan, numbers)


def _categories(feature: Feature, n_rows: int, rng: np.random.Generator) -> list[Any]:
    """All categories in any order, some of them missing and some that were never seen."""
    known: Sequence[Any] = feature.categories or ()
    unseen: Any = free_name("unseen", known) if feature.kind is ValueKind.STRING else None
    if feature.kind is ValueKind.NUMBER:
        unseen = next(number for number in itertools.count(0.5) if number not in known)
    if not known:
        return [None] * n_rows
    values = [known[place] for place in _each_then_any(len(known), n_rows, rng)]
    chance = rng.random(n_rows)
    chance[: len(known)] = 1.0  # each category is there
    return [
        None if c < _SHARE_MISSING else unseen if c < _SHARE_MISSING + _SHARE_UNSEEN else value
        for c, value in zip(chance, values, strict=True)
    ]


def _each_then_any(n_choices: int, n_rows: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Places of choices: each of them once as far as rows suffice, then any."""
    each = rng.permutation(n_choices)[:n_rows]
    return np.concatenate([each, rng.integers(0, n_choices, n_rows - len(each))])


# Graph and model do the same arithmetic in doubles; only exp and log may differ in the last bit. Of a probability near
# 1e-300 that is the 13th digit, for its logit is near -690. The bound is relative, or small ones would not be compared.
BOUND = 1e-9
_ROWS_A_RUN = 16384  # the matrix of a round may have hundreds of columns

Expected = tuple[dict[str, npt.NDArray[Any]], Floats]


def expected_of(calibrator: Calibrator, signature: Signature, rows: CheckedRows) -> Expected:
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


def largest_difference(graph: bytes | Path, comparison: Expected) -> float:
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
            for begin, end in itertools.pairwise(bounds)
        ]
    except Exception as error:  # onnxruntime's own errors derive from nothing else
        raise ExportError(_wrong(f"onnxruntime {onnxruntime.__version__} can't run it: {error}")) from error
    return np.concatenate(parts)


def _wrong(what: str) -> str:
    return (
        f"The exported graph does not give the model's answers: {what}. Nothing was written. This is a bug in trueup."
    )
