"""The fit agrees with an implementation that is written to be read.

The plain one makes a new `lightgbm.Dataset` in every round, and asks every round's booster again for every
prediction.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from trueup import MCGrad
from trueup._fitting import PAPER_DEFAULTS, Rescaling, TrainingData, fit_rescaling, fit_theta
from trueup._fitting._growing import trees_and_gains
from trueup._fitting._lightgbm import LightGBMGrower
from trueup._fitting._parameters import growth_parameters
from trueup._model import Trees

N_ROWS = 6000
N_TREES = 15  # fewer than the paper's, so that several rounds are kept
FOLDS = StratifiedKFold(3, shuffle=True, random_state=7)
PUBLIC_WAY_WARNS = pytest.mark.filterwarnings("ignore:Cannot add features", "ignore:Resetting categorical features")


def logit(p: np.ndarray) -> np.ndarray:
    return np.log(p / (1 - p))


@dataclass
class Shape:
    """A table, its encoding done by hand, and what happened."""

    X: pd.DataFrame
    matrix: np.ndarray
    categorical: list[int]
    scores: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None


def codes(values: pd.Series) -> np.ndarray:
    order = {value: code for code, value in enumerate(sorted(values.dropna().unique()))}
    return values.map(order).astype(float).to_numpy()


def make(shape: str) -> Shape:
    rng = np.random.default_rng(len(shape))
    x, z = rng.normal(size=N_ROWS), rng.exponential(size=N_ROWS)
    base = rng.normal(size=N_ROWS) - 0.5
    country = pd.Series(rng.choice(["NO", "SE", "DK", "FI"], N_ROWS), dtype=object)
    if shape == "numbers, some missing":
        missing = rng.random(N_ROWS) < 0.2
        true = base + 0.8 * (np.where(missing, 1.5, x) > 1) - 0.7 * (z > 1)
        X = pd.DataFrame({"x": np.where(missing, np.nan, x), "z": z})
        matrix, categorical, weights = X.to_numpy(), [], None
    elif shape == "categories and weights":
        country[rng.random(N_ROWS) < 0.1] = None
        true = base + 0.9 * (country == "NO").to_numpy() * (x > 0) - 0.6 * country.isna().to_numpy()
        X = pd.DataFrame({"country": country, "x": x})
        matrix, categorical = np.column_stack([codes(country), x]), [0]
        weights = rng.integers(1, 5, N_ROWS) / 2
    else:  # categories of high cardinality
        plane = pd.Series([f"N{i:04d}" for i in (rng.zipf(1.3, N_ROWS) - 1) % 1500])
        effect = dict(zip(plane.unique(), rng.normal(size=plane.nunique()), strict=True))
        true = base + 0.8 * plane.map(effect).to_numpy() * (x > -0.5)
        X = pd.DataFrame({"x": x, "plane": plane, "country": country})
        matrix, categorical, weights = np.column_stack([x, codes(plane), codes(country)]), [1, 2], None
    y = (rng.random(N_ROWS) < 1 / (1 + np.exp(-true))).astype(int)
    return Shape(X, matrix, categorical, 1 / (1 + np.exp(-base)), y, weights)


SHAPES = ["numbers, some missing", "categories and weights", "categories of high cardinality"]


Round = tuple[lgb.Booster, Rescaling]


class Plain:
    """MCGrad, slowly."""

    def __init__(self, shape: Shape, rescale: str | None) -> None:
        self.shape, self.rescale = shape, rescale
        self.params = {k: v for k, v in PAPER_DEFAULTS.items() if k != "n_estimators"} | {
            "objective": "binary", "min_sum_hessian_in_leaf": 20.0, "verbosity": -1, "num_threads": 1,
            "deterministic": True, "force_col_wise": True,
        }  # fmt: skip

    def predict(self, rounds: list[Round], rows: np.ndarray) -> np.ndarray:
        F = logit(self.shape.scores[rows])
        for booster, rescaling in rounds:
            h = booster.predict(np.column_stack([self.shape.matrix[rows], F]), raw_score=True)
            F = rescaling.theta * (F + h + rescaling.shift)
        return F

    def grow(self, rounds: list[Round], rows: np.ndarray) -> lgb.Booster:
        F = self.predict(rounds, rows)
        data = lgb.Dataset(
            np.column_stack([self.shape.matrix[rows], F]), self.shape.y[rows], weight=self.weights(rows),
            init_score=F, categorical_feature=self.shape.categorical,
        )  # fmt: skip
        return lgb.train(self.params, data, N_TREES)

    def weights(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.shape.weights is None else self.shape.weights[rows]

    def rescaling(self, grown: list[tuple[list, lgb.Booster, np.ndarray]]) -> Rescaling:
        F = np.concatenate([self.predict([*rounds, (booster, Rescaling())], rows) for rounds, booster, rows in grown])
        rows = np.concatenate([rows for _, _, rows in grown])
        labels, weights = self.shape.y[rows].astype(float), self.weights(rows)
        if self.rescale == "honest":
            return fit_rescaling(F, labels, weights)
        return Rescaling(fit_theta(F, labels, weights))

    def loss(self, rounds: list[Round], rows: np.ndarray) -> float:
        F, y = self.predict(rounds, rows), self.shape.y[rows]
        return float(np.average(np.logaddexp(0, F) - y * F, weights=self.weights(rows)))

    def fit(self, splits: list[tuple[np.ndarray, np.ndarray]]) -> list[Round]:
        folds: list[list[Round]] = [[] for _ in splits]
        rescalings: list[Rescaling] = []
        best = np.mean([self.loss([], valid) for _, valid in splits])
        while True:
            grown = [self.grow(fold, train) for fold, (train, _) in zip(folds, splits, strict=True)]
            if self.rescale == "honest":
                held = [(f, b, v) for f, b, (_, v) in zip(folds, grown, splits, strict=True)]
                of_folds = [self.rescaling(held)] * len(splits)
            elif self.rescale == "train":
                of_folds = [self.rescaling([(f, b, t)]) for f, b, (t, _) in zip(folds, grown, splits, strict=True)]
            else:
                of_folds = [Rescaling()] * len(splits)
            for fold, booster, rescaling in zip(folds, grown, of_folds, strict=True):
                fold.append((booster, rescaling))
            loss = np.mean([self.loss(fold, valid) for fold, (_, valid) in zip(folds, splits, strict=True)])
            if loss >= best:
                break
            best = loss
            rescalings.append(of_folds[0])
        final: list[Round] = []
        everything = np.arange(N_ROWS)
        for chosen in rescalings:
            booster = self.grow(final, everything)
            if self.rescale == "train":
                chosen = self.rescaling([(final, booster, everything)])  # noqa: PLW2901
            final.append((booster, chosen))
        return final


@pytest.mark.parametrize("rescale", ["honest", "train", None])
@pytest.mark.parametrize("name", SHAPES)
def test_rounds_trees_and_scores_are_those_of_the_plain_fit(name: str, rescale: str | None) -> None:
    shape = make(name)
    papers = PAPER_DEFAULTS | {"n_estimators": N_TREES}
    model = MCGrad(validation=FOLDS, rescale=rescale, n_jobs=2, lightgbm_params=papers)
    model.fit(shape.X, shape.y, scores=shape.scores, sample_weight=shape.weights)
    plain = Plain(shape, rescale)
    expected = plain.fit(list(FOLDS.split(shape.X, shape.y)))

    assert model.n_rounds_ == len(expected) >= 3
    for ours, (booster, rescaling) in zip(model.model_.rounds, expected, strict=True):
        assert ours.theta == pytest.approx(rescaling.theta, abs=1e-7)
        theirs, _ = trees_and_gains(booster.model_to_string(), shape.matrix.shape[1] + 1)
        if rescale == "honest":  # the shift is a tree of one leaf
            theirs = Trees.concatenate([theirs, Trees.constant(rescaling.shift)])
        for field, array in theirs.arrays().items():
            # Leaves are sums over rows of logits, whose last bits NumPy and the C library round apart.
            np.testing.assert_allclose(ours.trees.arrays()[field], array, rtol=1e-9, atol=1e-12, err_msg=field)
    everything = np.arange(N_ROWS)
    scores = 1 / (1 + np.exp(-plain.predict(expected, everything)))
    np.testing.assert_allclose(model.calibrate(shape.X, shape.scores), scores, rtol=0, atol=1e-9)


@PUBLIC_WAY_WARNS
def test_adding_the_logit_in_the_public_way_grows_the_same_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = make("categories of high cardinality")
    quiet = MCGrad(max_rounds=3).fit(shape.X, shape.y, scores=shape.scores)
    monkeypatch.setattr("trueup._fitting._lightgbm_private.ADDS_QUIETLY", False)
    public = MCGrad(max_rounds=3).fit(shape.X, shape.y, scores=shape.scores)
    assert quiet.n_rounds_ == public.n_rounds_ >= 1
    for a, b in zip(quiet.model_.rounds, public.model_.rounds, strict=True):
        assert a.theta == b.theta
        for array, other in zip(a.trees.arrays().values(), b.trees.arrays().values(), strict=True):
            np.testing.assert_array_equal(array, other)


@PUBLIC_WAY_WARNS
@pytest.mark.parametrize("name", SHAPES)
def test_shared_bins_grow_the_trees_of_a_subset(name: str) -> None:
    """Bins of all rows, the rows of a split taken from them with LightGBM's own `subset`."""
    shape = make(name)
    rng = np.random.default_rng(3)
    rows, F = np.sort(rng.choice(N_ROWS, 4000, replace=False)), logit(shape.scores)
    sampled = {"bin_construct_sample_cnt": 1000}
    parameters = growth_parameters(
        sampled, min_sum_hessian_in_leaf=20.0, n_features=shape.matrix.shape[1],
        monotone_score=False, seed=5,
    )  # fmt: skip
    categorical = np.isin(np.arange(shape.matrix.shape[1]), shape.categorical).astype(np.uint8)
    labels, weights = shape.y.astype(float), shape.weights
    data = TrainingData(np.asfortranarray(shape.matrix), categorical, labels, F, weights, soft=False)
    grower = LightGBMGrower(data, parameters, shares_bins=True)

    lgb_params = parameters.booster | {"num_threads": 1, "objective": "binary"}
    binned = lgb.Dataset(
        shape.matrix, labels, weight=weights, categorical_feature=shape.categorical, params=lgb_params
    ).construct()
    for used in (rows, None):
        of_rows = np.arange(N_ROWS) if used is None else used
        score = lgb.Dataset(F[of_rows].reshape(-1, 1), params=lgb_params).construct()
        training_set = binned.subset(of_rows.tolist()).construct().add_features_from(score)
        booster = lgb.train(lgb_params, training_set.set_init_score(F[of_rows]), parameters.n_trees)
        theirs, _ = trees_and_gains(booster.model_to_string(), shape.matrix.shape[1] + 1)
        ours = grower.prepare(used, threading.Event()).grow(F[of_rows], 1).trees
        assert ours.n_trees > 10
        for field, array in theirs.arrays().items():
            np.testing.assert_array_equal(ours.arrays()[field], array, err_msg=field)


def test_bins_are_shared_only_where_every_training_set_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    class Watched(LightGBMGrower):
        def __init__(self, *args: Any, shares_bins: bool, **options: Any) -> None:
            seen.append(shares_bins)
            super().__init__(*args, shares_bins=shares_bins, **options)

    monkeypatch.setattr("trueup._fitting._rounds.LightGBMGrower", Watched)
    shape = make("numbers, some missing")
    watched = (shape.X[:500], shape.y[:500], shape.scores[:500])
    for sample, eval_set in ((4000, None), (4001, None), (1000, watched)):
        model = MCGrad(max_rounds=1, validation=3, lightgbm_params={"subsample_for_bin": sample})
        model.fit(shape.X, shape.y, scores=shape.scores, eval_set=eval_set)
    assert seen == [True, False, False]
