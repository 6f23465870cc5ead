"""Columns that are features by mistake, and scores of the other class: told before they do harm."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data._arrow import arrow_to_numpy
from trueup._data._columns import Column
from trueup._data._frames import subtable
from trueup._data._labels import Labels
from trueup._data._table import CalibrationTable, read_table
from trueup._model import ValueKind
from trueup.errors import SuspiciousDataWarning, callers_level, is_in_shell

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

FEWEST_FOR_AN_ID = 100
SHARE_OF_AN_ID = 0.99
ID_NAME = re.compile(r"(?i:(^|[_ .\-])(id|uuid|guid|key|idx|index|row|row_?num(ber)?)([_ .\-]|$))|[a-z]I[dD]$")
_INDEX_NAME = re.compile(r"Unnamed: \d+|__index_level_\d+__")  # what pandas calls an index in CSV and in Parquet
_HUGE = 1e9
_SAMPLE = 10_000
_LABEL_AUC = 0.995
_FEWEST_OF_A_CLASS = 20
_FEWEST_SCORES = 10  # with fewer distinct scores, a column may agree with them by chance
_SAME = 1e-9  # what two correlations of the same numbers differ by
_SMOOTHING = 5.0
_MOST_NAMED = 12  # features in a message


def warn_of_suspects(
    X: Any, table: CalibrationTable | None, features: Sequence[str], labels: Labels, scores: Floats | None
) -> None:
    """Warn once of all that a sample of the rows shows, and say what to pass instead.

    Nothing is left out: whoever knows better goes on. A fit on a million rows takes seconds, and this milliseconds.
    """
    n = len(labels.values)
    drawn = np.ones(n, dtype=bool)
    if n > _SAMPLE:
        drawn[:] = False
        drawn[np.random.default_rng(0).choice(n, _SAMPLE, replace=False)] = True
        if features and not isinstance(X, CalibrationTable):  # pandas' strings are read as slowly as they are many
            table = read_table(subtable(X, drawn))
    places = np.flatnonzero(drawn)
    whole = labels.values[places]
    sampled = None if scores is None else scores[places]
    if sampled is not None:
        _warn_of_the_other_class(labels, whole, sampled)
    found = {}
    for name in features:
        assert table is not None  # without one there are no features
        column = table.column(name)
        if len(column) != len(places):
            column = column.of_rows(drawn)
        why = _why_no_feature(column, places, whole, sampled)
        if why:
            found[name] = why
    if found:
        told = "; ".join(f"{name!r} {why}" for name, why in found.items())
        what = "One column looks" if len(found) == 1 else f"{len(found)} columns look"
        _warn(f"{what} like no feature, but will be used as one: {told}. {_how_to_leave_out(list(found), features)}")


def _rank_auc(numbers: Floats, positive: Floats) -> float:
    """How often a positive row has the higher number, a tie counting half; NaN if there is one class only."""
    order = np.argsort(numbers)
    values, ones = numbers[order], positive[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    of_ones, of_zeros = np.add.reduceat(ones, starts), np.add.reduceat(1 - ones, starts)
    pairs = float(of_ones.sum() * of_zeros.sum())
    return float(of_ones @ (np.cumsum(of_zeros) - of_zeros / 2)) / pairs if pairs else float("nan")


def rates_of_bins(bins: Ints, positive: Floats, negative: Floats, seed: int) -> Floats:
    """The rate of the positive class in each row's bin, among the rows of the other half."""
    half = np.random.default_rng(seed).permutation(np.arange(len(bins)) % 2)
    rates, n_bins = np.empty(len(bins)), int(bins.max()) + 1
    prior = float(positive.sum() / (positive.sum() + negative.sum()))
    for held in (0, 1):
        others, inside = half != held, half == held
        of_positive = np.bincount(bins[others], positive[others], n_bins)
        of_all = of_positive + np.bincount(bins[others], negative[others], n_bins)
        rates[inside] = ((of_positive + _SMOOTHING * prior) / (of_all + _SMOOTHING))[bins[inside]]
    return rates


def _why_no_feature(column: Column, places: Ints, labels: Floats, scores: Floats | None) -> str | None:
    if _INDEX_NAME.fullmatch(column.name):
        return "is the index of a saved table"
    is_number = column.codes is None and column.kind is ValueKind.NUMBER and column.values.dtype != object
    if is_number or column.kind is ValueKind.BOOLEAN:
        values = column.floats()
    elif column.kind in (ValueKind.EMPTY, ValueKind.DATE, ValueKind.DATETIME) and column.codes is None:
        return None
    else:
        values = _codes(column)
    there = np.isfinite(values)
    present = values[there]
    if len(present) < FEWEST_FOR_AN_ID:
        return None
    n_distinct = len(np.unique(present))
    if n_distinct >= SHARE_OF_AN_ID * len(present) and (not is_number or _numbers_rows(column, present, places[there])):
        return "has a value of its own in nearly every row"
    if is_number and scores is not None:
        same = _like_the_score(column.name, present, scores[there])
        if same:
            return same
    return _like_the_label(values, labels, scores, is_number=is_number) if n_distinct > 1 else None


def _codes(column: Column) -> Floats:
    """A number for each value, NaN where there is none."""
    if column.codes is not None:
        return np.where(column.codes < 0, np.nan, column.codes)
    if not isinstance(column.values, np.ndarray):  # text in Arrow, which codes it in a tenth of the time
        import pyarrow.compute as pc

        found = pc.index_in(column.values, value_set=pc.unique(column.values), skip_nulls=True)
        return arrow_to_numpy(found).astype(np.float64)
    values = column.objects().tolist()
    codes: dict[Any, float] = {value: code for code, value in enumerate(dict.fromkeys(values))} | {None: np.nan}
    return np.fromiter(map(codes.__getitem__, values), np.float64, len(values))


def _numbers_rows(column: Column, values: Floats, places: Ints) -> bool:
    """Whether numbers that all differ count rows, or are called so; amounts in cents differ in every row too."""
    if not np.array_equal(values, np.floor(values)):
        return False
    counted = bool((np.diff(values) == np.diff(places)).all())
    return counted or bool(np.median(np.abs(values)) > _HUGE) or bool(ID_NAME.search(column.name))


def _like_the_score(name: str, values: Floats, scores: Floats) -> str | None:
    if values.min() == values.max():
        return None
    if name == "calibrated" and values.min() >= 0 and values.max() <= 1:  # what trueup itself calls the column
        found = "holds calibrated scores"
    elif _is_a_line_of(values, scores):
        found = "is a copy of the score"
    else:
        return None
    return found if len(np.unique(scores)) >= _FEWEST_SCORES else None


def _is_a_line_of(values: Floats, scores: Floats) -> bool:
    """Whether numbers rise or fall as the scores do, or as their logits do."""
    inside = (scores > 0) & (scores < 1)
    logits = np.log(scores[inside]) - np.log1p(-scores[inside])
    for one, other in ((values, scores), (values[inside], logits)):
        if len(one) >= FEWEST_FOR_AN_ID and one.min() < one.max() and other.min() < other.max():
            with np.errstate(over="ignore", invalid="ignore"):  # numbers so large that their squares are not finite
                if abs(np.corrcoef(one, other)[0, 1]) > 1 - _SAME:
                    return True
    return False


def _like_the_label(values: Floats, labels: Floats, scores: Floats | None, *, is_number: bool) -> str | None:
    """Whether a column tells the label, and much better than the score does."""
    if min(labels.sum(), (1 - labels).sum()) < _FEWEST_OF_A_CLASS:
        return None
    if is_number:
        there = np.isfinite(values)
        auc = _rank_auc(values[there], labels[there])
        auc = max(auc, 1 - auc)
    else:
        bins = np.where(np.isnan(values), 0, values + 1).astype(np.int64)
        auc = _rank_auc(rates_of_bins(bins, labels, 1 - labels, 0), labels)
    if not auc >= _LABEL_AUC:  # nearly every column, so the scores, which take as long to sort, are left alone
        return None
    of_scores = 0.5 if scores is None else _rank_auc(scores, labels)
    if 1 - auc > (1 - of_scores) / 2:
        return None
    return f"alone tells the label (AUC {auc:.3f})"


def _warn_of_the_other_class(labels: Labels, values: Floats, scores: Floats) -> None:
    n_positive, n_negative = float(values.sum()), float((1 - values).sum())
    if min(n_positive, n_negative) < _FEWEST_OF_A_CLASS:
        return
    auc = _rank_auc(scores, values)
    noise = ((n_positive + n_negative + 1) / (12 * n_positive * n_negative)) ** 0.5  # of scores that tell nothing
    if not auc < 0.5 - max(0.05, 5 * noise):
        return
    other, positive = labels.classes
    option = f"--positive {shlex.quote(str(other))}" if is_in_shell() else f"pos_label={other!r}"
    advice = f"If they are probabilities of {other!r}, pass {option}."
    if labels.soft:
        advice = "Are they probabilities of the other class? Then pass 1 - scores."
    _warn(f"The scores rank the labels backwards (AUC {auc:.2f}): {positive!r} is the positive class. {advice}")


def _how_to_leave_out(names: list[str], features: Sequence[str]) -> str:
    it = "it" if len(names) == 1 else "them"
    if is_in_shell():
        return f"To leave {it} out: --drop {shlex.quote(','.join(names))}."
    left = [name for name in features if name not in names]
    if len(left) > _MOST_NAMED:
        return f"To leave {it} out: features=[name for name in X.columns if name not in {names!r}]."
    return f"To leave {it} out: features={left!r}." if left else "There is no other feature."


def _warn(text: str) -> None:
    warnings.warn(text, SuspiciousDataWarning, stacklevel=callers_level())
