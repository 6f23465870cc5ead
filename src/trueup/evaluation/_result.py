"""What an evaluation found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from trueup._data import Rows
from trueup._report import Page, Result
from trueup.auditing import AuditResult
from trueup.calibration import MCGrad
from trueup.comparison import Comparison, Reason
from trueup.evaluation._diagnosis._finding import Diagnosis
from trueup.evaluation._fit import describe_fit
from trueup.evaluation._split import BoolArray, SplitFacts

__all__ = ["Evaluation", "HeldOutRows", "Seconds"]


@dataclass(frozen=True)
class Seconds:
    """How long the parts of an evaluation took.

    Attributes
    ----------
    diagnosis, fit, comparison : float
        Seconds; reading and splitting rows is part of the diagnosis.

    Examples
    --------
    >>> from trueup.evaluation import Seconds
    >>> Seconds(diagnosis=0.5, fit=2.0, comparison=1.0).fit
    2.0
    """

    diagnosis: float
    fit: float
    comparison: float


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """The rows that were held out, and what the calibrated model predicts for them."""

    rows: Rows
    test: BoolArray
    calibrated: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Result):
    """What `trueup.evaluate` found: whether calibrating pays, on rows that the calibration never saw.

    Attributes
    ----------
    verdict : {"ship", "keep", "inconclusive"}
        Ship the calibrated scores, keep the scores as they are, or: these rows can't tell.
    reasons : tuple of Reason
        The rules behind the verdict, and whether each holds.
    split : SplitFacts
        How rows were split, and what the training rows and the test rows are like.
    diagnosis : Diagnosis
        What looks wrong with the data.
    model : MCGrad
        The model that was evaluated, fitted on the training rows.
    refitted : MCGrad or None
        A model fitted on all rows, if that was asked for: it is the one that is saved, and no test has seen it.
    comparison : Comparison
        The calibrated scores against the scores as they are, on the held-out rows.
    seconds : Seconds
        How long the diagnosis, the fit and the comparison took.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(1_000)
    >>> quick = {"estimator": trueup.MCGrad(max_rounds=0), "comparison": {"max_depth": 1}}
    >>> evaluation = trueup.evaluate(traffic.X, traffic.y, traffic.scores, **quick)
    >>> evaluation
    Evaluation(keep: trained on 700 rows, tested on 300 (30 %), drawn at random)
    >>> print(evaluation.reasons[-2].text)
    No round of the calibration helped, so it returns the scores unchanged.
    """

    _title: ClassVar[str] = "Evaluation"

    verdict: str
    reasons: tuple[Reason, ...]
    split: SplitFacts
    diagnosis: Diagnosis
    model: MCGrad
    refitted: MCGrad | None
    comparison: Comparison
    seconds: Seconds
    _held_out: HeldOutRows = field(repr=False)

    @property
    def audits(self) -> tuple[AuditResult, AuditResult]:
        """The audits of the held-out rows, before and after."""
        before, after = self.comparison.audits
        return before, after

    @property
    def serving(self) -> MCGrad:
        """The model to serve: the one fitted on all rows if there is one, else the one that was evaluated."""
        return self.model if self.refitted is None else self.refitted

    @property
    def held_out(self) -> Any:
        """The held-out rows with labels, scores and calibrated scores, in the library of `X`; Arrow for arrays."""
        from trueup.evaluation._save import scored_rows

        return scored_rows(self._held_out)

    def _facts(self) -> dict[str, Any]:
        before, after = self.audits
        return {
            "verdict": self.verdict,
            "reasons": self.reasons,
            "split": self.split,
            "columns": {**self._held_out.rows.given.names, "features": self._held_out.rows.features},
            "diagnosis": self.diagnosis,
            "model": describe_fit(self.model),
            "saved_model": {
                "fitted_on": "training rows" if self.refitted is None else "all rows",
                "n_rounds": self.serving.n_rounds_,
            },
            "comparison": self.comparison,
            "audits": {"before": before, "after": after},
            "seconds": self.seconds,
        }

    def _page(self, title: str, *, in_full: bool) -> Page:
        from trueup.evaluation._page import evaluation_page

        return evaluation_page(self, title=title, in_full=in_full)

    def save(
        self,
        folder: str | os.PathLike[str],
        *,
        title: str = "Evaluation",
        about: Mapping[str, Any] | None = None,
        report: bool = True,
    ) -> dict[str, str]:
        """Write ``model.trueup``, ``report.html``, ``evaluation.json`` and ``scored.parquet``: all of them, or none.

        Parameters
        ----------
        folder : path-like
            The folder to make. One that an evaluation was saved to before is replaced; one with other files is
            refused.
        title : str, default="Evaluation"
            What the report is about.
        about : mapping, optional
            More to keep in ``evaluation.json``, such as where the rows came from.
        report : bool, default=True
            Whether to make ``report.html``.

        Returns
        -------
        dict of str to str
            The paths of the files by name.

        Examples
        --------
        >>> import tempfile
        >>> import trueup
        >>> from trueup.datasets import make_traffic
        >>> traffic = make_traffic(1_000)
        >>> quick = {"estimator": trueup.MCGrad(max_rounds=0), "comparison": {"max_depth": 1}}
        >>> evaluation = trueup.evaluate(traffic.X, traffic.y, traffic.scores, **quick)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(evaluation.save(folder + "/clicks", report=False))
        ['evaluation.json', 'model.trueup', 'scored.parquet']
        """
        from trueup.evaluation._save import save

        return save(self, folder, title=title, about=about, report=report)

    def __repr__(self) -> str:
        return f"Evaluation({self.verdict}: {self.split})"
