"""Requests and answers in JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from trueup.serving._problems import Problem
from trueup.serving._rows import JsonBatch, RowPlan

__all__ = ["read_json", "write_json"]

Floats = npt.NDArray[np.float64]
_MEMBERS = {"rows", "scores"}
_OPENED_A_ROW, _OPENED_ANYHOW = 4, 4096
_SCORE_TYPES = {float, int}


def read_json(body: bytes, plan: RowPlan, *, max_rows: int, score_column: str | None = None) -> JsonBatch:
    """The rows of ``{"rows": [{column: value, ...}, ...], "scores": [...]}``; the scores may be in the rows instead."""
    _check_size(body, max_rows)
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Problem("bad-json", f"The body can't be read as JSON: {error}.") from None
    rows, scores = _members(request)
    if len(rows) > max_rows:
        raise Problem("too-many-rows", f"The request has {len(rows):,} rows; at most {max_rows:,} are taken.")
    _check_rows(rows, plan, plan.score_column if score_column is None else score_column)
    batch = JsonBatch(_scores(rows, scores, plan, score_column), rows)
    _check_keys(body, request, rows)
    return batch


def write_json(probabilities: Floats, name: str, sha256: str) -> bytes:
    """The answer to a JSON request; NaN becomes null."""
    return orjson.dumps({"probabilities": probabilities.tolist(), "model": name, "sha256": sha256})


def _check_size(body: bytes, max_rows: int) -> None:
    """Refuse a body of far too many objects before they are made: three bytes of it would be seventy of memory each."""
    opened = body.count(b"{") + body.count(b"[")  # also those in texts, of which a row may have some
    if opened > _OPENED_A_ROW * max_rows + _OPENED_ANYHOW:
        raise Problem(
            "too-many-rows", f"The body opens {opened:,} objects and lists; at most {max_rows:,} rows are taken."
        )


def _members(request: Any) -> tuple[list[Any], list[Any] | None]:
    if not isinstance(request, dict):
        raise Problem("wrong-shape", f"The body is {_named(request)}; it must be an object.")
    rows, scores = request.get("rows"), request.get("scores")
    if not isinstance(rows, list):
        raise Problem("wrong-shape", "The body has no list 'rows'." if rows is None else "'rows' must be a list.")
    if scores is not None and not isinstance(scores, list):
        raise Problem("wrong-shape", "'scores' must be a list.")
    if not request.keys() <= _MEMBERS:
        strange = next(name for name in request if name not in _MEMBERS)
        raise Problem("wrong-shape", f"The body has a member {strange[:100]!r}; only 'rows' and 'scores' are known.")
    return rows, scores


def _check_rows(rows: list[Any], plan: RowPlan, score_name: str) -> None:
    """Check that rows are objects, and their names."""
    needed = plan.types.keys()
    with_score = needed | {score_name}
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise Problem("wrong-shape", f"Row {place:,} is {_named(row)}; it must be an object.", row=place)
        names = row.keys()
        if names not in (needed, with_score):  # the usual rows are done with here
            plan.check_names(names, score_name, row=place)


def _check_keys(body: bytes, request: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Refuse an object with a key twice, of which the parser keeps the last in silence.

    Every key has a colon, so a body with as many colons as there are keys has none twice. If there are more, some may
    stand in texts, or the keys in objects within rows, which are columns to be ignored; only then is it worth a count.
    """
    n_keys = len(request) + sum(map(len, rows))
    if body.count(b":") > n_keys:
        n_repeated = _colons_outside_texts(body) - n_keys
        if n_repeated and n_repeated != (n_inside := _keys_inside(rows)):
            raise Problem(
                "bad-json",
                f"The body has a key twice in the same object ({n_repeated - n_inside:,} too many in all). Send each "
                "column once per row.",
            )


def _colons_outside_texts(body: bytes) -> int:
    """How many pairs of key and value a body has, if it is JSON."""
    if b"\\" in body:  # the first of two backslashes escapes the second, which then escapes no quote
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    characters = np.frombuffer(body, np.uint8)
    in_text = np.bitwise_xor.accumulate(characters == ord('"'))
    return int(np.count_nonzero((characters == ord(":")) & ~in_text))


def _keys_inside(rows: list[dict[str, Any]]) -> int:
    """How many keys the objects have that are values of rows, at any depth."""
    n_keys, waiting = 0, [value for row in rows for value in row.values() if isinstance(value, (dict, list))]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            n_keys += len(value)
        inner = value.values() if isinstance(value, dict) else value
        waiting += [entry for entry in inner if isinstance(entry, (dict, list))]
    return n_keys


def _scores(rows: list[dict[str, Any]], given: list[Any] | None, plan: RowPlan, asked: str | None) -> Floats:
    if plan.base_rate is not None:
        if given is not None:
            raise Problem("bad-score", "The model was fitted without scores, on the base rate; it can't take any.")
        return np.full(len(rows), plan.base_rate)
    if given is not None:
        if len(given) != len(rows):
            raise Problem("wrong-shape", f"Got {len(given):,} scores for {len(rows):,} rows.")
        values, where = given, "scores"
    else:
        name = plan.score_name(asked)
        absent = next((place for place, row in enumerate(rows) if name not in row), None)
        if absent is not None:
            raise Problem(
                "bad-score",
                f"Row {absent:,} has no score: there is neither a list 'scores' nor a column {name!r}.",
                row=absent,
            )
        values, where = [row[name] for row in rows], f"column {name!r}"
    return _checked(values, where)


def _checked(values: list[Any], where: str) -> Floats:
    for row, value in enumerate(values):
        if value is not None and (type(value) not in _SCORE_TYPES or not 0 <= value <= 1):
            raise Problem("bad-score", f"Row {row:,}, {where}: expected a number in [0, 1] or null.", row=row)
    return np.array(values, dtype=np.float64)  # None becomes NaN


def _named(value: Any) -> str:
    return {list: "a list", dict: "an object", str: "a string", type(None): "null", bool: "a boolean"}.get(
        type(value), "a number"
    )
