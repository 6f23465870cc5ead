"""Scores that are no probabilities, or hardly any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planted import clean_rows, codes, diagnosed

ROWS = clean_rows(6000, 1)
LOGITS = np.log(ROWS.scores / (1 - ROWS.scores))


@pytest.mark.parametrize(
    ("scores", "code", "severity"),
    [
        (np.full(6000, 0.3), "constant_scores", "warning"),
        (np.round(ROWS.scores, 0), "scores_are_classes", "error"),
        (np.clip(np.round(ROWS.scores, 1), 0.1, 0.9), "few_distinct_scores", "warning"),
        (np.clip(np.round(25 * ROWS.scores) / 25, 0.04, 0.96), "few_distinct_scores", "note"),
        (np.clip(np.round(ROWS.scores, 2), 0.01, 0.99), "rounded_scores", "note"),
        (np.clip(np.round(ROWS.scores, 2), 0.01, 0.99).astype(np.float32), "rounded_scores", "note"),
        (np.where(ROWS.scores < 0.05, 0.0, ROWS.scores), "certain_scores", "warning"),
        (0.2 + 0.6 * ROWS.y + 0.1 * ROWS.scores, "scores_know_label", "error"),
        (1 - ROWS.scores, "scores_backward", "error"),
        (np.random.default_rng(0).permutation(ROWS.scores), "scores_rank_nothing", "warning"),
        (LOGITS, "scores_outside", "error"),
        (100 * ROWS.scores, "scores_outside", "error"),
        (np.log(ROWS.scores), "scores_outside", "error"),
        (np.where(np.arange(6000) == 5, np.nan, ROWS.scores), "missing_scores", "error"),
    ],
)
def test_a_fault_of_the_scores_is_found(scores: Any, code: str, severity: str) -> None:
    found = codes(diagnosed(replace(ROWS, scores=scores)))
    assert found.pop(code) == severity
    assert set(found) <= {"wrong_level"}  # which a fault may bring with it


@pytest.mark.parametrize(
    ("scores", "kind", "advice"),
    [
        (LOGITS, "logits", "1 / (1 + exp(-score))"),
        (100 * ROWS.scores, "percentages", "divide them by 100"),
        (np.log(ROWS.scores), "log_probabilities", "exp(score)"),
    ],
)
def test_what_the_scores_may_be_instead_is_told(scores: Any, kind: str, advice: str) -> None:
    (finding,) = diagnosed(replace(ROWS, scores=scores)).findings
    assert finding.values["looks_like"] == kind
    assert advice in finding.advice
    assert "of 6,000 scores of the training rows are outside [0, 1]" in finding.text


def test_certain_scores_that_are_right_are_a_note() -> None:
    sure = (ROWS.y == 0) & (np.arange(6000) % 50 == 0)
    diagnosis = diagnosed(replace(ROWS, scores=np.where(sure, 0.0, ROWS.scores)))
    assert codes(diagnosis) == {"certain_scores": "note"}
    words = f"{int(sure.sum()):,} of 6,000 scores of the training rows are exactly 0 or 1, and none"
    assert words in diagnosis.findings[0].text


def test_scores_next_to_0_and_1_are_saturated_however_many_rows_there_are() -> None:
    many = clean_rows(20_000, 3)
    scores = np.where(many.scores < 0.5, 1e-9, 1 - 1e-9)
    found = codes(diagnosed(replace(many, scores=scores)))
    assert found["saturated_scores"] == "warning"
    assert "too_few_to_fit" not in found


def test_scores_rounded_too_coarsely_for_a_rare_event_are_a_warning() -> None:
    # Their mean is about 0.03, so that a step of 0.01 is a third of it.
    rng = np.random.default_rng(0)
    scores = rng.gamma(2, 0.015, 20_000)
    rows = replace(clean_rows(20_000, 2), y=(rng.random(20_000) < scores).astype(int), scores=np.round(scores, 2))
    found = codes(diagnosed(rows))
    assert found.get("rounded_scores") == "warning" or found.get("few_distinct_scores") == "note"


def test_scores_that_promise_far_too_much_are_noted() -> None:
    # Odds four times too high, as after a sampling of negatives.
    scores = 4 * ROWS.scores / (1 + 3 * ROWS.scores)
    assert codes(diagnosed(replace(ROWS, scores=scores))) == {"wrong_level": "note"}


def test_scores_on_one_side_only_are_an_error() -> None:
    found = diagnosed(ROWS, replace(clean_rows(4000, 2), scores=None))
    assert codes(found) == {"scores_on_one_side": "error"}


def test_without_scores_everything_else_is_looked_at() -> None:
    odd = replace(ROWS.with_column("odd", np.zeros(6000)), scores=None)
    assert codes(diagnosed(odd, replace(clean_rows(4000, 2).with_column("odd", np.zeros(4000)), scores=None))) == {
        "constant_column": "note"
    }


def test_the_two_columns_of_predict_proba_are_scores() -> None:
    assert codes(diagnosed(replace(ROWS, scores=np.column_stack([1 - ROWS.scores, ROWS.scores])))) == {}


def test_infinite_scores_and_features_are_no_trouble() -> None:
    test = clean_rows(4000, 2)
    infinite = np.where(test.X["income"] > 1, np.inf, test.X["income"])
    diagnosis = diagnosed(
        ROWS, replace(test.with_column("income", infinite), scores=np.where(test.y == 1, np.inf, 0.1))
    )
    found = codes(diagnosis)
    assert found["scores_outside"] == "error"
    assert found["different_populations"] in ("warning", "error")


def test_scores_of_a_model_that_was_trained_on_the_rows_are_found() -> None:
    # Half-way to the label on train only: as a model that has memorised some of it.
    test = clean_rows(4000, 2)
    memorised = replace(ROWS, scores=0.8 * ROWS.scores + 0.2 * ROWS.y)
    diagnosis = diagnosed(memorised, test)
    (finding,) = [one for one in diagnosis.findings if one.code == "scores_better_on_train"]
    assert finding.severity == "warning"
    assert finding.values["train_auc"] > finding.values["test_auc"] + 0.03
    assert "scores_better_on_train" not in codes(diagnosed(test, memorised))  # the other way round it is luck
