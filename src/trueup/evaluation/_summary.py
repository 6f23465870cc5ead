"""Many models at once: how much their metrics change, from the best to the worst, and how many improve."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup._data import json_values
from trueup.errors import ParameterError
from trueup.evaluation._result import Evaluation
from trueup.metrics import METRICS

__all__ = ["PERCENTILES", "SHOWN_METRICS", "Outcome", "Summary", "summarize"]

SCHEMA_VERSION = 1
PERCENTILES = (10, 25, 50, 75, 90)
SHOWN_METRICS = ("log_loss", "prauc", "auroc", "ece")
_VERDICTS = ("ship", "inconclusive", "keep")


@dataclass(frozen=True)
class Outcome:
    """What became of one model.

    Attributes
    ----------
    name : str
        The model.
    verdict : str
        "ship", "keep" or "inconclusive".
    rows : int
        How many rows it was tested on.
    warnings : int
        How many things the diagnosis found that are not just notes.
    before, after : mapping of str to float
        Metrics of the scores as they are, and of the calibrated ones.
    report : str or None
        Where its report is.
    trusted : bool
        Whether the diagnosis found no error in its data. What leaked rows or the like show is no result.

    Examples
    --------
    >>> from trueup.evaluation import Outcome
    >>> model = Outcome("clicks", "ship", 1_000, 0, {"log_loss": 0.5}, {"log_loss": 0.4})
    >>> round(model.change("log_loss"), 3)
    -0.2
    """

    name: str
    verdict: str
    rows: int
    warnings: int
    before: Mapping[str, float]
    after: Mapping[str, float]
    report: str | None = None
    trusted: bool = True

    def change(self, metric: str) -> float:
        """Return the relative change of a metric: after over before, less 1.

        Parameters
        ----------
        metric : str
            The metric.

        Returns
        -------
        float
            The change; NaN if the metric was 0 and is no more.
        """
        return METRICS[metric].relative_change(self.before[metric], self.after[metric])

    @classmethod
    def of(cls, name: str, evaluation: Evaluation | Mapping[str, Any], report: str | None = None) -> Outcome:
        """Return the outcome of an evaluation.

        Parameters
        ----------
        name : str
            The model.
        evaluation : Evaluation or mapping
            The evaluation, or what its `to_dict` gave.
        report : str, optional
            Where its report is.

        Returns
        -------
        Outcome
            What became of the model.
        """
        facts: Mapping[str, Any] = evaluation.to_dict() if isinstance(evaluation, Evaluation) else evaluation
        rows = {row["metric"]: row for row in facts["comparison"]["metrics"]}
        found = [finding for finding in facts["diagnosis"]["findings"] if finding["severity"] != "note"]
        return cls(
            name=name,
            verdict=facts["verdict"],
            rows=facts["split"]["test"]["rows"],
            warnings=len(found),
            before={metric: _number(rows[metric]["base"]) for metric in SHOWN_METRICS},
            after={metric: _number(rows[metric]["candidate"]) for metric in SHOWN_METRICS},
            report=report,
            trusted=all(finding["severity"] != "error" for finding in found),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """What many evaluations say together.

    Attributes
    ----------
    models : tuple of Outcome
        One a model. Those whose data can't be trusted count in none of the figures below.
    failures : mapping of str to str
        Models that could not be evaluated, and why.
    percentiles : mapping of str to tuple of float
        For each metric, its relative change at the 10th, 25th, 50th, 75th and 90th percentile of models, from the
        ones that gain most to the ones that gain least: a loss that falls by 10 % is -0.1.
    improved : mapping of str to float
        For each metric, the share of models in which it improves.
    not_worse : mapping of str to float
        The same with the models in which it stays exactly as it is.

    Examples
    --------
    >>> from trueup.evaluation import Outcome, summarize
    >>> before = {"log_loss": 0.5, "prauc": 0.4, "auroc": 0.8, "ece": 0.02}
    >>> after = {"log_loss": 0.4, "prauc": 0.5, "auroc": 0.8, "ece": 0.01}
    >>> summarize([Outcome("clicks", "ship", 1_000, 0, before, after)])
    Summary(1 model: 1 ship, 0 inconclusive, 0 keep)
    """

    models: tuple[Outcome, ...]
    failures: Mapping[str, str]
    percentiles: Mapping[str, tuple[float, ...]]
    improved: Mapping[str, float]
    not_worse: Mapping[str, float]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many models have each verdict."""
        counted = Counter(model.verdict for model in self.models)
        return {verdict: counted[verdict] for verdict in _VERDICTS}

    @property
    def untrusted(self) -> tuple[str, ...]:
        """The models whose data can't be trusted: their figures are left out."""
        return tuple(model.name for model in self.models if not model.trusted)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values that JSON can hold.

        Returns
        -------
        dict
            The attributes by name. What is not a finite number is None.
        """
        whole: dict[str, Any] = json_values(
            {
                "schema_version": SCHEMA_VERSION,
                "n_models": len(self.models),
                "verdicts": self.verdicts,
                "untrusted": list(self.untrusted),
                "percentiles": [
                    {"percentile": percentile, **{name: values[i] for name, values in self.percentiles.items()}}
                    for i, percentile in enumerate(PERCENTILES)
                ],
                "improved": self.improved,
                "not_worse": self.not_worse,
                "models": self.rows(),
                "failures": self.failures,
            }
        )
        return whole

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict a model, as a table has it.

        Returns
        -------
        list of dict
            Name, verdict, rows, warnings, whether its data can be trusted, and each metric before and after with its
            relative change.
        """
        table = []
        for model in self.models:
            row: dict[str, Any] = {
                "model": model.name,
                "verdict": model.verdict,
                "rows": model.rows,
                "warnings": model.warnings,
                "trusted": model.trusted,
            }
            for metric in SHOWN_METRICS:
                row[f"{metric}_before"], row[f"{metric}_after"] = model.before[metric], model.after[metric]
                row[f"{metric}_change"] = model.change(metric)
            table.append(row | {"report": model.report})
        return table

    def to_csv(self) -> str:
        """Return the models as a table in CSV, a line each.

        Returns
        -------
        str
            The table, with a line of names first; empty if there are no models.
        """
        from trueup.evaluation._summary_page import summary_csv

        return summary_csv(self)

    def to_html(self) -> str:
        """Return one page with the table of percentiles, and links to the reports.

        Returns
        -------
        str
            HTML.
        """
        from trueup.evaluation._summary_page import summary_html

        return summary_html(self)

    def __repr__(self) -> str:
        told = ", ".join(f"{count} {verdict}" for verdict, count in self.verdicts.items())
        failed = f", {len(self.failures)} failed" if self.failures else ""
        noun = "model" if len(self.models) == 1 else "models"
        return f"Summary({len(self.models)} {noun}: {told}{failed})"


def summarize(evaluations: Any, *, failures: Mapping[str, str] | None = None) -> Summary:
    """Return what many evaluations say together: the percentile table of the MCGrad paper's production section.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation, or iterable of Outcome
        Evaluations, or what their `to_dict` gave, by the models' names; or outcomes.
    failures : mapping of str to str, optional
        Models that could not be evaluated, and why: they are told, and count nowhere.

    Returns
    -------
    Summary
        Percentiles of the changes, shares of models that improve, verdicts.

    Notes
    -----
    Changes are relative to the metric before. Percentiles run from the models that gain most to those that gain
    least, as in the paper: of a metric of which more is better, the 10th is what only a tenth of the models exceed.
    Between two models they are interpolated linearly. A metric that was 0 before and is no more has no relative
    change, and is left out of the percentiles; it counts as not improved. Models in whose data the diagnosis found an
    error are left out of percentiles and shares.

    Examples
    --------
    >>> from trueup.evaluation import Outcome, summarize
    >>> before = {"log_loss": 0.5, "prauc": 0.4, "auroc": 0.8, "ece": 0.02}
    >>> models = [Outcome(str(i), "ship", 100, 0, before, before | {"log_loss": 0.5 - i / 100}) for i in range(11)]
    >>> summary = summarize(models)
    >>> [round(change, 2) for change in summary.percentiles["log_loss"]]
    [-0.18, -0.15, -0.1, -0.05, -0.02]
    >>> round(summary.improved["log_loss"], 3)
    0.909
    """
    if isinstance(evaluations, Mapping):
        models = tuple(Outcome.of(name, evaluation) for name, evaluation in evaluations.items())
    else:
        models = tuple(evaluations)
        if not all(isinstance(model, Outcome) for model in models):
            raise ParameterError("Pass evaluations by name, as in {'clicks': evaluation}, or outcomes.")
    trusted = tuple(model for model in models if model.trusted)
    return Summary(
        models=models,
        failures=dict(failures or {}),
        percentiles={metric: _percentiles(trusted, metric) for metric in SHOWN_METRICS},
        improved={metric: _share(trusted, metric, strictly=True) for metric in SHOWN_METRICS},
        not_worse={metric: _share(trusted, metric, strictly=False) for metric in SHOWN_METRICS},
    )


def _percentiles(models: tuple[Outcome, ...], metric: str) -> tuple[float, ...]:
    changes = np.array([model.change(metric) for model in models], dtype=np.float64)
    changes = changes[np.isfinite(changes)]
    if not len(changes):
        return (math.nan,) * len(PERCENTILES)
    from_best = PERCENTILES if METRICS[metric].better == "lower" else [100 - percentile for percentile in PERCENTILES]
    return tuple(float(value) for value in np.percentile(changes, from_best))


def _share(models: tuple[Outcome, ...], metric: str, *, strictly: bool) -> float:
    if not models:
        return math.nan
    gains = [METRICS[metric].gain(model.before[metric], model.after[metric]) for model in models]
    return sum(gain > 0 or (gain == 0 and not strictly) for gain in gains) / len(models)


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
