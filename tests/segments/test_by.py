"""Into how many values columns are divided that a person names one by one."""

import numpy as np
import pyarrow as pa
import pytest

from trueup._data import read_table
from trueup.errors import DataWarning
from trueup.segments import chosen_cuts


def values_of(table, categorical="from_dtype"):
    by = table.column_names
    cuts = chosen_cuts(read_table(table), by=by, features=None, categorical_features=categorical, max_values=None)
    return cuts["max_values"]


def test_few_numbers_are_values_and_many_are_ranges():
    n = np.arange(2000)
    country = pa.array(np.array(["NA", "NO", "US"])[n % 3], mask=n % 10 == 0)
    table = pa.table({"day": n % 7, "hour": n % 24, "amount": n / 7.0, "country": country})
    # 24 hours are too many to be told apart, unless they are said to be categories; missing is not counted as a value.
    assert values_of(table) == {"day": 7, "hour": 5, "amount": 5, "country": 3}
    assert values_of(table, ["hour"])["hour"] == 24
    assert values_of(pa.table({"flag": [True, True]})) == {"flag": 2}


def test_the_most_frequent_of_very_many_values_are_tested_one_by_one():
    with pytest.warns(DataWarning, match="'id' has 150 values. The 99 most frequent"):
        assert values_of(pa.table({"id": [f"{i}" for i in range(150)]})) == {"id": 100}
