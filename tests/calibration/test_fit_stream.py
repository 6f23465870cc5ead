"""Fitting tables that come batch by batch: the same model in whatever files the rows are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import trueup
from small_fits import quick
from trueup import MCGrad
from trueup._data import hash_column
from trueup._fitting import dealing_for
from trueup._scoring import Calibrator
from trueup.datasets import make_traffic
from trueup.errors import DataWarning, InsufficientDataWarning, RescaleWarning
from trueup.metrics import log_loss

TRAFFIC = make_traffic(24_000, random_state=5)
FRESH = make_traffic(20_000, random_state=6)


def table_of(traffic: Any) -> pa.Table:
    return traffic.X.append_column("clicked", pa.array(traffic.y)).append_column("p", pa.array(traffic.scores))


TABLE = table_of(TRAFFIC)
HALVED = TRAFFIC.scores[:6_000] / 2  # so wrong that some thousand rows show it
SOME = TABLE.slice(0, 6_000).set_column(TABLE.num_columns - 1, "p", pa.array(HALVED))
COLUMNS = {"label": "clicked", "score": "p"}


def rounds_of(more: dict[str, Any] | None = None) -> MCGrad:
    """Two rounds on few rows."""
    return MCGrad(**{"validation": 0.3, "max_rounds": 2, "patience": 5, "n_jobs": 1, **(more or {})})


def in_files(table: pa.Table, folder: Path, *sizes: int) -> Path:
    folder.mkdir(exist_ok=True)
    first = 0
    for number, size in enumerate([*sizes, table.num_rows - sum(sizes)]):
        pq.write_table(table.slice(first, size), folder / f"part-{number:02d}.parquet", row_group_size=700)
        first += size
    return folder


def file_of(model: MCGrad, path: Path) -> bytes:
    """The model file, without the seconds that rounds took."""
    summary = model.model_.summary
    timeless = replace(summary, history=tuple(replace(record, seconds=0.0) for record in summary.history))
    Calibrator(replace(model.model_, summary=timeless)).save(path)
    return path.read_bytes()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The model file of a fit on one table."""
    model = rounds_of().fit_stream(SOME, **COLUMNS)
    assert model.n_rounds_ >= 1
    return file_of(model, tmp_path_factory.mktemp("whole") / "model.trueup")


@pytest.mark.parametrize("sizes", [(), (1,), (2_500, 0, 1_000), (500,) * 11], ids=["one", "a row", "empty", "many"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_model_does_not_depend_on_files_and_threads(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sizes: tuple[int, ...], n_jobs: int
) -> None:
    monkeypatch.setattr("trueup._fitting._growing._ROWS_A_THREAD", 1_000)  # so that LightGBM itself gets two threads
    folder = in_files(SOME, tmp_path / "rows", *sizes)
    model = rounds_of({"n_jobs": n_jobs}).fit_stream(folder, **COLUMNS)
    assert file_of(model, tmp_path / "model.trueup") == whole


@pytest.mark.parametrize("source", ["batches", "generator of batches", "dataset", "pandas", "pattern", "mixed types"])
def test_the_model_does_not_depend_on_what_holds_the_rows(whole: bytes, tmp_path: Path, source: str) -> None:
    rows: Any
    if source == "batches":
        rows = SOME.to_batches(1_234)
    elif source == "generator of batches":
        rows = _Batches()
    elif source == "pandas":
        rows = [SOME.slice(0, 2_000).to_pandas(), SOME.slice(2_000).to_pandas()]
    elif source == "mixed types":
        small = [pa.float32() if field.type == pa.int64() else field.type for field in SOME.schema]
        narrow = pa.table(
            [column.cast(kind) for column, kind in zip(SOME.columns, small, strict=True)], SOME.schema.names
        )
        site = narrow.schema.get_field_index("country")
        rows = [
            SOME.slice(0, 2_000),
            narrow.slice(2_000).set_column(site, "country", SOME["country"].slice(2_000).dictionary_encode()),
        ]
    else:
        folder = in_files(SOME, tmp_path / "rows", 2_000)
        rows = ds.dataset(folder) if source == "dataset" else f"{folder}/part-*.parquet"
    assert file_of(rounds_of().fit_stream(rows, **COLUMNS), tmp_path / "model.trueup") == whole


class _Batches:
    """An iterable that can be read again."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        yield from SOME.to_batches(999)


def test_it_is_as_good_as_a_fit_in_memory() -> None:
    in_memory = MCGrad(n_jobs=1).fit(TRAFFIC.X, TRAFFIC.y, scores=TRAFFIC.scores)
    streamed = MCGrad(n_jobs=1).fit_stream(TABLE.to_batches(5_000), **COLUMNS)
    assert streamed.n_rounds_ == in_memory.n_rounds_ > 0
    base = log_loss(FRESH.y, FRESH.scores)
    ours = log_loss(FRESH.y, streamed.calibrate(table_of(FRESH)))
    theirs = log_loss(FRESH.y, in_memory.calibrate(FRESH.X, FRESH.scores))
    assert ours < 0.995 * base
    assert abs(ours / theirs - 1) < 0.001


@pytest.mark.parametrize(
    "options",
    [{"validation": None, "rescale": "train"}, {}, {"validation": 3}, {"validation": "auto", "patience": 0}],
    ids=["no validation", "hold-out", "folds", "defaults"],
)
def test_on_few_values_it_is_the_fit_in_memory_itself(options: dict[str, Any]) -> None:
    # The same rows grow trees and the same rows validate, and few values are told apart by either.
    few = SOME.select(["country", "device", "hour", "is_logged_in", "clicked", "p"])
    streamed = rounds_of(options).fit_stream(few, **COLUMNS)
    in_memory = rounds_of({**options, "score_column": "p"}).fit(few.drop_columns(["clicked"]), TRAFFIC.y[:6_000])
    np.testing.assert_array_equal(streamed.calibrate(few), in_memory.calibrate(few))
    assert streamed.n_rounds_ == in_memory.n_rounds_ > 0
    for ours, theirs in zip(streamed.history_, in_memory.history_, strict=True):
        assert (ours.train_loss, ours.theta, ours.phi) == (theirs.train_loss, theirs.theta, theirs.phi)
        np.testing.assert_equal(ours.validation_loss, theirs.validation_loss)
    np.testing.assert_array_equal(streamed.feature_importances_, in_memory.feature_importances_)
    assert streamed.feature_names_in_.tolist() == in_memory.feature_names_in_.tolist()
    assert streamed.n_features_in_ == in_memory.n_features_in_
    np.testing.assert_array_equal(streamed.classes_, in_memory.classes_)
    assert streamed.classes_.dtype == in_memory.classes_.dtype
    assert streamed.model_.features == in_memory.model_.features
    ours, theirs = streamed.model_.summary, in_memory.model_.summary
    assert (ours.n_rows, ours.positive_rate, ours.versions) == (theirs.n_rows, theirs.positive_rate, theirs.versions)


@pytest.mark.parametrize("labels", ["strings", "booleans", "floats", "probabilities"])
def test_labels_of_any_type(labels: str) -> None:
    values: Any = {
        "strings": np.where(TRAFFIC.y[:6_000] == 1, "yes", "no"),
        "booleans": TRAFFIC.y[:6_000] == 1,
        "floats": TRAFFIC.y[:6_000].astype(float),
        "probabilities": np.clip(TRAFFIC.y[:6_000], 0.01, 0.99),
    }[labels]
    table = SOME.drop_columns(["clicked"]).append_column("clicked", pa.array(values))
    options = {"validation": None, "rescale": "train"}
    streamed = rounds_of(options).fit_stream(table.to_batches(1_000), **COLUMNS)
    in_memory = rounds_of(options).fit(SOME.drop_columns(["clicked", "p"]), values, scores=HALVED)
    assert streamed.classes_.tolist() == in_memory.classes_.tolist()
    assert streamed.classes_.dtype == in_memory.classes_.dtype
    assert streamed.n_rounds_ == 2
    np.testing.assert_allclose(
        streamed.calibrate(table),
        in_memory.calibrate(table.drop_columns(["clicked", "p"]), HALVED),
        atol=0.05,
    )


def test_files_of_one_class_each_are_one_table(tmp_path: Path) -> None:
    order = np.argsort(TRAFFIC.y[:6_000], kind="stable")
    ordered = SOME.take(order)
    n_negative = int((TRAFFIC.y[:6_000] == 0).sum())
    one = rounds_of().fit_stream(ordered, **COLUMNS)
    two = rounds_of().fit_stream([ordered.slice(0, n_negative), ordered.slice(n_negative)], **COLUMNS)
    assert file_of(one, tmp_path / "one.trueup") == file_of(two, tmp_path / "two.trueup")
    assert one.classes_.tolist() == [0, 1]


def test_without_scores_the_base_rate_is_the_base_model() -> None:
    table = SOME.drop_columns(["p"])
    model = rounds_of().fit_stream(table.to_batches(1_000), label="clicked")
    assert model.model_.base_rate == pytest.approx(TRAFFIC.y[:6_000].mean())
    assert model.history_[0].validation_loss > model.history_[1].validation_loss
    assert model.calibrate(table).mean() == pytest.approx(TRAFFIC.y[:6_000].mean(), rel=0.1)
    assert not model.model_.features.score_column


def test_rows_without_weight_are_rows_that_are_not_there(tmp_path: Path) -> None:
    weights = np.where(np.arange(6_000) % 3 == 0, 0.0, 2.0)
    weighted = SOME.append_column("w", pa.array(weights))
    options = {"rescale": "train"}
    ours = rounds_of(options).fit_stream(weighted.to_batches(1_000), weight="w", **COLUMNS)
    theirs = rounds_of(options).fit_stream(weighted.filter(weights > 0).to_batches(500), weight="w", **COLUMNS)
    assert file_of(ours, tmp_path / "ours.trueup") == file_of(theirs, tmp_path / "theirs.trueup")
    assert ours.model_.summary.n_rows == 4_000


def test_rows_validate_or_not_wherever_they_come_from(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    users = np.random.default_rng(1).integers(0, 400, 6_000)
    table = SOME.append_column("user", pa.array(users)).append_column("day", pa.array(users % 20))
    features = SOME.drop_columns(["clicked", "p"])
    streamed, in_memory = _validating_rows(monkeypatch), _validating_rows(monkeypatch, "_in_memory")
    for most_stratified in (1_000_000, 100):  # dealt with the classes in proportion, and by place
        monkeypatch.setattr("trueup._fitting._splits.STRATIFIED_MAX_ROWS", most_stratified)
        for groups in (None, users, users % 20):
            rounds_of({"max_rounds": 1}).fit(features, TRAFFIC.y[:6_000], scores=HALVED, groups=groups)
            columns = COLUMNS if groups is None else {**COLUMNS, "group": "user" if groups is users else "day"}
            for rows in (table, table.to_batches(999), in_files(table, tmp_path / "rows", 2_000, 1_000)):
                rounds_of({"max_rounds": 1, "features": ["hour"]}).fit_stream(rows, **columns)
                np.testing.assert_array_equal(streamed[-1], in_memory[-1])
    assert [len(rows) for rows in in_memory][::3] == [1_800, pytest.approx(1_800, abs=150)]
    for number in (1, 2):  # by groups, however many rows there are
        np.testing.assert_array_equal(in_memory[number], in_memory[number + 3])


def test_weights_are_those_of_a_fit_in_memory() -> None:
    weights = np.random.default_rng(0).integers(0, 5, 6_000) / 2  # some are zero, and no rows then
    few = SOME.select(["country", "device", "hour", "clicked", "p"])
    options = {"patience": 0}
    streamed = rounds_of(options).fit_stream(few.append_column("w", pa.array(weights)), weight="w", **COLUMNS)
    features = few.select(["country", "device", "hour"])
    in_memory = rounds_of(options).fit(features, TRAFFIC.y[:6_000], scores=HALVED, sample_weight=weights)
    np.testing.assert_array_equal(streamed.calibrate(few), in_memory.calibrate(features, HALVED))


def test_rows_of_one_group_stay_together_in_whatever_files_they_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    users = np.random.default_rng(1).integers(0, 400, 6_000)
    table = SOME.append_column("user", pa.array(users))
    validating = _validating_rows(monkeypatch)
    rounds_of({"max_rounds": 1}).fit_stream(table.to_batches(999), group="user", **COLUMNS)
    order = np.random.default_rng(2).permutation(6_000)
    rounds_of({"max_rounds": 1}).fit_stream(
        in_files(table.take(order), tmp_path / "rows", 3_000), group="user", **COLUMNS
    )
    first, second = set(users[validating[0]]), set(users[order][validating[1]])
    assert first == second
    assert not first & set(np.delete(users, validating[0]))
    assert 0.2 < len(first) / 400 < 0.4


def _validating_rows(monkeypatch: pytest.MonkeyPatch, module: str = "_streaming") -> list[np.ndarray]:
    fitting = import_module(f"trueup._fitting.{module}")
    seen: list[np.ndarray] = []

    def watched(data: Any, n_fit: int, splits: Any, *others: Any, **more: Any) -> Any:
        """Write down which rows validate."""
        seen.append(np.asarray(splits[0][1]))
        return fit_data(data, n_fit, splits, *others, **more)

    fit_data = fitting.fit_data
    monkeypatch.setattr(fitting, "fit_data", watched)
    return seen


def test_a_group_is_no_feature_unless_it_is_named_as_one() -> None:
    table = SOME.append_column("user", pa.array(np.arange(6_000) % 50))
    assert "user" not in rounds_of({"max_rounds": 1}).fit_stream(table, group="user", **COLUMNS).model_.features.names
    named = rounds_of({"max_rounds": 1, "features": ["hour", "user"]}).fit_stream(table, group="user", **COLUMNS)
    assert named.model_.features.names == ("hour", "user")


def test_a_group_validates_if_its_hash_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from trueup._fitting._options import seeds_from

    table = SOME.append_column("user", pa.array([f"u{n % 300}" for n in range(6_000)]))
    validating = _validating_rows(monkeypatch)
    rounds_of({"max_rounds": 1, "random_state": 3}).fit_stream(table, group="user", **COLUMNS)
    folds = dealing_for(0.3, 6_000, seeds_from(3)[0]).by_hash(hash_column(table["user"]))
    np.testing.assert_array_equal(validating[0], np.flatnonzero(folds == 0))


def test_a_saved_model_scores_the_same(tmp_path: Path) -> None:
    model = rounds_of().fit_stream(SOME.to_batches(1_000), **COLUMNS)
    model.save(tmp_path / "model.trueup")
    fresh = table_of(FRESH)
    expected = model.calibrate(fresh)
    np.testing.assert_array_equal(trueup.load(tmp_path / "model.trueup").calibrate(fresh), expected)
    again = MCGrad.load(tmp_path / "model.trueup")
    np.testing.assert_array_equal(again.calibrate(fresh), expected)
    assert again.n_rounds_ == model.n_rounds_
    one = {name: fresh[name][7].as_py() for name in model.model_.features.names}
    assert trueup.load(tmp_path / "model.trueup").calibrate_one(one, FRESH.scores[7]) == expected[7]


def test_the_score_column_of_the_estimator_is_the_score() -> None:
    model = rounds_of({"score_column": "p"}).fit_stream(SOME, label="clicked")
    assert model.model_.features.score_column == "p"
    assert model.model_.rounds[0].theta == rounds_of().fit_stream(SOME, **COLUMNS).model_.rounds[0].theta


def test_the_model_is_the_same_when_the_fit_on_all_rows_waits_for_the_search(
    whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueup._fitting._streaming._MOST_ROWS_AT_ONCE", 100)  # as above so many rows
    model = rounds_of({"n_jobs": 2}).fit_stream(SOME, **COLUMNS)
    assert file_of(model, tmp_path / "model.trueup") == whole


def test_folds_share_their_rescaling_and_the_model_is_fitted_on_all_rows() -> None:
    model = rounds_of({"validation": 3}).fit_stream(SOME.to_batches(2_000), **COLUMNS)
    assert model.model_.summary.n_rows == 6_000
    assert model.n_rounds_ >= 1
    assert np.isfinite(model.history_[1].validation_loss)


def test_max_bin_is_how_many_intervals_numbers_have() -> None:
    table = pa.table({"x": np.arange(6_000.0), "y": np.arange(6_000) // 1_000 % 2, "p": np.full(6_000, 0.5)})
    model = quick(lightgbm_params={"max_bin": 8, "min_child_samples": 1, "n_estimators": 40}).fit_stream(
        table, label="y", score="p"
    )
    thresholds = {value for one in model.model_.rounds for value in one.trees.threshold[one.trees.split_feature == 0]}
    assert 1 < len(thresholds) <= 5  # six intervals


def test_too_few_rows_give_no_round_and_say_so() -> None:
    few = SOME.slice(0, 200)
    with pytest.warns(InsufficientDataWarning, match="Too few rows: a split needs 320 training rows") as told:
        model = MCGrad().fit_stream(few, **COLUMNS)
    assert told[0].filename == __file__
    assert model.n_rounds_ == 0
    np.testing.assert_array_equal(model.calibrate(few), HALVED[:200])


def test_one_group_leaves_nothing_to_validate_on() -> None:
    table = SOME.append_column("user", pa.array(np.zeros(6_000)))
    with pytest.warns(InsufficientDataWarning, match="too few groups to split"):
        assert rounds_of().fit_stream(table, group="user", **COLUMNS).n_rounds_ == 0


def test_without_validation_honest_rescaling_is_not_and_it_is_said() -> None:
    with pytest.warns(RescaleWarning, match="validation=None"):
        model = rounds_of({"validation": None}).fit_stream(SOME, **COLUMNS)
    assert model.n_rounds_ == 2


def test_a_column_that_some_files_lack_is_left_out_and_told_of(tmp_path: Path, whole: bytes) -> None:
    more = SOME.append_column("extra", pa.array(np.arange(6_000)))
    with pytest.warns(DataWarning, match=r"Ignoring column 'extra'.*batch 0") as told:
        model = rounds_of().fit_stream([SOME.slice(0, 3_000), more.slice(3_000)], **COLUMNS)
    assert told[0].filename == __file__
    assert file_of(model, tmp_path / "model.trueup") == whole


def test_a_row_alone_goes_where_it_goes_in_a_table() -> None:
    # What is missing matters most, so that trees part it from all numbers, of which some lie far beyond the sample.
    rng = np.random.default_rng(8)
    missing = rng.random(3_000) < 0.3
    x = pa.array(rng.lognormal(3, 2, 3_000), mask=missing)
    table = pa.table(
        {"x": x, "y": (rng.random(3_000) < np.where(missing, 0.8, 0.2)).astype(int), "p": np.full(3_000, 0.4)}
    )
    model = quick().fit_stream(table, label="y", score="p")
    values = [None, -np.inf, -1e305, 0.0, 1.0, 1e9, 1e305, np.inf]
    together = model.calibrate(pa.table({"x": pa.array(values, pa.float64())}), np.full(len(values), 0.4))
    calibrator = Calibrator(model.model_)
    assert [calibrator.calibrate_one({"x": value}, 0.4) for value in values] == together.tolist()
    assert together[0] > 0.7
    assert together[1:].max() < 0.35
