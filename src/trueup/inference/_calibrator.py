"""Scoring with a fitted model: tables and single rows, without LightGBM, scikit-learn or pandas."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup.errors import MissingScoreWarning, ModelFileError, ScoreError, callers_level
from trueup.features import FeatureEncoder
from trueup.inference._apply import compile_rounds, probabilities, score_logits
from trueup.inference._parity import check_parity, make_parity_rows
from trueup.inference._threads import thread_count
from trueup.model import CalibrationModel, plain_value, read_model, write_model

if TYPE_CHECKING:
    from trueup.table import CalibrationTable

__all__ = ["Calibrator", "load"]

Floats = npt.NDArray[np.float64]
_FITTED_WITHOUT_SCORES = (
    "The model was fitted without scores, on the base rate; it can't take any now. Fit with scores=."
)
_ROWS_A_THREAD = 8192  # below this, starting a thread costs more than it saves


class Calibrator:
    """A fitted calibration, ready to score.

    Scoring changes nothing in it, so one calibrator serves any number of threads at once.

    Parameters
    ----------
    model : CalibrationModel
        The fitted model.
    n_jobs : int, optional
        Threads for tables; by default all cores that the process may use.

    See Also
    --------
    load : A calibrator from a model file.

    Examples
    --------
    >>> from trueup import Calibrator, MCGrad
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(5000, random_state=0)
    >>> fitted = MCGrad(max_rounds=2, validation=None, rescale="train")
    >>> fitted = fitted.fit(traffic.X, traffic.y, scores=traffic.scores)
    >>> calibrator = Calibrator(fitted.model_)
    >>> together = calibrator.calibrate(traffic.X, traffic.scores)
    >>> row = traffic.X.slice(7, 1).to_pylist()[0]
    >>> calibrator.calibrate_one(row, traffic.scores[7]) == float(together[7])
    True
    """

    def __init__(self, model: CalibrationModel, *, n_jobs: int | None = None) -> None:
        self.model = model
        self.n_jobs = n_jobs
        self._encoder = FeatureEncoder(model.features)
        self._forest = compile_rounds(model.features, model.rounds)

    def __reduce__(self) -> tuple[Any, ...]:
        return _calibrator_from, (self.model, self.n_jobs)

    def __repr__(self) -> str:
        return f"<Calibrator: {len(self.model.rounds)} rounds, {len(self.model.features.features)} features>"

    def calibrate(self, X: Any, scores: Any = None) -> Floats:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        X : table
            The rows; columns are found by name.
        scores : array-like, optional
            The base model's probabilities. Not needed if the model knows the column that holds them, or was
            fitted without.

        Returns
        -------
        float64 array
            One probability a row; NaN where the score is missing.
        """
        table, base = self._read(X, scores)
        matrix = self._encoder.encode(table)  # also without rounds: a wrong table is an error all the same
        if not self.model.rounds:
            return base.copy()
        threads = self._threads(len(base))
        logits = self._forest.advance(matrix, score_logits(base, threads), 0, len(self.model.rounds), threads)
        return probabilities(logits, threads)

    def staged(self, X: Any, scores: Any = None) -> Iterator[Floats]:
        """Calibrated probabilities after each round.

        Parameters
        ----------
        X : table
            The rows.
        scores : array-like, optional
            The base model's probabilities.

        Yields
        ------
        float64 array
            The probabilities after round 1, 2, ...
        """
        table, base = self._read(X, scores)
        threads = self._threads(len(base))
        matrix, logits = self._encoder.encode(table), score_logits(base, threads)
        for t in range(len(self.model.rounds)):
            logits = self._forest.advance(matrix, logits, t, t + 1, threads)
            yield probabilities(logits, threads)

    def calibrate_one(self, row: Mapping[str, Any], score: float | None = None) -> float:
        """The calibrated probability of one row, in microseconds.

        Parameters
        ----------
        row : mapping
            The values by column name. None and NaN are missing; a category that was not there at fit is
            treated as missing.
        score : float, optional
            The base model's probability.

        Returns
        -------
        float
            The probability; NaN if the score is missing.
        """
        if score is None:
            score = self._score_of_row(row)
        elif self.model.base_rate is not None:
            raise ScoreError(_FITTED_WITHOUT_SCORES)
        return self._calibrate_row(row, score)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.trueup``.
        """
        write_model(self.model, make_parity_rows(self.model, self._calibrate_row), path)

    def _calibrate_row(self, row: Mapping[str, Any], score: Any) -> float:
        try:
            usable = 0.0 <= score <= 1.0
        except (TypeError, ValueError):
            usable = False
        if not usable:
            score = _missing_score(score)
        numbers = self._encoder.encode_row(row)
        if not self.model.rounds:
            return float(score)
        return self._forest.probability_of_one(numbers, score)

    def _read(self, X: Any, scores: Any) -> tuple[CalibrationTable, Floats]:
        from trueup.table import read_scores, read_table

        table = read_table(X)
        name = "scores"
        if scores is None:
            column = self.model.features.score_column
            if column is not None and column in table.names:
                scores, name = table.column(column), f"Column {column!r}"
            elif self.model.base_rate is not None:
                return table, np.full(table.n_rows, self.model.base_rate)
            else:
                raise ScoreError(_fitted_on_scores(column, "s"))
        elif self.model.base_rate is not None:
            raise ScoreError(_FITTED_WITHOUT_SCORES)
        base = read_scores(scores, table.n_rows, name=name, missing_allowed=True)
        missing = int(np.isnan(base).sum())
        if missing:
            first = int(np.argmax(np.isnan(base)))
            warnings.warn(
                f"{name}: {missing:,} of {len(base):,} scores are missing (first at row {first:,}). Those rows get "
                "NaN.",
                MissingScoreWarning,
                stacklevel=callers_level(),
            )
        return table, base

    def _score_of_row(self, row: Mapping[str, Any]) -> Any:
        column = self.model.features.score_column
        if column is not None and column in row:
            return row[column]
        if self.model.base_rate is not None:
            return self.model.base_rate
        raise ScoreError(_fitted_on_scores(column, ""))

    def _threads(self, n_rows: int) -> int:
        return max(1, min(thread_count(self.n_jobs), n_rows // _ROWS_A_THREAD))


def _missing_score(score: Any) -> float:
    """NaN for a score that is missing; an error for one that is wrong."""
    with contextlib.suppress(TypeError):  # it may be no single value at all
        if plain_value(score) is None:
            return float("nan")
    raise ScoreError(f"score is {score!r}; pass a probability in [0, 1].")


def _fitted_on_scores(column: str | None, plural: str) -> str:
    where = f", or add the column {column!r} that held them at fit" if column is not None else ""
    return f"The model was fitted on scores; pass the base model's as score{plural}={where}."


def _calibrator_from(model: CalibrationModel, n_jobs: int | None) -> Calibrator:
    """What unpickling calls: compiled trees are made again, not copied."""
    return Calibrator(model, n_jobs=n_jobs)


def load(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> Calibrator:
    """A calibrator from a model file.

    Everything in the file is checked before a score is given; nothing in it is executed.

    Parameters
    ----------
    path : path-like
        The model file.
    n_jobs : int, optional
        Threads for tables; by default all cores that the process may use.

    Returns
    -------
    Calibrator
        Ready to score.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, hostile, or of a newer format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(5000, random_state=0)
    >>> fitted = trueup.MCGrad(max_rounds=2, validation=None, rescale="train")
    >>> fitted = fitted.fit(traffic.X, traffic.y, scores=traffic.scores)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fitted.save(Path(folder) / "model.trueup")
    ...     calibrator = trueup.load(Path(folder) / "model.trueup")
    >>> calibrator
    <Calibrator: 2 rounds, 11 features>
    """
    model, parity = read_model(path)
    name = os.fspath(path)
    try:
        calibrator = Calibrator(model, n_jobs=n_jobs)
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{name!r} can't be used as a trueup model: {error}.") from error
    check_parity(model, parity, calibrator._calibrate_row, name)
    return calibrator
