"""Reading ready files: one Parquet file a data set, as `TRUEUP_DATA` names a folder of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paper.tasks._acs import ACS_LABEL, PROBLEMS
from paper.tasks._columns import as_codes, floats, is_any
from paper.tasks._uci import CREDIT_LABEL

__all__ = ["read_credit", "read_income", "read_mobility", "read_plain", "read_public", "read_pums_2024", "read_travel"]

# In files of all states, Puerto Rico's rows come last.
_PUBLIC_ROWS, _MOBILITY_ROWS = 1_123_374, 616_207

_RACES = {
    "White alone": 1,
    "Black or African American alone": 2,
    "American Indian alone": 3,
    "Alaska Native alone": 4,
    "American Indian and Alaska Native tribes specified; or American Indian or Alaska Native, not specified and no "
    "other races": 5,
    "Asian alone": 6,
    "Native Hawaiian and Other Pacific Islander alone": 7,
    "Some Other Race alone": 8,
    "Two or More Races": 9,
}
_MARITAL = {"Married": 1, "Widowed": 2, "Divorced": 3, "Separated": 4, "Never married or under 15 years old": 5}
_SCHOOLING = [
    "No schooling completed",
    "Nursery school, preschool",
    "Kindergarten",
    *[f"Grade {grade}" for grade in range(1, 12)],
    "12th grade - no diploma",
    "Regular high school diploma",
    "GED or alternative credential",
    "Some college, but less than 1 year",
    "1 or more years of college credit, no degree",
    "Associate's degree",
    "Bachelor's degree",
    "Master's degree",
    "Professional degree beyond a bachelor's degree",
    "Doctorate degree",
]
# Columns of the travel file that are in words, by the survey's names; the survey's own codes are known for these.
_KNOWN_CODES = {
    "SCHL": ("Education", {name: code for code, name in enumerate(_SCHOOLING, 1)}),
    "MAR": ("Marital Status", _MARITAL),
    "SEX": ("Gender", {"Male": 1, "Female": 2}),
    "RAC1P": ("Race", _RACES),
}
_OTHER_WORDS = {
    "COW": "Workclass",
    "OCCP": "Occupation",
    "POBP": "Place of birth",
    "ESP": "Employment status of parents",
    "MIG": "Mobility status",
    "ST": "State",
    "CIT": "Citizenship status",
    "JWTR": "Means of transportation to work",
}


def read_plain(path: Path) -> pa.Table:
    """A file whose columns are the source's own."""
    return pq.read_table(path)


def read_credit(path: Path) -> pa.Table:
    """Credit Default, whose label the file calls ``class``."""
    table = pq.read_table(path)
    return table.rename_columns([CREDIT_LABEL if name == "class" else name for name in table.column_names])


def read_income(path: Path, *, state: str | None = None) -> pa.Table:
    """The income problem, in one state or in all but Puerto Rico."""
    table = pq.read_table(path)
    rows = is_any(table, "ST", state) if state else ~is_any(table, "ST", "PR")
    return _of_problem(table.filter(pa.array(rows)), "income")


def read_public(path: Path) -> pa.Table:
    """The public coverage problem."""
    table = pq.read_table(path)
    return _of_problem(table.filter(pa.array(floats(table, "row") < _PUBLIC_ROWS)), "public")


def read_mobility(path: Path) -> pa.Table:
    """The mobility problem."""
    table = pq.read_table(path)
    return _of_problem(table.filter(pa.array(floats(table, "row") < _MOBILITY_ROWS)), "mobility")


def _of_problem(table: pa.Table, problem: str) -> pa.Table:
    """Labels, which the file has in place of the target's values, and what there is of the features."""
    features = [name for name in PROBLEMS[problem].features if name in table.column_names]
    target = PROBLEMS[problem].target
    return table.select([name for name in features if name != target]).append_column(ACS_LABEL, table.column(target))


def read_pums_2024(path: Path, *, problem: str, target: str) -> pa.Table:
    """A problem on the survey of 2024, with what it has of the features; a label is where the target is 1."""
    there, features = pq.read_schema(path).names, PROBLEMS[problem].features
    found = [name for name in features if name in there and name != target]
    table = pq.read_table(path, columns=[*found, target, "STATE"])
    columns = {name: floats(table, name) for name in found}
    if "ST" in features:
        columns["ST"] = as_codes(table, "STATE")
    return pa.table(columns | {ACS_LABEL: (floats(table, target) == 1).astype(np.int8)})


def read_travel(path: Path) -> pa.Table:
    """Travel times from a file in words, whose columns become the survey's, and whose words become codes."""
    table = pq.read_table(path)
    table = table.filter(pa.array(~is_any(table, "Region", "Puerto Rico")))
    columns = {"AGEP": floats(table, "Age")}
    columns |= {name: as_codes(table, words, codes) for name, (words, codes) in _KNOWN_CODES.items()}
    columns |= {name: as_codes(table, words) for name, words in _OTHER_WORDS.items()}
    label = floats(table, "Travel time to work") > 20  # who works at home travels not at all
    return pa.table(columns | {ACS_LABEL: label.astype(np.int8)})
