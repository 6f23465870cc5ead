"""Tables that nobody would draw up: an error of trueup, or probabilities that survive a file."""

from __future__ import annotations

import datetime as dt
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import trueup
from small_fits import quick
from trueup import MCGrad
from trueup.errors import ColumnError, LabelError, TrueupError, TrueupWarning

MAX_ROWS = 30

numbers = st.one_of(st.none(), st.floats(), st.sampled_from([0.0, -0.0, 5e-324, 1e-35, 1e308, -1e308, 2.0**53]))
texts = st.text(st.characters(codec=None), max_size=8)  # lone surrogates among them
few_texts = st.sampled_from(["a", "b", "", "\ud800", "NaN", "None", "a" * 10_000])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    numbers,
    texts,
    st.binary(max_size=3),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(dt.timezone(dt.timedelta(hours=-7)))),
    st.times(),
    st.timedeltas(),
    st.decimals(),
    st.uuids(),
    st.sampled_from([pd.NA, pd.NaT, pd.Timestamp("2024"), np.float32(0.1), np.int8(3), np.str_("a"), (1, 2)]),
)
hopeless = st.sampled_from([[1], {"a": 1}, 1j, np.ones(2), object()])
columns = st.one_of(
    st.just(numbers),
    st.just(texts),
    st.just(few_texts),
    st.just(st.booleans() | st.none()),
    st.just(st.integers(-(2**63), 2**64 - 1)),
    st.just(st.integers(0, 3)),
    st.just(st.none()),
    st.just(st.dates()),
    st.just(scalars),
    st.just(st.one_of(scalars, hopeless)),
)
weights = st.one_of(
    st.just(st.sampled_from([0.0, 1e-300, 1.0, 1e30])),
    st.just(st.sampled_from([0.0, 1e-5, 1.0, 1e15])),
    st.just(st.sampled_from([0.0, 1e-35, 1e-15])),
    st.just(st.floats(1e-6, 1e6)),
)
names = st.one_of(
    st.sampled_from(["", "a", "A", "\n", '"', "{}", "\ud800", "1"]), st.text(max_size=4), st.integers(0, 2)
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[dict[Any, list[Any]], list[Any], list[float], list[float] | None]:
    n = draw(st.integers(0, MAX_ROWS) | st.just(MAX_ROWS))

    def rows(values: st.SearchStrategy[Any]) -> Any:
        return draw(st.lists(values, min_size=n, max_size=n))

    table = {name: rows(draw(columns)) for name in draw(st.lists(names, max_size=3, unique=True))}
    y = rows(draw(st.sampled_from([st.integers(0, 1), st.booleans(), st.sampled_from(["no", "yes"]), st.floats(0, 1)])))
    scores = rows(st.floats(0, 1) | st.sampled_from([0.0, 1.0, 0.5]))
    return table, y, scores, draw(st.none()) if draw(st.booleans()) else rows(draw(weights))


def same_scores_from_a_file(path: Path, model: MCGrad, table: Any, scores: Any) -> np.ndarray:
    """The scores of a table by what comes back from a file, which must be those of the model."""
    loaded = trueup.load(path, n_jobs=1)
    assert loaded.model.features == model.model_.features
    found = loaded.calibrate(table, scores)
    np.testing.assert_array_equal(model.calibrate(table, scores), found)
    return found


def one_by_one(model: MCGrad, table: dict[Any, list[Any]], scores: list[float]) -> list[float]:
    one = trueup.Calibrator(model.model_).calibrate_one
    rows = zip(*table.values(), strict=True)
    return [one(dict(zip(table, row, strict=True)), score) for row, score in zip(rows, scores, strict=True)]


def rows_that_counted(
    table: dict[Any, list[Any]], scores: list[float], weights: list[float] | None
) -> tuple[dict[Any, list[Any]], list[float]]:
    """A fit has not seen rows without weight: what only they hold may be of a kind that is refused later."""
    if weights is None:
        return table, scores
    rows = [row for row, weight in enumerate(weights) if weight > 0]
    return {name: [values[row] for row in rows] for name, values in table.items()}, [scores[row] for row in rows]


def test_a_kind_that_only_rows_without_weight_held_is_refused_later() -> None:
    table = {"c": [["a", "b"][i % 2] for i in range(MAX_ROWS - 1)] + [b"a"]}
    model = quick().fit(table, LABELS, scores=SCORES, sample_weight=[1.0] * (MAX_ROWS - 1) + [0.0])
    with pytest.raises(ColumnError, match=r"Column 'c' holds bytes in 1 of 30 rows \(first at row 29\)"):
        model.calibrate(table, SCORES)


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(tables(), st.sampled_from([None, 2, 0.5]), st.booleans())
def test_any_table_gives_an_error_of_ours_or_probabilities(
    data: tuple[Any, ...], validation: Any, all_categorical: bool
) -> None:
    table, y, scores, weights = data
    categorical: Any = [str(name) for name in table] if all_categorical else "from_dtype"
    model = quick(validation=validation, categorical_features=categorical)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", TrueupWarning)
        path = Path(folder, "model")
        try:
            model.fit(table, y, scores=scores, sample_weight=weights).save(path)
        except TrueupError:
            return
        table, scores = rows_that_counted(table, scores, weights)
        found = same_scores_from_a_file(path, model, table, scores)
        frame = pd.DataFrame({i: pd.Series(v, dtype=object) for i, v in enumerate(table.values())})
        frame.columns = pd.Index(list(table), dtype=object)
        np.testing.assert_array_equal(model.calibrate(frame, scores), found)
    assert ((found >= 0) & (found <= 1)).all()
    assert one_by_one(model, table, scores) == found.tolist()


DAYS = [dt.date(2024, 1, 1 + i % 3) for i in range(MAX_ROWS)]
KNOWN: dict[str, list[Any]] = {
    "number": [float(i % 7) for i in range(MAX_ROWS)],
    "text": ["ab"[i % 2] for i in range(MAX_ROWS)],
    "truth": [i % 3 == 0 for i in range(MAX_ROWS)],
    "id": [2**60 + i % 4 for i in range(MAX_ROWS)],
    "day": DAYS,
    "moment": [dt.datetime(day.year, day.month, day.day) for day in DAYS],
    "mixed": [[1, "1", None, b"1", 2.5][i % 5] for i in range(MAX_ROWS)],
    "nothing": [None] * MAX_ROWS,
}
LABELS = [i % 2 for i in range(MAX_ROWS)]
SCORES = [0.3 + i / 100 for i in range(MAX_ROWS)]


@pytest.fixture(scope="module")
def known() -> trueup.Calibrator:
    categorical = ["id", "day", "moment"]
    return trueup.Calibrator(quick(categorical_features=categorical).fit(KNOWN, LABELS, scores=SCORES).model_, n_jobs=1)


@settings(max_examples=400)
@given(st.sampled_from(list(KNOWN)), st.one_of(scalars, hopeless))
@example("number", 10**400)
@example("day", dt.datetime(2024, 1, 1))
@example("id", float(2**60))
@example("id", np.uint64(2**60 + 1))
@example("moment", dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=14))))
def test_a_row_and_a_table_of_it_agree(known: trueup.Calibrator, name: str, value: Any) -> None:
    row = {other: values[5] for other, values in KNOWN.items()} | {name: value}
    try:
        expected = known.calibrate_one(row, 0.4)
    except TrueupError as error:
        with pytest.raises(type(error), match=f"olumn {name!r}"):
            known.calibrate({other: [single] for other, single in row.items()}, [0.4])
        return
    assert 0 <= expected <= 1
    assert known.calibrate({other: [single] for other, single in row.items()}, [0.4]).tolist() == [expected]
    many = {other: values[:6] for other, values in KNOWN.items()}
    try:
        found = known.calibrate(many | {name: [*many[name][:5], value]}, [0.4] * 6)
    except TrueupError:
        return  # what the value is among is of another kind
    assert found[5] == expected


@settings(max_examples=60)
@given(st.lists(texts | st.none(), min_size=2, max_size=40), st.randoms(use_true_random=False))
def test_strings_are_told_apart_in_every_library(values: list[str | None], random: Any) -> None:
    column = values * 3
    random.shuffle(column)
    y = [0, 1] * (len(column) // 2) + [1] * (len(column) % 2)
    model = quick().fit({"c": column}, y, scores=[0.5] * len(column))
    expected = model.calibrate({"c": column}, [0.5] * len(column))
    forms: list[Any] = [np.array(column, dtype=object), pd.Series(column, dtype=object)]
    if not any("\ud800" <= letter <= "\udfff" for text in column if text for letter in text):
        forms += [pa.array(column), pl.Series(column, dtype=pl.String), pd.Series(column, dtype="category")]
        forms += [pl.Series(column, dtype=pl.Categorical), pa.chunked_array([column[:3], column[3:]], pa.string())]
    for form in forms:
        np.testing.assert_array_equal(model.calibrate({"c": form}, [0.5] * len(column)), expected)


@settings(max_examples=60)
@given(
    st.lists(st.one_of(st.integers(-(2**63), 2**64 - 1), st.integers(2**53 - 2, 2**53 + 2)), min_size=4, max_size=30)
)
def test_integers_are_told_apart_however_large(values: list[int]) -> None:
    distinct = sorted(set(values))
    y = [0, 1] * (len(values) // 2) + [1] * (len(values) % 2)
    model = quick(categorical_features=["c"]).fit({"c": values}, y, scores=[0.5] * len(values))
    assert model.model_.features["c"].categories == tuple(distinct)
    expected = one_by_one(model, {"c": values}, [0.5] * len(values))
    fits = [
        kind
        for kind in (np.int64, np.uint64)
        if np.iinfo(kind).min <= distinct[0] and distinct[-1] <= np.iinfo(kind).max
    ]
    for kind in fits:
        array = np.array(values, kind)
        gap = pa.array([*values, None], pa.from_numpy_dtype(kind))
        scores = [0.5] * len(values)
        assert model.calibrate({"c": array}, scores).tolist() == expected
        assert model.calibrate({"c": gap}, [*scores, 0.5])[:-1].tolist() == expected


@pytest.mark.filterwarnings("ignore::trueup.errors.SuspiciousDataWarning")  # of the id
def test_thousands_of_categories_and_very_long_ones_are_known_again(tmp_path: Path) -> None:
    n = 6000
    rng = np.random.default_rng(3)
    many = [f"category {i}" for i in rng.integers(0, 5000, n)]
    long = [("x" * 100_000) + str(i % 2) if i < 20 else None for i in range(n)]
    y = rng.integers(0, 2, n)
    model = quick(lightgbm_params={"n_estimators": 5, "min_child_samples": 5, "min_data_per_group": 1})
    table = {"many": many, "long": long, "id": rng.integers(0, 2**62, n)}
    model.set_params(categorical_features=["id"]).fit(table, y).save(tmp_path / "model")
    found = same_scores_from_a_file(tmp_path / "model", model, table, None)
    assert len(set(found)) > 2
    few = {name: values[:50] for name, values in table.items()}
    np.testing.assert_array_equal(model.calibrate(few), found[:50])
    one = trueup.Calibrator(model.model_).calibrate_one
    assert [one({name: values[i] for name, values in table.items()}) for i in range(50)] == found[:50].tolist()


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e308, -1e308, 5e-324, -5e-324, 1e-35, 1e-36, 0.0])
def test_numbers_at_the_ends_of_the_scale_are_split_and_known_again(value: float, tmp_path: Path) -> None:
    column = [value, 1.0, -1.0, None] * 10
    y = [1, 0, 0, 0] * 10
    model = quick().fit({"x": column}, y, scores=[0.25] * 40)
    model.save(tmp_path / "model")
    found = same_scores_from_a_file(tmp_path / "model", model, {"x": column}, [0.25] * 40)
    assert ((found >= 0) & (found <= 1)).all()
    assert one_by_one(model, {"x": column}, [0.25] * 40) == found.tolist()
    if abs(value) > 1:
        assert found[0] > found[1]


def test_names_that_are_twice_there_and_labels_of_one_class_are_refused() -> None:
    twice = pd.DataFrame([[1, 2]] * 4, columns=["a", "a"])
    with pytest.raises(ColumnError, match="'a' appears more than once"):
        quick().fit(twice, [0, 1, 0, 1])
    for y in ([0] * 4, [1.0] * 4, ["x"] * 4, [True] * 4, [dt.date.min] * 4):
        with pytest.raises(LabelError, match="one class only"):
            quick().fit({"a": [1, 2, 3, 4]}, y)
