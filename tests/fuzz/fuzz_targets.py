"""What is fuzzed: functions of bytes that raise when something happened that must not.

Each takes any bytes at all. A model file gives a calibrator that gives probabilities, or `ModelFileError`; a body gives
probabilities, or a problem that is the client's; a condition gives a segment, or `ParameterError`.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from fuzz_bodies import mutate_arrow_body, mutate_condition, mutate_json_body, stream_of
from fuzz_model_file import mutate_model_file

import trueup
from trueup.errors import ColumnError, ModelFileError, ParameterError
from trueup.segments import parse_segment
from trueup.serving._arrow import read_arrow, write_arrow
from trueup.serving._json_body import read_json, write_json
from trueup.serving._problems import Problem
from trueup.serving._rows import JsonBatch, RowPlan

__all__ = ["BODIES", "TARGETS", "Target"]

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "_model" / "golden"
MAX_ROWS = 1000
_MANY = 65  # rows that are scored as a table rather than one by one
_SEGMENT_TABLE = {"country": ["NO", None, "a b"], "age": [18, None, 25.5], "member": [True, False, None]}


@dataclass(frozen=True)
class Target:
    """A function to be fuzzed.

    Attributes
    ----------
    run : callable
        Takes bytes; an exception is a finding.
    mutate : callable
        Gives other bytes of the same kind.
    seeds : callable
        Gives what mutation begins with.
    modules : tuple of str
        What must be covered.
    """

    run: Callable[[bytes], None]
    mutate: Callable[[bytes, random.Random], bytes]
    seeds: Callable[[], list[bytes]]
    modules: tuple[str, ...]


def _kept(name: str) -> list[bytes]:
    """Inputs that the repository keeps: they once found something, or lead to a corner."""
    return [path.read_bytes() for path in sorted((HERE / "corpus" / name).glob("*"))]


class LoadModelFile:
    """A file is loaded, and if it is a model, its scores are probabilities."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="trueup-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        self._path = Path(folder) / "model.trueup"

    def __call__(self, data: bytes) -> None:
        self._path.write_bytes(data)
        try:
            calibrator: Any = trueup.load(self._path, n_jobs=1)
        except ModelFileError as error:
            assert len(str(error)) < 1000, "the message is too long"
            return
        model = calibrator.model
        rows = _rows_of(model)
        scores = [0.0, 0.3, 1.0]
        given = None if model.base_rate is not None else scores
        ones = [calibrator.calibrate_one(row, given and given[i]) for i, row in enumerate(rows)]
        assert all(0 <= one <= 1 for one in ones), f"no probabilities: {ones}"
        if zlib.crc32(data) % 4 == 0:  # a table takes as long as all the rest
            table = {name: [row[name] for row in rows] for name in model.features.columns}
            found = calibrator.calibrate(table, given)
            np.testing.assert_allclose(ones, found, rtol=1e-9, atol=1e-12)


def _rows_of(model: Any) -> list[dict[str, Any]]:
    """Three rows of values that a model knows, the last one without any."""
    rows: list[dict[str, Any]] = [{}, {}, {}]
    for name in model.features.columns:
        values: tuple[Any, ...] = ()
        if name in model.features:
            categories = model.features[name].categories
            values = (-1e308, 20.5) if categories is None else categories[:2]
        for place, row in enumerate(rows):
            row[name] = values[place] if place < len(values) else None
    return rows


class AnswerBody:
    """The body of a request is read and scored, for one of several models."""

    def __init__(self, read: Callable[..., Any], write: Callable[..., bytes]) -> None:
        self._read, self._write = read, write
        self._models = _servable_models()

    def read(self, data: bytes) -> tuple[Any, Any, RowPlan]:
        """The rows of a body, and the model that they are for."""
        choice, body = data[0] if data else 0, data[1:]
        calibrator, plan = self._models[choice % len(self._models)]
        asked = (None, None, "base", "age")[choice // len(self._models) % 4]
        return self._read(body, plan, max_rows=MAX_ROWS, score_column=asked), calibrator, plan

    def __call__(self, data: bytes) -> None:
        try:
            batch, calibrator, plan = self.read(data)
            found = batch.score(calibrator, plan).probabilities
        except Problem as problem:
            assert 400 <= problem.status < 500, problem.detail
            assert len(problem.body()) < 10_000, "the problem is too long"
            return
        assert found.shape == batch.scores.shape
        assert len(found) <= MAX_ROWS
        assert (np.isnan(batch.scores) == np.isnan(found)).all()
        known = found[~np.isnan(found)]
        assert ((known >= 0) & (known <= 1)).all(), f"no probabilities: {known}"
        if zlib.crc32(data) % 4 == 0:
            self._check_alike(batch, calibrator, plan, found)
        assert self._answer(found)

    def _check_alike(self, batch: Any, calibrator: Any, plan: RowPlan, found: Any) -> None:
        """Whether rows get by another way what they got by this one."""
        if isinstance(batch, JsonBatch):
            rows = batch.rows
            if rows and len(rows) < _MANY:
                times = -(-_MANY // len(rows))
                many = JsonBatch(np.tile(batch.scores, times), rows * times).score(calibrator, plan)
                np.testing.assert_allclose(many.probabilities[: len(rows)], found, rtol=1e-9, atol=1e-12)
            return
        try:
            rows = batch.table.select(list(plan.columns)).slice(0, 3).to_pylist()
        except (pa.ArrowException, ValueError, OverflowError):
            return  # times that Python can't hold
        scored = [
            (row, score, p) for row, score, p in zip(rows, batch.scores, found, strict=False) if not np.isnan(score)
        ]
        ones = [calibrator.calibrate_one(row, None if plan.base_rate else score) for row, score, _ in scored]
        np.testing.assert_allclose(ones, [p for *_, p in scored], rtol=1e-9, atol=1e-12)

    def _answer(self, found: Any) -> bytes:
        return self._write(found) if self._write is write_arrow else self._write(found, "model", "0" * 64)


def _servable_models() -> list[tuple[Any, RowPlan]]:
    """The golden models that need no masks, and one that refuses no columns."""
    models: list[tuple[Any, RowPlan]] = []
    for path in sorted(GOLDEN.glob("*.trueup")):
        calibrator = trueup.load(path, n_jobs=1)
        if not getattr(calibrator.model, "mask_names", ()):
            models.append((calibrator, RowPlan.of(calibrator.model)))
    return [*models, (models[0][0], RowPlan.of(models[0][0].model, strict=False))]


def _plain_rows(calibrator: Any) -> list[Mapping[str, Any]]:
    """Rows as a client has them, of the values that a model knows."""
    columns = RowPlan.of(calibrator.model).columns
    return [{name: row[name] for name in columns} for row in _rows_of(calibrator.model)]


def _as_json(value: Any) -> Any:
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def json_bodies() -> list[bytes]:
    seeds = []
    for number, (calibrator, _) in enumerate(_servable_models()):
        rows = [{name: _as_json(value) for name, value in row.items()} for row in _plain_rows(calibrator)]
        bodies: list[Any] = [
            {"rows": rows, "scores": [0.2, None, 1]},
            {"rows": [{**row, "score": 0.5} for row in rows]},
            {"rows": rows[:1] * 70, "scores": [0.1] * 70},
            {"rows": [], "scores": []},
        ]
        seeds += [bytes([number]) + json.dumps(body).encode() for body in bodies]
    return seeds


def arrow_bodies() -> list[bytes]:
    seeds = []
    for number, (calibrator, _) in enumerate(_servable_models()):
        rows = _plain_rows(calibrator)
        columns: dict[str, Any] = {}
        for name in rows[0]:
            values = [row[name] for row in rows]
            try:
                columns[name] = pa.array(values)
            except pa.ArrowException:  # mixed types
                columns[name] = pa.array([None if value is None else str(value) for value in values])
        table = pa.table({**columns, "score": [0.2, None, 1.0]})
        encoded = {
            name: column.combine_chunks().dictionary_encode() if pa.types.is_string(column.type) else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
        seeds += [bytes([number]) + stream_of(pa.table(columns)) for columns in (table, encoded)]
    return seeds


def read_condition(data: bytes) -> None:
    """A condition is read; its own words mean the same again."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        segment = parse_segment(text)
    except ParameterError:
        return
    words = str(segment)
    if "…" not in words:  # a long list is cut short, which is for people
        assert str(parse_segment(words)) == words
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            mask = segment.mask(_SEGMENT_TABLE)
        except (ColumnError, ParameterError):
            return
    assert mask.shape == (3,)


def _condition_seeds() -> list[bytes]:
    texts = [
        "country = NO and age < 25",
        "device in {phone, tablet} and browser not in {x, y}",
        "18 <= age < 25 or missing and `a b` is not missing",
        "country is missing",
        "all rows",
        "income > 1e5 and member = true and country != 'a b'",
        'country in {"a\\u00e9", NO, 1, 2, 3, 4, 5, 6, 7, 8}',
        "25 > age >= 18",
    ]
    return [text.encode() for text in texts] + _kept("condition")


def _model_seeds() -> list[bytes]:
    return [path.read_bytes() for path in sorted(GOLDEN.glob("*.trueup"))] + _kept("model_file")


BODIES = {"json_body": json_bodies, "arrow_body": arrow_bodies}
TARGETS: dict[str, Callable[[], Target]] = {
    "model_file": lambda: Target(
        LoadModelFile(),
        mutate_model_file,
        _model_seeds,
        ("trueup._model", "trueup._scoring", "trueup.features", "zipfile"),
    ),
    "json_body": lambda: Target(
        AnswerBody(read_json, write_json),
        mutate_json_body,
        lambda: json_bodies() + _kept("json_body"),
        ("trueup.serving", "trueup._scoring", "trueup.features", "trueup._data"),
    ),
    "arrow_body": lambda: Target(
        AnswerBody(read_arrow, write_arrow),
        mutate_arrow_body,
        lambda: arrow_bodies() + _kept("arrow_body"),
        ("trueup.serving", "trueup._scoring", "trueup.features", "trueup._data"),
    ),
    "condition": lambda: Target(read_condition, mutate_condition, _condition_seeds, ("trueup.segments",)),
}
