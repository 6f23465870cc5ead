"""The paper's eleven tasks on the real data at hand: features, labels, splits, and the scores of a base model.

Splits, features and base model follow the paper's published replication code where the data are the paper's own. A
"subset" holds a part of the paper's rows; a "substitute" is another year or state of the same survey.
"""

from __future__ import annotations

import functools
import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from machine import real_data

__all__ = ["LARGE_TASKS", "TASKS", "Task", "load_task"]

_ACS_CATEGORICAL = ["COW", "SCHL", "MAR", "OCCP", "POBP", "RAC1P", "RELP"]
_ACS_NUMERICAL = ["AGEP", "WKHP", "SEX"]


@dataclass(frozen=True, eq=False)
class Task:
    """Rows with a base model's scores, split into training and test rows.

    Attributes
    ----------
    name, origin : str
        The paper's name, and what stands for its data here.
    X : pandas.DataFrame
        The features, categorical ones as strings.
    y : array of int
        The labels.
    scores : array of float
        What the base model, fitted on the training rows, says.
    train, test : arrays of int
        Rows.
    """

    name: str
    origin: str
    X: pd.DataFrame
    y: np.ndarray
    scores: np.ndarray
    train: np.ndarray
    test: np.ndarray

    @property
    def choice(self) -> np.ndarray:
        """The rows that are neither training nor test rows: what is chosen is chosen on these."""
        return np.setdiff1d(np.arange(len(self.y)), np.union1d(self.train, self.test))

    @property
    def categorical(self) -> list[str]:
        """The categorical features."""
        return [name for name in self.X.columns if not pd.api.types.is_numeric_dtype(self.X[name])]

    @property
    def numerical(self) -> list[str]:
        """The numerical features."""
        return [name for name in self.X.columns if name not in self.categorical]


@dataclass(frozen=True)
class _Source:
    """How a task is made."""

    origin: str
    read: Callable[[], tuple[pd.DataFrame, np.ndarray]]
    C: float
    scaled: bool = False  # where columns are not the paper's, convergence matters more than its way


def _as_text(table: pd.DataFrame, categorical: list[str], numerical: list[str]) -> pd.DataFrame:
    """The features, categorical first; a category's text is its value, and nothing where it is missing."""
    columns: dict[str, Any] = {}
    for name in categorical:
        values = table[name]
        columns[name] = values.astype(object).where(values.isna(), values.astype(str)).astype("str")
    columns |= {name: table[name].to_numpy(dtype=float, na_value=np.nan) for name in numerical}
    return pd.DataFrame(columns)


def _acs(file: str, label: str, rows: str | None = None) -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data(file))
    if rows:
        table = table.query(rows)
    table = table.reset_index(drop=True)
    features = _as_text(
        table,
        [name for name in _ACS_CATEGORICAL if name in table],
        [name for name in _ACS_NUMERICAL if name in table],
    )
    return features, table[label].to_numpy().astype(int)


def _bank() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("bank_marketing"))
    y = (table.pop("y") == "yes").to_numpy().astype(int)
    table = table.drop(columns="day").assign(age=table.age // 5 * 5)
    categorical = ["job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"]
    return _as_text(table, categorical, [name for name in table if name not in categorical]), y


def _credit() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("credit_default")).drop(columns="ID")
    y = table.pop("class").to_numpy().astype(int)
    amounts = ["LIMIT_BAL", "AGE", *[f"{kind}_AMT{i}" for kind in ("BILL", "PAY") for i in range(1, 7)]]
    for name in amounts:
        table[name] = pd.qcut(table[name], 3, labels=False, duplicates="drop")
    categorical = [*amounts, "EDUCATION", "MARRIAGE", "PAY_0", *[f"PAY_{i}" for i in range(2, 7)]]
    return _as_text(table, categorical, ["SEX"]), y


def _meps() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("meps_test"))
    y = table.pop("UTILIZATION").to_numpy().astype(int)
    joined: dict[str, pd.Series] = {}
    for feature in dict.fromkeys(name.split("=")[0] for name in table if "=" in name):
        columns = [name for name in table if name.startswith(f"{feature}=")]
        values = table[columns].to_numpy()
        texts = np.array([*[name.split("=")[1] for name in columns], "other"])
        joined[feature] = pd.Series(texts[np.where(values.any(axis=1), values.argmax(axis=1), len(columns))])
    wide = pd.DataFrame(joined)
    return _as_text(wide.join(table), list(joined), [name for name in table if "=" not in name]), y


def _hmda() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("hmda_2017_NJ")).drop(columns="purchaser_type")
    table = table[table.action_taken.isin([1, 2, 3, 5, 7, 8])].sample(150_000, random_state=42).reset_index(drop=True)
    y = table.pop("action_taken").isin([1, 2, 8]).to_numpy().astype(int)
    table = table.loc[:, table.nunique(dropna=False) > 1]
    categorical = [name for name in table if table[name].nunique() < 10]
    return _as_text(table, categorical, [name for name in table if name not in categorical]), y


def _travel() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("acs_travel_2018_holdout")).drop_duplicates().reset_index(drop=True)
    y = (table.pop("Travel time to work").fillna(0) > 20).to_numpy().astype(int)
    numerical = ["Income", "Age", "Vehicle occupancy"]
    left_out = {"Time of arrival at work - hour and minute", *numerical}
    return _as_text(table, [name for name in table if name not in left_out], numerical), y


_IMPLY_WORK = ["ESR", "COW", "INDP", "OCCP", "WKHP", "WKWN", "JWMNP", "JWTRNS", "WAGP", "PINCP", "POVPIP"]
_INSURANCE = ["HICOV", "PRIVCOV", "PUBCOV"]


def _pums(label: str, dropped: list[str], n_rows: int | None = 400_000) -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("acs_pums_2024"))
    if n_rows is not None:
        table = table.sample(n_rows, random_state=42).reset_index(drop=True)
    y = (table[label] == 1).fillna(False).to_numpy().astype(int)
    table = table.drop(columns=[*dropped, "PWGTP", "PUMA"])
    numerical = [name for name in ("AGEP", "WKHP", "WKWN", "JWMNP", "PINCP", "WAGP", "POVPIP") if name in table]
    return _as_text(table, [name for name in table if name not in numerical], numerical), y


def _flights() -> tuple[pd.DataFrame, np.ndarray]:
    table = pd.read_parquet(real_data("flights_3m"))
    y = (table.pop("delay") > 15).to_numpy().astype(int)
    minutes = table.pop("date")
    table = table.assign(hour=minutes // 60 % 24, weekday=minutes // 1440 % 7, day=minutes // 1440)
    return _as_text(table, ["origin", "destination", "hour", "weekday"], ["distance", "day"]), y


_SOURCES: dict[str, _Source] = {
    "Marketing": _Source("the paper's data", _bank, 2.0),
    "Credit": _Source("the paper's data", _credit, 4.0),
    "MEPS": _Source("a subset, 29 %", _meps, 0.4),
    "ACSIncomeCA": _Source("a subset, 46 %", lambda: _acs("acs_income_2018", "PINCP", "ST == 'CA'"), 0.4),
    "ACSIncome": _Source("a subset, 46 %", lambda: _acs("acs_income_2018", "PINCP", "ST != 'PR'"), 0.4),
    "ACSPublic": _Source("a subset, 40 %", lambda: _acs("acs_public_2018", "PUBCOV", "row < 1123374"), 0.4),
    "ACSMobility": _Source("a subset, 40 %", lambda: _acs("acs_mobility_2018", "MIG", "row < 616207"), 0.4),
    "ACSTravel": _Source("a substitute", _travel, 0.4, scaled=True),
    "ACSEmploy": _Source("a substitute, 400,000 rows", lambda: _pums("ESR", _IMPLY_WORK), 0.4, scaled=True),
    "ACSHealth": _Source("a substitute, 400,000 rows", lambda: _pums("PRIVCOV", _INSURANCE), 0.4, scaled=True),
    "HMDA": _Source("a substitute, New Jersey", _hmda, 4.0, scaled=True),
}
TASKS = tuple(_SOURCES)
_LARGE = {
    "ACSEmploy 2.7M": _Source("all rows", lambda: _pums("ESR", _IMPLY_WORK, None), 0.4, scaled=True),
    "Flights": _Source("not in the paper", _flights, 1.0, scaled=True),
}
LARGE_TASKS = tuple(_LARGE)


def split(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows; a fifth of the rows, which served to tune other methods, is in neither."""
    held = int(0.2 * n_rows)
    test = np.random.RandomState(42).choice(n_rows, held, replace=False)
    rest = np.setdiff1d(np.arange(n_rows), test)
    validation = np.random.RandomState(15).choice(rest, held, replace=False)
    return np.setdiff1d(rest, validation), test


@functools.lru_cache(maxsize=2)
def load_task(name: str, max_rows: int | None = None) -> Task:
    """A task by its name, with at most so many of its rows."""
    source = (_SOURCES | _LARGE)[name]
    X, y = source.read()
    if max_rows is not None and len(y) > max_rows:
        kept = np.sort(np.random.default_rng(0).choice(len(y), max_rows, replace=False))
        X, y = X.iloc[kept].reset_index(drop=True), y[kept]
    train, test = split(len(y))
    task = Task(name, source.origin, X, y, np.empty(0), train, test)
    return Task(name, source.origin, X, y, _base_scores(task, source), train, test)


_MOST_BASE_ROWS = 500_000  # a logistic regression learns nothing more from the rest


def _base_scores(task: Task, source: _Source) -> np.ndarray:
    """Logistic regression on one-hot columns; kept in a file, for it takes longer than what is measured."""
    key = hashlib.sha256(f"{task.name} {len(task.y)} {task.X.columns.tolist()} {source.C} {source.scaled}".encode())
    folder = Path(os.environ.get("TRUEUP_BENCH_CACHE", Path(tempfile.gettempdir()) / "trueup-bench"))
    path = folder / f"{task.name}-{key.hexdigest()[:12]}.npy"
    if path.exists():
        return np.load(path)
    numbers = make_pipeline(StandardScaler()) if source.scaled else "passthrough"
    X = task.X.copy()
    X[task.numerical] = X[task.numerical].fillna(X[task.numerical].iloc[task.train].median())
    X[task.categorical] = X[task.categorical].fillna("missing")
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", drop=None if source.scaled else "first"), task.categorical),
        (numbers, task.numerical),
        sparse_threshold=1.0,
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=1000 if source.scaled else 5000, C=source.C))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # unscaled columns never quite converge
        warnings.simplefilter("ignore", UserWarning)
        fitted_on = task.train[:_MOST_BASE_ROWS]
        model.fit(X.iloc[fitted_on], task.y[fitted_on])
        scores = model.predict_proba(X)[:, 1]
    folder.mkdir(parents=True, exist_ok=True)
    np.save(path, scores)
    return scores
