"""Keeping a fitted estimator in a skops file, whose reader trusts nothing that it was not told to."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import trueup
from small_fits import quick
from trueup.datasets import make_traffic

io = pytest.importorskip("skops.io", reason="skops is not installed: pip install --group integration")


@pytest.fixture(scope="module")
def traffic():
    return make_traffic(3000, random_state=0)


@pytest.fixture(scope="module")
def fitted(traffic):
    return quick().fit(traffic.X, traffic.y, scores=traffic.scores)


def test_mcgrad_comes_back_as_it_was(fitted, traffic):
    loaded = io.loads(io.dumps(fitted), trusted=trueup.TRUSTED_TYPES)
    np.testing.assert_array_equal(
        loaded.calibrate(traffic.X, traffic.scores), fitted.calibrate(traffic.X, traffic.scores)
    )
    assert loaded.get_params() == fitted.get_params()
    assert repr(loaded.history_) == repr(fitted.history_)  # NaN is not equal to itself
    assert loaded.model_.features == fitted.model_.features
    row = traffic.X.slice(3, 1).to_pylist()[0]
    again = loaded._calibrator.calibrate_one(row, 0.2)
    assert again == fitted._calibrator.calibrate_one(row, 0.2)


def test_a_classifier_and_its_calibration_need_just_the_trusted_types(traffic):
    X = traffic.X.select(["hour", "past_clicks"]).to_pandas().fillna(0.0)
    both = trueup.MulticalibratedClassifier(LogisticRegression(), calibrator=quick(), cv=2).fit(X, traffic.y)
    written = io.dumps(both)
    assert sorted(io.get_untrusted_types(data=written)) == list(trueup.TRUSTED_TYPES)
    loaded = io.loads(written, trusted=trueup.TRUSTED_TYPES)
    np.testing.assert_array_equal(loaded.predict_proba(X), both.predict_proba(X))


def test_nothing_is_loaded_without_trust(fitted):
    with pytest.raises(Exception, match="Untrusted types"):
        io.loads(io.dumps(fitted))


def test_trees_that_are_none_are_refused_when_a_file_is_read(fitted):
    first = fitted.model_.rounds[0]
    beyond = replace(first.trees, left_child=first.trees.left_child + 1000)
    state = {"model": replace(fitted.model_, rounds=(replace(first, trees=beyond),)), "n_jobs": 1}
    calibrator = trueup.Calibrator.__new__(trueup.Calibrator)
    with pytest.raises(ValueError, match="a child is not there"):
        calibrator.__setstate__(state)


def test_a_pickled_calibrator_makes_its_trees_again(fitted, traffic):
    calibrator = trueup.Calibrator(fitted.model_, n_jobs=2)
    loaded = pickle.loads(pickle.dumps(calibrator))
    assert loaded.n_jobs == 2
    np.testing.assert_array_equal(
        loaded.calibrate(traffic.X, traffic.scores), calibrator.calibrate(traffic.X, traffic.scores)
    )
