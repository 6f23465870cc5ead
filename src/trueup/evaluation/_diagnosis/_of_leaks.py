"""Columns that know the label, wholly or for some of their values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import rates_of_bins
from trueup.evaluation._diagnosis._finding import Finding
from trueup.evaluation._diagnosis._joined import JoinedColumn, Measure
from trueup.evaluation._diagnosis._of_scores import ranking
from trueup.evaluation._diagnosis._separation import separation
from trueup.evaluation._diagnosis._sides import Floats, Side
from trueup.evaluation._diagnosis._survey import Sample, Survey
from trueup.evaluation._diagnosis._words import percent, shown_value

__all__ = ["find_leaks"]

Bins: TypeAlias = npt.NDArray[np.int64]

_LABEL_AUC = 0.99
_MOST_BINS = 64
_FEWEST_OF_A_CLASS = 20
# A value is telling if so many rows of a class were to be expected among its rows, and so great a share, and none is.
_EXPECTED_ROWS, _EXPECTED_SHARE = 30.0, 0.1
_MOST_TOLD = 3


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The rows of train in the sample: observed and predicted, by weight."""

    positive: Floats
    negative: Floats
    predicted: Floats | None


def find_leaks(train: Side, survey: Survey, sample: Sample, seed: int) -> list[Finding]:
    """Say which columns know the label better than they should."""
    drawn = _drawn(train, sample)
    if drawn is None:
        return []
    found, telling = [], []
    for facts in survey.columns:
        bins = _bins(facts.sampled)
        auc = separation(rates_of_bins(bins, drawn.positive, drawn.negative, seed), drawn.negative, drawn.positive).auc
        disguise = _label_in_disguise(train, facts.name, auc)
        found += disguise
        if not disguise:
            telling += _telling_value(facts.sampled, bins, drawn)
    return [*found, *_telling_values(telling)]


def _drawn(train: Side, sample: Sample) -> _Drawn | None:
    if train.labels is None:
        return None
    rows, weights = sample.rows[: sample.n_train], sample.weights[: sample.n_train]
    labels = train.labels.values[rows]
    if min(labels.sum(), (1 - labels).sum()) < _FEWEST_OF_A_CLASS:
        return None
    predicted = None if train.scores is None else weights * train.scores[rows]
    return _Drawn(weights * labels, weights * (1 - labels), predicted)


def _label_in_disguise(train: Side, name: str, auc: float) -> list[Finding]:
    """A column that knows the label, and better than the scores do."""
    if auc < _LABEL_AUC:
        return []
    rank = ranking(train)
    of_scores = math.nan if rank is None else rank.auc
    if rank is not None and 1 - auc > (1 - of_scores) / 2:
        return []
    beside = "" if rank is None else f"; the scores have {of_scores:.3f}"
    text = f"Column {name!r} alone tells the label (AUC {auc:.3f}{beside})."
    advice = "Is it the label under another name, or filled in afterwards? It won't be there when a score is needed."
    return [Finding("label_in_disguise", "error", text, advice, {"column": name, "auc": auc, "score_auc": of_scores})]


def _telling_value(sampled: JoinedColumn, bins: Bins, drawn: _Drawn) -> list[dict[str, Any]]:
    """The value with the most rows of which all are of one class, where the scores expected many of the other."""
    if drawn.predicted is None:
        return []
    of_rows = drawn.positive, drawn.negative, drawn.predicted
    positive, negative, predicted = (np.bincount(bins, of) for of in of_rows)
    total = positive + negative
    found: list[tuple[int, int, bool]] = []  # rows, place, whether all are positive
    for is_positive, of_other, expected in ((True, negative, total - predicted), (False, positive, predicted)):
        pure = (of_other == 0) & (expected >= _EXPECTED_ROWS) & (expected >= _EXPECTED_SHARE * total)
        found += [(int((bins == place).sum()), int(place), is_positive) for place in np.flatnonzero(pure)]
    if not found:
        return []
    rows, place, is_positive = max(found)
    share = float(predicted[place] / total[place])
    return [
        {
            "column": sampled.name,
            "value": _words(sampled, bins, place),
            "rows": rows,
            "positive": is_positive,
            "expected": 1 - share if is_positive else share,
        }
    ]


def _words(sampled: JoinedColumn, bins: Bins, place: int) -> str:
    if place == 0:
        return "is missing"
    inside = sampled.train[bins == place]
    low, high = (shown_value(sampled.value(float(end))) for end in (inside.min(), inside.max()))
    return f"is {low}" if low == high else f"is {low} to {high}"


def _telling_values(telling: list[dict[str, Any]]) -> list[Finding]:
    if not telling:
        return []
    telling = sorted(telling, key=lambda one: -one["rows"])
    parts = [
        f"{one['column']!r} {one['value']} ({one['rows']:,} rows, {percent(one['expected'])} "
        f"{'negative' if one['positive'] else 'positive'} expected)"
        for one in telling[:_MOST_TOLD]
    ]
    more = f"; and so in {len(telling) - _MOST_TOLD} more columns" if len(telling) > _MOST_TOLD else ""
    text = f"All labels are of one class where {'; where '.join(parts)}{more}. The scores don't know it."
    advice = "If it is so by nature, calibration will learn it; a column that is filled in afterwards must be left out."
    return [Finding("telling_values", "note", text, advice, {"columns": telling})]


def _bins(sampled: JoinedColumn) -> Bins:
    """The values of train in bins: categories, or quantiles; what is missing has one of its own."""
    values = sampled.train
    missing = np.isnan(values)
    if sampled.measure is Measure.CATEGORY:
        return np.where(missing, 0, values + 1).astype(np.int64)
    present = values[~missing]
    if not len(present):
        return np.zeros(len(values), dtype=np.int64)
    edges = np.unique(np.quantile(present, np.linspace(0, 1, _MOST_BINS + 1)[1:-1]))
    return np.where(missing, 0, np.searchsorted(edges, values) + 1)
