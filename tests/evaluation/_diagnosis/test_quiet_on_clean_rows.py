"""On clean rows a diagnosis has nothing to warn of: simulated traffic, and random halves of real tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup
from planted import clean_rows, codes, diagnosed
from trueup.datasets import make_traffic

# What is true of every small table, and no false alarm.
OF_FEW_ROWS = {"too_few_to_fit", "too_few_to_see"}


@pytest.mark.slow
def test_simulated_traffic_raises_hardly_an_alarm() -> None:
    # At a rate of 2 % of false alarms, more than 3 of 30 would come once in 300 times; notes count as well.
    alarms = []
    for seed in range(30):
        train, test = make_traffic(5000, random_state=2 * seed), make_traffic(2500, random_state=2 * seed + 1)
        found = codes(
            trueup.diagnose(train.X, train.y, train.scores, test=(test.X, test.y, test.scores), random_state=seed)
        )
        alarms += [(seed, code) for code in found if code not in OF_FEW_ROWS]
    assert len(alarms) <= 3, alarms


@pytest.mark.slow
def test_tables_of_few_rows_raise_hardly_an_alarm() -> None:
    alarms = []
    for seed in range(60):
        found = codes(diagnosed(clean_rows(400, 2 * seed), clean_rows(200, 2 * seed + 1), random_state=seed))
        alarms += [(seed, code) for code in found if code not in OF_FEW_ROWS]
    assert len(alarms) <= 4, alarms


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_a_handful_of_rows_is_too_few_and_no_error(n: int) -> None:
    rows = clean_rows(n, 1)
    found = codes(diagnosed(rows, clean_rows(n, 2)))
    assert "error" not in {severity for code, severity in found.items() if code not in ("unusable_labels", "one_class")}


# How each real table gives its labels, and the notes that its random halves deserve.
REAL: dict[str, tuple[str, Any, set[str]]] = {
    "bank_marketing": ("y", lambda y: y == "yes", set()),
    "credit_default": ("class", lambda y: y == 1, {"id_column"}),
    "acs_employment_MA_scored": ("employed", lambda y: y == 1, {"id_column"}),
    "hmda_2017_NJ": ("action_taken", lambda y: y in (1, 2, 8), {"constant_column", "mostly_missing"}),
}


@pytest.mark.parametrize("name", REAL)
def test_random_halves_of_a_real_table_raise_no_alarm(name: str, data_folder: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    path = data_folder / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"no {name} here")
    label, is_positive, notes = REAL[name]
    table = pq.read_table(path)
    rng = np.random.default_rng(0)
    table = table.take(rng.permutation(table.num_rows)[:40_000])
    y = np.array([is_positive(value) for value in table[label].to_pylist()])
    X, cut = table.drop_columns([label]), table.num_rows * 6 // 10
    diagnosis = trueup.diagnose(X.slice(0, cut), y[:cut], test=(X.slice(cut), y[cut:]))
    assert diagnosis.ok, str(diagnosis)
    assert set(codes(diagnosis)) <= notes


def test_a_split_by_year_of_real_scores_is_told_and_fine(data_folder: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    path = data_folder / "acs_employment_MA_scored.parquet"
    if not path.exists():
        pytest.skip("no acs_employment_MA_scored here")
    table = pq.read_table(path)
    last = np.asarray(table["year"]) == 2018
    features = table.drop_columns(["employed", "predicted_probability"])
    train, test = (
        (features.filter(side), table["employed"].filter(side), table["predicted_probability"].filter(side))
        for side in (~last, last)
    )
    diagnosis = trueup.diagnose(*train, test=test)
    assert codes(diagnosis) == {"split_key": "note"}
    assert diagnosis.findings[0].values["columns"] == ["id", "year"]
    assert 0.5 < diagnosis.facts["population_auc"] < 0.55
