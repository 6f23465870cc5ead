"""One table, whatever library holds it: the same model and the same scores, bit for bit."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueup
from trueup import MCGrad
from trueup.errors import DataWarning

N = 240
RNG = np.random.default_rng(7)
CITIES = ["Oslo", "Bergen", "Tromsø", "", "東京"]
PLANS = ["free", "basic", "pro"]


def with_gaps(values: list[Any], every: int) -> list[Any]:
    return [None if i % every == 0 else value for i, value in enumerate(values)]


LISTS: dict[str, list[Any]] = {
    "city": with_gaps(RNG.choice(CITIES, N).tolist(), 11),
    "plan": RNG.choice(PLANS, N).tolist(),
    "vip": with_gaps((RNG.random(N) < 0.3).tolist(), 13),
    "age": with_gaps(RNG.integers(100, 1000, N).astype(float).__truediv__(8).tolist(), 17),
    "visits": RNG.integers(0, 9, N).tolist(),
    "shop": with_gaps((RNG.integers(0, 6, N) + 2**53).tolist(), 19),  # ids that floats can't tell apart
}
EFFECT = np.array(
    [
        (1.5 if city == "Oslo" else -1) + (age or 60) / 80 + (shop or 0) % 2
        for city, age, shop in zip(LISTS["city"], LISTS["age"], LISTS["shop"], strict=True)
    ]
)
SCORES = 1 / (1 + np.exp(-RNG.normal(size=N)))
Y = (RNG.random(N) < 1 / (1 + np.exp(-EFFECT))).astype(int)


def pandas_frame(strings: Any, whole: Any = "Int64", truth: Any = "boolean", floats: Any = "float64") -> pd.DataFrame:
    types = {"city": strings, "plan": strings, "vip": truth, "age": floats, "visits": whole, "shop": whole}
    return pd.DataFrame({name: pd.Series(values, dtype=types[name]) for name, values in LISTS.items()})


def polars_frame(strings: Any) -> pl.DataFrame:
    types = {
        "city": strings,
        "plan": strings,
        "vip": pl.Boolean,
        "age": pl.Float64,
        "visits": pl.Int8,
        "shop": pl.Int64,
    }
    enums = {"city": pl.Enum(CITIES), "plan": pl.Enum(PLANS)} if strings is pl.Enum else {}
    return pl.DataFrame(LISTS, schema=types | enums)


def arrow_table(strings: pa.DataType) -> pa.Table:
    types = {"city": strings, "plan": strings}
    return pa.table({name: pa.array(values, types.get(name)) for name, values in LISTS.items()})


def chunked(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 7), table.slice(7, 0), table.slice(7, 100), table.slice(107)])


LIBRARIES: dict[str, Callable[[], Any]] = {
    "pandas object": lambda: pandas_frame(object, truth=object),
    "pandas str": lambda: pandas_frame("str"),
    "pandas string, in Python": lambda: pandas_frame(pd.StringDtype("python")),
    "pandas category": lambda: pandas_frame("category", truth="category"),
    "pandas nullable": lambda: pandas_frame("string", floats="Float64"),
    "pandas pyarrow": lambda: arrow_table(pa.string()).to_pandas(types_mapper=pd.ArrowDtype),
    "pandas pyarrow dictionary": lambda: pandas_frame(pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "polars String": lambda: polars_frame(pl.String),
    "polars Categorical": lambda: polars_frame(pl.Categorical),
    "polars Enum": lambda: polars_frame(pl.Enum),
    "pyarrow string": lambda: arrow_table(pa.string()),
    "pyarrow large_string": lambda: arrow_table(pa.large_string()),
    "pyarrow string_view": lambda: arrow_table(pa.string_view()),
    "pyarrow dictionary": lambda: arrow_table(pa.dictionary(pa.int8(), pa.string())),
    "pyarrow in chunks": lambda: chunked(arrow_table(pa.string())),
    "pyarrow dictionary in chunks": lambda: pa.concat_tables(
        chunk.combine_chunks() for chunk in (
            arrow_table(pa.string()).slice(a, b).set_column(
                0, "city", arrow_table(pa.string())["city"].slice(a, b).dictionary_encode()
            ) for a, b in ((0, 50), (50, 190))
        )
    ),
    "pyarrow record batch": lambda: arrow_table(pa.string()).combine_chunks().to_batches()[0],
    "dict of lists": lambda: LISTS,
    "dict of arrays": lambda: {name: np.array(values, dtype=object) for name, values in LISTS.items()},
    "dict of pandas Series": lambda: dict(pandas_frame("str").items()),
    "dict of polars Series": lambda: polars_frame(pl.String).to_dict(),
    "dict of Arrow arrays": lambda: dict(zip(LISTS, chunked(arrow_table(pa.string())).columns, strict=True)),
    "another order": lambda: arrow_table(pa.string()).select(list(LISTS)[::-1]),
    "more columns": lambda: pandas_frame("str").assign(more=1),
    "another index": lambda: pandas_frame("category").set_index(np.arange(N)[::-1] * 3),
}  # fmt: skip


def quick(**more: Any) -> MCGrad:
    """Real rounds on few rows."""
    growth = {"min_child_samples": 1, "min_data_per_group": 1, "cat_smooth": 1, "min_gain_to_split": 0.0}
    return MCGrad(
        max_rounds=2,
        validation=None,
        rescale="train",
        min_sum_hessian_in_leaf=0.0,
        lightgbm_params=growth | {"n_estimators": 12, "num_leaves": 4},
        n_jobs=1,
        **more,
    )


def fitted_on(table: Any) -> MCGrad:
    features = list(LISTS)  # in one order: it is the order in which trees see them
    return quick(features=features, categorical_features=["shop"]).fit(table, Y, scores=SCORES)


@pytest.fixture(scope="module")
def models() -> dict[str, MCGrad]:
    return {name: fitted_on(make()) for name, make in LIBRARIES.items()}


@pytest.fixture(scope="module")
def expected(models: dict[str, MCGrad]) -> np.ndarray:
    return models["dict of lists"].calibrate(LISTS, SCORES)


def test_the_rounds_of_these_tests_use_numbers_strings_and_large_ids(models: dict[str, MCGrad]) -> None:
    model = models["dict of lists"]
    assert model.n_rounds_ == 2
    used = np.unique(np.concatenate([fitted.trees.split_feature for fitted in model.model_.rounds]))
    assert {0, 3, 5} <= set(used.tolist())  # city, age and shop


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_fit_on_any_library_learns_the_same(name: str, models: dict[str, MCGrad]) -> None:
    assert models[name].model_.features.features == models["dict of lists"].model_.features.features
    for mine, other in zip(models[name].model_.rounds, models["dict of lists"].model_.rounds, strict=True):
        assert mine.theta == other.theta
        for array, twin in zip(mine.trees.arrays().values(), other.trees.arrays().values(), strict=True):
            np.testing.assert_array_equal(array, twin)


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_model_scores_any_library_alike(name: str, models: dict[str, MCGrad], expected: np.ndarray) -> None:
    table = LIBRARIES[name]()
    for model in models.values():
        np.testing.assert_array_equal(model.calibrate(table, SCORES), expected)


def test_scores_and_labels_may_come_from_any_library(expected: np.ndarray) -> None:
    for vector in (list, pd.Series, pl.Series, pa.array, lambda a: pd.Series(a, index=np.arange(N)[::-1])):
        y, scores = vector(Y), vector(SCORES)
        model = quick(features=list(LISTS), categorical_features=["shop"]).fit(LISTS, y, scores=scores)
        np.testing.assert_array_equal(model.calibrate(LISTS, scores), expected)


ROWS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "lists": lambda: [dict(zip(LISTS, row, strict=True)) for row in zip(*LISTS.values(), strict=True)],
    "pandas object": lambda: pandas_frame(object, truth=object).to_dict("records"),
    "pandas str": lambda: pandas_frame("str").to_dict("records"),
    "pandas rows": lambda: [row for _, row in pandas_frame("category", truth="category").iterrows()],
    "polars": lambda: polars_frame(pl.Categorical).to_dicts(),
    "pyarrow": lambda: arrow_table(pa.string()).to_pylist(),
}


@pytest.mark.parametrize("name", ROWS)
def test_one_row_gets_the_bits_that_it_gets_in_a_table(
    name: str, models: dict[str, MCGrad], expected: np.ndarray
) -> None:
    one = trueup.Calibrator(models["dict of lists"].model_).calibrate_one
    found = [one(row, score) for row, score in zip(ROWS[name](), SCORES.tolist(), strict=True)]
    assert found == expected.tolist()


VIEWS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pandas_frame("category").iloc[::3],
    "pandas str": lambda: pandas_frame("str").iloc[::3],
    "polars": lambda: polars_frame(pl.String).gather_every(3),
    "pyarrow": lambda: arrow_table(pa.dictionary(pa.int8(), pa.string())).take(list(range(0, N, 3))),
    "lists": lambda: {name: values[::3] for name, values in LISTS.items()},
    "arrays": lambda: {name: np.array(values, dtype=object)[::3] for name, values in LISTS.items()},
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_read_as_the_rows_that_they_show(name: str, models: dict[str, MCGrad], expected: np.ndarray) -> None:
    found = models["pandas str"].calibrate(VIEWS[name](), SCORES[::3])
    np.testing.assert_array_equal(found, expected[::3])


@pytest.mark.parametrize("strings", [pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_slices_of_arrow_tables_are_read_from_where_they_begin(
    strings: pa.DataType, models: dict[str, MCGrad], expected: np.ndarray
) -> None:
    found = models["pandas str"].calibrate(arrow_table(strings).slice(30, 50), SCORES[30:80])
    np.testing.assert_array_equal(found, expected[30:80])


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_table_without_rows_gives_no_scores(name: str, models: dict[str, MCGrad]) -> None:
    table = LIBRARIES[name]()
    if isinstance(table, dict):
        empty: Any = {key: values[:0] for key, values in table.items()}
    elif isinstance(table, (pa.Table, pa.RecordBatch)):
        empty = table.slice(0, 0)
    else:
        empty = table.head(0)
    assert models["dict of lists"].calibrate(empty, []).shape == (0,)


@pytest.mark.parametrize("strings", [pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_columns_of_no_chunks_are_read(strings: pa.DataType, models: dict[str, MCGrad]) -> None:
    types = [strings, strings, pa.bool_(), pa.float64(), pa.int64(), pa.int64()]
    empty = pa.table({name: pa.chunked_array([], kind) for name, kind in zip(LISTS, types, strict=True)})
    assert empty["city"].num_chunks == 0
    assert models["dict of lists"].calibrate(empty, []).shape == (0,)


MATRIX = np.column_stack([RNG.integers(-40, 40, N), RNG.integers(0, 5, N), RNG.integers(0, 2, N)]).astype(float)
ARRAYS: dict[str, Callable[[], Any]] = {
    "C order": lambda: MATRIX.copy(order="C"),
    "Fortran order": lambda: MATRIX.copy(order="F"),
    "float32": lambda: MATRIX.astype(np.float32),
    "ints": lambda: MATRIX.astype(np.int16),
    "object": lambda: MATRIX.astype(object),
    "big endian": lambda: MATRIX.astype(">f8"),
    "every second row and column": lambda: np.repeat(np.repeat(MATRIX, 2, axis=0), 2, axis=1)[::2, ::2],
    "reversed": lambda: MATRIX[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": lambda: np.frombuffer(MATRIX.tobytes()).reshape(MATRIX.shape),
    "masked": lambda: np.ma.masked_array(MATRIX),
    "lists of lists": MATRIX.tolist,
    "pandas without names": lambda: pd.DataFrame(MATRIX.copy()),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("categorical", ["from_dtype", [1]])
def test_numbers_in_an_array_of_any_layout_give_the_same_bits(name: str, categorical: Any) -> None:
    reference = quick(categorical_features=categorical).fit(MATRIX, Y, scores=SCORES)
    expected = reference.calibrate(MATRIX, SCORES)
    assert not np.array_equal(expected, SCORES)
    array = ARRAYS[name]()
    np.testing.assert_array_equal(reference.calibrate(array, SCORES), expected)
    model = quick(categorical_features=categorical).fit(array, Y, scores=SCORES)
    np.testing.assert_array_equal(model.calibrate(MATRIX, SCORES), expected)


def test_what_a_mask_hides_is_missing() -> None:
    hidden = MATRIX == 3
    missing = np.where(hidden, np.nan, MATRIX)
    model = quick().fit(missing, Y, scores=SCORES)
    masked = np.ma.masked_array(MATRIX, mask=hidden)
    np.testing.assert_array_equal(model.calibrate(masked, SCORES), model.calibrate(missing, SCORES))


def test_a_structured_array_is_a_table_with_names() -> None:
    array = np.empty(N, dtype=[("a", "f8"), ("b", "i2"), ("c", "f4")])
    for name, values in zip("abc", MATRIX.T, strict=True):
        array[name] = values
    frame = pd.DataFrame(MATRIX, columns=list("abc"))
    by_frame, by_array = (quick().fit(table, Y, scores=SCORES) for table in (frame, array))
    np.testing.assert_array_equal(by_frame.calibrate(array, SCORES), by_array.calibrate(frame, SCORES))


def test_columns_with_names_on_one_side_only_are_taken_by_position_with_a_warning() -> None:
    named = pd.DataFrame(MATRIX, columns=list("abc"))
    model = quick().fit(named, Y, scores=SCORES)
    with pytest.warns(DataWarning, match="names at fit and none now: matching columns by position") as caught:
        found = model.calibrate(MATRIX, SCORES)
    assert len(caught) == 1
    np.testing.assert_array_equal(found, model.calibrate(named, SCORES))


def test_numbers_as_names_of_pandas_columns_are_names() -> None:
    frame = pd.DataFrame(MATRIX, columns=[2020, 2021, 2022])
    model = quick().fit(frame, Y, scores=SCORES)
    found = model.calibrate(frame, SCORES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(model.calibrate(frame[[2022, 2020, 2021]], SCORES), found)
    one = trueup.Calibrator(model.model_).calibrate_one
    assert one(frame.iloc[3].to_dict(), SCORES[3]) == found[3]
