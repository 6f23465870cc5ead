"""What each metric is called, which of its values are better, and how they are written: said here and nowhere else."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trueup.metrics._binned import expected_calibration_error
from trueup.metrics._ecce import ecce
from trueup.metrics._losses import average_precision, brier_score, log_loss, roc_auc
from trueup.metrics._multicalibration import multicalibration_error

Better: TypeAlias = Literal["lower", "higher"]


@dataclass(frozen=True)
class Metric:
    """A metric as results, reports and screens speak of it; look it up in `METRICS` by its name.

    A screen or a page shows `title` as a heading, `label` inside a sentence, `subject` as the first words of one, and
    `reads` where a person meets the metric first. The report's `Form(metric.form)` writes its values; plain text has
    `digits` decimals and then `unit`. `gain` tells how much better a value became, whichever direction is better.
    """

    name: str
    label: str
    subject: str
    reads: str
    function: Callable[..., float]
    better: Better = "lower"
    form: Literal["decimal", "percent", "sigmas"] = "decimal"

    @property
    def title(self) -> str:
        """The label with a capital letter."""
        return self.label[0].upper() + self.label[1:]

    @property
    def unit(self) -> str:
        """What follows a value in plain text."""
        return " σ" if self.form == "sigmas" else ""

    @property
    def digits(self) -> int:
        """How many decimals a value has in plain text."""
        return 1 if self.form == "sigmas" else 4

    def gain(self, before: float, after: float) -> float:
        """By how much the value became better; below 0 if it became worse."""
        return after - before if self.better == "higher" else before - after

    def relative_change(self, before: float, after: float) -> float:
        """Return after over before, less 1: 0 if nothing changed, NaN if the value was 0 and no longer is."""
        if before == after:
            return 0.0
        return after / before - 1 if before else math.nan


_ALL = (
    Metric(
        name="log_loss",
        label="log loss",
        subject="Log loss",
        reads="How surprised the scores are by the labels, on average per row. Lower is better.",
        function=log_loss,
    ),
    Metric(
        name="brier",
        label="Brier score",
        subject="The Brier score",
        reads="The mean squared difference between score and label. Lower is better.",
        function=brier_score,
    ),
    Metric(
        name="prauc",
        label="PRAUC",
        subject="PRAUC",
        reads="How well the highest scores pick out the positives. Higher is better.",
        function=average_precision,
        better="higher",
    ),
    Metric(
        name="auroc",
        label="AUROC",
        subject="AUROC",
        reads="How often a positive row scores above a negative one. Higher is better.",
        function=roc_auc,
        better="higher",
    ),
    Metric(
        name="ecce",
        label="ECCE",
        subject="Calibration error (ECCE)",
        reads="The largest sum of errors over any range of scores, as a share of all rows. Lower is better.",
        function=ecce,
        form="percent",
    ),
    Metric(
        name="ece",
        label="ECE",
        subject="Calibration error (ECE)",
        reads="The mean distance between predicted and observed in ten bins of the score. Lower is better.",
        function=expected_calibration_error,
        form="percent",
    ),
    Metric(
        name="mce",
        label="MCE",
        subject="The worst segment's calibration error (MCE)",
        reads="The largest ECCE of any segment, in units of what noise gives (σ). Lower is better.",
        function=multicalibration_error,
        form="sigmas",
    ),
)

METRICS = {metric.name: metric for metric in _ALL}
