"""A model that was saved and loaded is the same model, to the last bit."""

import dataclasses
import datetime as dt
import decimal
import enum
import math
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup
from trueup._model import CalibrationModel, Feature, FeatureSpec, ValueKind, read_model, write_model

PARAMETERS = {"n_estimators": 3, "learning_rate": 0.3, "num_leaves": 4, "min_child_samples": 20}
N = 600


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


CATEGORIES: dict[str, list[Any]] = {
    "strings": ["a", "b", "", " ", "Ångström", "中", "🙂", "a\x00b", "\n", '"'],
    "strings that are not Unicode": ["\ud800", "ok"],
    "integers": [0, -1, 7, 2**62],
    "unsigned integers": np.array([0, 2**64 - 1], np.uint64),
    "floats": [0.1, -2.5, 3.0, 1e300, math.inf, -math.inf],
    "booleans": [True, False],
    "dates": [dt.date(1, 1, 1), dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    "datetimes": [dt.datetime(2024, 2, 29, 1, 2, 3, 4), dt.datetime(1900, 1, 1)],
    "datetimes with a zone": [dt.datetime(year, 1, 1, tzinfo=dt.timezone.utc) for year in (2024, 2025)],
    "times": [dt.time(1, 2, 3, 4), dt.time(23, 59)],
    "durations": [dt.timedelta(days=-1), dt.timedelta(microseconds=1)],
    "decimals": [decimal.Decimal("1.50"), decimal.Decimal("2")],
    "bytes": [b"", b"\x00\xff"],
    "UUIDs": [uuid.UUID(int=1), uuid.UUID(int=2)],
    "members of an enum": [Colour.RED, Colour.BLUE],
    "types of all kinds": ["1", 1, 1.5, b"1", dt.date(1, 1, 1), dt.datetime(1, 1, 1), dt.time(1), 2**70],
}  # fmt: skip


def table_of(values: Any) -> tuple[dict[str, Any], Any, Any]:
    """Rows of these categories and a number, one in ten missing; labels that depend on both; scores."""
    generator = np.random.default_rng(0)
    places = generator.integers(len(values), size=N)
    numbers = generator.normal(size=N)
    scores = generator.uniform(0.2, 0.8, N)
    shown = scores + 0.3 * (places % 2) - 0.15 + 0.1 * np.sign(numbers)
    labels = generator.uniform(size=N) < shown
    hidden = generator.uniform(size=N) < 0.1
    cells = [None if gone else values[place] for place, gone in zip(places, hidden, strict=True)]
    return {"category": cells, "number": np.where(hidden[::-1], np.nan, numbers)}, labels, scores


def fitted(table: Any, labels: Any, scores: Any, **options: Any) -> trueup.MCGrad:
    defaults = {"categorical_features": ["category"], "max_rounds": 2, "validation": None, "rescale": "train"}
    return trueup.MCGrad(**{**defaults, "lightgbm_params": PARAMETERS, **options}).fit(table, labels, scores=scores)


@pytest.mark.parametrize("kind", CATEGORIES)
def test_categories_of_any_type_come_back_and_score_the_same_bit_for_bit(kind: str, tmp_path: Path) -> None:
    table, labels, scores = table_of(CATEGORIES[kind])
    model = fitted(table, labels, scores)
    model.save(tmp_path / "model.trueup")
    loaded = trueup.load(tmp_path / "model.trueup")
    after = model.calibrate(table, scores)
    assert model.n_rounds_ == 2
    assert model.feature_importances_[0] > 0
    assert not np.array_equal(after, scores)
    assert np.array_equal(loaded.calibrate(table, scores), after)
    assert np.array_equal(trueup.MCGrad.load(tmp_path / "model.trueup").calibrate(table, scores), after)
    rows = [{name: table[name][i] for name in table} for i in range(30)]
    assert [loaded.calibrate_one(row, score) for row, score in zip(rows, scores, strict=False)] == after[:30].tolist()
    assert [type(v) for v in loaded.model.features["category"].categories or ()] == [
        type(v) for v in model.model_.features["category"].categories or ()
    ]


@pytest.mark.parametrize("kind", ["strings", "types of all kinds"])
def test_a_loaded_model_is_saved_as_the_same_bytes(kind: str, tmp_path: Path) -> None:
    fitted(*table_of(CATEGORIES[kind])).save(tmp_path / "first")
    trueup.load(tmp_path / "first").save(tmp_path / "second")
    trueup.MCGrad.load(tmp_path / "second").save(tmp_path / "third")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes() == (tmp_path / "third").read_bytes()


def test_the_same_fit_is_saved_as_the_same_bytes(tmp_path: Path) -> None:
    for name, n_jobs in (("first", 1), ("second", 2)):
        fitted(*table_of(CATEGORIES["strings"]), n_jobs=n_jobs).save(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_model_without_rounds_gives_the_scores_back_after_loading(tmp_path: Path) -> None:
    table, labels, scores = table_of(["a", "b"])
    fitted(table, labels, scores, max_rounds=0).save(tmp_path / "model")
    odd = np.array([0.0, 1.0, 5e-324, 1 - 2**-53, 0.1])
    first = {name: values[:5] for name, values in table.items()}
    assert np.array_equal(trueup.load(tmp_path / "model").calibrate(first, odd), odd)


def test_a_model_without_scores_keeps_its_base_rate(tmp_path: Path) -> None:
    table, labels, _ = table_of(["a", "b"])
    model = fitted(table, labels, None)
    model.save(tmp_path / "model")
    loaded = trueup.load(tmp_path / "model")
    assert loaded.model.base_rate == np.mean(labels)
    assert np.array_equal(loaded.calibrate(table), model.calibrate(table))


def test_a_score_column_and_columns_that_are_no_features_come_back(tmp_path: Path) -> None:
    table, labels, scores = table_of(["a", "b"])
    table |= {"p": scores, "unused": np.arange(N)}
    model = fitted(table, labels, None, score_column="p", features=["number", "category"])
    model.save(tmp_path / "model")
    loaded = trueup.load(tmp_path / "model")
    assert loaded.model.features == model.model_.features
    assert np.array_equal(loaded.calibrate(table), model.calibrate(table))


def test_columns_without_names_are_found_by_position_after_loading(tmp_path: Path) -> None:
    table, labels, scores = table_of(["a", "b"])
    matrix = np.column_stack([table["number"], scores**2])
    model = fitted(matrix, labels, scores, categorical_features="from_dtype")
    model.save(tmp_path / "model")
    assert np.array_equal(trueup.load(tmp_path / "model").calibrate(matrix, scores), model.calibrate(matrix, scores))
    assert not hasattr(trueup.MCGrad.load(tmp_path / "model"), "feature_names_in_")


@pytest.mark.parametrize(
    "labels",
    [
        (0, 1),
        (-1, 1),
        (0.0, 1.0),
        (False, True),
        ("no", "yes"),
        (b"n", b"y"),
        (dt.date(1, 1, 1), dt.date(2, 1, 1)),
    ],
    ids=str,
)
def test_class_labels_of_any_type_come_back(labels: tuple[Any, Any], tmp_path: Path) -> None:
    table, happened, scores = table_of(["a", "b"])
    model = fitted(table, [labels[int(value)] for value in happened], scores)
    model.save(tmp_path / "model")
    loaded = trueup.MCGrad.load(tmp_path / "model")
    assert loaded.classes_.tolist() == model.classes_.tolist() == list(labels)
    assert np.array_equal(loaded.predict(table, scores=scores), model.predict(table, scores=scores))


def test_parameters_and_history_come_back_but_for_the_seconds(tmp_path: Path) -> None:
    model = fitted(*table_of(["a", "b"]), random_state=7, min_sum_hessian_in_leaf=1.5)
    model.save(tmp_path / "model")
    loaded = trueup.MCGrad.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert len(loaded.history_) == 3
    for before, after in zip(model.history_, loaded.history_, strict=True):
        np.testing.assert_equal(dataclasses.astuple(after)[:-1], dataclasses.astuple(before)[:-1])
        assert math.isnan(after.seconds)


def test_odd_column_names_come_back(tmp_path: Path) -> None:
    names = ("", " ", "\x00", "a\nb", "\ud800", "naïve", "🙂", "__class__", "0", "manifest.json")
    spec = FeatureSpec(names, tuple(Feature(name, ValueKind.NUMBER) for name in names))
    calibrator = trueup.Calibrator(CalibrationModel(spec, ()))
    calibrator.save(tmp_path / "model")
    assert trueup.load(tmp_path / "model").model.features == spec


def test_reading_and_writing_are_inverses(tmp_path: Path) -> None:
    fitted(*table_of(CATEGORIES["types of all kinds"])).save(tmp_path / "first")
    model, parity = read_model(tmp_path / "first")
    write_model(model, parity, tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert read_model(tmp_path / "second")[1] == parity
