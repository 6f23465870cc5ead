"""UCI's Bank Marketing and Default of Credit Card Clients: reading their files, and the paper's features."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from paper.tasks._columns import BoolArray, FloatArray, categories, floats, is_any, texts
from paper.tasks._task import Prepared
from trueup.errors import DataFileError

__all__ = ["CREDIT_LABEL", "prepare_bank", "prepare_credit", "read_bank_zip", "read_credit_csv"]

CREDIT_LABEL = "default payment next month"
_BANK_FILE = "bank-full.csv"
_BANK_CATEGORICAL = ["job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"]
_BANK_NUMERICAL = ["age", "balance", "duration", "campaign", "pdays", "previous"]
_PAYMENTS = ["PAY_0", *[f"PAY_{month}" for month in range(2, 7)]]
_BILLS = [f"BILL_AMT{month}" for month in range(1, 7)]
_PAID = [f"PAY_AMT{month}" for month in range(1, 7)]
_CREDIT_COLUMNS = ["LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", *_PAYMENTS, *_BILLS, *_PAID, CREDIT_LABEL]
_CREDIT_CATEGORICAL = ["LIMIT_BAL", "AGE", "EDUCATION", "MARRIAGE", *_PAYMENTS, *_BILLS, *_PAID]
_CUT_INTO_THIRDS = {"LIMIT_BAL", "AGE", *_BILLS, *_PAID}


def read_bank_zip(path: Path) -> pa.Table:
    """The full data set from UCI's zip, which holds a zip that holds a CSV with semicolons."""
    with zipfile.ZipFile(path) as outer:
        if _BANK_FILE in outer.namelist():
            content = outer.read(_BANK_FILE)
        else:
            with zipfile.ZipFile(io.BytesIO(outer.read("bank.zip"))) as inner:
                content = inner.read(_BANK_FILE)
    return pv.read_csv(io.BytesIO(content), parse_options=pv.ParseOptions(delimiter=";"))


def prepare_bank(table: pa.Table) -> Prepared:
    """The paper's features, labels and groups."""
    age = floats(table, "age") // 5 * 5  # as the paper's figures have it: see docs/decisions/paper-tasks.md
    columns: dict[str, pa.ChunkedArray | FloatArray] = {name: texts(table, name) for name in _BANK_CATEGORICAL}
    columns |= {name: age if name == "age" else floats(table, name) for name in _BANK_NUMERICAL}
    X = pa.table(columns)
    base_columns = X.select([*_BANK_NUMERICAL, *_BANK_CATEGORICAL])  # where it stops unconverged depends on the order
    return Prepared(X, is_any(table, "y", "yes").astype(np.int64), _bank_groups(table, age), base_columns)


def _bank_groups(table: pa.Table, age: FloatArray) -> dict[str, BoolArray]:
    values = {
        "job": ["management", "technician", "entrepreneur", "blue-collar", "retired"],
        "marital": ["married", "single"],
        "education": ["primary", "secondary", "tertiary"],
        "housing": ["yes", "no"],
    }
    groups = {f"{name} = {value}": is_any(table, name, value) for name, some in values.items() for value in some}
    return groups | {"age < 30": age < 30, "30 ≤ age < 40": (age >= 30) & (age < 40), "age ≥ 50": age >= 50}


def read_credit_csv(path: Path) -> pa.Table:
    """The data set from UCI's CSV, or from the sheet of its Excel file saved as CSV.

    UCI's CSV names the columns X1 to X23 and Y. The sheet has those names in its first line and the real ones
    in its second.
    """
    with open(path, encoding="utf-8-sig") as file:
        first, second = ([cell.strip().strip('"') for cell in file.readline().split(",")] for _ in range(2))
    skipped, header = (2, second) if "LIMIT_BAL" in second else (1, first)
    real_names = {f"X{place}": name for place, name in enumerate(_CREDIT_COLUMNS[:-1], 1)} | {"Y": CREDIT_LABEL}
    names = [real_names.get(name, name) for name in header]
    absent = [name for name in _CREDIT_COLUMNS if name not in names]
    if absent:
        raise DataFileError(
            f"{path}: no column {absent[0]!r} ({len(absent)} of {len(_CREDIT_COLUMNS)} are missing). The file must be "
            "UCI's data.csv, or the sheet of its Excel file saved as CSV."
        )
    options = pv.ReadOptions(column_names=names, skip_rows=skipped)
    return pv.read_csv(path, read_options=options).select(_CREDIT_COLUMNS)


def prepare_credit(table: pa.Table) -> Prepared:
    """The paper's features, labels and groups; amounts are cut into thirds, and groups see the real ages."""
    raw = {name: floats(table, name) for name in _CREDIT_COLUMNS}
    columns = {
        name: categories(_thirds(raw[name]) if name in _CUT_INTO_THIRDS else raw[name]) for name in _CREDIT_CATEGORICAL
    }
    X = pa.table(columns | {"SEX": raw["SEX"]})
    base_columns = X.select(["SEX", *_CREDIT_CATEGORICAL])
    return Prepared(X, raw[CREDIT_LABEL].astype(np.int64), _credit_groups(raw), base_columns)


def _thirds(values: FloatArray) -> FloatArray:
    edges = np.quantile(values, [1 / 3, 2 / 3])
    return np.searchsorted(edges, values, side="left").astype(np.float64)


def _credit_groups(raw: dict[str, FloatArray]) -> dict[str, BoolArray]:
    age, education = raw["AGE"], raw["EDUCATION"]
    female, single, married = raw["SEX"] == 2, raw["MARRIAGE"] == 2, raw["MARRIAGE"] == 1
    return {
        "male, age < 30": (raw["SEX"] == 1) & (age < 30),
        "single": single,
        "single, age > 30": single & (age > 30),
        "female": female,
        "female, age > 65": female & (age > 65),
        "married, age < 30": married & (age < 30),
        "married, age > 60": married & (age > 60),
        "education other": education == 4,
        "high school": education == 3,
        "high school, married": (education == 3) & married,
        "high school, age > 40": (education == 3) & (age > 40),
        "university, age < 25": (education == 2) & (age < 25),
        "female, university": female & (education == 2),
        "graduate school": education == 1,
        "female, graduate school": female & (education == 1),
    }
