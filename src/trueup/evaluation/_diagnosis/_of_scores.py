"""What is wrong with the scores."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from trueup._data import look_of_scores
from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._row_set import Floats, RowSet
from trueup.evaluation._diagnosis._separation import Separation, separation
from trueup.evaluation._diagnosis._words import percent, short

__all__ = ["find_between_scores", "find_in_scores", "ranking"]

_FEWEST_ROWS = 200
_FEW_VALUES = 10
_SOMEWHAT_FEW_VALUES, _MANY_ROWS = 50, 2000
_MOST_DECIMALS = 3
_COARSE_STEP, _VERY_COARSE_STEP = 0.05, 0.2  # of the mean score
_MANY_CERTAIN = 0.05
_FEWEST_OF_A_CLASS = 10
_PERFECT, _BACKWARD = 0.9995, 0.45
_FAR_OFF = 3.0
_BETTER, _MUCH_BETTER = 0.01, 0.03
_SIGMAS = 4.0


def find_in_scores(rows: RowSet) -> list[Finding]:
    """Say what is wrong with the scores of some rows."""
    if rows.raw_scores is None:
        return []
    if rows.scores is None:
        return _no_probabilities(rows, rows.raw_scores)
    found = _resolution(rows, rows.scores)
    if not any(finding.code == "constant_scores" for finding in found):
        found += [*_certainties(rows, rows.scores), *_direction(rows)]
    return [*found, *_rate(rows)]


def ranking(rows: RowSet) -> Separation | None:
    """How well the scores rank the labels; None if that can't be said."""
    scores, labels = rows.scores, rows.labels
    if scores is None or labels is None or not 0 < rows.rate < 1:
        return None
    return separation(scores, rows.row_weights * (1 - labels.values), rows.row_weights * labels.values)


def _predicted_ranking(rows: RowSet) -> float:
    """The AUC that the scores have if they are true."""
    scores = rows.scores
    if scores is None or not 0 < rows.mean_score < 1:
        return math.nan
    return separation(scores, rows.row_weights * (1 - scores), rows.row_weights * scores).auc


def find_between_scores(train: RowSet, test: RowSet) -> list[Finding]:
    """Say whether the scores are better on train, as those of a model are that was trained on these rows.

    Rows of another population may be harder to rank, but then the scores say so themselves: if they are true, the AUC
    is that of labels drawn from them. So what counts is the gap beyond the one that the scores predict.
    """
    ranks = ranking(train), ranking(test)
    if ranks[0] is None or ranks[1] is None:
        return []
    gap = ranks[0].auc - ranks[1].auc
    gap = min(gap, gap - _predicted_ranking(train) + _predicted_ranking(test))
    if not gap >= _BETTER or gap < _SIGMAS * math.hypot(ranks[0].standard_error, ranks[1].standard_error):
        return []
    aucs = f"their AUC is {ranks[0].auc:.3f} on the training rows and {ranks[1].auc:.3f} on the test rows"
    text = f"The scores rank the training rows better than the test rows: {aucs}."
    advice = (
        "Was the base model trained on these training rows? Then its scores are too good there, and the calibration "
        "learns the wrong thing. Calibrate on rows that the base model never saw."
    )
    severity: Severity = "warning" if gap >= _MUCH_BETTER else "note"
    values = {"train_auc": ranks[0].auc, "test_auc": ranks[1].auc}
    return [Finding("scores_better_on_train", severity, text, advice, values)]


def _no_probabilities(rows: RowSet, raw: Floats) -> list[Finding]:
    """Scores that are missing or outside [0, 1], and what they may be instead."""
    found = []
    missing = np.isnan(raw)
    if missing.any():
        n = int(missing.sum())
        text = f"{n:,} of {rows.n:,} scores of {rows.words} are missing (first at row {int(missing.argmax()):,})."
        values: dict[str, Any] = {"rows_of": rows.name, "rows": n}
        found.append(Finding("missing_scores", "error", text, "Drop those rows, or score them.", values))
    outside = (raw < 0) | (raw > 1)
    if not outside.any():
        return found
    n, first = int(outside.sum()), int(outside.argmax())
    low, high = float(np.nanmin(raw)), float(np.nanmax(raw))
    kind, advice = look_of_scores(raw)
    text = (
        f"{n:,} of {rows.n:,} scores of {rows.words} are outside [0, 1] (first at row {first:,}: "
        f"{raw[first]:g}); they range from {low:g} to {high:g}."
    )
    values = {"rows_of": rows.name, "rows": n, "low": low, "high": high, "looks_like": kind}
    return [*found, Finding("scores_outside", "error", text, advice, values)]


def _resolution(rows: RowSet, scores: Floats) -> list[Finding]:
    """Scores that are all the same, classes, hardly distinct, or rounded: the worst of these."""
    if scores.min() == scores.max():
        text = f"All {rows.n:,} scores of {rows.words} are {scores[0]:g}."
        advice = "Is it the right column? Constant scores rank nothing, so everything has to come from the features."
        return [Finding("constant_scores", "warning", text, advice, {"rows_of": rows.name, "score": float(scores[0])})]
    if np.isin(scores, (0, 1)).all():
        text = f"All {rows.n:,} scores of {rows.words} are 0 or 1: they are classes, not probabilities."
        advice = "Pass the second column of predict_proba, not the output of predict."
        return [Finding("scores_are_classes", "error", text, advice, {"rows_of": rows.name})]
    if rows.n < _FEWEST_ROWS:
        return []
    n_distinct, decimals = len(np.unique(scores)), _decimals(scores)
    return _few_distinct(rows, n_distinct, decimals) or _rounded(rows, decimals)


def _few_distinct(rows: RowSet, n_distinct: int, decimals: int | None) -> list[Finding]:
    few = n_distinct <= _FEW_VALUES
    if not few and (n_distinct > _SOMEWHAT_FEW_VALUES or rows.n < _MANY_ROWS):
        return []
    rounded = "" if decimals is None else f", multiples of {10**-decimals:g}"
    text = f"The {rows.n:,} scores of {rows.words} take only {n_distinct} different values{rounded}."
    advice = "Are they classes, or rounded? Pass the probabilities as the model gives them."
    values = {"rows_of": rows.name, "distinct": n_distinct, "decimals": decimals}
    return [Finding("few_distinct_scores", "warning" if few else "note", text, advice, values)]


def _rounded(rows: RowSet, decimals: int | None) -> list[Finding]:
    if decimals is None:
        return []
    usual, step = min(rows.mean_score, 1 - rows.mean_score), 10.0**-decimals
    if decimals > 2 and step < _COARSE_STEP * usual:
        return []
    severity: Severity = "warning" if step >= _VERY_COARSE_STEP * usual else "note"
    text = (
        f"All {rows.n:,} scores of {rows.words} are multiples of {step:g}, and their mean is {short(rows.mean_score)}."
    )
    advice = "Pass them unrounded: what rounding removes can't be recovered."
    return [Finding("rounded_scores", severity, text, advice, {"rows_of": rows.name, "decimals": decimals})]


def _decimals(scores: Floats) -> int | None:
    """To how many decimals the scores are rounded; None if to more than a few."""
    for decimals in range(_MOST_DECIMALS + 1):
        scaled = scores * 10.0**decimals
        if np.abs(scaled[:1000] - np.round(scaled[:1000])).max() < 1e-4 and (
            np.abs(scaled - np.round(scaled)).max() < 1e-4  # as far off as single precision may be
        ):
            return decimals
    return None


def _certainties(rows: RowSet, scores: Floats) -> list[Finding]:
    """Scores of exactly 0 or 1, which leave no doubt, and whose log loss is infinite if they are wrong."""
    certain = (scores == 0) | (scores == 1)
    n = int(certain.sum())
    if n in (0, rows.n):  # all of them are classes, which another finding says
        return []
    wrong = 0 if rows.labels is None else int((np.abs(rows.labels.values - scores)[certain] > 0).sum())
    text = f"{n:,} of {rows.n:,} scores of {rows.words} are exactly 0 or 1"
    text += f", and {wrong:,} of those are wrong." if wrong else ", and none of those is wrong."
    advice = (
        "A 0 or 1 that is wrong can hardly be calibrated: it counts as 2e-308 or 1 - 1e-16. Pass the scores unrounded, "
        "or clip them to what the model can know: a forest of 100 trees can't tell 0 from 0.005."
    )
    severity: Severity = "warning" if wrong or n >= _MANY_CERTAIN * rows.n else "note"
    return [Finding("certain_scores", severity, text, advice, {"rows_of": rows.name, "rows": n, "wrong": wrong})]


def _direction(rows: RowSet) -> list[Finding]:
    """Scores that know the label, or its opposite."""
    rank, labels = ranking(rows), rows.labels
    if rank is None or labels is None:
        return []
    values = {"rows_of": rows.name, "auc": rank.auc}
    counted = labels.values[rows.row_weights > 0]
    if rank.auc >= _PERFECT and min(counted.sum(), (1 - counted).sum()) >= _FEWEST_OF_A_CLASS:
        text = f"The scores of {rows.words} separate the two classes almost perfectly (AUC {rank.auc:.4f})."
        advice = (
            "Were they made from the label, or by a model trained on these very rows? Score rows that it never saw."
        )
        return [Finding("scores_know_label", "error", text, advice, values)]
    if rank.auc <= _BACKWARD and rank.auc + 4 * rank.standard_error < 0.5:
        positive = labels.classes[1]
        text = f"The scores of {rows.words} are lower where the label is {positive!r} (AUC {rank.auc:.2f}, below 0.5)."
        advice = f"Are they the probabilities of {labels.classes[0]!r}? Pass those of {positive!r}, or 1 - score."
        return [Finding("scores_backward", "error", text, advice, values)]
    if rank.interval()[1] > 0.5 > rank.interval()[0] and rank.standard_error < 0.02:
        text = f"The scores of {rows.words} don't rank the labels at all (AUC {rank.auc:.3f})."
        advice = "Do scores and labels belong to the same rows, in the same order?"
        return [Finding("scores_rank_nothing", "warning", text, advice, values)]
    return []


def _rate(rows: RowSet) -> list[Finding]:
    """Scores that predict another rate than there is, by a factor that no segment explains."""
    rate, predicted = rows.rate, rows.mean_score
    if not (0 < rate < 1 and 0 < predicted < 1):
        return []
    factor = (predicted / (1 - predicted)) / (rate / (1 - rate))
    error = (rate * (1 - rate) / rows.effective_rows) ** 0.5
    if max(factor, 1 / factor) < _FAR_OFF or abs(predicted - rate) < 5 * error:
        return []
    text = f"The scores of {rows.words} predict {percent(predicted)} on average, and {percent(rate)} is observed."
    advice = (
        "Was the model trained after one class had been downsampled, or for another label? Calibration repairs this "
        "as long as it stays this way."
    )
    return [Finding("wrong_level", "note", text, advice, {"rows_of": rows.name, "rate": rate, "mean_score": predicted})]
