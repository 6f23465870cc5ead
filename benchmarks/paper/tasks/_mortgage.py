"""HMDA 2017 mortgage applications: reading the published Texas files, and the paper's features."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from paper.tasks._columns import BoolArray, FloatArray, categories, floats, holds_text
from paper.tasks._task import Prepared
from trueup.errors import DataFileError

__all__ = ["prepare_mortgages", "read_mortgage_zips"]

_ACTION = "action_taken"
_ACCEPTED, _REFUSED = (1, 2, 8), (3, 5, 7)
_SAMPLED_ROWS, _SAMPLE_SEED = 150_000, 42
_MOST_CATEGORIES = 9
# Why it was denied is known only once it was. So is who bought the loan, `purchaser_type`, but the paper kept that.
_TELLS_THE_ANSWER = ("denial_reason_1", "denial_reason_2", "denial_reason_3")


def read_mortgage_zips(paths: list[Path]) -> pa.Table:
    """Features, protected features and target, a zip with one CSV each, side by side."""
    parts = [_read_zipped_csv(path) for path in paths]
    lengths = {part.num_rows for part in parts}
    if len(lengths) != 1:
        told = ", ".join(f"{path.name} has {part.num_rows:,}" for path, part in zip(paths, parts, strict=True))
        raise DataFileError(f"The files must hold the same rows, but {told}. Download them again.")
    joined: dict[str, pa.ChunkedArray] = {}
    for part in parts:
        joined |= {name: part.column(name) for name in part.column_names if name not in joined}
    return pa.table(joined)


def _read_zipped_csv(path: Path) -> pa.Table:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".csv") and "__MACOSX" not in name]
        if len(names) != 1:
            raise DataFileError(f"{path}: expected one CSV file inside, found {len(names)}.")
        return pv.read_csv(io.BytesIO(archive.read(names[0])))


def prepare_mortgages(table: pa.Table) -> Prepared:
    """The paper's sample, features, labels and groups."""
    table = _sampled(table)
    action = floats(table, _ACTION)
    table = table.filter(pa.array(np.isin(action, (*_ACCEPTED, *_REFUSED))))
    y = np.isin(floats(table, _ACTION), _ACCEPTED).astype(np.int64)
    numbers = {
        name: floats(table, name)
        for name in table.column_names
        if name not in (_ACTION, *_TELLS_THE_ANSWER) and not holds_text(table.column(name))
    }
    distinct = {name: len(np.unique(values[~np.isnan(values)])) for name, values in numbers.items()}
    categorical = [name for name in numbers if 1 < distinct[name] <= _MOST_CATEGORIES]
    numerical = [name for name in numbers if distinct[name] > _MOST_CATEGORIES]
    X = pa.table(
        {name: categories(numbers[name]) for name in categorical} | {name: numbers[name] for name in numerical}
    )
    return Prepared(X, y, _groups(numbers), X.select([*numerical, *categorical]))


def _sampled(table: pa.Table) -> pa.Table:
    if table.num_rows <= _SAMPLED_ROWS:
        return table
    generator = np.random.RandomState(_SAMPLE_SEED)
    return table.take(pa.array(generator.choice(table.num_rows, _SAMPLED_ROWS, replace=False)))


def _groups(numbers: dict[str, FloatArray]) -> dict[str, BoolArray]:
    wanted = {
        "applicant_ethnicity": (1, 2, 3),
        "applicant_sex": (2, 1),
        "co_applicant_sex": (2, 1),
        "applicant_race_1": (3, 2, 1),
        "co_applicant_race_1": (3, 2, 1),
    }
    return {f"{name} = {code}": numbers[name] == code for name, codes in wanted.items() for code in codes}
