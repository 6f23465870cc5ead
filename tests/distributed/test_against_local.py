"""A fit on workers beside fits in one process, on the same rows: as many rounds, and as good."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from distributed import Client

from dask_fits import frame_of, quick_estimator
from trueup import MCGrad
from trueup._data import hash_column
from trueup._fitting import dealing_for, seeds_from
from trueup.datasets import make_traffic
from trueup.distributed import fit_dask
from trueup.errors import InsufficientDataWarning, RescaleWarning
from trueup.metrics import log_loss

N = 24_000
TRAFFIC, FRESH = make_traffic(N, random_state=5), make_traffic(20_000, random_state=6)
COLUMNS = {"label": "clicked", "score": "p"}
OPTIONS: dict[str, Any] = {"validation": 0.25, "patience": 1, "max_rounds": 4, "random_state": 0, "n_jobs": 1}


def table_of(traffic: Any) -> pa.Table:
    table = traffic.X.append_column("clicked", pa.array(traffic.y)).append_column("p", pa.array(traffic.scores))
    return table.append_column("user", pa.array(np.arange(len(traffic.y)) % 5_000))


TABLE, NEW = table_of(TRAFFIC), table_of(FRESH)
ROWS = TABLE.to_pandas()
FRAME = frame_of(ROWS[:7_000], ROWS[7_000:13_000], ROWS[13_000:])


@pytest.fixture(scope="module")
def on_workers(client: Client) -> MCGrad:
    return fit_dask(FRAME, group="user", client=client, estimator=MCGrad(**OPTIONS), **COLUMNS)


@pytest.mark.slow
def test_it_is_as_good_as_fits_in_one_process(on_workers: MCGrad) -> None:
    streamed = MCGrad(**OPTIONS).fit_stream(TABLE.to_batches(5_000), group="user", **COLUMNS)
    dealt = dealing_for(0.25, N, seeds_from(0)[0]).by_hash(hash_column(TABLE["user"]))
    split = [(np.flatnonzero(dealt != 0), np.flatnonzero(dealt == 0))]
    in_memory = MCGrad(**{**OPTIONS, "validation": split}).fit(TRAFFIC.X, TRAFFIC.y, scores=TRAFFIC.scores)
    assert on_workers.n_rounds_ == streamed.n_rounds_ == in_memory.n_rounds_ > 0
    assert len(on_workers.history_) == len(streamed.history_) == len(in_memory.history_)
    ours = log_loss(FRESH.y, on_workers.calibrate(NEW))
    assert ours < 0.995 * log_loss(FRESH.y, FRESH.scores)
    for theirs in (streamed.calibrate(NEW), in_memory.calibrate(FRESH.X, FRESH.scores)):
        assert abs(ours / log_loss(FRESH.y, theirs) - 1) < 0.002


@pytest.mark.slow
def test_validation_losses_are_those_of_the_same_rows_in_one_process(on_workers: MCGrad) -> None:
    # The key decides, so that the same rows are held out; before the first round their loss is the base model's.
    dealt = dealing_for(0.25, N, seeds_from(0)[0]).by_hash(hash_column(TABLE["user"]))
    for loss, rows in (("validation_loss", dealt == 0), ("train_loss", dealt != 0)):
        expected = log_loss(TRAFFIC.y[rows], TRAFFIC.scores[rows])
        assert getattr(on_workers.history_[0], loss) == pytest.approx(expected, rel=1e-9)


def test_on_few_values_the_first_round_is_that_of_one_process(alone: Client) -> None:
    # Without scores all logits are equal, so that only the hours and the days are cut, and either tells them all apart.
    few = TABLE.slice(0, 2_000).select(["hour", "is_logged_in", "past_clicks", "clicked"])
    rows = few.to_pandas()
    ours = fit_dask(
        frame_of(rows[:900], rows[900:]), label="clicked", client=alone, estimator=quick_estimator(max_rounds=1)
    )
    theirs = quick_estimator(max_rounds=1).fit_stream(few, label="clicked")
    np.testing.assert_allclose(ours.calibrate(few), theirs.calibrate(few), rtol=1e-5)
    assert ours.calibrate(few).std() > 0.01
    assert ours.model_.features == theirs.model_.features
    assert ours.model_.summary.n_rows == theirs.model_.summary.n_rows == 2_000
    assert ours.model_.summary.positive_rate == theirs.model_.summary.positive_rate
    assert ours.history_[1].train_loss == pytest.approx(theirs.history_[1].train_loss, rel=1e-6)
    assert ours.feature_names_in_.tolist() == theirs.feature_names_in_.tolist()


def test_rows_without_weight_are_rows_that_are_not_there(alone: Client) -> None:
    rows = ROWS[:1_500].assign(w=np.where(np.arange(1_500) % 3 == 0, 0.0, 2.0))
    kept = rows[rows["w"] > 0]
    ours = fit_dask(
        frame_of(rows[:600], rows[600:]), weight="w", client=alone, estimator=quick_estimator(max_rounds=1), **COLUMNS
    )
    theirs = fit_dask(
        frame_of(kept[:400], kept[400:]), weight="w", client=alone, estimator=quick_estimator(max_rounds=1), **COLUMNS
    )
    assert ours.model_.summary.n_rows == 1_000
    np.testing.assert_array_equal(ours.calibrate(NEW), theirs.calibrate(NEW))


def test_without_scores_the_base_rate_is_the_base_model(alone: Client) -> None:
    rows = ROWS[:1_500].drop(columns="p")
    model = fit_dask(
        frame_of(rows[:600], rows[600:]), label="clicked", client=alone, estimator=quick_estimator(max_rounds=1)
    )
    assert model.model_.base_rate == pytest.approx(TRAFFIC.y[:1_500].mean(), rel=1e-12)
    assert model.model_.features.score_column is None
    assert model.history_[1].train_loss < model.history_[0].train_loss


def test_too_few_rows_give_no_round_and_say_so(alone: Client) -> None:
    with pytest.warns(InsufficientDataWarning, match="Too few rows") as told:
        model = fit_dask(frame_of(ROWS[:100], ROWS[100:200]), client=alone, estimator=MCGrad(), **COLUMNS)
    assert told[0].filename == __file__
    assert model.n_rounds_ == 0
    np.testing.assert_array_equal(model.calibrate(TABLE.slice(0, 200)), TRAFFIC.scores[:200])


def test_a_key_of_one_value_leaves_nothing_to_validate_on(alone: Client) -> None:
    with pytest.warns(InsufficientDataWarning, match="too few groups to split"):
        model = fit_dask(
            frame_of(ROWS[:2_000].assign(user=1)),
            group="user",
            client=alone,
            estimator=MCGrad(validation=0.3),
            **COLUMNS,
        )
    assert model.n_rounds_ == 0


def test_without_validation_honest_rescaling_is_not_and_it_is_said(alone: Client) -> None:
    with pytest.warns(RescaleWarning, match="validation=None") as told:
        fit_dask(
            frame_of(ROWS[:400], ROWS[400:800]),
            client=alone,
            estimator=quick_estimator(rescale="honest", max_rounds=1),
            **COLUMNS,
        )
    assert told[0].filename == __file__


def test_the_fit_is_an_ordinary_estimator_and_the_given_one_stays_as_it_was(alone: Client) -> None:
    estimator = quick_estimator(max_rounds=1)
    fitted = fit_dask(frame_of(ROWS[:400], ROWS[400:800]), client=alone, estimator=estimator, **COLUMNS)
    assert type(fitted) is MCGrad
    assert fitted.get_params() == estimator.get_params()
    assert not hasattr(estimator, "model_")
