"""Which class is the positive one: that of `pos_label`, and by default the second of the sorted classes."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score

import trueup
from trueup import MCGrad, MulticalibratedClassifier
from trueup.datasets import make_traffic
from trueup.errors import LabelError, ParameterError

visits = make_traffic(3_000, random_state=0)
CHURN = np.where(visits.y == 1, "churn", "stay")  # sorted, the positive class comes first
SHORT = {"max_rounds": 2, "validation": None, "rescale": "train"}
REFERENCE = MCGrad(**SHORT).fit(visits.X, visits.y, scores=visits.scores)
EXPECTED = REFERENCE.calibrate(visits.X, visits.scores)


def fitted(**parameters: object) -> MCGrad:
    return MCGrad(**SHORT, **parameters).fit(visits.X, CHURN, scores=visits.scores)


def test_scores_of_churn_are_calibrated_to_churn_and_not_to_stay() -> None:
    model = fitted(pos_label="churn")
    assert np.array_equal(model.calibrate(visits.X, visits.scores), EXPECTED)
    assert model.model_.classes == ("stay", "churn")


def test_classes_stay_sorted_so_that_scikit_learns_metrics_read_the_columns_right() -> None:
    model = fitted(pos_label="churn")
    both = model.predict_proba(visits.X, scores=visits.scores)
    assert model.classes_.tolist() == ["churn", "stay"]
    assert np.array_equal(both[:, 0], EXPECTED)
    assert log_loss(CHURN, both) == pytest.approx(log_loss(visits.y, EXPECTED))
    assert roc_auc_score(CHURN, both[:, 1]) > 0.6
    agree = model.predict(visits.X, scores=visits.scores) == np.where(EXPECTED > 0.5, "churn", "stay")
    assert agree.all()


def test_of_two_columns_of_scores_the_one_of_the_positive_class_is_taken() -> None:
    pairs = np.column_stack([visits.scores, 1 - visits.scores])  # as predict_proba gives them: churn, stay
    model = MCGrad(pos_label="churn", **SHORT).fit(visits.X, CHURN, scores=pairs)
    assert np.array_equal(model.calibrate(visits.X, pairs), EXPECTED)
    assert np.array_equal(trueup.Calibrator(model.model_).calibrate(visits.X, pairs), EXPECTED)


def test_a_saved_model_knows_its_positive_class(tmp_path: Path) -> None:
    fitted(pos_label="churn").save(tmp_path / "model")
    again = MCGrad.load(tmp_path / "model")
    assert trueup.load(tmp_path / "model").model.classes == ("stay", "churn")
    assert again.pos_label == "churn"
    assert clone(again).get_params()["pos_label"] == "churn"
    assert np.array_equal(again.predict_proba(visits.X, scores=visits.scores)[:, 0], EXPECTED)


def test_a_positive_class_that_json_can_not_hold_is_loaded_too(tmp_path: Path) -> None:
    days = np.where(visits.y == 1, dt.date(2024, 1, 1), dt.date(2024, 1, 2)).astype(object)
    model = MCGrad(pos_label=dt.date(2024, 1, 1), **SHORT).fit(visits.X, days, scores=visits.scores)
    model.save(tmp_path / "model")
    assert MCGrad.load(tmp_path / "model").pos_label == dt.date(2024, 1, 1)


def test_a_label_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(LabelError, match="pos_label is 'leave', but the labels are 'churn' and 'stay'"):
        fitted(pos_label="leave")


def test_fractions_are_probabilities_of_the_positive_class_so_that_none_can_be_named() -> None:
    with pytest.raises(LabelError, match="the labels are fractions"):
        MCGrad(pos_label=0, **SHORT).fit({"x": [1, 2]}, [0.2, 0.8])


def test_streams_know_the_positive_class_too() -> None:
    table = visits.X.append_column("y", pa.array(CHURN)).append_column("p", pa.array(visits.scores))
    model = MCGrad(pos_label="churn", **SHORT).fit_stream(table.to_batches(1_000), label="y", score="p")
    base = MCGrad(**SHORT).fit_stream(
        table.set_column(table.schema.get_field_index("y"), "y", pa.array(visits.y)).to_batches(1_000),
        label="y",
        score="p",
    )
    assert model.model_.classes == ("stay", "churn")
    assert np.array_equal(model.calibrate(table), base.calibrate(table))


def test_the_wrapper_hands_its_calibrator_the_column_of_the_positive_class() -> None:
    X = np.column_stack([visits.scores, np.arange(len(visits.y)) % 7])
    models = [
        MulticalibratedClassifier(LogisticRegression(), calibrator=MCGrad(**SHORT, **parameters)).fit(X, CHURN)
        for parameters in ({}, {"pos_label": "churn"})
    ]
    both = [model.predict_proba(X) for model in models]
    assert models[1].classes_.tolist() == ["churn", "stay"]
    assert log_loss(CHURN, both[1]) == pytest.approx(log_loss(CHURN, both[0]), rel=0.02)


def test_audit_compare_evaluate_and_diagnose_judge_the_class_that_is_named() -> None:
    told, named = (
        trueup.audit(visits.X, visits.y, visits.scores, max_depth=1),
        trueup.audit(visits.X, CHURN, visits.scores, max_depth=1, pos_label="churn"),
    )
    assert (named.mce, named.classes) == (told.mce, ("stay", "churn"))
    compared = trueup.compare(visits.X, CHURN, visits.scores, EXPECTED, pos_label="churn", max_depth=1)
    assert compared.prevalence == pytest.approx(visits.y.mean())
    assert compared._audit("candidate").classes == ("stay", "churn")
    evaluation = trueup.evaluate(visits.X, CHURN, visits.scores, pos_label="churn", estimator=MCGrad(max_rounds=1))
    assert evaluation.model.pos_label == "churn"
    assert evaluation.comparison.classes == ("stay", "churn")
    diagnosis = trueup.diagnose(visits.X, CHURN, visits.scores, pos_label="churn")
    assert "scores_backward" not in [finding.code for finding in diagnosis.findings]


def test_an_estimator_of_another_positive_class_is_refused() -> None:
    estimator = MCGrad(pos_label="churn")
    assert trueup.evaluate(
        visits.X, CHURN, visits.scores, estimator=estimator.set_params(max_rounds=1)
    ).comparison.classes == ("stay", "churn")
    with pytest.raises(ParameterError, match="pos_label is 'stay', and the estimator's is 'churn'"):
        trueup.evaluate(visits.X, CHURN, visits.scores, pos_label="stay", estimator=estimator)
