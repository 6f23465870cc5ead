"""Categories of any type and columns of any name, before and after a file."""

from __future__ import annotations

import datetime as dt
import enum
import re
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueup
from small_fits import quick
from trueup.errors import ColumnError

N = 40
X = pd.DataFrame({"city": ["Oslo", "Bergen", "Kiel", "Rome"] * 10, "age": np.arange(N) / 2})
Y = np.arange(N) % 2
P = np.linspace(0.1, 0.9, N)


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 10


class Grade(str, enum.Enum):
    GOOD = "good"
    BAD = "bad"


ZONE = dt.timezone(dt.timedelta(hours=5, minutes=30))
CATEGORIES: dict[str, list[Any]] = {
    "strings": ["a", "A", "", "ÅØ", "a\x00b", '"\\', "\ud800", None],
    "ints": [0, -3, 2**53, 2**53 + 1, 2**62, None],
    "ints beyond 64 bits": [2**64, 2**64 + 1, -(2**80), 5],
    "floats": [0.1, -0.0, 2.0, np.inf, -np.inf, 5e-324, 1e300, np.nan],
    "bools": [True, False, None],
    "dates": [dt.date(1969, 7, 20), dt.date(2024, 2, 29), dt.date.min, dt.date.max, None],
    "datetimes": [dt.datetime(1969, 7, 20, 20, 17, 40, 5), dt.datetime(2024, 2, 29), dt.datetime.max, None],
    "datetimes with a zone": [dt.datetime(2024, 2, 29, 1, tzinfo=zone) for zone in (ZONE, dt.timezone.utc)],
    "pandas timestamps": [pd.Timestamp("1960-01-01 00:00:00.000001500"), pd.Timestamp("2024", tz=ZONE)],
    "NumPy days": [np.datetime64("2024-02-29"), np.datetime64("1969-07-20"), np.datetime64("NaT", "D")],
    "times": [dt.time(1, 2, 3, 4), dt.time(1, tzinfo=ZONE), dt.time.max],
    "durations": [dt.timedelta(microseconds=1), pd.Timedelta(3, "D"), np.timedelta64(5, "s"), pd.NaT],
    "decimals": [Decimal("0.1"), Decimal("1E+2"), Decimal("-7.25"), Decimal("NaN")],
    "bytes": [b"", b"\xff\x00", b"a", None],
    "intervals": [*pd.cut(pd.Series([0.1, 1.2, 2.7]), 3), None],
    "periods": list(pd.period_range("2024-01", periods=3, freq="M")),
    "uuids": [uuid.UUID(int=1), uuid.UUID(int=2**127), None],
    "members of an enum": [Colour.RED, Colour.BLUE, None],
    "members of an enum of ints": [Size.SMALL, Size.LARGE],
    "members of an enum of strings": [Grade.GOOD, Grade.BAD],
    "tuples": [(1, "a"), (1, "b"), ()],
    "mixed": [1, "1", 1.5, b"1", dt.date(2024, 1, 1), dt.datetime(2024, 1, 1), Colour.RED, (1,), None, False],
}  # fmt: skip


@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_of_any_type_are_the_same_after_loading(name: str, tmp_path: Path) -> None:
    values = CATEGORIES[name]
    column = [values[i % len(values)] for i in range(12 * len(values))]
    # The category alone would tell the label, but for every sixth row.
    y = [(i % len(values) + (i // len(values) % 6 == 0)) % 2 for i in range(len(column))]
    scores = np.full(len(column), 0.4)
    model = quick(categorical_features=["c"]).fit({"c": column}, y, scores=scores)
    found = model.calibrate({"c": column}, scores)
    assert len(set(found)) > 1
    model.save(tmp_path / "model")
    loaded = trueup.load(tmp_path / "model")
    assert loaded.model.features == model.model_.features
    np.testing.assert_array_equal(loaded.calibrate({"c": column}, scores), found)
    np.testing.assert_array_equal(loaded.calibrate(pd.DataFrame({"c": pd.Series(column, dtype=object)}), scores), found)
    assert [loaded.calibrate_one({"c": value}, 0.4) for value in column] == found.tolist()


def test_intervals_of_a_pandas_cut_are_categories(tmp_path: Path) -> None:
    bands = X.assign(band=pd.cut(X.age, 4))
    model = quick().fit(bands, X.age.between(5, 10), scores=P)
    assert model.model_.features["band"].is_categorical
    model.save(tmp_path / "model")
    loaded = trueup.load(tmp_path / "model")
    found = model.calibrate(bands, P)
    np.testing.assert_array_equal(loaded.calibrate(bands, P), found)
    np.testing.assert_array_equal(loaded.calibrate(bands.astype({"band": object}), P), found)


def test_the_same_numbers_work_as_a_categorical_column_too() -> None:
    """Categoricals of numbers hold the numbers, so nothing has to be guessed."""
    model = quick().fit(X, Y, scores=P)
    as_categories = X.assign(age=X.age.astype("category"))
    np.testing.assert_array_equal(model.calibrate(as_categories, P), model.calibrate(X, P))
    by_category = quick().fit(as_categories, Y, scores=P)
    assert by_category.model_.features["age"].is_categorical
    np.testing.assert_array_equal(by_category.calibrate(X, P), by_category.calibrate(as_categories, P))


def test_a_decimal_is_the_nearest_float_wherever_it_stands() -> None:
    values = [Decimal(7 * i + 1) / Decimal(10**6) for i in range(N)]
    model = quick(categorical_features=["c"]).fit({"c": [float(value) for value in values]}, Y, scores=P)
    expected = model.calibrate({"c": [float(value) for value in values]}, P)
    assert len(model.model_.features["c"].categories or ()) == N
    for column in (values, pa.array(values), pl.Series(values), pd.Series(values, dtype=object)):
        np.testing.assert_array_equal(model.calibrate({"c": column}, P), expected)


ODD_NAMES = [
    "",
    " ",
    "ÅØ 東京 🙂",
    "'",
    '"',
    "a\nb\tc",
    "\x00",
    '{"a": [1]}',
    "\\",
    "\ud800",
    "{}",
    "%s",
    "x" * 5000,
    "=",
    "f0",
]


def test_columns_may_have_any_name(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = {name: rng.normal(size=N) if i % 2 else rng.choice(list("ab"), N) for i, name in enumerate(ODD_NAMES)}
    model = quick().fit(table, Y, scores=P)
    expected = model.calibrate(table, P)
    model.save(tmp_path / "model")
    loaded = trueup.load(tmp_path / "model")
    turned = {name: table[name] for name in reversed(ODD_NAMES)}
    np.testing.assert_array_equal(loaded.calibrate(turned, P), expected)
    assert loaded.calibrate_one({name: values[3] for name, values in table.items()}, P[3]) == expected[3]
    for name in ODD_NAMES:
        with pytest.raises(ColumnError, match=re.escape(repr(name))):
            loaded.calibrate({other: values for other, values in table.items() if other != name}, P)
