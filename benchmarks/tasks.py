"""The paper's eleven tasks and two larger tables, as pandas frames with the scores of a base model."""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from machine import real_data
from paper import tasks as paper_tasks
from paper.tasks import TASKS

__all__ = ["LARGE_TASKS", "TASKS", "Task", "load_task"]

_MOST_ROWS = 400_000  # the base models of `make paper`, which it keeps
_MOST_BASE_ROWS = 500_000  # a logistic regression on larger tables learns nothing more from the rest


@dataclass(frozen=True, eq=False)
class Task:
    """Rows with a base model's scores, split into training, choice and test rows.

    Attributes
    ----------
    name, origin : str
        The paper's name, and what stands for its data here.
    X : pandas.DataFrame
        The features, categorical ones as strings.
    y : array of int
        The labels.
    scores : array of float
        What the base model, fitted on training rows, says.
    train, choice, test : arrays of int
        Rows; what is chosen is chosen on the choice rows.
    """

    name: str
    origin: str
    X: pd.DataFrame
    y: np.ndarray
    scores: np.ndarray
    train: np.ndarray
    choice: np.ndarray
    test: np.ndarray

    @property
    def categorical(self) -> list[str]:
        """The categorical features."""
        return [name for name in self.X.columns if not pd.api.types.is_numeric_dtype(self.X[name])]

    @property
    def numerical(self) -> list[str]:
        """The numerical features."""
        return [name for name in self.X.columns if name not in self.categorical]


@functools.lru_cache(maxsize=2)
def load_task(name: str, max_rows: int | None = None) -> Task:
    """A task by its name, with at most so many of its rows."""
    task = _large(name) if name in _LARGE else _of_paper(name)
    if max_rows is None or len(task.y) <= max_rows:
        return task
    share = max_rows / len(task.y)
    rng = np.random.default_rng(0)
    rows = [np.sort(rng.choice(of, int(share * len(of)), replace=False)) for of in (task.train, task.choice, task.test)]
    return Task(task.name, task.origin, task.X, task.y, task.scores, *rows)


def _of_paper(name: str) -> Task:
    folder = real_data("bank_marketing").parent  # ends here, with a word, where there are no data
    task = paper_tasks.load_task(name, folder=folder, max_rows=_MOST_ROWS)
    scores = paper_tasks.base_scores(task)
    return Task(name, task.origin, task.X.to_pandas(), task.y, scores, task.train, task.validation, task.test)


def _employment() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("acs_pums_2024"))
    y = (table["ESR"] == 1).fillna(False).to_numpy().astype(int)
    imply_work = ["ESR", "COW", "INDP", "OCCP", "WKHP", "WKWN", "JWMNP", "JWTRNS", "WAGP", "PINCP", "POVPIP"]
    table = table.drop(columns=[*imply_work, "PWGTP", "PUMA"])
    return _as_text(table, [name for name in table if name != "AGEP"], ["AGEP"]), y


def _flights() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("flights_3m"))
    y = (table.pop("delay") > 15).to_numpy().astype(int)
    minutes = table.pop("date")
    table = table.assign(hour=minutes // 60 % 24, weekday=minutes // 1440 % 7, day=minutes // 1440)
    return _as_text(table, ["origin", "destination", "hour", "weekday"], ["distance", "day"]), y


_LARGE: dict[str, Callable[[], tuple[pd.DataFrame, np.ndarray]]] = {
    "ACSEmploy 2.7M": _employment,
    "Flights": _flights,
}
LARGE_TASKS = tuple(_LARGE)


def _as_text(table: pd.DataFrame, categorical: list[str], numerical: list[str]) -> pd.DataFrame:
    """The features, categorical first; a category's text is its value, and nothing where it is missing."""
    columns: dict[str, object] = {}
    for name in categorical:
        values = table[name]
        columns[name] = values.astype(object).where(values.isna(), values.astype(str)).astype("str")
    columns |= {name: table[name].to_numpy(dtype=float, na_value=np.nan) for name in numerical}
    return pd.DataFrame(columns)


def _large(name: str) -> Task:
    X, y = _LARGE[name]()
    rng = np.random.default_rng(42)
    choice, test, train = np.split(rng.permutation(len(y)), [len(y) // 5, 2 * len(y) // 5])
    task = Task(name, "all rows", X, y, np.empty(0), np.sort(train), np.sort(choice), np.sort(test))
    return Task(name, task.origin, X, y, _scores(task), task.train, task.choice, task.test)


def _scores(task: Task) -> np.ndarray:
    """Logistic regression on one-hot columns; kept in a file, for it takes longer than what is measured."""
    key = hashlib.sha256(f"{task.name} {len(task.y)} {task.X.columns.tolist()}".encode()).hexdigest()[:12]
    folder = Path(os.environ.get("TRUEUP_BENCH_CACHE", Path(tempfile.gettempdir()) / "trueup-bench"))
    path = folder / f"{task.name}-{key}.npy"
    if path.exists():
        return np.load(path)
    X = task.X.fillna(dict.fromkeys(task.categorical, "missing") | dict.fromkeys(task.numerical, 0.0))
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), task.categorical), (StandardScaler(), task.numerical)
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=1000))
    fitted_on = np.random.default_rng(0).permutation(task.train)[:_MOST_BASE_ROWS]
    model.fit(X.iloc[fitted_on], task.y[fitted_on])
    scores = model.predict_proba(X)[:, 1]
    folder.mkdir(parents=True, exist_ok=True)
    np.save(path, scores)
    return scores
