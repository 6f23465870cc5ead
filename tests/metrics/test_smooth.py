"""smECE: on numbers that need no computer, and as its authors' package relplot computes it."""

import json
from pathlib import Path

import numpy as np
import pytest

from metrics.golden.make_relplot_values import CASES, draw
from trueup.metrics import smooth_calibration_error

RELPLOT = json.loads((Path(__file__).parent / "golden" / "relplot_values.json").read_text())["values"]


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_relplot(name: str) -> None:
    labels, scores, weights = draw(**CASES[name])
    # relplot adds 0.0001 of a row to the density at every point. The mean density is one a row, or somewhat less
    # where the kernel is cut or rows lie on the ends: its values are lower, by 0.0001 / n to 0.00025 / n of them.
    of_the_density = 0.00025 / weights.sum()
    ours = smooth_calibration_error(labels, scores, sample_weight=weights)
    assert 0 < ours / RELPLOT[name]["smece"] - 1 < of_the_density


def test_every_case_of_the_golden_file_is_tested() -> None:
    assert list(RELPLOT) == list(CASES)


@pytest.mark.parametrize("shift", [0.01, 0.1, 0.3])
def test_scores_shifted_by_a_constant_are_wrong_by_it(shift: float) -> None:
    # The residual is the same everywhere, so that no kernel changes it.
    labels = np.linspace(0, 1 - shift, 50)
    assert smooth_calibration_error(labels, labels + shift) == pytest.approx(shift, abs=1e-12)
    assert smooth_calibration_error(labels + shift, labels) == pytest.approx(shift, abs=1e-12)


def test_labels_equal_to_their_scores_are_no_error() -> None:
    scores = np.linspace(0, 1, 50)
    assert smooth_calibration_error(scores, scores) == 0


def test_half_positives_at_a_half_are_no_error() -> None:
    assert smooth_calibration_error([0, 1, 0, 1], [0.5] * 4) == pytest.approx(0, abs=1e-15)


def test_the_opposite_of_certainty_is_an_error_of_one() -> None:
    assert smooth_calibration_error([1, 1, 0, 0], [0, 0, 1, 1]) == pytest.approx(1, abs=0.2)
    assert smooth_calibration_error([1], [0]) == pytest.approx(1, abs=1e-12)


def test_opposite_errors_far_apart_do_not_cancel() -> None:
    # Half the rows are 0.1 too low, half 0.1 too high, at a distance of 5 widths: the mean of |±0.1|.
    assert smooth_calibration_error([0.3, 0.7], [0.2, 0.8]) == pytest.approx(0.1, abs=0.002)


def test_opposite_errors_close_together_cancel_where_bins_would_not_let_them() -> None:
    # Scores 0.5 ± a, a = 0.0001, are wrong by ±0.5: an ECE of 0.5 with a border between them, but moving them by a
    # makes them right. ∫ |K(t - a) - K(t + a)| dt = 4 a φ(0) / σ, of which a quarter is smECE_σ = 0.4 a / σ; it
    # equals σ at √(0.4 a) = 0.0063.
    assert smooth_calibration_error([0, 1], [0.5001, 0.4999]) == pytest.approx(0.0063, abs=0.0005)


def test_scores_next_to_each_other_have_errors_next_to_each_other() -> None:
    rng = np.random.default_rng(2)
    scores = rng.uniform(0.05, 0.95, 2_000)
    labels = rng.random(2_000) < 0.8 * scores
    moved = scores + 0.001 * np.sign(rng.random(2_000) - 0.5)
    assert smooth_calibration_error(labels, moved) == pytest.approx(smooth_calibration_error(labels, scores), abs=0.002)


def test_rows_on_an_end_of_the_interval_count_half() -> None:
    # As in relplot: half of the rows, at 0, are wrong by 0.1, the others are right. In the middle that is 0.05; at
    # the end, where they count half, 0.1 × 0.5 / 1.5 = 0.033.
    labels = np.repeat([0.1, 0.5], 500)
    at_the_end = smooth_calibration_error(labels, np.repeat([0.0, 0.5], 500))
    inside = smooth_calibration_error(labels + 0.1, np.repeat([0.1, 0.6], 500))
    assert (at_the_end, inside) == pytest.approx((0.0333, 0.05), abs=0.002)


def test_true_scores_have_an_error_that_shrinks_with_the_rows() -> None:
    rng = np.random.default_rng(4)
    scores = rng.random(40_000)
    labels = rng.random(40_000) < scores
    few, many = smooth_calibration_error(labels[:400], scores[:400]), smooth_calibration_error(labels, scores)
    assert many < 0.015 < few < 0.08
