"""A classifier and its calibration in one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn import config_context
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from trueup import MCGrad, MulticalibratedClassifier
from trueup.errors import DataWarning, LabelError, ParameterError
from trueup.metrics import log_loss

N = 6000
RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "c": RNG.choice(["u", "v", "w"], N)})
Y = np.where(RNG.random(N) < 1 / (1 + np.exp(-(X.a + X.b + np.where(X.c == "u", 1.5, -0.5)))), "yes", "no")
LINEAR = make_pipeline(
    make_column_transformer((StandardScaler(), ["a", "b"])), LogisticRegression()
)  # knows nothing of c
HALF = N // 2


def test_it_beats_the_model_that_it_wraps() -> None:
    plain = LINEAR.fit(X[:HALF], Y[:HALF]).predict_proba(X[HALF:])[:, 1]
    model = MulticalibratedClassifier(LINEAR).fit(X[:HALF], Y[:HALF])
    ours = model.predict_proba(X[HALF:])
    truth = Y[HALF:] == "yes"
    assert log_loss(truth, ours[:, 1]) < log_loss(truth, plain) - 0.02
    np.testing.assert_allclose(ours.sum(axis=1), 1)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_the_calibrator_learns_from_scores_of_models_that_have_not_seen_the_row() -> None:
    seen: list[np.ndarray] = []

    class Spy(MCGrad):
        def fit(self, X: Any, y: Any, *, scores: Any = None, **rest: Any) -> MCGrad:
            seen.append(scores)
            return super().fit(X, y, scores=scores, **rest)

    cv = KFold(3)
    MulticalibratedClassifier(LINEAR, calibrator=Spy(max_rounds=1), cv=cv).fit(X, Y)
    expected = cross_val_predict(LINEAR, X, Y, cv=cv, method="predict_proba")
    np.testing.assert_allclose(seen[0], expected, rtol=1e-12)


def test_a_frozen_model_is_used_as_it_is() -> None:
    base = GaussianNB().fit(X[["a", "b"]][:HALF], Y[:HALF])
    model = MulticalibratedClassifier(FrozenEstimator(base)).fit(X[["a", "b"]][HALF:], Y[HALF:])
    assert model.estimator_.estimator is base
    direct = MCGrad().fit(X[["a", "b"]][HALF:], Y[HALF:], scores=base.predict_proba(X[["a", "b"]][HALF:]))
    np.testing.assert_array_equal(
        model.predict_proba(X[["a", "b"]])[:, 1],
        direct.calibrate(X[["a", "b"]], base.predict_proba(X[["a", "b"]])),
    )


def test_a_frozen_model_of_other_classes_is_refused() -> None:
    base = GaussianNB().fit(X[["a", "b"]], np.where(Y == "yes", "b", "a"))
    with pytest.raises(LabelError, match=r"\['a', 'b'\], but y holds \['no', 'yes'\]"):
        MulticalibratedClassifier(FrozenEstimator(base)).fit(X[["a", "b"]], Y)


def test_a_model_with_margins_only_is_calibrated_too() -> None:
    numbers = X[["a", "b"]]
    model = MulticalibratedClassifier(LinearSVC(), cv=3).fit(numbers, Y)
    assert ((model.predict_proba(numbers) >= 0) & (model.predict_proba(numbers) <= 1)).all()
    assert (model.predict(numbers) == Y).mean() > 0.6


def test_it_works_inside_a_pipeline_and_cross_validation() -> None:
    inner = MulticalibratedClassifier(LogisticRegression(), calibrator=MCGrad(max_rounds=1), cv=2)
    outer = make_pipeline(StandardScaler(), inner)
    scores = cross_val_predict(outer, X[["a", "b"]], Y, cv=2, method="predict_proba")
    assert scores.shape == (N, 2)


def test_polars_tables_go_to_both() -> None:
    table = pl.from_pandas(X[["a", "b"]])
    base = HistGradientBoostingClassifier(max_iter=5)
    from_polars = MulticalibratedClassifier(base, cv=2).fit(table, Y).predict_proba(table)
    from_pandas = MulticalibratedClassifier(base, cv=2).fit(X[["a", "b"]], Y).predict_proba(X[["a", "b"]])
    np.testing.assert_array_equal(from_polars, from_pandas)


def test_weights_reach_the_model_where_it_takes_any() -> None:
    weights = np.where(Y == "yes", 3.0, 1.0)
    weighted = MulticalibratedClassifier(GaussianNB(), cv=2).fit(X[["a", "b"]], Y, sample_weight=weights)
    expected = GaussianNB().fit(X[["a", "b"]], Y, sample_weight=weights)
    np.testing.assert_allclose(weighted.estimator_.theta_, expected.theta_)
    assert weighted.predict_proba(X[["a", "b"]])[:, 1].mean() > (Y == "yes").mean() + 0.05


def test_metadata_is_routed_where_that_is_enabled() -> None:
    weights = np.where(Y == "yes", 3.0, 1.0)
    numbers = X[["a", "b"]]
    with config_context(enable_metadata_routing=True):
        base = GaussianNB().set_fit_request(sample_weight=True)
        model = MulticalibratedClassifier(base, cv=2).fit(numbers, Y, sample_weight=weights)
    np.testing.assert_allclose(model.estimator_.theta_, GaussianNB().fit(numbers, Y, sample_weight=weights).theta_)
    with pytest.raises(ParameterError, match=r"fit got \['colour'\]: enable scikit-learn's metadata routing"):
        MulticalibratedClassifier(GaussianNB()).fit(numbers, Y, colour=weights)


def test_weights_that_a_pipeline_does_not_take_are_not_dropped_in_silence() -> None:
    weights = np.where(Y == "yes", 3.0, 1.0)
    with pytest.warns(DataWarning, match=r"Pipeline\.fit takes no sample_weight, so only the calibration uses"):
        model = MulticalibratedClassifier(LINEAR, cv=2).fit(X, Y, sample_weight=weights)
    weighted_rate = np.average(Y == "yes", weights=weights)
    assert np.average(model.predict_proba(X)[:, 1], weights=weights) == pytest.approx(weighted_rate, abs=0.02)
    unweighted = LINEAR.fit(X, Y).predict_proba(X)
    np.testing.assert_array_equal(model.estimator_.predict_proba(X), unweighted)


def test_weights_with_a_frozen_classifier_are_no_reason_to_warn() -> None:
    frozen = FrozenEstimator(GaussianNB().fit(X[["a", "b"]], Y))
    MulticalibratedClassifier(frozen).fit(X[["a", "b"]], Y, sample_weight=np.ones(N))


@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_splitter(routing: bool) -> None:
    groups = np.arange(N) % 7
    seen: list[set[int]] = []

    class Spy(GaussianNB):
        def predict_proba(self, X: Any) -> Any:
            seen.append(set(groups[X.index]))
            return super().predict_proba(X)

    with config_context(enable_metadata_routing=routing):
        MulticalibratedClassifier(Spy(), calibrator=MCGrad(max_rounds=1), cv=GroupKFold(3)).fit(
            X[["a", "b"]], Y, groups=groups
        )
    assert sorted(group for fold in seen for group in fold) == list(range(7))  # each group in one test fold


@pytest.mark.parametrize("routing", [False, True])
def test_a_number_of_folds_and_the_calibrator_keep_groups_together(routing: bool) -> None:
    groups = np.arange(N) % 40
    seen: list[tuple[set[int], set[int]]] = []
    given: list[Any] = []

    class Spy(GaussianNB):
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            seen.append((set(groups[X.index]), set(groups) - set(groups[X.index])))
            return super().fit(X, y)

    class Calibrator(MCGrad):
        def fit(self, X: Any, y: Any, *, groups: Any = None, **rest: Any) -> MCGrad:
            given.append(groups)
            return super().fit(X, y, groups=groups, **rest)

    with config_context(enable_metadata_routing=routing):
        MulticalibratedClassifier(Spy(), calibrator=Calibrator(max_rounds=1), cv=4).fit(X[["a", "b"]], Y, groups=groups)
    assert [len(left_out) for _, left_out in seen] == [10, 10, 10, 10, 0]
    assert given[0] is groups


def test_the_default_calibrator_can_be_searched_and_is_nobody_elses() -> None:
    numbers = X[["a", "b"]][:2000]
    other = MulticalibratedClassifier(GaussianNB(), cv=2)
    search = GridSearchCV(MulticalibratedClassifier(GaussianNB(), cv=2), {"calibrator__max_rounds": [1, 2]}, cv=2)
    search.fit(numbers, Y[:2000])
    assert search.best_estimator_.calibrator.max_rounds == search.best_params_["calibrator__max_rounds"]
    assert search.estimator.calibrator.max_rounds == MCGrad().max_rounds
    assert search.estimator.get_params()["calibrator__validation"] == "auto"
    one = MulticalibratedClassifier(GaussianNB(), cv=2).set_params(calibrator__max_rounds=1)
    assert one.calibrator.max_rounds == 1
    assert other.fit(numbers, Y[:2000]).calibrator_.max_rounds == MCGrad().max_rounds
    with pytest.raises(ValueError, match="Invalid parameter 'rounds' for estimator MCGrad"):
        one.set_params(calibrator__rounds=1)


def test_prefit_names_what_took_its_place() -> None:
    with pytest.raises(ParameterError, match=r"FrozenEstimator\(classifier\) from sklearn\.frozen"):
        MulticalibratedClassifier(GaussianNB().fit(X[["a", "b"]], Y), cv="prefit").fit(X[["a", "b"]], Y)


def test_a_split_that_leaves_rows_without_a_score_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"cv leaves 1,500 of 6,000 rows"):
        MulticalibratedClassifier(GaussianNB(), cv=TimeSeriesSplit(3)).fit(X[["a", "b"]], Y)


def test_probabilities_are_no_classes() -> None:
    with pytest.raises(LabelError, match="MCGrad"):
        MulticalibratedClassifier(GaussianNB()).fit(X[["a", "b"]], RNG.random(N))
