"""The Medical Expenditure Panel Survey as FaiR-N published it: reading its files, and the paper's features."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv

from paper.tasks._columns import BoolArray, floats
from paper.tasks._task import Prepared
from trueup.errors import DataFileError

__all__ = ["MEPS_LABEL", "prepare_meps", "read_meps_files"]

MEPS_LABEL = "UTILIZATION"


def read_meps_files(paths: list[Path]) -> pa.Table:
    """Training and test rows, from their two CSV files and two files of labels, in this order."""
    train, test, train_labels, test_labels = paths
    parts = []
    for rows_path, labels_path in ((train, train_labels), (test, test_labels)):
        rows, labels = pv.read_csv(rows_path), pv.read_csv(labels_path, parse_options=pv.ParseOptions(delimiter=" "))
        if rows.num_rows != labels.num_rows or MEPS_LABEL not in labels.column_names:
            raise DataFileError(
                f"{labels_path}: {labels.num_rows:,} rows of {', '.join(labels.column_names)}, where {rows.num_rows:,} "
                f"of {MEPS_LABEL} are due, one for each row of {rows_path.name}."
            )
        names = [name.replace(" ", "") for name in rows.column_names]
        rows = pa.table([column.cast(pa.float64()) for column in rows.columns], names=names)
        parts.append(rows.append_column(MEPS_LABEL, labels.column(MEPS_LABEL).cast(pa.float64())))
    return pa.concat_tables([parts[0], parts[1].select(parts[0].column_names)])


def prepare_meps(table: pa.Table) -> Prepared:
    """The paper's features, labels and groups; 0/1 columns named ``FEATURE=value`` become one column a feature."""
    columns = {name: floats(table, name) for name in table.column_names if name != MEPS_LABEL}
    joined: dict[str, list[str]] = {}
    for name in columns:
        if "=" in name:
            joined.setdefault(name.split("=")[0], []).append(name)
    features = {feature: _joined(names, columns) for feature, names in joined.items()}
    numerical = {name: values for name, values in columns.items() if "=" not in name}
    y = floats(table, MEPS_LABEL).astype(np.int64)
    return Prepared(pa.table(features | numerical), y, _groups(columns), pa.table(columns))


def _joined(names: list[str], columns: dict[str, np.ndarray]) -> pa.DictionaryArray:
    ones = np.column_stack([columns[name] == 1 for name in names])
    values = pa.array([name.split("=")[1] for name in names])
    return pa.DictionaryArray.from_arrays(pa.array(ones.argmax(axis=1), mask=~ones.any(axis=1)), values)


def _groups(columns: dict[str, np.ndarray]) -> dict[str, BoolArray]:
    age = columns["AGE"]
    groups = {"age ≤ 18": age <= 18}
    groups |= {
        f"age {first}–{last}": (age >= first) & (age <= last)
        for first, last in ((19, 34), (35, 50), (51, 64), (65, 79))
    }
    groups["not white"] = columns["RACE=NW"] == 1
    groups |= {f"REGION {code}": columns[f"REGION={code}"] == 1 for code in range(1, 5)}
    groups |= {f"POVCAT {code}": columns[f"POVCAT={code}"] == 1 for code in range(1, 5)}
    return groups
