"""A warning where most of a column's categories were not there at fit, and none where only some were not."""

import warnings

import numpy as np
import pytest

from trueup import Calibrator, MCGrad
from trueup._scoring._scores import warn_of_unseen
from trueup.errors import UnseenCategoryWarning

CITIES = ["Oslo", "Kiel"] * 500
MODEL = MCGrad(max_rounds=1, validation=None, rescale="train").fit(
    {"city": CITIES, "age": [age % 61 for age in range(1000)]}, [1, 0, 1, 0, 1, 0, 0, 1] * 125, scores=[0.5] * 1000
)


def calibrate(city, age=None):
    columns = {"city": city, "age": [30.0] * len(city) if age is None else age}
    return MODEL.calibrate(columns, np.full(len(city), 0.5))


def test_rows_that_are_mostly_of_unseen_categories_were_scored_in_silence():
    with pytest.warns(UnseenCategoryWarning, match=r"Column 'city': 200 of 300 values were not seen at fit") as told:
        calibrate(["OSLO"] * 200 + ["Oslo"] * 100 + [None] * 700)
    assert len(told) == 1
    assert told[0].filename == __file__


def test_some_new_categories_a_few_rows_and_missing_values_are_ordinary():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        calibrate(["Bergen"] * 499 + ["Oslo"] * 501)
        calibrate(["Bergen"] * 99)
        calibrate([None] * 1000)
        calibrate(["Oslo"] * 1000, age=[None] * 1000)


def test_columns_without_names_are_counted_too():
    rows = np.array([["OSLO", 1.0]] * 100, dtype=object)
    with (
        pytest.warns(UnseenCategoryWarning, match="'city': 100 of 100"),
        pytest.warns(UserWarning, match="columns by position"),
    ):
        MODEL.calibrate(rows, np.full(100, 0.5))


def test_a_stream_tells_once_of_all_its_batches():
    import pyarrow as pa

    table = pa.table({"city": ["OSLO"] * 60 + ["Oslo"] * 40, "age": [1.0] * 100, "p": [0.5] * 100})
    with pytest.warns(UnseenCategoryWarning, match="'city': 60 of 100") as told:
        list(Calibrator(MODEL.model_).calibrate_stream(table, score="p", batch_rows=10))
    assert len(told) == 1


def test_many_columns_are_one_warning_that_stays_short():
    unseen = dict.fromkeys("abcdefg", 7)
    with pytest.warns(UnseenCategoryWarning) as told:
        warn_of_unseen(10, {"a": 3, "b": 1}, unseen)
    text = str(told[0].message)
    assert text.startswith("Column 'a': 7 of 7 values were not seen at fit and count as missing. Column 'b': 7 of 9")
    assert "'f'" not in text
    assert "More such columns: 2." in text
