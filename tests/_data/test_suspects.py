"""Columns that are features by mistake, and scores of the other class, are told of by whoever meets them first."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueup
from trueup import MCGrad
from trueup.datasets import make_traffic
from trueup.errors import SuspiciousDataWarning, speaking_to_the_shell

VISITS = make_traffic(3_000, random_state=1)
FEATURES = list(VISITS.X.column_names)
RNG = np.random.default_rng(0)
LABELS, SCORES = np.asarray(VISITS.y), np.asarray(VISITS.scores)
SUSPECTS: dict[str, tuple[Any, str]] = {
    "Unnamed: 0": (RNG.permutation(3_000) // 2, "'Unnamed: 0' is the index of a saved table"),
    "__index_level_0__": (np.arange(3_000), "'__index_level_0__' is the index of a saved table"),
    "n": (np.arange(3_000) + 17, "'n' has a value of its own in nearly every row"),
    "user_id": (RNG.permutation(3_000) * 7, "'user_id' has a value of its own in nearly every row"),
    "session": ([f"s{i:05}" for i in RNG.permutation(3_000)], "'session' has a value of its own in nearly every row"),
    "paid": (LABELS * 3.5, "'paid' alone tells the label"),
    "status": (np.where(LABELS, "won", "lost"), "'status' alone tells the label"),
    "percent": (SCORES * 100, "'percent' is a copy of the score"),
    "logit": (np.log(SCORES / (1 - SCORES)), "'logit' is a copy of the score"),
    "calibrated": (np.clip(SCORES + RNG.normal(size=3_000) / 50, 0, 1), "'calibrated' holds calibrated scores"),
}


def fit(X: Any, y: Any = LABELS, scores: Any = SCORES) -> None:
    MCGrad(max_rounds=0).fit(X, y, scores=scores)


def audit(X: Any, y: Any = LABELS, scores: Any = SCORES) -> None:
    trueup.audit(X, y, scores, max_depth=1, null_samples=0)


def evaluate(X: Any, y: Any = LABELS, scores: Any = SCORES) -> None:
    quick = {"max_depth": 1, "n_bootstrap": 50, "null_samples": 0}
    trueup.evaluate(X, y, scores, estimator=MCGrad(max_rounds=0), refit=True, comparison=quick).to_dict()


@pytest.mark.parametrize("name", SUSPECTS)
def test_each_is_told_with_what_it_is_and_what_to_pass(name: str) -> None:
    values, told = SUSPECTS[name]
    with pytest.warns(SuspiciousDataWarning) as caught:
        fit(VISITS.X.append_column(name, pa.array(values)))
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith(f"One column looks like no feature, but will be used as one: {told}")
    assert message.endswith(f"To leave it out: features={FEATURES!r}.")


@pytest.mark.parametrize("door", [fit, audit, evaluate])
def test_fit_audit_and_evaluate_say_it_once(door: Callable[[Any], None]) -> None:
    table = VISITS.X.append_column("user_id", pa.array(SUSPECTS["user_id"][0]))
    with pytest.warns(SuspiciousDataWarning, match="'user_id' has a value of its own") as caught:
        door(table)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict])
def test_in_any_library_and_among_more_rows_than_are_looked_at(library: Any) -> None:
    n = 12_000
    visits = make_traffic(n, random_state=2)
    columns = visits.X.to_pydict() | {"key": [f"k{i}" for i in range(n)], "copy": visits.y.tolist()}
    with pytest.warns(
        SuspiciousDataWarning, match="2 columns look like no feature, .*'key' has .*; 'copy' alone tells"
    ):
        fit(library(columns), visits.y, visits.scores)


def test_the_shell_is_told_what_to_type() -> None:
    table = VISITS.X.append_column("Unnamed: 0", pa.array(np.arange(3_000)))
    with speaking_to_the_shell(), pytest.warns(SuspiciousDataWarning, match=r"To leave it out: --drop 'Unnamed: 0'\.$"):
        fit(table)


@pytest.mark.parametrize("door", [fit, audit, evaluate])
def test_scores_of_the_other_class_are_told_with_the_option_that_names_it(door: Callable[..., None]) -> None:
    churn = np.where(LABELS, "churn", "stay")  # 'stay' is the greater label, and the scores are about 'churn'
    with pytest.warns(SuspiciousDataWarning, match=r"rank the labels backwards \(AUC 0\.\d+\).*pass pos_label='churn'"):
        door(VISITS.X, churn)
    with speaking_to_the_shell(), pytest.warns(SuspiciousDataWarning, match=r"pass --positive churn"):
        door(VISITS.X, churn)


def test_columns_that_are_features_raise_no_alarm() -> None:
    n = 5_000
    rng = np.random.default_rng(3)
    score = rng.uniform(size=n)
    X = {
        "amount_in_cents": rng.integers(0, 10**8, n),
        "measured": rng.normal(size=n),
        "constant": np.ones(n),
        "like the score": score + rng.normal(size=n) / 20,
        "empty": [None] * n,
        "mostly missing": np.where(rng.uniform(size=n) < 0.99, np.nan, rng.normal(size=n)),
        "zip": rng.integers(0, 1_000, n).astype(str),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X, rng.uniform(size=n) < score, score)
        fit(X, rng.uniform(size=n) < 0.5, np.full(n, 0.5))  # scores that tell nothing are not backwards


def test_a_score_that_tells_the_label_as_well_leaves_a_column_alone() -> None:
    rng = np.random.default_rng(3)
    strong = rng.normal(size=3_000)
    label = strong + rng.normal(size=3_000) / 50 > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit({"strong": strong}, label, 1 / (1 + np.exp(-20 * strong - rng.normal(size=3_000) / 10)))


def test_a_million_rows_take_no_longer_than_the_sample() -> None:
    from trueup._data import read_labels, read_table, warn_of_suspects

    n = 1_000_000
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(8)} | {"c": rng.choice(list("abcdef"), n)})
    score = rng.uniform(size=n)
    labels = read_labels(rng.uniform(size=n) < score, n)
    table = read_table(X)
    warn_of_suspects(X, table, table.names, labels, score)
    started = time.process_time()
    warn_of_suspects(X, table, table.names, labels, score)
    assert time.process_time() - started < 0.5
