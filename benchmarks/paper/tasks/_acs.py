"""The American Community Survey's person records: six problems of folktables, and the paper's features."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from paper.tasks._columns import BoolArray, FloatArray, categories, floats
from paper.tasks._task import Prepared
from trueup.errors import DataFileError

__all__ = ["ACS_LABEL", "PROBLEMS", "STATES", "AcsProblem", "prepare_acs", "read_pums_zips"]

ACS_LABEL = "label"
# The paper's order of states, without the District of Columbia and Puerto Rico.
STATES = (
    "AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "IA", "ID", "IL", "IN", "KS", "KY", "LA",
    "MA", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NC", "ND", "NE", "NH", "NJ", "NM", "NV", "NY", "OH", "OK",
    "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VA", "VT", "WA", "WI", "WV", "WY",
)  # fmt: skip
_CATEGORICAL = ("COW", "SCHL", "MAR", "OCCP", "POBP", "RAC1P", "RELP")
_NUMERICAL = ("AGEP", "WKHP", "SEX")
_INCOME_FEATURES = ("AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "SEX", "RAC1P")
_DISABILITY = ("DEAR", "DEYE", "DREM")

Columns = Mapping[str, FloatArray]


@dataclass(frozen=True)
class AcsProblem:
    """Who is asked about, what is predicted, and from what, as folktables has it.

    Attributes
    ----------
    target : str
        The column that the label comes from.
    is_positive : callable
        The label of the target's values.
    own_features : tuple of str
        The problem's features; the paper adds those of the income problem that it lacks.
    filters : mapping of str to callable
        Columns, and which of their values are kept.
    """

    target: str
    is_positive: Callable[[FloatArray], BoolArray]
    own_features: tuple[str, ...]
    filters: Mapping[str, Callable[[FloatArray], BoolArray]]

    @property
    def features(self) -> tuple[str, ...]:
        """The base model's features."""
        return tuple(dict.fromkeys((*self.own_features, *_INCOME_FEATURES)))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        return tuple(dict.fromkeys((*self.features, self.target, *self.filters)))


def _is_one(values: FloatArray) -> BoolArray:
    return np.equal(values, 1)


def _is_adult(values: FloatArray) -> BoolArray:
    return np.greater(values, 16)


def _is_weighted(values: FloatArray) -> BoolArray:
    return np.greater_equal(values, 1)


_PERSON = ("AGEP", "SCHL", "MAR", "SEX", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "NATIVITY", *_DISABILITY)
PROBLEMS: dict[str, AcsProblem] = {
    "income": AcsProblem(
        "PINCP",
        lambda income: np.greater(income, 50_000),
        _INCOME_FEATURES,
        {
            "AGEP": _is_adult,
            "PINCP": lambda income: np.greater(income, 100),
            "WKHP": lambda hours: np.greater(hours, 0),
            "PWGTP": _is_weighted,
        },
    ),
    "public": AcsProblem(
        "PUBCOV",
        _is_one,
        (*_PERSON, "PINCP", "ESR", "ST", "FER", "RAC1P"),
        {"AGEP": lambda age: np.less(age, 65), "PINCP": lambda income: np.less_equal(income, 30_000)},
    ),
    "mobility": AcsProblem(
        "MIG",
        _is_one,
        (
            *(name for name in _PERSON if name != "MIG"),
            *("RELP", "RAC1P", "GCL", "COW", "ESR", "WKHP", "JWMNP", "PINCP"),
        ),
        {"AGEP": lambda age: np.greater(age, 18) & np.less(age, 35)},
    ),
    "travel": AcsProblem(
        "JWMNP",
        lambda minutes: np.greater(minutes, 20),
        (
            *("AGEP", "SCHL", "MAR", "SEX", "DIS", "ESP", "MIG", "RELP", "RAC1P"),
            *("PUMA", "ST", "CIT", "OCCP", "JWTR", "POWPUMA", "POVPIP"),
        ),
        {"AGEP": _is_adult, "PWGTP": _is_weighted, "ESR": _is_one},
    ),
    "employment": AcsProblem("ESR", _is_one, (*_PERSON, "RELP", "RAC1P"), {}),
    "health": AcsProblem(
        "HINS2",
        _is_one,
        (*_PERSON, *["RACAIAN", "RACASN", "RACBLK", "RACNH", "RACPI", "RACSOR", "RACWHT", "PINCP", "ESR", "ST", "FER"]),
        {},
    ),
}


def read_pums_zips(paths: list[Path], problem: AcsProblem) -> pa.Table:
    """The rows of a problem from the Census Bureau's person files, one zip a state, in this order."""
    return pa.concat_tables([_rows_of_state(path, problem) for path in paths])


def _rows_of_state(path: Path, problem: AcsProblem) -> pa.Table:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.lower().startswith("psam_p") and name.endswith(".csv")]
        if len(names) != 1:
            raise DataFileError(f"{path}: expected one file psam_p*.csv inside, found {len(names)}.")
        with archive.open(names[0]) as file:
            header = file.readline().decode("ascii").strip().split(",")
        absent = [name for name in problem.columns if name not in header]
        if absent:
            raise DataFileError(f"{path}: {names[0]} has no column {', '.join(absent)}. Is it the survey of 2018?")
        with archive.open(names[0]) as file:
            types = dict.fromkeys(problem.columns, pa.float64())
            options = pv.ConvertOptions(
                include_columns=list(problem.columns), column_types=types, null_values=["", " "]
            )
            table = pv.read_csv(file, convert_options=options)
    return _filtered(table, problem)


def _filtered(table: pa.Table, problem: AcsProblem) -> pa.Table:
    kept = np.ones(table.num_rows, dtype=bool)
    for name, keeps in problem.filters.items():
        kept &= keeps(floats(table, name))
    label = problem.is_positive(floats(table, problem.target))
    rows = table.select(list(problem.features)).append_column(ACS_LABEL, pa.array(label.astype(np.int8)))
    return rows.filter(pa.array(kept))


def prepare_acs(table: pa.Table) -> Prepared:
    """The paper's features, labels and groups from columns of codes; a missing code counts as 0.

    The base model takes every code as a number, as the paper's does: see docs/decisions/paper-tasks.md.
    """
    columns = {name: floats(table, name, missing=0.0) for name in table.column_names if name != ACS_LABEL}
    X = pa.table(
        {name: categories(columns[name]) for name in _CATEGORICAL if name in columns}
        | {name: columns[name] for name in _NUMERICAL if name in columns}
    )
    return Prepared(X, floats(table, ACS_LABEL).astype(np.int64), _groups(columns), pa.table(columns))


def _groups(columns: Columns) -> dict[str, BoolArray]:
    age, race, female = columns["AGEP"], columns["RAC1P"], columns["SEX"] == 2
    return {
        "Black adults": (race == 2) & (age >= 18) & (age <= 99),
        "Black women": (race == 2) & female,
        "women": female,
        "never married": columns["MAR"] == 5,
        "American Indian": race == 3,
        "seniors": age >= 65,
        "white women": (race == 1) & (age >= 18) & female,
        "multiracial": race == 9,
        "white children": (race == 1) & (age < 18),
        "Asian": race == 6,
    }
