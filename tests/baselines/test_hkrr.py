"""HKRR, on numbers that can be done in the head."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trueup.baselines import HKRR
from trueup.errors import ColumnError, ConvergenceWarning, LabelError, ParameterError, TableError
from trueup.metrics import maximum_over_segments, smooth_calibration_error

HALVES = {"half": ["a"] * 40 + ["b"] * 40}
# 32 of the 40 rows of half a are positive, and 8 of those of half b; all promise one half.
LABELS = [1] * 32 + [0] * 8 + [1] * 8 + [0] * 32
ONE_HALF = [0.5] * 80
SEGMENTS = ["half = a", "half = b"]


def fit(**more: Any) -> HKRR:
    return HKRR(average_bins=False, **more).fit(HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS)


def test_a_wrong_cell_moves_to_its_mean_label_but_for_a_quarter_of_alpha() -> None:
    # Half a is wrong by 0.3, half b by -0.3. One move each: then each is wrong by at most alpha / 4 = 0.025.
    model = fit(alpha=0.1)
    found = model.calibrate(HALVES, ONE_HALF)
    assert model.n_updates_ == 2
    assert abs(found[0] - 0.8) <= 0.025
    assert abs(found[79] - 0.2) <= 0.025
    assert len(set(found)) == 2


def test_it_ends_with_a_look_that_moves_nothing() -> None:
    assert fit(alpha=0.1).n_iterations_ == 2


def test_a_cell_that_is_wrong_by_less_than_half_of_alpha_stays() -> None:
    # 0.3 is less than 0.61 / 2.
    model = fit(alpha=0.61)
    assert model.n_updates_ == 0
    assert model.calibrate(HALVES, ONE_HALF).tolist() == ONE_HALF


def test_a_cell_with_too_small_a_part_of_its_segment_stays() -> None:
    # Of the segment's 100 rows, one is in a bin of its own, and wrong by 0.95. With alpha = 1 and lambda = 0.1 a cell
    # needs 1 * 0.1 * 100 = 10 rows.
    X = {"x": [0] * 100}
    scores, labels = [0.05] + [0.5] * 99, [1] + [0, 1] * 49 + [0]
    lonely = HKRR(alpha=1.0, average_bins=False).fit(X, labels, scores=scores, segments={"all": [1] * 100})
    assert lonely.n_updates_ == 0
    # With alpha = 0.09 it needs 0.9 of one.
    counted = HKRR(alpha=0.09, average_bins=False).fit(X, labels, scores=scores, segments={"all": [1] * 100})
    assert counted.calibrate(X, scores, {"all": [1] * 100})[0] > 0.9


def test_in_the_end_all_rows_of_a_bin_get_its_mean() -> None:
    # Nothing is wrong by 0.5 or more on the mean, so nothing moves; 0.41 and 0.49 share the bin (0.4, 0.5], and 0.4 is
    # in (0.3, 0.4].
    X, scores = {"x": [0] * 4}, [0.4, 0.41, 0.49, 0.49]
    segments = {"all": [True] * 4}
    model = HKRR(alpha=1.0).fit(X, [0, 0, 1, 1], scores=scores, segments=segments, sample_weight=[1, 2, 1, 1])
    # (2 * 0.41 + 0.49 + 0.49) / 4
    np.testing.assert_allclose(model.calibrate(X, scores, segments), [0.4, 0.45, 0.45, 0.45])
    # A bin without a row at fit has no mean to give.
    assert model.calibrate({"x": [0]}, [0.77], {"all": [True]}).tolist() == [0.77]


def test_probabilities_stay_within_0_and_1() -> None:
    X, segments = {"x": [0] * 60}, {"all": [True] * 60}
    labels, scores = [0] * 30 + [1] * 30, [0.03] * 30 + [0.97] * 30
    for seed in range(20):
        model = HKRR(alpha=0.02, average_bins=False, random_state=seed).fit(X, labels, scores=scores, segments=segments)
        found = model.calibrate(X, scores, segments)
        assert ((found >= 0) & (found <= 1)).all()


def test_the_same_seed_gives_the_same_model_and_another_seed_another() -> None:
    def deltas(seed: int) -> list[float]:
        return list(fit(random_state=seed).updates_.delta)

    assert deltas(1) == deltas(1)
    assert deltas(1) != deltas(2)


def test_refitting_forgets_what_was_before() -> None:
    model = fit()
    again = model.fit(HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS)
    assert again.updates_.delta.tolist() == fit().updates_.delta.tolist()


def wrong_rows(seed: int, n: int = 4000) -> tuple[dict[str, Any], Any, Any]:
    rng = np.random.default_rng(seed)
    X = {"a": rng.random(n) < 0.4, "b": rng.random(n) < 0.3}
    scores = rng.uniform(0.05, 0.95, n)
    truth = np.clip(scores + 0.15 * X["a"] - 0.1 * X["b"], 0, 1)
    return X, (rng.random(n) < truth).astype(int), scores


def test_of_several_alphas_the_one_with_the_least_error_of_its_segments_is_taken() -> None:
    X, y, p = wrong_rows(0)
    V, vy, vp = wrong_rows(1)
    conditions = ["a = true", "b = true"]
    model = HKRR(alpha=[0.6, 0.1]).fit(X, y, scores=p, segments=conditions, eval_set=(V, vy, vp))
    # At 0.6 a cell may be wrong by 0.3, so the errors of 0.15 stay.
    assert model.alpha_ == 0.1
    alone = HKRR(alpha=0.1).fit(X, y, scores=p, segments=conditions)
    assert model.calibrate(V, vp).tolist() == alone.calibrate(V, vp).tolist()
    segments = {"a = true": V["a"], "b = true": V["b"]}
    expected = maximum_over_segments(smooth_calibration_error, vy, alone.calibrate(V, vp), segments=segments)
    assert model.validation_errors_[0.1] == pytest.approx(expected)
    assert set(model.validation_errors_) == {0.6, 0.1}


def test_of_alphas_that_are_equally_good_the_larger_is_taken() -> None:
    V = (HALVES, LABELS, ONE_HALF)
    model = HKRR(alpha=(0.7, 0.8), average_bins=False).fit(
        HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS, eval_set=V
    )
    assert (model.n_updates_, model.alpha_) == (0, 0.8)


def test_the_papers_hkrr_chooses_among_four() -> None:
    X, y, p = wrong_rows(2)
    segments = {"a": X["a"], "b": X["b"]}
    model = HKRR.paper(random_state=5).fit(X, y, scores=p, segments=segments, eval_set=(X, y, p, None, segments))
    assert sorted(model.validation_errors_) == [0.0125, 0.025, 0.05, 0.1]
    assert (model.bin_width, model.random_state) == (0.1, 5)


def test_several_alphas_without_rows_to_choose_on_are_an_error() -> None:
    with pytest.raises(ParameterError, match=r"alpha has 4 values, and eval_set must say which is best"):
        HKRR.paper().fit(HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS)


def test_an_eval_set_that_is_wrong_says_so() -> None:
    for eval_set, error, message in (
        ((HALVES,), ParameterError, "eval_set must be a tuple"),
        ((HALVES, LABELS[:5], ONE_HALF), LabelError, "eval_set: y has 5 rows, but X has 80"),
        ((HALVES, [2] * 80, ONE_HALF), LabelError, "eval_set: y: 80 of 80 labels are neither 0 nor 1"),
    ):
        with pytest.raises(error, match=message):
            HKRR().fit(HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS, eval_set=eval_set)
    masks = {"a": np.arange(80) < 40}
    with pytest.raises(ColumnError, match="eval_set: 1 of 1 segments are missing that were given as masks at fit: 'a'"):
        HKRR().fit(HALVES, LABELS, scores=ONE_HALF, segments=masks, eval_set=(HALVES, LABELS, ONE_HALF))
    tiny = {"half": ["a", "b"]}
    with pytest.raises(TableError, match="eval_set can't tell one alpha from another: None of the 2 segments has 10"):
        HKRR(alpha=[0.1, 0.2]).fit(
            HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS, eval_set=(tiny, [0, 1], [0.5, 0.5])
        )


def test_reaching_the_limit_of_iterations_is_told() -> None:
    with pytest.warns(ConvergenceWarning, match=r"HKRR stopped after max_iterations=1 with cells that are still wrong"):
        HKRR(max_iterations=1).fit(HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": 0}, "alpha must be a number from 1e-06 to 1, got 0"),
        ({"alpha": [0.1, "x"]}, "alpha must be a number from 1e-06 to 1, got 'x'"),
        ({"alpha": ()}, "alpha is empty"),
        ({"alpha": True}, "alpha must be a number"),
        ({"bin_width": 0}, "bin_width must be a number from"),
        ({"bin_width": float("nan")}, "bin_width must be a number from"),
        ({"max_iterations": 0}, "max_iterations must be a whole number of at least 1, got 0"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        HKRR(**parameters).fit(HALVES, LABELS, scores=ONE_HALF, segments=SEGMENTS)
