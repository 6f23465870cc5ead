"""The paper's base model: logistic regression, whose scores are kept in a file."""

from __future__ import annotations

import hashlib
import os
import warnings
from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from paper.tasks._columns import FloatArray, floats, holds_text
from paper.tasks._task import Task
from trueup._data import arrow_to_numpy
from trueup._runtime import atomic_path, cache_folder

__all__ = ["base_matrix", "base_scores"]


def base_scores(task: Task, *, cache: str | os.PathLike[str] | None = None) -> FloatArray:
    """Return what a task's base model, fitted on its training rows, says of all its rows.

    Parameters
    ----------
    task : Task
        The task.
    cache : path-like, optional
        The folder that keeps the scores, so that the same model is fitted once; by default one in the cache
        folder, which ``TRUEUP_CACHE`` names.

    Returns
    -------
    numpy.ndarray of float64
        Probabilities of the label 1, one a row.

    Notes
    -----
    ``LogisticRegression(max_iter=5000, C=task.base_model.C)`` on unscaled columns, as the paper has it. Unscaled
    columns make it slow and keep it from quite converging; that is part of the paper's base scores.

    Examples
    --------
    >>> import tempfile
    >>> from paper.tasks import base_scores, load_task
    >>> task = load_task("Simulated", max_rows=2_000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scores = base_scores(task, cache=folder)
    >>> scores.shape
    (2000,)
    """
    folder = cache_folder() / "base-models" if cache is None else Path(cache)
    matrix = base_matrix(task)
    path = folder / f"{task.name}-{_key(task, matrix)}.npy"
    if path.exists():
        kept: FloatArray = np.load(path)
        return kept
    scores = _fitted_scores(task, matrix)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        np.save(file, scores)
    return scores


def base_matrix(task: Task) -> FloatArray:
    """The base model's columns as numbers: texts as 0/1 columns, what is missing as 0."""
    columns: list[FloatArray] = []
    for name in task.base_columns.column_names:
        column = task.base_columns.column(name)
        if not holds_text(column):
            columns.append(floats(task.base_columns, name, missing=0.0))
            continue
        encoded = pc.dictionary_encode(pc.cast(column, "string").combine_chunks())
        codes = arrow_to_numpy(pc.fill_null(encoded.indices, -1))
        names = encoded.dictionary.to_pylist()
        ordered = sorted(range(len(names)), key=lambda place: str(names[place]))
        columns += [(codes == place).astype(np.float64) for place in ordered[task.base_model.drop_first :]]
    return np.ascontiguousarray(np.column_stack(columns))


def _fitted_scores(task: Task, matrix: FloatArray) -> FloatArray:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    model = LogisticRegression(max_iter=task.base_model.max_iter, C=task.base_model.C)
    # One thread: sums come in one order on every machine, and small products don't wait for each other.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(matrix[task.train], task.y[task.train])
        return np.asarray(model.predict_proba(matrix)[:, 1], dtype=np.float64)


def _key(task: Task, matrix: FloatArray) -> str:
    import sklearn

    digest = hashlib.sha256(f"{task.base_model} {matrix.shape} scikit-learn {sklearn.__version__}".encode())
    for part in (matrix, task.y, task.train):
        digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()[:16]
