"""MCGrad as its users meet it."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import trueup
from trueup import MCGrad
from trueup.errors import (
    ColumnError,
    InsufficientDataWarning,
    ParameterError,
    RescaleWarning,
    ScoreError,
    TrainingError,
    TrueupWarning,
)
from trueup.metrics import log_loss

N = 6000
RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "country": RNG.choice(["NO", "SE", "DK", "FI", "IS"], N, p=[0.4, 0.3, 0.2, 0.09, 0.01]),
        "age": RNG.normal(40, 12, N),
        "noise": RNG.normal(size=N),
    }
)
BASE = RNG.normal(size=N) - 0.5
TRUE = 1 / (1 + np.exp(-(BASE + 1.2 * (X.country == "NO") * (X.age > 45) - 0.8 * (X.country == "SE"))))
Y = (RNG.random(N) < TRUE).astype(int).to_numpy()
SCORES = 1 / (1 + np.exp(-BASE))
HALF = N // 2


@pytest.fixture(scope="module")
def fitted() -> MCGrad:
    return MCGrad().fit(X[:HALF], Y[:HALF], scores=SCORES[:HALF])


def same_model(a: MCGrad, b: MCGrad, tmp_path: Path) -> bool:
    a.save(tmp_path / "a")
    b.save(tmp_path / "b")
    return (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_it_repairs_the_segments_that_nobody_named(fitted: MCGrad) -> None:
    new, p = X[HALF:], SCORES[HALF:]
    q = fitted.calibrate(new, p)
    wrong = ((new.country == "NO") & (new.age > 45)).to_numpy()
    before, after = (abs((s - TRUE[HALF:])[wrong].mean()) for s in (p, q))
    assert before > 0.15
    assert after < before / 2
    assert log_loss(Y[HALF:], q) < log_loss(Y[HALF:], p) - 0.01


def test_no_rounds_give_the_base_scores_back_bit_for_bit() -> None:
    odd = np.concatenate([[0.0, 1.0, 1e-300, np.nextafter(0.5, 1)], SCORES[4:]])
    model = MCGrad(max_rounds=0).fit(X, Y, scores=odd)
    assert model.n_rounds_ == 0
    np.testing.assert_array_equal(model.calibrate(X, odd), odd)
    assert model.calibrate(X, odd) is not odd


def test_scores_that_are_right_already_are_left_alone() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(4000)
    table = {"a": rng.normal(size=4000), "b": rng.choice(["x", "y"], 4000)}
    model = MCGrad(rescale=None).fit(table, rng.random(4000) < truth, scores=truth)
    assert model.n_rounds_ == 0
    np.testing.assert_array_equal(model.calibrate(table, truth), truth)


@pytest.mark.parametrize(("validation", "rescale"), [(3, "honest"), (0.25, "honest"), (3, "train"), (None, "train")])
def test_the_number_of_jobs_does_not_change_the_model_file(
    validation: Any, rescale: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueup._fitting._growing._ROWS_A_THREAD", 1000)  # so that LightGBM itself gets two threads
    options: dict[str, Any] = {"validation": validation, "max_rounds": 2, "rescale": rescale}
    one, two = (MCGrad(n_jobs=jobs, **options).fit(X, Y, scores=SCORES) for jobs in (1, 2))
    assert one.n_rounds_ > 0
    assert same_model(one, two, tmp_path)


def test_the_seed_decides_the_model(tmp_path: Path) -> None:
    a, b = (MCGrad(random_state=3, max_rounds=2).fit(X, Y, scores=SCORES) for _ in range(2))
    c = MCGrad(random_state=4, max_rounds=2).fit(X, Y, scores=SCORES)
    assert same_model(a, b, tmp_path)
    assert not same_model(a, c, tmp_path)


def test_scores_that_are_true_are_hardly_touched_whatever_the_draw() -> None:
    # Choosing the rounds on held-out rows lets chance through now and then; what it costs must be next to nothing.
    cost = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        truth = rng.random(4000)
        table = {"a": rng.normal(size=4000), "b": rng.choice(["x", "y"], 4000)}
        found = MCGrad(max_rounds=3).fit(table, rng.random(4000) < truth, scores=truth).calibrate(table, truth)
        cost.append(log_loss(truth, found) - log_loss(truth, truth))
    assert sum(c > 0 for c in cost) <= 3
    assert np.mean(cost) < 0.001


def test_scores_may_come_as_the_two_columns_of_predict_proba(fitted: MCGrad) -> None:
    both = np.column_stack([1 - SCORES, SCORES])
    np.testing.assert_array_equal(fitted.calibrate(X, both), fitted.calibrate(X, SCORES))


def test_scores_may_be_a_column_of_the_table(fitted: MCGrad) -> None:
    table = X.assign(p=SCORES)
    model = MCGrad(score_column="p").fit(table[:HALF], Y[:HALF])
    np.testing.assert_array_equal(model.calibrate(table), fitted.calibrate(X, SCORES))
    assert model.model_.features.names == ("country", "age", "noise")
    row = table.iloc[0].to_dict()
    assert model.predict_proba(table[:1])[0, 1] == trueup.Calibrator(model.model_).calibrate_one(row)


def test_without_scores_the_base_rate_is_the_base_model() -> None:
    model = MCGrad(max_rounds=1).fit(X, Y)
    assert model.model_.base_rate == Y.mean()
    assert log_loss(Y, model.calibrate(X)) < log_loss(Y, np.full(N, Y.mean()))


def test_a_model_fitted_on_scores_asks_for_them(fitted: MCGrad) -> None:
    with pytest.raises(ScoreError, match="scores="):
        fitted.calibrate(X)


def test_a_model_fitted_without_scores_refuses_them() -> None:
    model = MCGrad(max_rounds=1).fit(X, Y)
    with pytest.raises(ScoreError, match="without scores"):
        model.calibrate(X, SCORES)
    with pytest.raises(ScoreError, match="without scores"):
        trueup.Calibrator(model.model_).calibrate_one(X.iloc[0].to_dict(), 0.5)


def test_what_lightgbm_refuses_is_an_error_of_ours() -> None:
    with pytest.raises(TrainingError, match="num_leaves"):
        MCGrad(lightgbm_params={"num_leaves": 1}).fit(X, Y, scores=SCORES)


def test_soft_labels_of_zero_and_one_are_nearly_labels() -> None:
    hard = MCGrad(max_rounds=1, validation=None, rescale="train").fit(X, Y, scores=SCORES)
    nearly = np.where(Y == 1, 1 - 1e-9, 0.0)
    soft = MCGrad(max_rounds=1, validation=None, rescale="train").fit(X, nearly, scores=SCORES)
    np.testing.assert_allclose(soft.calibrate(X, SCORES), hard.calibrate(X, SCORES), atol=0.01)


def test_soft_labels_teach_better_than_their_draws() -> None:
    soft = MCGrad(max_rounds=4).fit(X, TRUE.to_numpy(), scores=SCORES)
    hard = MCGrad(max_rounds=4).fit(X, Y, scores=SCORES)
    error = {name: np.abs(m.calibrate(X, SCORES) - TRUE).mean() for name, m in (("soft", soft), ("hard", hard))}
    assert error["soft"] < error["hard"]


def test_rows_of_no_weight_are_rows_that_are_not_there(tmp_path: Path) -> None:
    weights = np.where(np.arange(N) < HALF, 1.0, 0.0)
    with_zeros = MCGrad(max_rounds=2).fit(X, Y, scores=SCORES, sample_weight=weights)
    without = MCGrad(max_rounds=2).fit(X[:HALF], Y[:HALF], scores=SCORES[:HALF], sample_weight=weights[:HALF])
    assert with_zeros.n_rounds_ > 0
    assert same_model(with_zeros, without, tmp_path)


def test_a_users_splits_speak_of_the_rows_of_the_table_also_where_some_have_no_weight(tmp_path: Path) -> None:
    weights = np.where(np.arange(N) % 3 == 0, 0.0, 1.0)
    counts = weights > 0
    fold = np.where(np.arange(N) < HALF, 0, -1)
    table = MCGrad(validation=PredefinedSplit(fold), max_rounds=2).fit(X, Y, scores=SCORES, sample_weight=weights)
    part = MCGrad(validation=PredefinedSplit(fold[counts]), max_rounds=2)
    part.fit(X[counts], Y[counts], scores=SCORES[counts], sample_weight=weights[counts])
    assert table.n_rounds_ > 0
    assert same_model(table, part, tmp_path)


def test_weights_move_the_model_towards_the_heavy_rows() -> None:
    swedes = (X.country == "SE").to_numpy()
    heavy = MCGrad(max_rounds=1, validation=None, rescale=None).fit(X, Y, scores=SCORES, sample_weight=1 + 9 * swedes)
    plain = MCGrad(max_rounds=1, validation=None, rescale=None).fit(X, Y, scores=SCORES)
    gap = [abs((m.calibrate(X, SCORES) - Y)[swedes].mean()) for m in (heavy, plain)]
    assert gap[0] < gap[1]


def test_weights_that_sum_to_one_are_too_light_and_the_warning_says_what_to_do() -> None:
    with pytest.warns(InsufficientDataWarning, match="mean is 1"):
        model = MCGrad().fit(X, Y, scores=SCORES, sample_weight=np.full(N, 1 / N))
    assert model.n_rounds_ == 0


@pytest.mark.parametrize("certain", [0.0, 1e-12])
def test_hard_scores_are_saturated_and_not_too_few(certain: float) -> None:
    n = 20_000
    y = np.arange(n) % 3 == 0
    hard = np.where(np.arange(n) % 5 == 0, ~y, y).astype(float)
    with pytest.warns(InsufficientDataWarning, match="^The scores are saturated: .*Pass probabilities, not classes"):
        model = MCGrad().fit({"x": np.arange(n) % 7}, y, scores=np.clip(hard, certain, 1 - certain))
    assert model.n_rounds_ == 0


def test_an_eval_set_decides_like_a_hold_out_of_the_same_rows() -> None:
    watched = np.arange(N) % 4 == 0
    by_set = MCGrad().fit(
        X[~watched], Y[~watched], scores=SCORES[~watched], eval_set=(X[watched], Y[watched], SCORES[watched])
    )
    by_split = MCGrad(validation=PredefinedSplit(np.where(watched, 0, -1))).fit(X, Y, scores=SCORES)
    assert [r.validation_loss for r in by_set.history_] == [r.validation_loss for r in by_split.history_]
    assert by_set.n_rounds_ == by_split.n_rounds_ > 0
    assert by_set.model_.summary.n_rows == (~watched).sum()


def test_an_eval_set_of_the_wrong_form_is_refused() -> None:
    with pytest.raises(ParameterError, match="eval_set must be a tuple"):
        MCGrad().fit(X, Y, scores=SCORES, eval_set=[X, Y])
    with pytest.raises(ValueError, match="eval_set needs them too"):
        MCGrad().fit(X, Y, scores=SCORES, eval_set=(X, Y))


def test_honest_rescaling_without_held_out_rows_says_so_once() -> None:
    with pytest.warns(RescaleWarning, match="validation=None") as caught:
        honest = MCGrad(max_rounds=2, validation=None).fit(X, Y, scores=SCORES)
    assert len(caught) == 1
    train = MCGrad(max_rounds=2, validation=None, rescale="train").fit(X, Y, scores=SCORES)
    assert [r.theta for r in honest.model_.rounds] == [r.theta for r in train.model_.rounds]


def test_without_rescaling_every_theta_is_one() -> None:
    model = MCGrad(max_rounds=2, validation=None, rescale=None).fit(X, Y, scores=SCORES)
    assert [r.theta for r in model.model_.rounds] == [1.0, 1.0]


def test_a_monotone_score_never_turns_two_equal_rows_around() -> None:
    rng = np.random.default_rng(5)
    base = rng.normal(size=N)
    wavy = 1 / (1 + np.exp(-np.sin(3 * base)))  # the truth falls and rises with the score
    y = rng.random(N) < wavy
    scores = 1 / (1 + np.exp(-base))
    grid = np.linspace(0.001, 0.999, 400)
    rows = pd.DataFrame({"a": np.zeros(400)})
    table = pd.DataFrame({"a": rng.normal(size=N)})
    free = MCGrad(max_rounds=3).fit(table, y, scores=scores).calibrate(rows, grid)
    bound = MCGrad(max_rounds=3, monotone_score=True).fit(table, y, scores=scores).calibrate(rows, grid)
    assert (np.diff(free) < 0).any()
    assert (np.diff(bound) >= 0).all()


def test_history_tells_every_round_and_makes_a_table(fitted: MCGrad) -> None:
    history = pd.DataFrame(fitted.history_)
    assert history.number.tolist() == list(
        range(fitted.n_rounds_ + 2)
    )  # the base, the rounds, and one that gained nothing
    assert history.validation_loss.idxmin() == fitted.n_rounds_
    assert (history.seconds[1:] > 0).all()
    assert (history.phi[1:] > 2 * history.logit_change[1:]).all()


def test_importances_are_shares_over_all_rounds(fitted: MCGrad) -> None:
    importances = dict(zip(fitted.feature_names_in_, fitted.feature_importances_, strict=True))
    assert importances["country"] > importances["noise"]
    assert 0.5 < fitted.feature_importances_.sum() <= 1
    only = MCGrad(features=["age"], max_rounds=1).fit(X, Y, scores=SCORES)
    assert only.feature_importances_[0] == only.feature_importances_[2] == 0


def test_the_last_stage_is_the_calibration(fitted: MCGrad) -> None:
    stages = list(fitted.staged_calibrate(X, SCORES))
    assert len(stages) == fitted.n_rounds_ > 0
    np.testing.assert_array_equal(stages[-1], fitted.calibrate(X, SCORES))


def test_labels_of_any_type_come_back() -> None:
    for labels in (["no", "yes"], [False, True], [-1, 1], [3, 7]):
        y = np.array(labels)[Y]
        model = MCGrad(max_rounds=1).fit(X, y, scores=SCORES)
        assert model.classes_.tolist() == labels
        assert set(model.predict(X, scores=SCORES).tolist()) == set(labels)


def test_a_copy_a_pickle_and_a_file_give_the_same_bits(fitted: MCGrad, tmp_path: Path) -> None:
    expected = fitted.calibrate(X, SCORES)
    fitted.save(tmp_path / "m.trueup")
    loaded = MCGrad.load(tmp_path / "m.trueup")
    for other in (
        copy.deepcopy(fitted),
        pickle.loads(pickle.dumps(fitted)),
        loaded,
        trueup.load(tmp_path / "m.trueup"),
    ):
        np.testing.assert_array_equal(other.calibrate(X, SCORES), expected)
    assert loaded.get_params() == fitted.get_params()
    assert loaded.history_ == fitted.history_
    np.testing.assert_array_equal(loaded.feature_importances_, fitted.feature_importances_)
    np.testing.assert_array_equal(loaded.classes_, fitted.classes_)


def test_parameters_of_other_types_come_back_from_a_file_as_plain_ones(tmp_path: Path) -> None:
    params = {"n_estimators": np.int64(5), "eta": np.float64(0.1)}
    model = MCGrad(features=("age",), max_rounds=np.int64(1), lightgbm_params=params).fit(X, Y, scores=SCORES)
    model.save(tmp_path / "m.trueup")
    loaded = MCGrad.load(tmp_path / "m.trueup")
    assert (loaded.features, loaded.max_rounds) == (["age"], 1)
    assert loaded.lightgbm_params == {"n_estimators": 5, "eta": 0.1}


def test_warnings_point_at_the_line_of_the_user(fitted: MCGrad) -> None:
    missing = np.where(np.arange(N) == 3, np.nan, SCORES)
    for call in (
        lambda: fitted.calibrate(X, missing),
        lambda: fitted.predict_proba(X, scores=missing),
        lambda: list(fitted.staged_calibrate(X, missing)),
        lambda: MCGrad().fit(X[:100], Y[:100], scores=SCORES[:100]),
    ):
        with pytest.warns(TrueupWarning) as caught:
            call()
        assert [Path(warning.filename).name for warning in caught] == [Path(__file__).name]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
def test_a_fit_in_a_forked_child_does_not_wait_for_threads_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueup._fitting._growing._ROWS_A_THREAD", 1000)
    model = MCGrad(max_rounds=1, validation=None, rescale=None, n_jobs=2).fit(X, Y, scores=SCORES)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        again = pool.apply_async(clone(model).fit, (X, Y), {"scores": SCORES}).get(timeout=60)
    np.testing.assert_array_equal(again.calibrate(X, SCORES), model.calibrate(X, SCORES))


def test_a_fit_can_be_repeated_on_other_columns(fitted: MCGrad) -> None:
    again = clone(fitted).fit(X[["age"]], Y, scores=SCORES)
    assert again.n_features_in_ == 1
    again.fit(X.drop(columns="age"), Y, scores=SCORES)
    assert again.feature_names_in_.tolist() == ["country", "noise"]


def test_it_works_in_a_pipeline_and_in_cross_validation() -> None:
    from sklearn import config_context

    table = X.assign(p=SCORES)
    pipeline = make_pipeline(FunctionTransformer(), MCGrad(score_column="p", max_rounds=1))
    assert cross_val_score(pipeline, table, Y, cv=2, scoring="neg_log_loss").mean() > -log_loss(Y, SCORES)
    with config_context(enable_metadata_routing=True):
        routed = MCGrad(max_rounds=1).set_fit_request(scores=True).set_predict_proba_request(scores=True)
        pipeline = make_pipeline(FunctionTransformer(), routed).fit(X, Y, scores=SCORES)
        assert pipeline.predict_proba(X, scores=SCORES).shape == (N, 2)


NONSENSE: list[dict[str, Any]] = [
    {"max_rounds": -1}, {"max_rounds": 1.5}, {"patience": -1}, {"rescale": "sometimes"},
    {"min_sum_hessian_in_leaf": -1.0}, {"validation": "folds"}, {"categorical_features": "country"},
    {"features": "country"}, {"n_jobs": 0}, {"n_jobs": 2.0}, {"n_jobs": "all"}, {"random_state": "a"},
    {"monotone_score": "no"}, {"lightgbm_params": [1]},
]  # fmt: skip


@pytest.mark.parametrize("wrong", NONSENSE)
def test_an_option_that_makes_no_sense_is_named_in_the_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        MCGrad(**wrong).fit(X, Y, scores=SCORES)


def test_a_misspelt_feature_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(ColumnError, match=r"features: X has no column 'Country'\. Did you mean 'country'\?"):
        MCGrad(features=["Country"]).fit(X, Y, scores=SCORES)


def test_score_is_the_accuracy_and_takes_the_base_scores() -> None:
    model = MCGrad(validation=None, rescale="train", max_rounds=1).fit(X, Y, scores=SCORES)
    weights = np.linspace(1, 2, len(Y))
    right = model.predict(X, scores=SCORES) == Y
    assert model.score(X, Y, scores=SCORES) == pytest.approx(right.mean())
    assert model.score(X, Y, weights, scores=SCORES) == pytest.approx(np.average(right, weights=weights))


def test_a_generator_is_a_random_state() -> None:
    one, again, other = (
        MCGrad(validation=0.3, max_rounds=1, random_state=np.random.default_rng(seed)).fit(X, Y, scores=SCORES)
        for seed in (1, 1, 2)
    )
    assert one.history_[0].validation_loss == again.history_[0].validation_loss != other.history_[0].validation_loss
    with pytest.raises(ParameterError, match="a RandomState, a Generator or None, got 'seed'"):
        MCGrad(random_state="seed").fit(X, Y, scores=SCORES)
