"""Scoring with a fitted model: tables and single rows, without LightGBM, scikit-learn or pandas."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._data import BATCH_ROWS
from trueup._features import FeatureEncoder
from trueup._model import CalibrationModel, write_model
from trueup._runtime import threads_for_rows
from trueup._scoring._apply import compile_rounds, map_scores, probabilities, score_logits
from trueup._scoring._parity import make_parity_rows
from trueup._scoring._scores import Observed, base_score_of_row, checked_score, read_base_scores, warn_of_unseen
from trueup._scoring._stream import calibrated_tables
from trueup.errors import DataError, ScoreError

if TYPE_CHECKING:
    import pyarrow as pa

    from trueup._data import CalibrationTable

Floats = npt.NDArray[np.float64]
_ENOUGH_UNSEEN = 100  # values: a few rows may well be all new


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

    def __getstate__(self) -> dict[str, Any]:
        return {"model": self.model, "n_jobs": self.n_jobs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Compiled trees are made again, not copied, and checked as those of a model file are.
        self.__init__(state["model"], n_jobs=state["n_jobs"])  # type: ignore[misc]

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
            One probability per row; NaN where the score is missing.
        """
        table, base = read_base_scores(self.model, X, scores)
        observed = self._of_table(table, base)
        warn_of_unseen(table.n_rows, observed.missing, observed.unseen, least=_ENOUGH_UNSEEN)
        return observed.probabilities

    def _of_table(self, table: CalibrationTable, base: Floats) -> Observed:
        """The probabilities of a table with its base scores, NaN where they are, and what the rows lacked."""
        encoded = self._encoder.encode_counted(table)  # also without rounds: a wrong table is an error all the same
        return Observed(self._of_matrix(encoded.matrix, base), encoded.missing, encoded.unseen)

    def calibrate_stream(
        self, source: Any, *, score: str | None = None, column: str = "calibrated", batch_rows: int = BATCH_ROWS
    ) -> Iterator[pa.Table]:
        """Calibrate a table that need not fit into memory, batch by batch.

        Parameters
        ----------
        source : path-like, list or table
            Files, folders, patterns, datasets, lazy frames, queries or batches: whatever
            `trueup.open_stream` takes.
        score : str, optional
            The column of the base model's probabilities; by default the one that had them at fit.
        column : str, default="calibrated"
            The name of the new column.
        batch_rows : int, default=131_072
            The most rows of a batch.

        Yields
        ------
        pyarrow.Table
            Some rows with all columns that every part of the source has, and the new one: the same probabilities as
            `calibrate` gives, missing where the score is.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from trueup import Calibrator, MCGrad
        >>> table = pa.table({"x": [1, 2, 3] * 50, "p": [0.2, 0.3, 0.4] * 50})
        >>> fitted = MCGrad(max_rounds=0).fit(table.select(["x"]), [0, 1, 1, 1, 0, 1] * 25, scores=table["p"])
        >>> batches = Calibrator(fitted.model_).calibrate_stream(table, score="p", batch_rows=100)
        >>> [(batch.num_rows, batch.column_names) for batch in batches]
        [(100, ['x', 'p', 'calibrated']), (50, ['x', 'p', 'calibrated'])]
        """
        return calibrated_tables(self, source, score, column, batch_rows)

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
        table, base = read_base_scores(self.model, X, scores)
        threads = self._threads(len(base))
        matrix = self._encoder.encode(table)
        logits = score_logits(map_scores(self.model.score_map, base, threads), threads)
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
        return self._calibrate_row(row, base_score_of_row(self.model, row, score))

    def calibrate_rows(self, rows: Sequence[Mapping[str, Any]], scores: Sequence[float] | None = None) -> Floats:
        """The calibrated probabilities of a few rows, microseconds each.

        For up to about a hundred rows that a service has as dicts, this is quicker than making a table of them.

        Parameters
        ----------
        rows : sequence of mappings
            The values by column name, as `calibrate_one` takes them.
        scores : sequence of float, optional
            The base model's probabilities.

        Returns
        -------
        float64 array
            One probability per row; NaN where the score is missing.
        """
        if scores is not None and len(scores) != len(rows):
            raise ScoreError(f"Got {len(scores):,} score{'s' * (len(scores) != 1)} for {len(rows):,} rows.")
        given = [None] * len(rows) if scores is None else scores
        calibrated: list[float] = []
        try:
            for row, score in zip(rows, given, strict=True):
                calibrated.append(self.calibrate_one(row, score))
        except DataError as error:
            raise type(error)(f"Row {len(calibrated):,}: {error}") from error
        return np.array(calibrated, dtype=np.float64)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.trueup``.
        """
        write_model(self.model, make_parity_rows(self.model, self._calibrate_row), path)

    def _of_matrix(self, matrix: Floats, base: Floats) -> Floats:
        """The probabilities of encoded rows with their base scores."""
        threads = self._threads(len(base))
        mapped = map_scores(self.model.score_map, base, threads)
        if not self.model.rounds:
            return mapped.copy()
        logits = self._forest.advance(matrix, score_logits(mapped, threads), 0, len(self.model.rounds), threads)
        return probabilities(logits, threads)

    def _calibrate_row(self, row: Mapping[str, Any], score: Any) -> float:
        score = checked_score(score)
        numbers = self._encoder.encode_row(row)
        if self.model.score_map is not None:
            score = float(map_scores(self.model.score_map, np.array([score]))[0])
        if not self.model.rounds:
            return float(score)
        return self._forest.probability_of_one(numbers, score)

    def _threads(self, n_rows: int) -> int:
        return threads_for_rows(self.n_jobs, n_rows)
