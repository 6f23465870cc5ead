"""The methods that are compared, each as one function from a task's rows to probabilities of its test rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paper.tasks import Task
from trueup._fitting import PAPER_DEFAULTS
from trueup.calibration import MCGrad

__all__ = ["METHODS", "Method", "Outcome", "ScoredTask"]

Floats = npt.NDArray[np.float64]

_PAPER_ROUNDS, _GROUP_ROUNDS, _FOLDS = 10, 30, 5
_LIGHTGBM_HESSIAN, _PAPER_HESSIAN = 0.001, 20.0
_LAMBDA = 0.1


@dataclass(frozen=True, eq=False)
class ScoredTask:
    """A task and what its base model says."""

    task: Task
    scores: Floats
    n_jobs: int | None = None

    def features(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        """Features of some rows."""
        return self.task.X.take(pa.array(rows))

    def groups(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """The prespecified groups of some rows, a column each."""
        return np.column_stack([members[rows] for members in self.task.groups.values()])

    def group_table(self, rows: npt.NDArray[np.int64]) -> pa.Table:
        """The prespecified groups of some rows as 0/1 features."""
        return pa.table({name: members[rows].astype(np.float64) for name, members in self.task.groups.items()})


@dataclass(frozen=True, eq=False)
class Outcome:
    """Probabilities of the test rows, and what it took to get them."""

    probabilities: Floats
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    rounds: int | None = None
    chosen: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A row of the tables.

    Attributes
    ----------
    name : str
        Its name, the paper's own where the paper has it.
    told : str
        What it is.
    settings : mapping
        What its result depends on besides the task.
    run : callable
        What fits it on the training rows.
    in_paper : bool
        Whether the paper has figures of it.
    """

    name: str
    told: str
    settings: Mapping[str, Any]
    run: Callable[[ScoredTask], Outcome]
    in_paper: bool = True


def _base(rows: ScoredTask) -> Outcome:
    return Outcome(rows.scores[rows.task.test])


def _mcgrad(name: str, told: str, *, on_groups: bool = False, in_paper: bool = True, **parameters: Any) -> Method:
    """MCGrad with some parameters, on the features or on the groups as features."""

    def run(rows: ScoredTask) -> Outcome:
        """Fit it and predict."""
        task = rows.task
        table_of = rows.group_table if on_groups else rows.features
        model = MCGrad(**parameters, n_jobs=rows.n_jobs)
        train, test = table_of(task.train), table_of(task.test)
        started = time.perf_counter()
        model.fit(train, task.y[task.train], scores=rows.scores[task.train])
        fitted = time.perf_counter()
        probabilities = model.calibrate(test, rows.scores[task.test])
        return Outcome(probabilities, fitted - started, time.perf_counter() - fitted, model.n_rounds_)

    settings = {**MCGrad(**parameters).get_params(deep=False), "on_groups": on_groups}
    return Method(name, told, settings, run, in_paper)


def _paper_mcgrad(name: str, told: str, *, on_groups: bool = False, **over: Any) -> Method:
    parameters = {
        "rescale": "train",
        "lightgbm_params": dict(PAPER_DEFAULTS),
        "max_rounds": _PAPER_ROUNDS,
        "validation": _FOLDS,
        "min_sum_hessian_in_leaf": _LIGHTGBM_HESSIAN,
    }
    return _mcgrad(name, told, on_groups=on_groups, **{**parameters, **over})


def _baseline(
    name: str, told: str, class_name: str, *, on_groups: bool = False, in_paper: bool = True, **parameters: Any
) -> Method:
    """A baseline with its defaults."""

    def run(rows: ScoredTask) -> Outcome:
        """Fit it and predict."""
        return _fit_baseline(rows, class_name, rows.task.test, on_groups, **parameters)

    return Method(name, told, {"baseline": class_name, **parameters}, run, in_paper)


def _fit_baseline(
    rows: ScoredTask, class_name: str, predicted: npt.NDArray[np.int64], on_groups: bool, **parameters: Any
) -> Outcome:
    from trueup import baselines

    task = rows.task
    at_fit = {"segments": rows.groups(task.train)} if on_groups else {}
    at_predict = {"segments": rows.groups(predicted)} if on_groups else {}
    train, others = rows.features(task.train), rows.features(predicted)
    model = getattr(baselines, class_name)(**parameters)
    if "n_jobs" in model.get_params(deep=False):
        model.set_params(n_jobs=rows.n_jobs)
    started = time.perf_counter()
    model.fit(train, task.y[task.train], scores=rows.scores[task.train], **at_fit)
    fitted = time.perf_counter()
    probabilities = model.calibrate(others, rows.scores[predicted], **at_predict)
    return Outcome(probabilities, fitted - started, time.perf_counter() - fitted)


def _hkrr(rows: ScoredTask) -> Outcome:
    """HKRR with the alpha whose worst group is best on the validation rows; the time to fit is that of all four."""
    from trueup.baselines import HKRR

    task = rows.task
    train, validation, test = (
        (rows.features(part), task.y[part], rows.scores[part], rows.groups(part))
        for part in (task.train, task.validation, task.test)
    )
    model = HKRR.paper(bin_width=_LAMBDA)
    started = time.perf_counter()
    watched = (*validation[:3], None, validation[3])
    model.fit(train[0], train[1], scores=train[2], segments=train[3], eval_set=watched)
    fitted = time.perf_counter()
    probabilities = model.calibrate(test[0], test[2], segments=test[3])
    return Outcome(probabilities, fitted - started, time.perf_counter() - fitted, chosen={"alpha": model.alpha_})


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("base_model", "logistic regression, as it is", {}, _base),
        _baseline("Isotonic", "isotonic regression", "IsotonicCalibrator"),
        Method(
            "HKRR",
            "HKRR on the prespecified groups",
            {"baseline": "HKRR.paper", "lambda": _LAMBDA, "alpha": "smallest max smECE"},
            _hkrr,
        ),
        _baseline("DFMC", "one round of depth 2 on the prespecified groups", "DFMC", on_groups=True),
        _paper_mcgrad("MCGrad", "the paper's MCGrad, leaves of any evidence"),
        _paper_mcgrad(
            "MCGrad_msh_20",
            "the paper's MCGrad with its default, evidence of at least 20 in a leaf",
            min_sum_hessian_in_leaf=_PAPER_HESSIAN,
        ),
        _paper_mcgrad(
            "MCGrad_group_features",
            "the paper's MCGrad on the prespecified groups instead of the features",
            on_groups=True,
            max_rounds=_GROUP_ROUNDS,
        ),
        _paper_mcgrad("MCGrad_no_unshrink", "the paper's MCGrad without rescaling", rescale=None),
        _paper_mcgrad("MCGrad_one_round", "the paper's MCGrad, exactly one round", max_rounds=1, validation=None),
        _mcgrad("trueup", "MCGrad with the defaults of this package", in_paper=False),
        _baseline("Platt", "Platt scaling", "PlattCalibrator", in_paper=False),
        _baseline("Temperature", "temperature scaling", "TemperatureCalibrator", in_paper=False),
        _baseline("LSBoost", "boosting on level sets of the score", "LSBoost", in_paper=False),
    )
}
