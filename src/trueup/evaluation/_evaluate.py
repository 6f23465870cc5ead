"""`evaluate`: diagnose, split, fit, compare on rows that were held out, and say whether to ship."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from trueup.calibration import MCGrad
from trueup.comparison import Comparison, compare
from trueup.errors import DiagnosisError, ParameterError
from trueup.evaluation._diagnosis._diagnose import diagnose
from trueup.evaluation._diagnosis._finding import Diagnosis
from trueup.evaluation._expected import read_by_split
from trueup.evaluation._fit import estimator_for, fit_again, fit_on, pos_label_of
from trueup.evaluation._input import EvaluationInput, Floats, read_input
from trueup.evaluation._result import Evaluation, HeldOut, Seconds
from trueup.evaluation._sides import SplitRows, split_rows
from trueup.evaluation._verdict import judge

__all__ = ["evaluate"]

_LEAST_TIMES = 30  # with fewer of them, drawing whole times again says nothing of the noise


def evaluate(
    X: Any,
    y: Any,
    scores: Any,
    *,
    time: Any = None,
    group: Any = None,
    test_size: float = 0.3,
    sample_weight: Any = None,
    pos_label: Any = None,
    cluster: Any = None,
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
    """Return whether calibrating a model's scores pays, judged on rows that the calibration never saw.

    Rows are split; both sides are diagnosed; `MCGrad` is fitted on the one and compared with the scores as they are on
    the other.

    Parameters
    ----------
    X : table
        Features: a pandas, polars or pyarrow table, a dict of arrays, or a 2-D NumPy array. It may hold all columns,
        those below among them.
    y : array-like or str
        Labels of two classes, or soft labels in [0, 1]; or the name of their column.
    scores : array-like or str
        The base model's probabilities of the positive class; or the name of their column. They must come from a
        model that was not trained on these rows.
    time : array-like or str, optional
        When each row is from: numbers such as years, or dates. The earlier rows train and the later ones test, and
        no moment is on both sides. Its column is no feature, unless it is named in `features`: a model can't have
        learned anything of a year to come.
    group : array-like or str, optional
        Which rows belong together, such as users: whole groups are on one side. Its column is no feature, unless it is
        named. Without `time` and `group`, rows are drawn at random.
    test_size : float, default=0.3
        About what share of the rows tests; as near as whole times or groups come.
    sample_weight : array-like or str, optional
        Weights of at least 0.
    pos_label : label, optional
        The positive class, which `scores` are about; by default the greater of the two labels.
    cluster : array-like or str, optional
        Rows that are not independent of each other, for the intervals. By default those of one group; and those of one
        time, if there are at least 30 times to test on.
    features : sequence of str, optional
        The columns that segments are made of; by default all that have no other role.
    categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
        Columns that are categorical besides those of strings, categoricals and booleans.
    estimator : MCGrad, optional
        The calibration to fit, unfitted; `MCGrad` with its defaults if None.
    refit : bool, default=False
        Whether to fit another model on all rows, with at most as many rounds, to be the one that is saved.
    strict : bool, default=False
        Whether a warning of the diagnosis is an error.
    comparison : mapping, optional
        More parameters of `trueup.compare`, such as ``{"primary": "brier", "level": 0.01}``.
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
    Where rows are split by time or group, the folds that choose the number of rounds keep times or groups together
    too, unless the estimator says otherwise. Rows of a day share its weather; if folds tear them apart, trees that
    learn the weather of single days look good there and nowhere else.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(20_000)
    >>> evaluation = trueup.evaluate(traffic.X, traffic.y, traffic.scores)
    >>> evaluation.verdict
    'ship'
    """
    if time is not None and group is not None:
        raise ParameterError("time and group are two ways to split: pass one of them. cluster= can name the other.")
    began = clock.perf_counter()
    given = read_input(
        X,
        y=y,
        scores=scores,
        sample_weight=sample_weight,
        time=time,
        group=group,
        cluster=cluster,
        features=features,
        pos_label=pos_label_of(estimator) if pos_label is None else pos_label,
    )
    categorical = _named(categorical_features, given)
    chosen = estimator_for(
        given, estimator, categorical_features=categorical, random_state=random_state, n_jobs=n_jobs, verbose=verbose
    )
    split = split_rows(given, test_size, random_state)
    diagnosis = _diagnosed(given, split, categorical, random_state, n_jobs)
    if strict and not diagnosis.ok:
        found = "; ".join(f"{finding.severity}: {finding.text}" for finding in diagnosis.warnings)
        raise DiagnosisError(f"The data look wrong, and strict makes that an error. {found}", diagnosis)
    diagnosed = clock.perf_counter()
    model = fit_on(given, chosen, split.train, split.together, random_state)
    fitted = clock.perf_counter()
    calibrated = model.calibrate(*_to_calibrate(given, split))
    compared = _compared(
        given,
        split,
        calibrated,
        {"categorical_features": categorical, "random_state": random_state, "n_jobs": n_jobs, "verbose": verbose}
        | dict(comparison or {}),
    )
    ended = clock.perf_counter()
    serving = fit_again(given, chosen, model, split.together, random_state) if refit else None
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
        _held_out=HeldOut(given, split.test, calibrated),
    )


def _named(categorical: Any, given: EvaluationInput) -> Any:
    """The names of categorical columns: positions are those in the table that was given."""
    if isinstance(categorical, str):
        return categorical
    places: list[Any] = list(categorical)
    for place in places:
        if isinstance(place, (int, np.integer)) and not -len(given.table.names) <= place < len(given.table.names):
            raise ParameterError(f"categorical_features: X has no column {place}; it has {len(given.table.names)}.")
    names = [given.table.names[place] if isinstance(place, (int, np.integer)) else place for place in places]
    for name in names:
        if name not in given.features:
            raise ParameterError(f"categorical_features names {name!r}, which is not one of the features.")
    return names


def _diagnosed(
    given: EvaluationInput, split: SplitRows, categorical: Any, random_state: int, n_jobs: int | None
) -> Diagnosis:
    train, test = (
        (given.features_of(rows), given.label_values(rows), given.scores[rows], given.weights_of(rows))
        for rows in (split.train, split.test)
    )
    found = diagnose(
        train[0],
        train[1],
        train[2],
        sample_weight=train[3],
        pos_label=given.pos_label,
        test=test,
        features=given.restricts,
        categorical_features=categorical,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    return read_by_split(found, split.facts.kind)


def _to_calibrate(given: EvaluationInput, split: SplitRows) -> tuple[Any, Floats | None]:
    by_name = given.names.get("scores")
    if by_name is not None:
        return given.features_of(split.test, by_name), None
    return given.features_of(split.test), given.scores[split.test]


def _compared(given: EvaluationInput, split: SplitRows, calibrated: Floats, options: dict[str, Any]) -> Comparison:
    test = split.test
    return compare(
        given.label_values(test),
        given.scores[test],
        calibrated,
        given.features_of(test),
        sample_weight=given.weights_of(test),
        pos_label=given.pos_label,
        cluster=_clusters(given, split),
        features=given.restricts,
        **options,
    )


def _clusters(given: EvaluationInput, split: SplitRows) -> Any:
    """Which rows to test on depend on each other: what the user says, or else the groups or the times."""
    if given.cluster is not None:
        return given.cluster.objects()[split.test]
    if split.facts.kind == "group":
        return split.together[split.test]
    if split.facts.kind == "time":
        n_times = len(np.unique(split.together[split.test]))
        if _LEAST_TIMES <= n_times < split.test.sum():
            return split.together[split.test]
    return None
