"""Five models of real data, where they are at hand, on 100,000 rows each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trueup import MCGrad

N_FIT, N_ROWS = 20_000, 100_000
FEW = {"max_rounds": 3, "validation": None, "rescale": "train", "n_jobs": 1}


def read(path: Path, columns: list[str]) -> pa.Table:
    """120,000 rows from all over a file, in their order; of a smaller one, all of them as often as it takes."""
    table = pq.ParquetFile(path).read(columns=columns)
    wanted = N_FIT + N_ROWS
    return table.take(np.arange(wanted) * max(1, table.num_rows // wanted) % table.num_rows)


def texts(table: pa.Table, *names: str) -> pa.Array:
    """What the columns say together."""
    return pc.binary_join_element_wise(*(table[name].cast(pa.string()) for name in names), "-")


def flights(folder: Path) -> tuple[pa.Table, Any, Any]:
    table = read(folder / "flights_3m.parquet", ["date", "delay", "distance", "origin", "destination"])
    table = table.append_column("route", texts(table, "origin", "destination"))  # thousands, and new ones every day
    late = pc.greater(table["delay"], 15)
    return table.drop_columns(["delay", "date"]), late, None


def mortgages(folder: Path) -> tuple[pa.Table, Any, Any]:
    names = ["loan_amount_000s", "applicant_income_000s", "census_tract_number", "county_code", "applicant_race_2"]
    table = read(folder / "hmda_2017_NJ.parquet", [*names, "has_co_applicant", "tract_to_msamd_income", "action_taken"])
    granted = pc.is_in(table["action_taken"], pa.array([1, 2, 8], table["action_taken"].type))
    table = table.append_column("co_applicant", table["has_co_applicant"].cast(pa.bool_()))
    return table.drop_columns(["action_taken", "has_co_applicant"]), granted, None


def marketing(folder: Path) -> tuple[pa.Table, Any, Any]:
    names = ["age", "job", "marital", "education", "balance", "contact", "month", "duration", "poutcome", "y"]
    table = read(folder / "bank_marketing.parquet", names)
    return table.drop_columns(["y"]), pc.equal(table["y"].cast(pa.string()), "yes"), None


def employment(folder: Path) -> tuple[pa.Table, Any, Any]:
    names = ["AGEP", "SCHL", "MAR", "RELP", "DIS", "ESP", "CIT", "SEX", "RAC1P", "year"]
    table = read(folder / "acs_employment_MA_scored.parquet", [*names, "employed", "predicted_probability"])
    scores = table["predicted_probability"].to_numpy().astype(np.float64)  # of a model from elsewhere
    return table.select(names), pc.equal(table["employed"], 1), scores


def insurance(folder: Path) -> tuple[pa.Table, Any, Any]:
    names = ["STATE", "PUMA", "AGEP", "SCHL", "OCCP", "INDP", "WAGP", "POVPIP", "ENG", "PRIVCOV"]
    table = read(folder / "acs_pums_2024.parquet", names)
    table = table.append_column("area", texts(table, "STATE", "PUMA"))
    return table.drop_columns(["PRIVCOV", "PUMA"]), pc.equal(table["PRIVCOV"], 1), None


TASKS: dict[str, tuple[Callable[..., Any], list[str]]] = {
    "flights_3m": (flights, []),
    "hmda_2017_NJ": (mortgages, ["census_tract_number", "county_code", "applicant_race_2"]),
    "bank_marketing": (marketing, []),
    "acs_employment_MA_scored": (employment, []),
    "acs_pums_2024": (insurance, ["OCCP", "INDP", "SCHL", "ENG"]),
}


def base_scores(table: pa.Table, y: np.ndarray) -> np.ndarray:
    """What a model makes of the numbers alone."""
    numbers = [name for name in table.column_names if not pa.types.is_dictionary(table.schema.field(name).type)]
    numbers = [name for name in numbers if pc.is_null(table[name]).to_numpy().sum() == 0]
    numbers = [name for name in numbers if not pa.types.is_string(table.schema.field(name).type)]
    X = np.stack([table[name].to_numpy().astype(float) for name in numbers], axis=1)
    base = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:N_FIT], y[:N_FIT])
    return base.predict_proba(X)[:, 1]


# A base model of one number is a copy of it, and the new rows are of other states, as fit and calibrate rightly say.
@pytest.mark.filterwarnings("ignore:.*were not seen at fit:trueup.errors.UnseenCategoryWarning")
@pytest.mark.filterwarnings("ignore:.*is a copy of the score:trueup.errors.SuspiciousDataWarning")
@pytest.mark.parametrize("name", TASKS)
def test_onnxruntime_agrees_on_100_000_rows(name, data_folder, export, run, rounded):
    if not (data_folder / f"{name}.parquet").exists():
        pytest.skip(f"{name}.parquet is not there")
    task, categorical = TASKS[name]
    table, label, scores = task(data_folder)
    y = label.to_numpy(zero_copy_only=False) if isinstance(label, pa.Array) else label.to_numpy()
    scores = base_scores(table, y) if scores is None else scores
    fit, new = table.slice(0, N_FIT), table.slice(N_FIT)
    model = MCGrad(**FEW, categorical_features=categorical or "from_dtype").fit(fit, y[:N_FIT], scores=scores[:N_FIT])
    as_float32 = scores[N_FIT:].astype(np.float32)
    expected = model.calibrate(rounded(new), as_float32.astype(float))
    assert len(expected) == N_ROWS
    assert np.abs(expected - as_float32).max() > 0.01
    exported = export(model, float_type="float32")
    found = run(exported, exported.feeds(new, as_float32))
    assert np.abs(found - expected).max() < 1e-6
    assert exported.largest_difference < 1e-9


def test_these_data_have_what_is_hard(data_folder):
    """Missing values, many categories, and categories that were not there at fit."""
    if not all((data_folder / f"{name}.parquet").exists() for name in ("flights_3m", "acs_pums_2024")):
        pytest.skip("flights_3m.parquet or acs_pums_2024.parquet is not there")
    routes = flights(data_folder)[0]["route"]
    known = pc.unique(routes.slice(0, N_FIT))
    assert len(known) > 2000
    assert pc.sum(pc.invert(pc.is_in(routes.slice(N_FIT), known))).as_py() > 1000
    assert insurance(data_folder)[0]["OCCP"].null_count > 10_000
