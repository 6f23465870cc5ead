"""What an evaluation found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import Rows, json_values
from trueup.auditing import AuditResult
from trueup.calibration import MCGrad
from trueup.comparison import Comparison, Reason
from trueup.evaluation._diagnosis._finding import Diagnosis
from trueup.evaluation._model import describe_fit
from trueup.evaluation._split import BoolArray, SplitFacts

__all__ = ["SCHEMA_VERSION", "Evaluation", "HeldOutRows", "Seconds"]

SCHEMA_VERSION = 1


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
class Evaluation:
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
    No round of the calibration helped, so it gives the scores back as they are.
    """

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
        from trueup.evaluation._scored import scored_rows

        return scored_rows(self._held_out)

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain values that JSON can hold.

        Returns
        -------
        dict
            The attributes by name; models as what they learned. What is not a finite number is None.

        Examples
        --------
        >>> import trueup
        >>> from trueup.datasets import make_traffic
        >>> traffic = make_traffic(1_000)
        >>> quick = {"estimator": trueup.MCGrad(max_rounds=0), "comparison": {"max_depth": 1}}
        >>> evaluation = trueup.evaluate(traffic.X, traffic.y, traffic.scores, **quick)
        >>> list(evaluation.to_dict())[:4]
        ['schema_version', 'verdict', 'reasons', 'split']
        """
        before, after = self.audits
        whole: dict[str, Any] = json_values(
            {
                "schema_version": SCHEMA_VERSION,
                "verdict": self.verdict,
                "reasons": [asdict(reason) for reason in self.reasons],
                "split": self.split.to_dict(),
                "columns": dict(self._held_out.rows.given.names) | {"features": self._held_out.rows.features},
                "diagnosis": self.diagnosis.to_dict(),
                "model": describe_fit(self.model),
                "saved_model": {
                    "fitted_on": "training rows" if self.refitted is None else "all rows",
                    "n_rounds": self.serving.n_rounds_,
                },
                "comparison": self.comparison.to_dict(),
                "audits": {"before": before.to_dict(), "after": after.to_dict()},
                "seconds": asdict(self.seconds),
            }
        )
        return whole

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str = "Evaluation") -> str | None:
        """Give the report: one page that opens from disk, without any network.

        Parameters
        ----------
        path : path-like, optional
            The file to write, whole or not at all; without it the page is returned.
        title : str, default="Evaluation"
            What the page is about, such as the name of the model.

        Returns
        -------
        str or None
            The page as HTML; None if it was written.
        """
        from trueup._report import page_out
        from trueup.evaluation._page import evaluation_page

        return page_out(evaluation_page(self, title=title), path)

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

    def _repr_html_(self) -> str:
        """The result in brief, for notebooks."""
        from trueup._report import render_summary
        from trueup.evaluation._page import evaluation_page

        return render_summary(evaluation_page(self, in_full=False))

    def __repr__(self) -> str:
        return f"Evaluation({self.verdict}: {self.split})"
