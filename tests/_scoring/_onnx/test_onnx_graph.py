"""An exported graph gives the model's answers."""

from __future__ import annotations

import hashlib
import json
import math

import numpy as np
import pytest

import trueup
from small_fits import quick
from trueup._model import CalibrationModel, Feature, FeatureSpec, FittedRound, Trees, ValueKind
from trueup.baselines import IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator
from trueup.datasets import make_traffic


@pytest.fixture(scope="module")
def traffic_model():
    rows = make_traffic(20_000, random_state=0)
    growth = {"min_child_samples": 20, "n_estimators": 40, "num_leaves": 8}
    few = {"max_rounds": 4, "validation": None, "rescale": "train", "n_jobs": 1}
    return trueup.MCGrad(**few, lightgbm_params=growth).fit(rows.X, rows.y, scores=rows.scores)


def one_split(threshold: float, *, decision: int = 2 << 2) -> Trees:
    """A tree that adds 1 to the logit of numbers up to a threshold, and 2 to that of others."""
    return Trees(
        node_offsets=np.array([0, 1], np.int32),
        split_feature=np.array([0], np.int32),
        threshold=np.array([threshold]),
        decision_type=np.array([decision], np.uint8),
        left_child=np.array([~0], np.int32),
        right_child=np.array([~1], np.int32),
        leaf_values=np.array([1.0, 2.0]),
        category_offsets=np.zeros(1, np.int32),
        category_words=np.zeros(0, np.uint32),
    )


def model_of(*rounds: FittedRound, feature: Feature | None = None, **more) -> CalibrationModel:
    feature = feature or Feature("x", ValueKind.NUMBER)
    return CalibrationModel(FeatureSpec((feature.name,), (feature,)), rounds, **more)


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


@pytest.mark.slow
@pytest.mark.parametrize("float_type", ["float64", "float32"])
def test_it_agrees_with_the_model_on_100_000_rows_of_simulated_traffic(traffic_model, export, run, rounded, float_type):
    rows = make_traffic(100_000, random_state=1)  # with missing values, and versions that were not there at fit
    X, scores = rows.X, rows.scores
    if float_type == "float32":
        X, scores = rounded(X), scores.astype(np.float32).astype(float)
    exported = export(traffic_model, float_type=float_type)
    expected = traffic_model.calibrate(X, scores)
    assert np.abs(expected - scores).max() > 0.05  # the model does something
    np.testing.assert_allclose(run(exported, exported.feeds(rows.X, rows.scores)), expected, rtol=0, atol=1e-12)


def test_one_round_by_hand(export, run):
    # Round: logit(0.5) = 0; numbers up to 3 get 1, others 2; times 0.5. So sigmoid(0.5) and sigmoid(1).
    exported = export(model_of(FittedRound(one_split(3.0), 0.5)))
    found = run(exported, {"x": np.array([3.0, np.nextafter(3.0, 4.0)]), "score": np.array([0.5, 0.5])})
    assert found == pytest.approx([sigmoid(0.5), sigmoid(1.0)], abs=1e-15)


def test_the_logit_of_a_round_is_what_the_next_one_looks_at(export, run):
    # Feature 1 is the logit. Round 1 gives 1 or 2, and round 2 splits at 1.5: 1 gets 1 more, 2 gets 2 more.
    first, second = one_split(3.0), one_split(1.5)
    second.split_feature[:] = 1
    exported = export(model_of(FittedRound(first, 1.0), FittedRound(second, 1.0)))
    found = run(exported, {"x": np.array([0.0, 9.0]), "score": np.array([0.5, 0.5])})
    assert found == pytest.approx([sigmoid(2.0), sigmoid(4.0)], abs=1e-15)


@pytest.mark.parametrize("threshold", [0.1, 1 / 3, 16777217.0])  # none of them is a float32
def test_float32_numbers_are_compared_with_the_very_threshold(export, run, threshold):
    model = model_of(FittedRound(one_split(threshold), 1.0))
    exported = export(model, float_type="float32")
    near = np.float32(threshold)
    numbers = np.array([np.nextafter(near, np.float32(-np.inf)), near, np.nextafter(near, np.float32(np.inf))])
    found = run(exported, {"x": numbers, "score": np.full(3, 0.5, np.float32)})
    expected = [sigmoid(1.0 if float(number) <= threshold else 2.0) for number in numbers]
    assert len(set(expected)) == 2
    assert found == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("decision", "missing_adds"),
    [
        (0 << 2 | 2, 2.0),  # NaN is read as 0, which is above the threshold
        (2 << 2 | 2, 1.0),  # NaN is missing, and goes left
        (2 << 2, 2.0),
        (1 << 2 | 2, 1.0),  # zero is missing, and NaN is zero
    ],
)
def test_missing_numbers_go_where_lightgbm_sends_them(export, run, decision, missing_adds):
    exported = export(model_of(FittedRound(one_split(-1.0, decision=decision), 1.0)))
    found = run(exported, {"x": np.array([np.nan, 5.0, -5.0]), "score": np.full(3, 0.5)})
    assert found == pytest.approx([sigmoid(missing_adds), sigmoid(2.0), sigmoid(1.0)], abs=1e-15)


def test_scores_that_are_no_probabilities_give_nan(export, run):
    exported = export(model_of(FittedRound(one_split(0.0), 1.0)))
    scores = np.array([np.nan, -1e-9, 1 + 1e-9, np.inf, 0.0, 1.0])
    found = run(exported, {"x": np.zeros(6), "score": scores})
    assert np.isnan(found).tolist() == [True, True, True, True, False, False]


def test_a_model_without_rounds_gives_the_scores_back_bit_for_bit(export, run):
    exported = export(model_of())
    scores = np.array([0.0, 1e-9, 1 / 3, 1.0, np.nan])
    np.testing.assert_array_equal(run(exported, {"x": np.zeros(5), "score": scores}), scores)


def test_a_model_that_was_fitted_without_scores_takes_none(export, run):
    exported = export(model_of(FittedRound(one_split(0.0), 1.0), base_rate=0.25))
    assert [graph_input.name for graph_input in exported.inputs] == ["x"]
    base = math.log(0.25 / 0.75)
    found = run(exported, exported.feeds({"x": [-1.0, 1.0]}))
    assert found == pytest.approx([sigmoid(base + 1), sigmoid(base + 2)], abs=1e-15)


def test_unseen_and_missing_texts_go_the_same_way(export, run):
    rng = np.random.default_rng(0)
    city = rng.choice(["Åland", "Ōsaka", "b\0c", "b"], 2000)
    y = rng.random(2000) < np.where(city == "Ōsaka", 0.9, 0.2)
    model = quick().fit({"city": city.astype(object)}, y, scores=np.full(2000, 0.4))
    exported = export(model)
    known = ["Åland", "Ōsaka", "b\0c", "b"]
    found = run(exported, {"city": np.array([*known, "", "Oslo"], dtype=object), "score": np.full(6, 0.4)})
    expected = model.calibrate({"city": [*known, None, None]}, np.full(6, 0.4))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)
    assert found[1] > found[0] + 0.1


def test_the_missing_text_is_never_a_category(export, run):
    rng = np.random.default_rng(0)
    city = rng.choice(["", "<missing>", "Oslo"], 2000)
    y = rng.random(2000) < np.where(city == "", 0.9, 0.2)
    model = quick().fit({"city": city.astype(object)}, y, scores=np.full(2000, 0.4))
    exported = export(model)
    assert exported.missing_text == "<missing>_"
    rows = {"city": ["", None, "Oslo"]}
    found = run(exported, exported.feeds(rows, [0.4] * 3))
    np.testing.assert_allclose(found, model.calibrate(rows, [0.4] * 3), rtol=0, atol=1e-15)
    assert json.loads(exported.metadata["trueup.missing"])["string"] == "<missing>_"


@pytest.mark.parametrize("float_type", ["float64", "float32"])
def test_numbers_and_booleans_that_are_categories(export, run, float_type):
    rng = np.random.default_rng(0)
    code, flag = rng.choice([-3, 0, 7, 2**20], 3000), rng.random(3000) < 0.5
    y = rng.random(3000) < np.where((code == 7) ^ flag, 0.8, 0.3)
    table = {"code": code, "flag": flag}
    model = quick(categorical_features=["code"]).fit(table, y, scores=np.full(3000, 0.5))
    exported = export(model, float_type=float_type)
    assert {graph_input.element for graph_input in exported.inputs} == {float_type}
    rows = {"code": [-3, 0, 7, 2**20, None, 8], "flag": [True, False, None, True, False, True]}
    found = run(exported, exported.feeds(rows, [0.5] * 6))
    np.testing.assert_allclose(found, model.calibrate(rows, [0.5] * 6), rtol=0, atol=1e-15)
    assert len(set(found)) > 2
    minus_zero = {"code": np.array([-0.0], float_type), "flag": np.zeros(1, float_type)}
    assert run(exported, {**minus_zero, "score": np.full(1, 0.5, float_type)}) == pytest.approx(found[1], abs=1e-15)


@pytest.mark.parametrize("n_rows", [0, 1, 2, 5000])
def test_any_number_of_rows(traffic_model, export, run, n_rows):
    rows = make_traffic(5000, random_state=2)
    exported = export(traffic_model)
    X, scores = rows.X.slice(0, n_rows), rows.scores[:n_rows]
    np.testing.assert_allclose(
        run(exported, exported.feeds(X, scores)), traffic_model.calibrate(X, scores), rtol=0, atol=1e-12
    )


def test_columns_without_names_are_called_x0_and_so_on(export, run):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    model = quick().fit(X, rng.random(2000) < np.where(X[:, 1] > 0, 0.7, 0.2), scores=np.full(2000, 0.4))
    exported = export(model)
    assert [graph_input.name for graph_input in exported.inputs] == ["x0", "x1", "x2", "score"]
    found = run(exported, exported.feeds(X[:50], np.full(50, 0.4)))
    np.testing.assert_allclose(found, model.calibrate(X[:50], np.full(50, 0.4)), rtol=0, atol=1e-15)


def test_features_may_be_called_as_the_graphs_own_parts_are(export, run):
    names = ["score", "calibrated", "trueup/Add_0", "a b/c", "größe"]
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=1000) for name in names}
    model = quick().fit(X, rng.random(1000) < np.where(X["score"] > 0, 0.7, 0.2), scores=np.full(1000, 0.4))
    exported = export(model)
    assert [graph_input.name for graph_input in exported.inputs] == [*names, "score_"]
    assert exported.output == "calibrated_"
    found = run(exported, exported.feeds(X, np.full(1000, 0.4)))
    np.testing.assert_allclose(found, model.calibrate(X, np.full(1000, 0.4)), rtol=0, atol=1e-15)


def test_the_score_has_the_name_of_its_column(export):
    rows = make_traffic(2000, random_state=0)
    table = rows.X.append_column("p_click", [rows.scores])
    model = quick(score_column="p_click").fit(table, rows.y)
    exported = export(model)
    assert exported.inputs[-1].name == "p_click"
    np.testing.assert_array_equal(exported.feeds(table)["p_click"], rows.scores)


def test_a_column_that_was_empty_at_fit_may_be_anything(export, run):
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    X = {"x": x, "nothing": [None] * 1000}
    model = quick().fit(X, rng.random(1000) < np.where(x > 0, 0.7, 0.2), scores=np.full(1000, 0.4))
    exported = export(model)
    assert [graph_input.element for graph_input in exported.inputs] == ["float64", "string", "float64"]
    found = run(exported, exported.feeds({"x": x, "nothing": ["anything"] * 1000}, np.full(1000, 0.4)))
    np.testing.assert_allclose(found, model.calibrate(X, np.full(1000, 0.4)), rtol=0, atol=1e-15)


def test_zero_as_missing_is_kept(export, run):
    rng = np.random.default_rng(0)
    x = rng.choice([0.0, 1.0, 2.0, np.nan], 3000)
    y = rng.random(3000) < np.where((x == 0) | np.isnan(x), 0.8, 0.2)
    params = {"zero_as_missing": True, "n_estimators": 8, "min_child_samples": 5}
    model = quick(lightgbm_params=params).fit({"x": x}, y, scores=np.full(3000, 0.5))
    assert (model.model_.rounds[0].trees.decision_type >> 2 == 1).any()
    numbers = np.array([0.0, -0.0, 1e-36, 1e-34, 1.0, -1.0, 2.0, np.nan])
    found = run(export(model), {"x": numbers, "score": np.full(8, 0.5)})
    np.testing.assert_allclose(found, model.calibrate({"x": numbers}, np.full(8, 0.5)), rtol=0, atol=1e-15)


@pytest.mark.parametrize("estimator", [IsotonicCalibrator(), PlattCalibrator(), TemperatureCalibrator()])
def test_maps_of_the_score(export, run, estimator):
    rows = make_traffic(4000, random_state=0)
    fitted = estimator.fit(rows.X, rows.y, scores=rows.scores)
    exported = export(fitted)
    edges = np.array([0.0, 1.0, 1e-9, 1 - 1e-9, 0.5])
    scores = np.concatenate([rows.scores[5:], edges])
    found = run(exported, exported.feeds(rows.X, scores))
    np.testing.assert_allclose(found, fitted.calibrate(rows.X, scores), rtol=0, atol=1e-12)


def test_the_knots_of_a_score_map_are_met_exactly(export, run):
    rows = make_traffic(4000, random_state=0)
    fitted = IsotonicCalibrator().fit(rows.X, rows.y, scores=rows.scores)
    knots = fitted.model_.score_map.scores
    beside = np.concatenate([knots, np.nextafter(knots, 0), np.nextafter(knots, 1)])
    scores = np.append(beside[(beside >= 0) & (beside <= 1)], np.nan)
    found = run(export(fitted), {"score": scores})
    with pytest.warns(trueup.errors.MissingScoreWarning):
        expected = fitted.calibrate({"x": np.zeros(len(scores))}, scores)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_the_file_says_what_it_is(traffic_model, export, tmp_path):
    import onnx

    traffic_model.save(tmp_path / "model.trueup")
    exported = export(tmp_path / "model.trueup")
    model = onnx.load(exported.path)
    onnx.checker.check_model(model, full_check=True)
    assert (model.producer_name, model.producer_version) == ("trueup", trueup.__version__)
    said = {prop.key: prop.value for prop in model.metadata_props}
    assert said == exported.metadata
    sha256 = hashlib.sha256((tmp_path / "model.trueup").read_bytes()).hexdigest()
    assert said["trueup.model_sha256"] == sha256
    assert export(traffic_model).metadata["trueup.model_sha256"] == sha256  # the same model is the same bytes
    assert [feature["name"] for feature in json.loads(said["trueup.features"])] == list(
        traffic_model.model_.features.names
    )
    assert set(json.loads(said["trueup.versions"])) == {"trueup", "numpy", "onnx", "onnxruntime"}
    assert float(said["trueup.largest_difference"]) == exported.largest_difference < 1e-12
    assert int(said["trueup.rows_compared"]) == exported.n_rows_compared > 4000


def test_the_same_model_gives_the_same_file(traffic_model, export):
    first = export(traffic_model).path.read_bytes()
    assert export(traffic_model).path.read_bytes() == first
