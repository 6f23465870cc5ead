"""A scorer that travels: small when pickled, it loads its model where it arrives."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from trueup._data import floats_to_arrow, listed, read_scores, read_table, told_absent
from trueup._model import read_file_bytes
from trueup._scoring._calibrator import Calibrator
from trueup._scoring._load import loaded_once
from trueup._scoring._scores import observe_table, score_column_of
from trueup.errors import ColumnError, ModelFileError, ParameterError, TableError

if TYPE_CHECKING:
    import pyarrow as pa

_Batch = TypeVar("_Batch", "pa.RecordBatch", "pa.Table")
_SHIPPED = ("bytes", "path")


class BatchScorer:
    """A model file as a function from Arrow batches to the same batches with calibrated probabilities.

    For engines that send functions to the data: Spark, Ray, DuckDB, Polars. The file is read and checked where the
    scorer is made, before a job starts. Each process loads a model once, however many scorers, batches and threads it
    has. Scoring needs no LightGBM, scikit-learn or pandas.

    Parameters
    ----------
    model : path-like or bytes
        The model file, or all bytes of one.
    score : str, optional
        The column of the base model's probabilities. Not needed if the model knows the column, or was fitted
        without scores.
    column : str, default="calibrated"
        The column that is added.
    ship : {"bytes", "path"}, default="bytes"
        What is pickled. The bytes can be loaded on any machine, and replacing the file does not change a running job.
        The path is for models too large to send; a file there that holds another model than here is an error.
    n_jobs : int or None, default=1
        Threads for one batch; None is all cores. Engines run batches side by side, where one thread each is best.

    Attributes
    ----------
    columns : tuple of str
        The columns that it reads: the features, and the score's.
    column : str
        The column that it adds.

    Notes
    -----
    A row whose score is missing gets null, without a warning: on another machine nobody would read it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pyarrow as pa
    >>> from trueup.baselines import PlattCalibrator
    >>> from trueup import BatchScorer
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.trueup"
    ...     PlattCalibrator().fit({"x": [0, 0, 0, 0]}, [0, 1, 0, 1], scores=[0.1, 0.3, 0.3, 0.5]).save(path)
    ...     scorer = BatchScorer(path, score="p")
    >>> scorer(pa.table({"x": [0, 1], "p": [0.3, None]})).column_names
    ['x', 'p', 'calibrated']
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | bytes,
        *,
        score: str | None = None,
        column: str = "calibrated",
        ship: str = "bytes",
        n_jobs: int | None = 1,
    ) -> None:
        if ship not in _SHIPPED:
            raise ParameterError(f"ship must be one of {listed(_SHIPPED)}, got {ship!r}.")
        if isinstance(model, bytes):
            if ship == "path":
                raise ParameterError('ship="path" needs the path of a model file, and its bytes were passed.')
            self._name, content = "model", model
        else:
            self._name, content = os.path.abspath(model), read_file_bytes(model)
        self.column = column
        self._n_jobs = n_jobs
        self._sha256 = hashlib.sha256(content).hexdigest()
        self._content = content if ship == "bytes" else None
        self._calibrator: Calibrator | None = loaded_once(self._sha256, lambda: content, self._name, n_jobs)
        features, self._score = _columns_read(self._calibrator, score)
        self.columns = features if self._score is None else tuple(dict.fromkeys([*features, self._score]))
        if column in self.columns:
            raise ParameterError(
                f"The model reads a column {column!r}. Choose another name for the new one with column=."
            )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_calibrator": None}

    def __repr__(self) -> str:
        return f"<BatchScorer: {self._name!r}, sha256 {self._sha256[:12]}, adds {self.column!r}>"

    @property
    def calibrator(self) -> Calibrator:
        """What scores with the model, loaded when it is first asked for in a process."""
        calibrator = self._calibrator
        if calibrator is None:
            calibrator = self._calibrator = loaded_once(self._sha256, self._read, self._name, self._n_jobs)
        return calibrator

    def __call__(self, batch: _Batch) -> _Batch:
        """The batch with its calibrated probabilities.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            The rows; columns are found by name, and may be more than those that are read.

        Returns
        -------
        pyarrow.RecordBatch or pyarrow.Table
            Of the same type, with one column more.
        """
        import pyarrow as pa

        if not isinstance(batch, (pa.RecordBatch, pa.Table)):
            raise TableError(f"The batch is a {type(batch).__name__}. Pass a pyarrow RecordBatch or Table.")
        schema = self.output_schema(batch.schema)
        return type(batch).from_arrays([*batch.columns, self.probabilities(batch)], schema=schema)

    def map(self, batches: Iterable[_Batch]) -> Iterator[_Batch]:
        """The batches with their calibrated probabilities, one at a time.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch or pyarrow.Table
            As they come; some may be empty.

        Yields
        ------
        pyarrow.RecordBatch or pyarrow.Table
            Each with one column more.
        """
        for batch in batches:
            yield self(batch)

    def probabilities(self, rows: Any) -> pa.Array:
        """The calibrated probabilities alone.

        Parameters
        ----------
        rows : table
            Anything that `trueup.Calibrator.calibrate` takes, with the column of scores.

        Returns
        -------
        pyarrow.Array
            A float64 per row; null where the score is missing.
        """
        table = read_table(rows)
        self._check_columns(table.names)
        if self._score is None:
            base = np.full(table.n_rows, self.calibrator.model.base_rate)
        else:
            column = table.column(self._score)
            base = read_scores(column, table.n_rows, name=f"Column {self._score!r}", missing_allowed=True)
        # `calibrate` would warn of what is missing or unseen, once for each of an engine's many batches.
        return floats_to_arrow(observe_table(self.calibrator, table, base).probabilities)

    def output_schema(self, input_schema: pa.Schema) -> pa.Schema:
        """The schema of what comes out, known before a row is scored.

        Parameters
        ----------
        input_schema : pyarrow.Schema
            That of the batches.

        Returns
        -------
        pyarrow.Schema
            The same with the field of the probabilities at the end.

        Raises
        ------
        ColumnError
            If a column is missing that is read, or the new one is there already.
        """
        import pyarrow as pa

        self._check_columns(input_schema.names)
        if self.column in input_schema.names:
            raise ColumnError(
                f"The batch already has a column {self.column!r}. Drop it, or choose another name with column=."
            )
        return input_schema.append(pa.field(self.column, pa.float64()))

    def _check_columns(self, present: Iterable[str]) -> None:
        there = set(present)
        absent = [name for name in self.columns if name not in there]
        if absent:
            raise ColumnError(told_absent("the model reads", absent, present))

    def _read(self) -> bytes:
        """The bytes of the model file in a process that has not loaded it yet."""
        if self._content is not None:
            return self._content
        content = read_file_bytes(self._name)
        if hashlib.sha256(content).hexdigest() != self._sha256:
            raise ModelFileError(
                f"{self._name!r} is not the file that it was where the scorer was made, whose SHA-256 begins with "
                f'{self._sha256[:12]}. Copy that file here, or send it along with ship="bytes".'
            )
        return content


def _columns_read(calibrator: Calibrator, score: str | None) -> tuple[tuple[str, ...], str | None]:
    """The columns of features, and the one of scores; None for a model that starts from the base rate."""
    model = calibrator.model
    if not model.features.named:
        raise ColumnError(
            "The model was fitted on columns without names, and those of batches are found by name. Fit it on a "
            "table with names, such as a DataFrame."
        )
    return model.features.names, score_column_of(model, score, ())
