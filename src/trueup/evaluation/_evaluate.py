"""`evaluate`: diagnose, split, fit, compare on rows that were held out, and say whether to ship."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import Rows, read_rows
from trueup.calibration import MCGrad
from trueup.comparison import Comparison, compare
from trueup.errors import DiagnosisError, ParameterError, TableError
from trueup.evaluation._diagnosis._diagnose import diagnose
from trueup.evaluation._diagnosis._finding import Diagnosis
from trueup.evaluation._fit import estimator_for, fit_again, fit_on, restricts
from trueup.evaluation._result import Evaluation, HeldOutRows, Seconds
from trueup.evaluation._split import SplitRows, split_rows
from trueup.evaluation._verdict import judge, read_by_split

__all__ = ["evaluate"]

_LEAST_TIMES = 30  # with fewer of them, resampling whole times says nothing about the noise


def evaluate(
    X: Any,
    y: Any,
    scores: Any,
    *,
    time: Any = None,
    groups: Any = None,
    test_size: float = 0.3,
    sample_weight: Any = None,
    pos_label: Any = None,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    estimator: MCGrad | None = None,
    refit: bool = False,
    strict: bool = False,
    comparison: Mapping[str, Any] | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Evaluation:
    """Say whether calibrating a model's scores pays, judged on rows that the calibration never saw.

    Rows are split into training rows and test rows, and both are diagnosed. `MCGrad` is fitted on the training rows,
    and its scores are compared with the original ones on the test rows.

    Parameters
    ----------
    X : table
        Features: a pandas, polars or pyarrow table, a dict of arrays, or a 2-D NumPy array. It may also hold the
        columns that the parameters below name.
    y : array-like or str
        Labels of two classes, or soft labels in [0, 1]; or the name of their column.
    scores : array-like or str
        The base model's probabilities of the positive class; or the name of their column. They must come from a
        model that was not trained on these rows.
    time : array-like or str, optional
        When each row is from: numbers such as years, or dates. The earlier rows train and the later ones test, and
        no moment does both. Its column is not a feature, unless it is named in `features`: a model can't have
        learned anything about a year to come.
    groups : array-like or str, optional
        Which rows belong together, such as those of one user. Without `time`, whole groups train or test; with it, the
        split is in time. Intervals resample whole groups, and so do the folds of the fit. Its column is not a feature,
        unless it is named in `features`. Without `time` and `groups`, rows are drawn at random.
    test_size : float, default=0.3
        About what share of the rows tests; as near as whole times or groups come.
    sample_weight : array-like or str, optional
        Weights of at least 0.
    pos_label : label, optional
        The positive class, which `scores` are about; by default the greater of the two labels.
    features : sequence of str, optional
        The columns that segments are made of; by default all that are not named above.
    categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
        Columns that are categorical besides those of strings, categoricals and booleans.
    estimator : MCGrad, optional
        The calibration to fit, unfitted; `MCGrad` with its defaults if None.
    refit : bool, default=False
        Whether to fit another model on all rows, with at most as many rounds, to be the one that is saved.
    strict : bool, default=False
        Whether a warning of the diagnosis is an error.
    comparison : mapping, optional
        More parameters of `trueup.compare`, such as ``{"primary": "brier", "significance": 0.01}``.
    random_state : int, default=0
        Seed of the split, the fit and the comparison.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.
    verbose : int, default=0
        Whether to show progress on a terminal.

    Returns
    -------
    Evaluation
        The verdict and all that led to it.

    Raises
    ------
    DiagnosisError
        If `strict` and the data are suspicious.

    Notes
    -----
    With `groups`, the folds that choose the number of rounds keep groups whole too; with `time` alone, they keep equal
    times together, and intervals resample them if there are at least 30 to test on. Rows of one day share its weather:
    splitting one day across folds rewards memorising that day.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(20_000)
    >>> evaluation = trueup.evaluate(traffic.X, traffic.y, traffic.scores)
    >>> evaluation.verdict
    'ship'
    """
    if X is None:
        raise TableError("X is None. Pass the table whose columns are the features.")
    began = clock.perf_counter()
    rows = read_rows(
        X,
        y,
        {"scores": scores},
        features=features,
        pos_label=getattr(estimator, "pos_label", None) if pos_label is None else pos_label,
        sample_weight=sample_weight,
        groups=groups,
        time=time,
    )
    if not rows.features:
        raise ParameterError("There are no features: name some, or pass columns that have no other role.")
    categorical = _named(categorical_features, rows)
    how: dict[str, Any] = {"random_state": random_state, "n_jobs": n_jobs}
    chosen = estimator_for(rows, estimator, categorical_features=categorical, verbose=verbose, **how)
    split = split_rows(rows, test_size, random_state)
    how["categorical_features"] = categorical
    diagnosis = _diagnosed(rows, split, how)
    if strict and not diagnosis.ok:
        found = "; ".join(f"{finding.severity}: {finding.text}" for finding in diagnosis.warnings)
        raise DiagnosisError(f"The data look wrong, and strict makes that an error. {found}", diagnosis)
    diagnosed = clock.perf_counter()
    model = fit_on(rows, chosen, split.train, split.together)
    fitted = clock.perf_counter()
    by_name = rows.given.names.get("scores")
    calibrated = model.calibrate(
        rows.part(split.test, *([] if by_name is None else [by_name])),
        rows.scores["scores"][split.test] if by_name is None else None,
    )
    compared = _compared(rows, split, calibrated, {**how, "verbose": verbose, **(comparison or {})})
    ended = clock.perf_counter()
    serving = fit_again(rows, chosen, model, split.together) if refit else None
    verdict, reasons = judge(compared, diagnosis, model.n_rounds_)
    return Evaluation(
        verdict=verdict,
        reasons=reasons,
        split=split.facts,
        diagnosis=diagnosis,
        model=model,
        refitted=serving,
        comparison=compared,
        seconds=Seconds(diagnosed - began, fitted - diagnosed, ended - fitted),
        _held_out=HeldOutRows(rows, split.test, calibrated),
    )


def _named(categorical: Any, rows: Rows) -> Any:
    """The names of categorical columns: positions are those in the table that was given."""
    if isinstance(categorical, str):
        return categorical
    names = rows.given.columns_of("categorical_features", list(categorical))
    for name in names:
        if name not in rows.features:
            raise ParameterError(f"categorical_features names {name!r}, which is not one of the features.")
    return names


def _diagnosed(rows: Rows, split: SplitRows, how: Mapping[str, Any]) -> Diagnosis:
    (X, y, scores, weights), test = (
        (
            rows.part(some),
            rows.label_values(some),
            rows.scores["scores"][some],
            None if rows.weights is None else rows.weights[some],
        )
        for some in (split.train, split.test)
    )
    found = diagnose(
        X, y, scores, sample_weight=weights, pos_label=rows.pos_label, test=test, features=restricts(rows), **how
    )
    return read_by_split(found, split.facts.kind)


def _compared(rows: Rows, split: SplitRows, calibrated: npt.NDArray[np.float64], options: dict[str, Any]) -> Comparison:
    test, groups = split.test, rows.groups
    if groups is None and split.times is not None:
        n_times = len(np.unique(split.times[test]))
        groups = split.times if _LEAST_TIMES <= n_times < test.sum() else None
    return compare(
        rows.part(test),
        rows.label_values(test),
        rows.scores["scores"][test],
        calibrated,
        groups=None if groups is None else groups[test],
        sample_weight=None if rows.weights is None else rows.weights[test],
        pos_label=rows.pos_label,
        features=restricts(rows),
        **options,
    )
