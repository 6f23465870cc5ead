"""The AUC with its standard error, and a classifier that is honest about noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planted import clean_rows, diagnosed
from trueup.evaluation._diagnosis._separation import separation
from trueup.metrics import roc_auc


def test_the_auc_and_its_variance_by_hand() -> None:
    # First group 1, 2; second 2, 3. Pairs: 2>1, 2=2, 3>1, 3>2 give 3.5 of 4.
    # Placements of the second: 2 is above 1 and ties with 2: 0.75; 3: 1. Of the first: 1 is below both: 1; 2: 0.75.
    # Either group: two placements 0.125 off, so a variance of 2 · 0.125² / 2² = 1/128; both together 1/64.
    found = separation(np.array([1.0, 2, 2, 3]), np.array([1.0, 1, 0, 0]), np.array([0.0, 0, 1, 1]))
    assert found.auc == 0.875
    assert found.standard_error == pytest.approx(1 / 8)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.floats(0.1, 5)), min_size=2, max_size=60).filter(
        lambda rows: len({row[1] for row in rows}) == 2
    )
)
def test_the_auc_is_that_of_the_metrics(rows: list[tuple[int, bool, float]]) -> None:
    numbers, second, weights = (np.array(part, dtype=np.float64) for part in zip(*rows, strict=True))
    found = separation(numbers, weights * (1 - second), weights * second)
    assert found.auc == pytest.approx(roc_auc(second, numbers / 6, sample_weight=weights))


def test_the_standard_error_is_the_spread_over_samples() -> None:
    rng = np.random.default_rng(0)
    found = []
    for _ in range(600):
        numbers = np.concatenate([rng.normal(0, 1, 120), rng.normal(0.7, 1.5, 80)])
        weights = rng.uniform(0.2, 2, 200)
        second = np.arange(200) >= 120
        found.append(separation(numbers, np.where(second, 0, weights), np.where(second, weights, 0)))
    assert np.mean([one.standard_error for one in found]) == pytest.approx(np.std([one.auc for one in found]), rel=0.1)


@pytest.mark.slow
def test_the_classifier_says_significant_no_more_often_than_it_should() -> None:
    # 100 pairs of tables from one population: at a level of 5 % at most 11 of them (99.5 % of a binomial).
    p_values = []
    for seed in range(100):
        facts = diagnosed(clean_rows(600, 2 * seed), clean_rows(400, 2 * seed + 1), random_state=seed).facts
        p_values.append(facts["population_p_value"])
    assert np.mean(np.array(p_values) < 0.05) <= 11 / 100
    assert 0.4 < np.mean(p_values) < 0.6


def test_the_same_rows_and_seed_give_the_same_with_any_number_of_threads() -> None:
    import trueup

    train, test = clean_rows(2000, 1), clean_rows(1500, 2)
    facts = [
        trueup.diagnose(train.X, train.y, train.scores, test=(test.X, test.y, test.scores), n_jobs=n).facts
        for n in (1, 2)
    ]
    assert facts[0] == facts[1]
