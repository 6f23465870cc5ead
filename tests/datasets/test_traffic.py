"""Simulated traffic: right on the whole, wrong in its segments, and as messy as promised."""

import dataclasses
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from trueup.datasets import Traffic, make_traffic
from trueup.errors import ParameterError
from trueup.metrics import ecce, ecce_sigma, log_loss, roc_auc


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    return make_traffic()


@pytest.fixture(scope="module")
def much_traffic() -> Traffic:
    return make_traffic(400_000, random_state=1)


def segment_error(traffic: Traffic, name: str) -> float:
    rows = traffic.segments[name]
    return float(np.mean(traffic.scores[rows] - traffic.true_probability[rows]))


SEGMENTS = list(make_traffic(10).segments)


def test_prevalence_is_that_of_clicks(traffic: Traffic) -> None:
    assert 0.08 < traffic.y.mean() < 0.15


@pytest.mark.parametrize("seed", range(5))
def test_global_calibration_shows_nothing_beyond_noise(seed: int) -> None:
    traffic = make_traffic(random_state=seed)
    assert ecce_sigma(traffic.y, traffic.scores) < 2.5  # p > 0.05


def test_scores_are_right_at_every_level(much_traffic: Traffic) -> None:
    # Against the truth itself, as soft labels, there is no noise of labels: every interval of scores is right
    # to a twentieth of a percentage point of all rows.
    assert ecce(much_traffic.true_probability, much_traffic.scores) < 0.0005


def test_the_mean_score_is_the_mean_probability(much_traffic: Traffic) -> None:
    assert much_traffic.scores.mean() == pytest.approx(much_traffic.true_probability.mean(), abs=0.0003)


@pytest.mark.parametrize("name", SEGMENTS)
def test_each_segment_is_wrong_by_two_to_twelve_points(name: str, much_traffic: Traffic) -> None:
    assert 0.02 < abs(segment_error(much_traffic, name)) < 0.12


def test_some_segments_promise_too_much_and_some_too_little(much_traffic: Traffic) -> None:
    errors = [segment_error(much_traffic, name) for name in SEGMENTS]
    assert sum(error > 0 for error in errors) >= 2
    assert sum(error < 0 for error in errors) >= 2


def test_segments_are_of_different_sizes(much_traffic: Traffic) -> None:
    shares = [rows.mean() for rows in much_traffic.segments.values()]
    assert len(shares) >= 5
    assert min(shares) > 0.005
    assert max(shares) > 8 * min(shares)


def test_the_name_of_a_segment_says_which_rows_are_inside(traffic: Traffic) -> None:
    table = traffic.X
    by_hand = {
        "country = NO and device = tablet": pc.and_(
            pc.equal(table["country"], "NO"), pc.equal(table["device"], "tablet")
        ),
        "is_logged_in = false and referrer is missing": pc.and_(
            pc.invert(table["is_logged_in"]), pc.is_null(table["referrer"])
        ),
        "account_age_days < 60 and past_clicks >= 10": pc.and_(
            pc.fill_null(pc.less(table["account_age_days"], 60), False),
            pc.greater_equal(table["past_clicks"], 10),
        ),
    }
    for name, rows in by_hand.items():
        np.testing.assert_array_equal(traffic.segments[name], rows.to_numpy())


def test_outside_all_segments_the_scores_are_nearly_right(much_traffic: Traffic) -> None:
    outside = ~np.any(list(much_traffic.segments.values()), axis=0)
    errors = much_traffic.scores[outside] - much_traffic.true_probability[outside]
    assert np.abs(errors).max() < 0.05
    assert abs(errors.mean()) < 0.005


def test_the_base_model_is_decent_and_the_truth_is_better(traffic: Traffic) -> None:
    assert roc_auc(traffic.y, traffic.scores) > 0.72
    assert log_loss(traffic.y, traffic.true_probability) < log_loss(traffic.y, traffic.scores) - 0.002


def test_labels_follow_the_true_probability(traffic: Traffic) -> None:
    assert ecce_sigma(traffic.y, traffic.true_probability) < 2.5
    assert set(traffic.y.tolist()) == {0, 1}


def test_strings_and_numbers_have_missing_values(traffic: Traffic) -> None:
    missing = {name: traffic.X[name].null_count for name in traffic.X.column_names}
    assert {name for name, count in missing.items() if count} == {
        "account_age_days",
        "session_length",
        "referrer",
    }
    assert min(count for count in missing.values() if count) > 500


def test_a_missing_number_is_a_null_and_never_nan(traffic: Traffic) -> None:
    for name in ["account_age_days", "session_length"]:
        assert not pc.any(pc.is_nan(traffic.X[name])).as_py()


@pytest.mark.parametrize(("column", "n_values", "rare"), [("country", 25, 0.001), ("app_version", 200, 0.0002)])
def test_some_categories_are_rare(column: str, n_values: int, rare: float, much_traffic: Traffic) -> None:
    counts = np.array([count["counts"].as_py() for count in pc.value_counts(much_traffic.X[column].combine_chunks())])
    assert len(counts) == n_values
    assert counts.min() / len(much_traffic.y) < rare
    assert counts.max() / len(much_traffic.y) > 0.1


def test_columns_are_plain_arrow_types(traffic: Traffic) -> None:
    assert traffic.X.schema == pa.schema(
        {
            "country": pa.string(),
            "device": pa.string(),
            "app_version": pa.string(),
            "content_type": pa.string(),
            "hour": pa.int64(),
            "weekday": pa.string(),
            "account_age_days": pa.float64(),
            "past_clicks": pa.int64(),
            "session_length": pa.float64(),
            "is_logged_in": pa.bool_(),
            "referrer": pa.string(),
        }
    )


def test_past_clicks_have_a_heavy_tail(traffic: Traffic) -> None:
    clicks = traffic.X["past_clicks"].to_numpy()
    assert clicks.max() > 100 * clicks.mean()


def test_one_table_holds_everything(traffic: Traffic) -> None:
    table = traffic.to_table()
    assert table.column_names == [*traffic.X.column_names, "label", "score", "true_probability"]
    np.testing.assert_array_equal(table["label"].to_numpy(), traffic.y)
    np.testing.assert_array_equal(table["score"].to_numpy(), traffic.scores)


def test_the_same_seed_gives_the_same_traffic(traffic: Traffic) -> None:
    again = make_traffic(random_state=np.random.default_rng(0))
    assert again.to_table().equals(traffic.to_table())
    for name, rows in traffic.segments.items():
        np.testing.assert_array_equal(again.segments[name], rows)


def test_another_seed_gives_other_traffic(traffic: Traffic) -> None:
    assert not make_traffic(random_state=1).X.equals(traffic.X)
    assert not make_traffic(random_state=None).X.equals(traffic.X)


def test_the_scores_are_one_function_of_the_main_effects_for_every_seed() -> None:
    # Outside the segments the truth tells the main effects, and the score is one increasing function of it.
    first, second = make_traffic(20_000, 5), make_traffic(20_000, 6)
    plain = [~np.any(list(traffic.segments.values()), axis=0) for traffic in (first, second)]
    truth = np.concatenate([first.true_probability[plain[0]], second.true_probability[plain[1]]])
    scores = np.concatenate([first.scores[plain[0]], second.scores[plain[1]]])
    assert np.all(np.diff(scores[np.argsort(truth)]) >= -1e-12)


def test_one_row_is_enough() -> None:
    traffic = make_traffic(1)
    assert len(traffic.y) == traffic.X.num_rows == len(traffic.scores) == 1


@pytest.mark.parametrize("n", [0, -5, 2.5, "many"])
def test_a_number_of_rows_that_is_none_is_an_error(n: int) -> None:
    with pytest.raises(ParameterError, match="n must be"):
        make_traffic(n)


@pytest.mark.parametrize("random_state", [-1, "seed", 0.5])
def test_a_seed_that_is_none_is_an_error(random_state: int) -> None:
    with pytest.raises(ParameterError, match="random_state must be"):
        make_traffic(10, random_state)


def test_traffic_can_not_be_reassigned(traffic: Traffic) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        traffic.y = traffic.y + 1  # type: ignore[misc]


# pyarrow imports pandas by itself where it is installed; here every such import fails, as where it is not.
WITHOUT_HEAVY_PACKAGES = """
import sys

class Absent:
    def find_spec(self, name, *_):
        if name in {"sklearn", "scipy", "pandas", "lightgbm"}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
from trueup.datasets import make_traffic
print(make_traffic(10).to_table().num_rows)
"""


def test_making_traffic_needs_neither_pandas_nor_scikit_learn() -> None:
    command = [sys.executable, "-c", WITHOUT_HEAVY_PACKAGES]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == "10"
