"""Groups that the user names: masks, tables of booleans, conditions, and all of them together."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import polars as pl
import pyarrow as pa
import pytest

from trueup._data import read_table
from trueup.errors import ColumnError, ParameterError, TableError
from trueup.segments import Interval, Missing, Segment, parse_segment, segment_masks, segment_partitions

TABLE = read_table({"age": [20, 30, 40, None], "country": ["NO", "SE", "NO", "SE"]})
MASKS = {"young": [True, False, False, False], "old": [False, False, True, False]}


def read(groups: Any, table: Any = TABLE) -> dict[str, list[bool]]:
    return {str(segment): inside.tolist() for segment, inside in segment_masks(groups, 4, table)}


@pytest.mark.parametrize(
    "groups",
    [
        MASKS,
        {name: tuple(mask) for name, mask in MASKS.items()},
        {name: np.array(mask) for name, mask in MASKS.items()},
        {name: np.array(mask, dtype=np.int8) for name, mask in MASKS.items()},
        {name: np.array(mask, dtype=float) for name, mask in MASKS.items()},
        {name: np.array(mask, dtype=object) for name, mask in MASKS.items()},
        {name: pd.Series(mask, index=[9, 7, 5, 3]) for name, mask in MASKS.items()},
        {name: pd.Series(mask, dtype="boolean") for name, mask in MASKS.items()},
        {name: pl.Series(mask) for name, mask in MASKS.items()},
        {name: pa.array(mask) for name, mask in MASKS.items()},
        {name: pa.chunked_array([mask[:1], mask[1:]]) for name, mask in MASKS.items()},
        pd.DataFrame(MASKS),
        pd.DataFrame(MASKS, dtype="boolean"),
        pd.DataFrame(MASKS).astype(int),
        pl.DataFrame(MASKS),
        pa.table(MASKS),
        pa.RecordBatch.from_pydict(MASKS),
    ],
    ids=lambda groups: type(groups).__module__.split(".")[0] if not isinstance(groups, dict) else "dict",
)
def test_masks_and_tables_of_any_library_are_read(groups: Any) -> None:
    assert read(groups) == MASKS
    assert read(groups, None) == MASKS


@pytest.mark.parametrize(
    "groups",
    [
        np.array([MASKS["young"], MASKS["old"]]).T,
        np.array([MASKS["young"], MASKS["old"]]).T.astype(float),
        np.array([MASKS["young"], MASKS["old"]]).T.tolist(),
        pd.DataFrame(np.array([MASKS["young"], MASKS["old"]]).T),
    ],
    ids=["booleans", "floats", "lists", "pandas"],
)
def test_columns_without_names_are_numbered(groups: Any) -> None:
    assert read(groups) == {"segment 0": MASKS["young"], "segment 1": MASKS["old"]}


def test_conditions_are_groups() -> None:
    inside = [True, False, False, False]
    assert read(["age < 25", "country = NO"]) == {"age < 25": inside, "country = NO": [True, False, True, False]}
    assert read(("age < 25",)) == {"age < 25": inside}
    assert read("age < 25") == {"age < 25": inside}
    assert read({"young": "age < 25"}) == {"young": inside}
    assert read(["all rows"]) == {"all rows": [True] * 4}


def test_segments_are_groups() -> None:
    young = Segment((Interval("age", high=25),))
    inside = [True, False, False, False]
    assert read(young) == {"age ≤ 25": inside}
    assert read([young, Segment((Missing("age"),), "ageless")]) == {
        "age ≤ 25": inside,
        "ageless": [False, False, False, True],
    }
    assert read({"youth": young}) == {"youth": inside}


def test_masks_and_conditions_may_stand_together() -> None:
    groups = {
        "mask": np.array([0, 1, 1, 0]),
        "words": "age is missing",
        "segment": parse_segment("age > 25"),
        5: [1] * 4,
    }
    assert read(groups) == {
        "mask": [False, True, True, False],
        "words": [False, False, False, True],
        "segment": [False, True, True, False],
        "5": [True] * 4,
    }


def test_a_condition_keeps_its_conditions_under_a_name() -> None:
    ((segment, _),) = segment_masks({"young": "age < 25"}, 4, TABLE)
    assert segment == Segment((Interval("age", high=25, includes_high=False),), "young")
    ((segment, _),) = segment_masks({"young": MASKS["young"]}, 4, TABLE)
    assert segment == Segment((), "young")


def test_a_group_of_nobody_or_everybody_is_a_group() -> None:
    assert read({"nobody": [False] * 4, "everybody": [True] * 4}) == {"nobody": [False] * 4, "everybody": [True] * 4}


def test_each_group_is_a_partition_that_skips_the_others() -> None:
    young, norway = segment_partitions({"young": MASKS["young"], "norway": "country = NO"}, 4, TABLE)
    assert young.codes.tolist() == [1, 0, 0, 0]
    assert norway.codes.tolist() == [1, 0, 1, 0]
    assert young.codes.dtype == np.uint8
    assert young.skips_zero
    assert str(young.parts[1]) == "young"


def test_rows_that_do_not_count_are_left_out() -> None:
    counted = np.array([True, True, False, True])
    (partition,) = segment_partitions(["country = NO"], 4, TABLE, counted)
    assert partition.codes.tolist() == [1, 0, 0]


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        ({"young": [True, False]}, TableError, "Segment 'young' has 2 rows, but y has 4. They must be the same rows."),
        ({"a": MASKS["old"], "b": [True] * 5}, TableError, "Segment 'b' has 5 rows, but y has 4."),
        (pl.DataFrame({"young": [True] * 3}), TableError, "Segment 'young' has 3 rows, but y has 4."),
        (np.ones((3, 2), bool), TableError, "Segment 'segment 0' has 3 rows, but y has 4."),
        (
            {"young": [True, None, None, False]},
            ColumnError,
            "Segment 'young': 2 of 4 rows are neither true nor false (first at row 1: missing). Pass true for the rows "
            "inside and false for the others.",
        ),
        (pd.DataFrame({"a": pd.array([True, True, True, None])}), ColumnError, "(first at row 3: missing)"),
        ({"odd": [0, 1, 2, 3]}, ColumnError, "Segment 'odd': 2 of 4 rows are neither true nor false (first at row 2"),
        ({"young": [0, 1, 0.5, 1]}, ColumnError, "Segment 'young': 1 of 4 rows are neither true nor false (first at"),
        ({"young": ["a"] * 4}, ColumnError, "Segment 'young' holds strings. Pass true for the rows inside"),
        ({"young": [None] * 4}, ColumnError, "Segment 'young' holds missing values only. Pass true"),
        (pl.DataFrame({"young": ["a"] * 4}), ColumnError, "Segment 'young' holds strings. Pass true"),
        ({"young": 5}, TableError, "Segment 'young' is neither a mask nor a condition"),
        ({"young": None}, TableError, "Segment 'young' is neither a mask nor a condition"),
        ({"young": np.ones((4, 2), bool)}, TableError, "Segment 'young' is neither a mask nor a condition"),
        ({"young": [[True], [False]] * 2}, TableError, "Segment 'young' is neither a mask nor a condition"),
        ({"young": {"a": 1}}, TableError, "Segment 'young' is neither a mask nor a condition"),
        ({}, ParameterError, "There are no segments. Pass a dict of masks"),
        ([], ParameterError, "There are no segments. Pass a dict of masks"),
        (pd.DataFrame(index=range(4)), ParameterError, "There are no segments"),
        (np.ones((4, 0), bool), ParameterError, "There are no segments"),
        (np.ones(4, bool), TableError, 'A mask needs a name: {"name": mask}.'),
        (pd.Series([True] * 4), TableError, 'A mask needs a name: {"name": mask}.'),
        (pl.Series([True] * 4), TableError, 'A mask needs a name: {"name": mask}.'),
        ([True, False, True, False], TableError, "The segments can't be read"),
        (5, TableError, "The segments can't be read (X is a int"),
        (["age <"], ParameterError, "The condition 'age <' can't be read"),
        (["agee < 25"], ColumnError, "agee < 25: X has no column 'agee'. Its columns are 'age', 'country'."),
        ({"young": "agee < 25"}, ColumnError, "young: X has no column 'agee'."),
        (["country < 25"], ColumnError, "Column 'country' holds strings"),
        ([Segment(name="ghost")], ParameterError, "The segment 'ghost' was given as a mask"),
        (["age < 25", [True] * 4], TableError, "The segments can't be read"),
    ],
)  # fmt: skip
def test_what_is_no_group_is_an_error_that_names_it(groups: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        list(segment_masks(groups, 4, TABLE))


def test_a_condition_needs_a_table() -> None:
    with pytest.raises(ParameterError, match="The segment 'age < 25' is a condition on columns, so X must be passed"):
        list(segment_masks(["age < 25"], 4, None))
    with pytest.raises(ParameterError, match="The segment 'young' is a condition on columns"):
        list(segment_masks({"young": "age < 25"}, 4, None))
