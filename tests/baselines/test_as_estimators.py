"""What all baselines share: scikit-learn's contract, bad input, files, and scoring without heavy imports."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import trueup
from trueup import MCGrad, baselines
from trueup.errors import ColumnError, DataError, LabelError, MissingScoreWarning, ScoreError, WeightError

N = 600
RNG = np.random.default_rng(9)
X: dict[str, Any] = {
    "city": RNG.choice(["Oslo", "Bergen", "Kiel"], N).tolist(),
    "age": [None if i % 7 == 0 else age for i, age in enumerate(RNG.normal(40, 9, N).round(1).tolist())],
}
SCORES = RNG.uniform(0.02, 0.98, N)
LABELS = (RNG.random(N) < np.clip(SCORES + 0.25 * (np.array(X["city"]) == "Oslo"), 0, 1)).astype(int)
SEGMENTS = ["city = Oslo", "age < 40 and city ≠ Kiel", "age is missing"]
METHODS: list[Any] = [
    baselines.IsotonicCalibrator(),
    baselines.PlattCalibrator(),
    baselines.TemperatureCalibrator(),
    baselines.HKRR(alpha=0.05),
    baselines.DFMC(n_estimators=10),
    baselines.LSBoost(max_rounds=2, n_levels=5, min_child_samples=10),
    baselines.SegmentMCGrad(estimator=MCGrad(validation=0.3, max_rounds=2, lightgbm_params={"min_child_samples": 20})),
]
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
every_map = pytest.mark.parametrize("method", METHODS[:3], ids=lambda method: type(method).__name__)


def fitted(method: Any, **more: Any) -> Any:
    return clone(method).fit(X, LABELS, **{"scores": SCORES, "segments": SEGMENTS, **more})


def test_all_of_them_are_tested_here() -> None:
    assert sorted(type(method).__name__ for method in METHODS) == sorted(baselines.__all__)


RESAMPLED = "the hold-out is drawn by row, so a row of weight 2 and the row written twice fall on different sides"


def expected_failures(estimator: Any) -> dict[str, str]:
    return {"check_sample_weight_equivalence_on_dense_data": RESAMPLED} if len(estimator.get_params()) > 1 else {}


# Those of segments need segments=, which the checks don't pass; they share the code that is checked here.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:can't check dok sparse matrix:UserWarning")
@parametrize_with_checks([*METHODS[:3], baselines.LSBoost()], expected_failed_checks=expected_failures)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("method", METHODS[3:], ids=lambda method: type(method).__name__)
def test_a_column_of_labels_is_taken_and_a_table_without_columns_is_not(method: Any) -> None:
    with pytest.warns(UserWarning, match="A column-vector y was passed"):
        column = clone(method).fit(X, LABELS[:, None], scores=SCORES, segments=SEGMENTS)
    assert np.array_equal(column.calibrate(X, SCORES), fitted(method).calibrate(X, SCORES))
    with pytest.raises(ColumnError, match=r"0 feature\(s\)"):
        clone(method).fit(np.empty((N, 0)), LABELS, scores=SCORES, segments=SEGMENTS)


@every_method
def test_they_predict_as_classifiers_do(method: Any) -> None:
    model = fitted(method)
    probabilities = model.predict_proba(X, scores=SCORES)
    assert np.array_equal(probabilities[:, 1], model.calibrate(X, SCORES))
    assert np.array_equal(model.predict(X, scores=SCORES), (probabilities[:, 1] > 0.5).astype(int))


@every_method
def test_they_are_estimators_that_can_be_cloned_and_pickled(method: Any) -> None:
    assert isinstance(method, BaseEstimator)
    copy = clone(method)
    assert str(copy.get_params()) == str(method.get_params())
    with pytest.raises(NotFittedError):
        copy.calibrate(X, SCORES)
    model = fitted(copy)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.calibrate(X, SCORES), model.calibrate(X, SCORES))
    assert model.classes_.tolist() == [0, 1]
    assert model.n_features_in_ == 2


@every_method
def test_fitting_twice_gives_the_same_probabilities(method: Any) -> None:
    found = fitted(method).calibrate(X, SCORES)
    assert np.array_equal(fitted(method).calibrate(X, SCORES), found)
    assert found.shape == (N,)
    assert found.dtype == np.float64
    assert ((found >= 0) & (found <= 1)).all()


@every_map
def test_a_saved_model_gives_the_same_probabilities_and_the_same_bytes(method: Any, tmp_path: Path) -> None:
    model = fitted(method)
    model.save(tmp_path / "model")
    loaded = trueup.load(tmp_path / "model")
    expected = model.calibrate(X, SCORES)
    assert np.array_equal(loaded.calibrate(X, SCORES), expected)
    row = {name: values[5] for name, values in X.items()}
    assert loaded.calibrate_one(row, SCORES[5]) == pytest.approx(expected[5], rel=1e-14)
    assert loaded.calibrate_one(pd.Series(row), SCORES[5]) == pytest.approx(expected[5], rel=1e-14)
    loaded.save(tmp_path / "again")
    fitted(method).save(tmp_path / "third")
    assert len({(tmp_path / name).read_bytes() for name in ("model", "again", "third")}) == 1


@every_method
def test_columns_without_names_are_found_by_position(method: Any) -> None:
    matrix = np.column_stack([RNG.integers(0, 3, N), RNG.normal(size=N)])
    segments = ["x0 = 1", "x1 < 0.5"]
    model = clone(method).fit(matrix, LABELS, scores=SCORES, segments=segments)
    expected = model.calibrate(matrix, SCORES)
    assert model.calibrate(matrix[3:4], SCORES[3:4])[0] == pytest.approx(expected[3], rel=1e-14)


@every_method
def test_bad_input_is_refused_as_mcgrad_refuses_it(method: Any) -> None:
    for change, error, message in (
        ({"scores": SCORES[:5]}, ScoreError, "scores has 5 rows, but X has 600"),
        ({"scores": SCORES + 1}, ScoreError, r"scores: 600 of 600 scores are outside \[0, 1\]"),
        (
            {"scores": np.where(np.arange(N) == 3, np.nan, SCORES)},
            ScoreError,
            r"1 of 600 scores are missing \(first at row 3",
        ),
        ({"sample_weight": -np.ones(N)}, WeightError, "600 of 600 weights are negative"),
        ({"sample_weight": LABELS.astype(float)}, LabelError, "one class only among the rows with a positive weight"),
    ):
        with pytest.raises(error, match=message):
            fitted(method, **change)
    for y, message in ((np.ones(N), "one class only"), (None, "y"), (np.arange(N) % 3, "Only binary")):
        with pytest.raises(LabelError, match=message):
            clone(method).fit(X, y, scores=SCORES, segments=SEGMENTS)
    with pytest.raises(DataError, match="X has no rows"):
        clone(method).fit({"city": [], "age": []}, [], scores=[], segments=SEGMENTS)


@every_method
def test_a_missing_score_gives_nan_one_warning_and_leaves_the_others_alone(method: Any) -> None:
    model = fitted(method)
    holes = np.where(np.arange(N) % 100 == 1, np.nan, SCORES)
    with pytest.warns(MissingScoreWarning, match=r"scores: 6 of 600 scores are missing \(first at row 1\)"):
        found = model.calibrate(X, holes)
    expected = np.where(np.isnan(holes), np.nan, model.calibrate(X, SCORES))
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(ScoreError, match=r"outside \[0, 1\]"):
        model.calibrate(X, SCORES + 1)


@every_method
def test_without_scores_the_base_rate_is_the_base_model(method: Any) -> None:
    model = clone(method).fit(X, LABELS, segments=SEGMENTS)
    expected = model.calibrate(X)
    rate = LABELS.mean()
    assert np.array_equal(
        clone(method).fit(X, LABELS, scores=np.full(N, rate), segments=SEGMENTS).calibrate(X, np.full(N, rate)),
        expected,
    )
    with pytest.raises(ScoreError, match="fitted without scores"):
        model.calibrate(X, SCORES)
    with pytest.raises(ScoreError, match="fitted on scores"):
        fitted(method).calibrate(X)
    one = {name: values[1:2] for name, values in X.items()}
    assert model.calibrate(one)[0] == pytest.approx(expected[1], rel=1e-14)


@every_method
def test_one_row_and_none_are_rows_too(method: Any) -> None:
    model = fitted(method)
    expected = model.calibrate(X, SCORES)
    one = {name: values[:1] for name, values in X.items()}
    assert model.calibrate(one, SCORES[:1]).tolist() == pytest.approx(expected[:1].tolist(), rel=1e-14)
    assert model.calibrate(pd.DataFrame(X).iloc[:0], []).tolist() == []


@every_method
def test_any_labels_and_soft_ones_will_do(method: Any, tmp_path: Path) -> None:
    words = np.where(LABELS == 1, "yes", "no")
    model = fitted(method)
    named = clone(method).fit(X, words, scores=SCORES, segments=SEGMENTS)
    assert named.classes_.tolist() == ["no", "yes"]
    assert np.array_equal(named.calibrate(X, SCORES), model.calibrate(X, SCORES))
    soft = clone(method).fit(X, 0.1 + 0.8 * LABELS, scores=SCORES, segments=SEGMENTS)
    assert 0.1 <= soft.calibrate(X, SCORES).mean() <= 0.9


SCRIPT = """
import json, sys
table, scores = json.load(open(sys.argv[1] + "/rows.json"))
import trueup
calibrator = trueup.load(sys.argv[1] + "/model.trueup")
found = calibrator.calibrate(table, scores).tolist()
rows = [dict(zip(table, row)) for row in zip(*table.values())]
ones = [calibrator.calibrate_one(row, score) for row, score in zip(rows[:20], scores)]
print(json.dumps([found, ones, [name for name in ("pandas", "lightgbm", "sklearn", "scipy") if name in sys.modules]]))
"""


@every_map
def test_scoring_from_a_file_imports_nothing_heavy(method: Any, tmp_path: Path) -> None:
    model = fitted(method)
    model.save(tmp_path / "model.trueup")
    (tmp_path / "rows.json").write_text(json.dumps([X, SCORES.tolist()]))
    command = [sys.executable, "-W", "error", "-c", SCRIPT, str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    found, ones, imported = json.loads(run.stdout)
    assert imported == []
    assert found == model.calibrate(X, SCORES).tolist()
    assert ones == pytest.approx(found[:20], rel=1e-14)
