"""The distribution of the range of Brownian motion, and p-values that are what they say."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueup.metrics import brownian_range_survival, ecce_pvalue, ecce_sigma

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798")


def survival_to_many_digits(x: float) -> float:
    """Sum Feller's series with 90 digits, so that 1 - F keeps 15 of them down to 1e-70.

    F(x) = Σ (8/x² + 2/a_k) exp(-2 a_k/x²), a_k = ((k + ½)π)². The terms after K are below
    exp(-2 a_K/x²) times a constant, so that 100 terms leave less than 1e-90 for x <= 18.
    """
    with localcontext() as context:
        context.prec = 90
        square = Decimal(x) ** 2
        total = Decimal(0)
        for k in range(100):
            a = ((k + Decimal("0.5")) * PI) ** 2
            total += (8 / square + 2 / a) * (-2 * a / square).exp()
        return float(1 - total)


@pytest.mark.parametrize("x", [0.3, 0.5, 0.8, 1.0, 1.5, 1.99, 2.0, 2.01, 2.5, 3.0, 4.0, 6.0, 9.0, 12.0, 17.0])
def test_survival_agrees_with_a_sum_of_many_digits(x: float) -> None:
    assert brownian_range_survival(x) == pytest.approx(survival_to_many_digits(x), rel=1e-13)


def test_both_series_meet() -> None:
    below, above = brownian_range_survival(math.nextafter(2, 0)), brownian_range_survival(2)
    assert below == pytest.approx(above, rel=1e-14)


@pytest.mark.parametrize(("x", "expected"), [(0.0, 1.0), (1e-300, 1.0), (0.2, 1.0), (100.0, 0.0), (math.inf, 0.0)])
def test_survival_at_the_far_ends(x: float, expected: float) -> None:
    assert brownian_range_survival(x) == expected


def test_the_tail_is_four_times_the_two_sided_normal_tail() -> None:
    # 1 - F(x) = 8 Q(x) - 16 Q(2x) + ...; at 7 sigmas the second term is below 1e-40 of the first, and
    # 2 Q(x) = erfc(x / √2).
    assert brownian_range_survival(7) == pytest.approx(4 * math.erfc(7 / math.sqrt(2)), rel=1e-14)


def test_the_mean_range_is_the_root_of_eight_over_pi() -> None:
    # E[range] = E[max] - E[min] = 2 E|N(0, 1)| = 2 √(2/π) = √(8/π), and it is the integral of 1 - F.
    middles = np.arange(0.005, 15, 0.01)
    integral = 0.01 * sum(brownian_range_survival(float(x)) for x in middles)
    assert integral == pytest.approx(math.sqrt(8 / math.pi), rel=1e-6)


def test_the_mean_square_of_the_range_is_four_logs_of_two() -> None:
    # Feller (1951): the variance of the range is 4 (log 2 - 2/π) = 0.2261; with the mean's square, 8/π, E[range²] is
    # 4 log 2 = 2.7726. It is the integral of 2x (1 - F); at 0 that rises by 2, which makes the sum over middles too
    # large by 2 × 0.01² / 24 = 8.3e-6.
    middles = np.arange(0.005, 15, 0.01)
    integral = 0.01 * sum(2 * x * brownian_range_survival(float(x)) for x in middles)
    assert integral - 8.3e-6 == pytest.approx(4 * math.log(2), abs=1e-7)


@pytest.mark.parametrize("rate", [0.1, 1.0, 2.0, 10.0, 50.0])
def test_the_time_until_the_range_is_one_has_its_published_transform(rate: float) -> None:
    # The time T at which the range reaches 1 has E[exp(-λT)] = 1 / cosh²(√(λ/2)) (Imhof, "On the range of Brownian
    # motion and its inverse process", 1985). A range of 1 at time t is one of 1/√t at time 1, so that P(T < t) is
    # 1 - F(1/√t), and the transform is the integral of λ exp(-λt) P(T < t). After t = 12, P(T < t) is 1.
    step = 0.002
    times = np.arange(step / 2, 12, step)
    chances = np.array([brownian_range_survival(float(time) ** -0.5) for time in times])
    transform = step * np.sum(rate * np.exp(-rate * times) * chances) + math.exp(-12 * rate)
    assert transform == pytest.approx(1 / math.cosh(math.sqrt(rate / 2)) ** 2, rel=1e-3)


@given(st.floats(0, 50), st.floats(0, 50))
def test_a_larger_range_is_less_likely(x: float, z: float) -> None:
    small, large = sorted([x, z])
    assert 0 <= brownian_range_survival(large) <= brownian_range_survival(small) <= 1


@pytest.mark.slow
def test_survival_agrees_with_simulated_walks() -> None:
    # A walk of m normal steps misses the extremes between its steps: its range is short by 2 × 0.5826 / √m
    # on average, 0.037 here. Shifted by that, 4,000 walks give each frequency to ±0.008 (one sigma at most).
    rng = np.random.default_rng(7)
    walks = np.cumsum(rng.normal(scale=1000**-0.5, size=(4_000, 1_000)), axis=1)
    ranges = np.maximum(walks.max(axis=1), 0) - np.minimum(walks.min(axis=1), 0) + 2 * 0.5826 / math.sqrt(1000)
    for x in [0.9, 1.2, 1.5, 2.0, 2.5, 3.0]:
        assert np.mean(ranges > x) == pytest.approx(brownian_range_survival(x), abs=0.025)


@pytest.fixture(scope="module")
def pvalues_of_true_models() -> NDArray[np.float64]:
    """Draw labels from their own uneven scores, with weights, and give the p-values of 1,000 such models."""
    rng = np.random.default_rng(11)
    rows = 10_000
    pvalues = []
    for _ in range(1_000):
        scores = rng.beta(1, 5, rows)
        labels = rng.random(rows) < scores
        pvalues.append(ecce_pvalue(labels, scores, sample_weight=rng.uniform(0.5, 2, rows)))
    return np.array(pvalues)


@pytest.mark.slow
def test_one_true_model_in_twenty_is_rejected_at_five_percent(
    pvalues_of_true_models: NDArray[np.float64],
) -> None:
    # Binomial(1000, 0.05): 50 ± 6.9. Three sigmas either side.
    assert 29 <= np.sum(pvalues_of_true_models < 0.05) <= 71


@pytest.mark.slow
def test_pvalues_of_true_models_are_uniform(pvalues_of_true_models: NDArray[np.float64]) -> None:
    # Kolmogorov's distance of 1,000 uniform values stays below 1.63 / √1000 = 0.052 in 99 of 100 cases. That
    # a path of 10,000 rows misses the extremes between them adds 0.01: a range short by 1.17 / √10000, times
    # a density of at most 0.8.
    distance = np.abs(np.sort(pvalues_of_true_models) - np.arange(1, 1_001) / 1_000).max()
    assert distance < 0.062


def test_a_model_that_promises_a_tenth_too_much_is_found_out() -> None:
    rng = np.random.default_rng(3)
    scores = rng.uniform(0.1, 0.9, 20_000)
    labels = rng.random(20_000) < 0.9 * scores
    # Mean error 0.05; sigma = sqrt(mean p(1-p) / n) = sqrt(0.197 / 20000) = 0.0031: about 16 sigmas.
    assert ecce_sigma(labels, scores) == pytest.approx(16, abs=2.5)
    assert ecce_pvalue(labels, scores) < 1e-30
