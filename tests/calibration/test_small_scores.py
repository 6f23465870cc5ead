"""Scores next to 0 and 1, where fraud and ads live: they keep their order, their size and their loss."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.special import expit

import trueup
from trueup import MCGrad
from trueup.metrics import log_loss
from trueup.serving._arrow import read_arrow
from trueup.serving._json_body import read_json
from trueup.serving._rows import RowPlan

# From 1e-300 to 1 - 1e-16, which is as close to 1 as a float64 comes.
SCORES = np.concatenate([10.0 ** np.arange(-300, -1), np.linspace(0.02, 0.98, 49), 1 - 10.0 ** -np.arange(2, 17.0)])


@pytest.fixture(scope="module")
def monotone() -> MCGrad:
    rng = np.random.default_rng(0)
    base, x = rng.normal(-3, 3, 20_000), rng.normal(size=20_000)
    y = (rng.random(20_000) < expit(base + (x > 0))).astype(int)
    fitted = MCGrad(monotone_score=True, n_jobs=1).fit({"x": x}, y, scores=expit(base))
    assert fitted.n_rounds_ >= 1
    return fitted


def test_rows_below_1e_minus_7_keep_their_ranking_and_their_mean() -> None:
    # One row in 30 is below 1e-7. They used to be told apart no more, and to get 2e-6.
    rng = np.random.default_rng(1)
    base, wrong = rng.normal(-9, 4, 100_000), rng.random(100_000) < 0.5
    true = expit(base + wrong)
    X, y = {"wrong": wrong.astype(float)}, (rng.random(len(base)) < true).astype(int)
    fitted = MCGrad(n_jobs=1).fit(X, y, scores=expit(base))
    assert fitted.n_rounds_ >= 1
    calibrated = fitted.calibrate(X, expit(base))
    low = expit(base) < 1e-7
    assert len(np.unique(calibrated[low])) == low.sum()
    assert calibrated[low].mean() == pytest.approx(true[low].mean(), rel=0.5)


def test_the_loss_before_the_first_round_is_the_log_loss_of_the_base_scores() -> None:
    rng = np.random.default_rng(2)
    base = rng.normal(-8, 6, 5_003)
    y, weights = (rng.random(len(base)) < expit(base)).astype(int), rng.integers(1, 4, len(base)).astype(float)
    X, scores = {"x": rng.normal(size=len(base))}, expit(base)
    rows = np.arange(len(base)) % 3 == 0
    watched = ({"x": X["x"][rows]}, y[rows], scores[rows], weights[rows])
    fitted = MCGrad(n_jobs=1, max_rounds=1).fit(X, y, scores=scores, sample_weight=weights, eval_set=watched)
    assert fitted.history_[0].validation_loss == pytest.approx(
        log_loss(y[rows], scores[rows], sample_weight=weights[rows]), rel=1e-12
    )
    folds = MCGrad(n_jobs=1, max_rounds=1, validation=7).fit(X, y, scores=scores, sample_weight=weights)
    assert folds.history_[0].validation_loss == pytest.approx(log_loss(y, scores, sample_weight=weights), rel=1e-12)


def test_scores_from_1e_minus_300_to_1_keep_their_order_through_a_round(monotone: MCGrad) -> None:
    for x in (-1.0, 1.0, np.nan):
        calibrated = monotone.calibrate({"x": np.full(len(SCORES), x)}, SCORES)
        assert (np.diff(calibrated) >= 0).all()
        assert (np.diff(calibrated[SCORES <= 0.999999]) > 0).all()  # the last digits before 1 may be too few


def test_zero_and_one_are_the_last_in_that_order(monotone: MCGrad) -> None:
    scores = np.array([0.0, 1e-300, 1 - 1e-16, 1.0])
    calibrated = monotone.calibrate({"x": np.zeros(4)}, scores)
    assert calibrated[0] <= calibrated[1] < calibrated[2] <= calibrated[3]
    assert np.isfinite(calibrated).all()


def test_no_round_gives_the_smallest_scores_back_bit_for_bit() -> None:
    scores = np.concatenate([[0.0, 5e-324, 1e-310], SCORES, [1.0]])
    x, y = np.arange(len(scores)) % 3, np.arange(len(scores)) % 2
    fitted = MCGrad(max_rounds=0).fit({"x": x}, y, scores=scores)
    assert fitted.calibrate({"x": x}, scores).tolist() == scores.tolist()


def test_tables_rows_json_and_arrow_agree_on_small_scores(monotone: MCGrad) -> None:
    calibrator, plan = trueup.Calibrator(monotone.model_), RowPlan.of(monotone.model_)
    x = np.linspace(-1, 1, len(SCORES))
    expected = calibrator.calibrate({"x": x}, SCORES)
    rows = [{"x": value} for value in x.tolist()]
    assert calibrator.calibrate_rows(rows, SCORES.tolist()).tolist() == expected.tolist()
    body = json.dumps({"rows": rows, "scores": SCORES.tolist()}).encode()
    answer = read_json(body, plan, max_rows=1000).score(calibrator, plan).probabilities
    np.testing.assert_allclose(answer, expected, rtol=1e-12, atol=0)
    sink, table = pa.BufferOutputStream(), pa.table({"x": x, "score": SCORES})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    answer = read_arrow(bytes(sink.getvalue()), plan, max_rows=1000).score(calibrator, plan).probabilities
    np.testing.assert_allclose(answer, expected, rtol=1e-12, atol=0)


def test_onnx_agrees_on_small_scores_as_far_as_its_floats_go_and_says_how_far(monotone: MCGrad, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X = {"x": np.linspace(-1, 1, len(SCORES))}
    for kind, lowest, highest in (("float64", 2.0**-1022, 1 - 2.0**-53), ("float32", 2.0**-149, 1 - 2.0**-24)):
        exported = trueup.export_onnx(monotone, tmp_path / kind, float_type=kind)
        said = json.loads(exported.metadata["trueup.score"])
        assert (said["lowest"], said["highest"]) == (lowest, highest)
        feeds = exported.feeds(X, SCORES)
        as_fed = [feeds[name].astype(np.float64) for name in ("x", "score")]
        expected = monotone.calibrate({"x": as_fed[0]}, as_fed[1])
        found = runtime.InferenceSession(exported.path).run(None, feeds)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=0)
