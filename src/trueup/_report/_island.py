"""The page's data as JSON inside the HTML: compact, and harmless whatever texts are in it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trueup._report._charts import SERIES_ROLES, chart_specifications
from trueup._report._values import Choice, Form, Page, PageColumn, Rounds, Segments, Series
from trueup.metrics import Observations, cumulative_of, reliability_of

_POINTS = 80
_MOST_BINS = 10
_FEWEST_BINS = 2
_ROWS_A_BIN = 25


def series_of(name: str, labels: Any, scores: Any, weights: Any = None) -> Series:
    """The curves of checked scores on some rows, predicted and observed, thinned for a page; few rows get few bins."""
    rows = Observations(np.asarray(labels, float), np.asarray(scores, float), np.ones(len(labels)))
    if weights is not None:
        counted = weights > 0
        rows = Observations(rows.labels[counted], rows.scores[counted], weights[counted])
    n_bins = min(_MOST_BINS, max(_FEWEST_BINS, len(labels) // _ROWS_A_BIN))
    return Series(name, reliability_of(rows, n_bins), cumulative_of(rows, _POINTS))


_DIGITS = 4
_ALL_DIGITS = 12
_JOINT = " and "


def safe_json(value: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or a line of a script."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def island_of(page: Page) -> dict[str, Any]:
    """What the page's script needs: segments by column, curves, and charts without data."""
    return {
        "charts": chart_specifications(),
        "overall": [_series(one, role) for one, role in zip(page.overall, _roles(page.overall), strict=True)],
        "segments": [_segments(table) for table in page.segments],
        "rounds": None if page.rounds is None else _rounds(page.rounds),
    }


def _segments(table: Segments) -> dict[str, Any]:
    parts, words = _shared_parts(table.words)
    return {
        "parts": parts,
        "words": words,
        "columns": [_column(column) for column in table.columns],
        "choice": _choice(table.choice),
        "significant": "".join("1" if one else "0" for one in table.significant.tolist()),
        "repeats": None if table.repeats is None else table.repeats.tolist(),
        "curves": {
            str(place): [_series(one, role) for one, role in zip(series, _roles(series), strict=True)]
            for place, series in table.curves.items()
        },
    }


def _shared_parts(words: Iterable[str]) -> tuple[list[str], list[list[int]]]:
    """Segments as places in a list of conditions, because thousands of segments share a few."""
    places: dict[str, int] = {}
    segments = [[places.setdefault(part, len(places)) for part in one.split(_JOINT)] for one in words]
    return list(places), segments


def _column(column: PageColumn) -> dict[str, Any]:
    return {
        "title": column.title,
        "form": column.form.value,
        "values": _as_shown(column.values, column),
        "low": None if column.low is None else _as_shown(column.low, column),
        "high": None if column.high is None else _as_shown(column.high, column),
        "reads": column.reads,
        "isExtra": column.is_extra,
        "digits": column.digits,
        "least": column.least,
    }


def _choice(choice: Choice) -> dict[str, Any]:
    return {
        "title": choice.title,
        "options": [{"text": option.text, "mark": option.mark} for option in choice.options],
        "codes": choice.codes.tolist(),
        "reads": choice.reads,
    }


def _roles(series: Sequence[Series]) -> tuple[str, ...]:
    """A single set of scores has the second role, which is drawn with a full line."""
    return SERIES_ROLES[1:] if len(series) == 1 else SERIES_ROLES[: len(series)]


def _series(series: Series, role: str) -> dict[str, Any]:
    bins, path = series.reliability, series.cumulative
    return {
        "role": role,
        "name": series.name,
        "score": _rounded(bins.score),
        "rate": _rounded(bins.rate),
        "low": _rounded(bins.low),
        "high": _rounded(bins.high),
        "share": _rounded(path.share),
        "difference": _rounded(path.difference),
        "extremes": [path.low_at, path.high_at],
        "ecce": _number(path.ecce),
        "noise": _number(path.noise),
        "ecceSigma": _number(path.ecce_sigma),
    }


def _rounds(rounds: Rounds) -> dict[str, Any]:
    lines = (("first", "training rows", "train_loss"), ("second", "validation rows", "validation_loss"))
    points = [
        {"number": one.number, "role": role, "name": name, "loss": getattr(one, loss)}
        for role, name, loss in lines
        for one in rounds.rounds
        if math.isfinite(getattr(one, loss))
    ]
    return {"points": points, "kept": rounds.kept}


def _as_shown(values: Any, column: PageColumn) -> list[float | int | None]:
    """Numbers rounded as they are shown, so that text and table agree."""
    digits = {Form.PERCENT: column.digits + 2, Form.SIGMAS: 1, Form.DECIMAL: 4, Form.CHANGE: 4}.get(column.form)
    if digits is None:
        return _rounded(values)
    # By way of the text, for the words on the page are rounded so too.
    scale = 100 if column.form is Form.PERCENT else 1
    texts = (f"{scale * value:.{digits - (2 if scale == 100 else 0)}f}" for value in np.asarray(values, float).tolist())
    return [_number(round(float(text) / scale, digits), digits=_ALL_DIGITS) for text in texts]


def _rounded(values: Any) -> list[float | int | None]:
    """Numbers with four digits; None if not finite."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        whole: list[float | int | None] = array.tolist()
        return whole
    return [_number(value) for value in array.tolist()]


def _number(value: float, digits: int = _DIGITS) -> float | int | None:
    if not math.isfinite(value):
        return None
    short = float(f"{value:.{digits}g}")
    return int(short) if short.is_integer() else short
