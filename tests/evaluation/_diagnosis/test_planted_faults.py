"""Each planted fault is found, and nothing else is."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planted import Rows, clean_rows, codes, diagnosed
from trueup.evaluation import Diagnosis, Finding

TRAIN, TEST = clean_rows(6000, 1), clean_rows(4000, 2)


def the_finding(diagnosis: Diagnosis, code: str) -> Finding:
    (finding,) = [finding for finding in diagnosis.findings if finding.code == code]
    return finding


def test_without_a_fault_there_is_nothing_to_say() -> None:
    assert codes(diagnosed(TRAIN, TEST)) == {}


# --- populations


def test_another_population_is_found_with_the_column_that_gives_it_away() -> None:
    rng = np.random.default_rng(0)
    later = TEST.with_column("hour", np.minimum(23, TEST.X["hour"] + rng.integers(4, 9, 4000)))
    diagnosis = diagnosed(TRAIN, later)
    assert codes(diagnosis) == {"different_populations": "warning"}
    finding = diagnosis.findings[0]
    assert finding.values["population_low"] < finding.values["population_auc"] < finding.values["population_high"]
    first = finding.values["giveaways"][0]
    assert first["column"] == "hour"
    # hours are even from 0 to 23: their mean is 11.5 in train
    assert first["words"].startswith("'hour': mean 11.")
    assert first["words"] in finding.text


def test_a_shift_of_the_scores_alone_is_found() -> None:
    # The labels go with the scores, so that the scores foresee them.
    rng = np.random.default_rng(0)
    scores = TEST.scores**0.5
    diagnosis = diagnosed(TRAIN, replace(TEST, scores=scores, y=(rng.random(4000) < scores).astype(int)))
    assert codes(diagnosis) == {"different_populations": "warning", "label_shift": "note"}
    assert diagnosis.findings[0].values["giveaways"][0]["column"] == "scores"
    assert "which the scores foresaw" in the_finding(diagnosis, "label_shift").text


def test_a_difference_that_only_two_columns_together_show_is_found() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=6000), rng.normal(size=6000)
    train = TRAIN.with_column("one", one).with_column("two", two)
    size = np.abs(rng.normal(size=4000))
    one = rng.normal(size=4000)
    test = TEST.with_column("one", one).with_column("two", np.sign(one) * size)  # of the same distribution alone
    diagnosis = diagnosed(train, test)
    assert codes(diagnosis) == {"different_populations": "warning"}
    assert {one["column"] for one in diagnosis.findings[0].values["giveaways"]} == {"one", "two"}


def test_a_significant_but_small_difference_is_no_warning() -> None:
    # A shift of 0.15 standard deviations is an AUC of Φ(0.15 / √2) = 0.54: sure at this size, and small.
    train, test = clean_rows(20_000, 3), clean_rows(20_000, 4)
    diagnosis = diagnosed(train, test.with_column("income", test.X["income"] + 0.15))
    assert diagnosis.facts["population_p_value"] < 1e-6
    assert codes(diagnosis) == {}


def test_populations_with_nothing_in_common_are_an_error() -> None:
    rng = np.random.default_rng(0)
    test = TEST.with_column("income", rng.normal(2.0, 1, 4000)).with_column("tenure", rng.normal(3.5, 1, 4000))
    found = diagnosed(TRAIN, test)
    assert codes(found)["different_populations"] == "error"


@pytest.mark.parametrize(
    ("name", "train", "test", "words"),
    [
        ("year", [2015, 2016, 2017], [2018], "'year': 2015 to 2017 in train, 2018 in test"),
        ("day", np.arange("2024-01-01", "2024-03-01", dtype="datetime64[D]"), [dt.date(2024, 3, 2)], "2024-03-02"),
        ("month", ["2024-01", "2024-02"], ["2024-03"], "'2024-03'"),
    ],
)
def test_the_key_of_the_split_is_told_in_its_own_words(name: str, train: Any, test: Any, words: str) -> None:
    train_values, test_values = (np.resize(np.asarray(values), n) for values, n in ((train, 6000), (test, 4000)))
    keyed = TRAIN.with_column(name, train_values), TEST.with_column(name, test_values)
    diagnosis = diagnosed(*keyed)
    assert codes(diagnosis) == {"split_key": "note"}
    assert diagnosis.ok
    assert words in diagnosis.findings[0].text
    assert "Without it the AUC is 0." in diagnosis.findings[0].text
    assert abs(diagnosis.facts["population_auc"] - 0.5) < 0.05
    assert codes(diagnosed(*keyed, ignore=[name])) == {}


def test_row_numbers_in_order_are_a_key_of_the_split() -> None:
    diagnosis = diagnosed(
        TRAIN.with_column("place", np.arange(6000)), TEST.with_column("place", np.arange(6000, 10_000))
    )
    assert codes(diagnosis) == {"split_key": "note"}


def test_a_column_that_is_spelled_differently_is_a_warning() -> None:
    diagnosis = diagnosed(TRAIN, TEST.with_column("site", np.char.upper(TEST.X["site"])))
    assert codes(diagnosis) == {"separating_column": "warning"}
    assert "no value is in both" in diagnosis.findings[0].text


def test_a_column_in_another_unit_is_found() -> None:
    diagnosis = diagnosed(TRAIN, TEST.with_column("cents", TEST.X["cents"] / 100))
    # Dollars up to 1,000 lie below 99 % of the cents up to 100,000: an AUC of 0.99 and more.
    assert codes(diagnosis) in ({"separating_column": "warning"}, {"different_populations": "error"})


def test_categories_that_train_lacks_are_found() -> None:
    rng = np.random.default_rng(0)
    new = np.where(rng.random(4000) < 0.08, "n", TEST.X["site"])
    diagnosis = diagnosed(TRAIN, TEST.with_column("site", new))
    finding = the_finding(diagnosis, "unseen_categories")
    assert (finding.severity, finding.values["rows"]) == ("warning", int((new == "n").sum()))
    assert "such as 'n'" in finding.text


# --- weights


def test_weights_on_one_side_only_are_found() -> None:
    weights = np.random.default_rng(0).uniform(0.5, 1.5, 6000)
    assert codes(diagnosed(replace(TRAIN, weights=weights), TEST)) == {"weights_on_one_side": "warning"}
    assert codes(diagnosed(TRAIN, replace(TEST, weights=weights[:4000]))) == {"weights_on_one_side": "warning"}


def test_weights_of_another_scale_are_noted() -> None:
    weights = np.random.default_rng(0).uniform(0.5, 1.5, 6000)
    diagnosis = diagnosed(replace(TRAIN, weights=weights), replace(TEST, weights=1000 * weights[:4000]))
    assert codes(diagnosis) == {"weights_of_other_scale": "note"}


def test_weights_that_few_rows_carry_are_found() -> None:
    # Ten rows of weight 1,000 among ones: (10,000 + 5,990)² / (10,000,000 + 5,990) = 25.6 effective rows.
    weights = np.ones(6000)
    weights[:10] = 1000
    finding = the_finding(diagnosed(replace(TRAIN, weights=weights)), "uneven_weights")
    assert finding.severity == "warning"
    assert finding.values["effective_rows"] == pytest.approx(15_990**2 / 10_005_990)
    assert "say as much as 26 of one weight" in finding.text


def test_weights_that_make_the_populations_equal_keep_it_quiet() -> None:
    # Test holds only a third of the rows with negative income, each of which counts threefold.
    few = clean_rows(12_000, 5)
    kept = (few.X["income"] > 0) | (np.random.default_rng(0).random(12_000) < 1 / 3)
    test = few.of(kept)
    assert "different_populations" in codes(diagnosed(TRAIN, test))
    weighted = replace(test, weights=np.where(test.X["income"] > 0, 1.0, 3.0))
    assert codes(diagnosed(replace(TRAIN, weights=np.ones(6000)), weighted)) == {}


def test_weights_that_cannot_be_used_are_an_error() -> None:
    weights = np.ones(6000)
    weights[7] = -1
    finding = the_finding(diagnosed(replace(TRAIN, weights=weights)), "unusable_weights")
    assert finding.severity == "error"
    assert "1 of 6,000 weights are negative" in finding.text


# --- labels


def test_labels_that_shift_unforeseen_are_found() -> None:
    y = TEST.y.copy()
    y[np.flatnonzero(y)[::2]] = 0  # half of the positives were not counted
    diagnosis = diagnosed(TRAIN, replace(TEST, y=y))
    assert codes(diagnosis) == {"label_shift": "warning"}
    assert "which the scores did not foresee" in diagnosis.findings[0].text


def test_a_test_of_one_class_is_an_error() -> None:
    assert codes(diagnosed(TRAIN, TEST.of(TEST.y == 0)))["one_class"] == "error"


def test_labels_that_cannot_be_used_are_an_error_and_the_rest_is_looked_at() -> None:
    found = codes(diagnosed(replace(TRAIN, y=np.zeros(6000)), replace(TEST, y=np.zeros(4000))))
    assert found["unusable_labels"] == "error"
    broken = replace(TRAIN, y=np.zeros(6000), scores=np.full(6000, 0.3))
    assert codes(diagnosed(broken)) == {"unusable_labels": "error", "constant_scores": "warning"}


# --- amount


def test_too_few_rows_are_found_with_how_many_would_do() -> None:
    few = clean_rows(300, 6)
    diagnosis = diagnosed(few)
    assert codes(diagnosis) == {"too_few_to_fit": "warning", "too_few_to_see": "note"}
    assert the_finding(diagnosis, "too_few_to_fit").values["rows_needed"] >= 320
    needed = the_finding(diagnosis, "too_few_to_see").values["rows_needed"]
    assert "too_few_to_see" not in codes(diagnosed(clean_rows(int(1.3 * needed), 7)))
    assert "too_few_to_see" in codes(diagnosed(clean_rows(int(0.7 * needed), 7)))


def test_rare_positives_need_more_rows() -> None:
    rng = np.random.default_rng(0)
    scores = rng.uniform(0.001, 0.01, 6000)
    rare = Rows(TRAIN.X, (rng.random(6000) < scores).astype(int), scores)
    finding = the_finding(diagnosed(rare), "too_few_to_see")
    # 0.55 % of 6,000 rows are 33 positives; those of a tenth of the rows can't even show twice as many.
    assert (finding.severity, finding.values["relative"] > 1) == ("warning", True)
    assert finding.values["rows_needed"] > 20_000
    assert "positive rows" in finding.text


# --- columns


def test_the_label_in_disguise_is_found() -> None:
    won = np.where(TRAIN.y == 1, 50 + np.arange(6000) % 7, np.nan)  # filled in afterwards, for the positives
    finding = the_finding(diagnosed(TRAIN.with_column("won", won)), "label_in_disguise")
    assert finding.severity == "error"
    assert finding.values["auc"] > 0.999
    assert "'won'" in finding.text


def test_a_column_that_the_score_knows_too_is_no_disguise() -> None:
    # Scores that are as good as the column: there is nothing in it that they don't know.
    rng = np.random.default_rng(0)
    x = rng.normal(size=6000)
    scores = 1 / (1 + np.exp(-12 * x))
    assert "label_in_disguise" not in codes(diagnosed(Rows({"x": x}, (rng.random(6000) < scores).astype(int), scores)))


def test_a_value_that_tells_the_label_is_noted() -> None:
    # Three in ten positives were sold on, and no negative can be: the column tells these, and no others.
    sold = (TRAIN.y == 1) & (np.random.default_rng(0).random(6000) < 0.3)
    diagnosis = diagnosed(TRAIN.with_column("buyer", np.where(sold, "bank", "nobody")))
    assert codes(diagnosis) == {"telling_values": "note"}
    (told,) = diagnosis.findings[0].values["columns"]
    assert (told["column"], told["rows"], told["positive"]) == ("buyer", int(sold.sum()), True)
    assert "where 'buyer' is 'bank'" in diagnosis.findings[0].text


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (np.arange(6000) + 17, "id_column"),
        (np.array([f"u{k}" for k in range(6000)]), "id_column"),
        (np.full(6000, 3), "constant_column"),
        (np.where(np.arange(6000) % 40 == 0, 1.0 * np.arange(6000), np.nan), "mostly_missing"),
        (np.full(6000, np.nan), "empty_column"),
    ],
)
def test_columns_that_say_nothing_are_noted(column: Any, code: str) -> None:
    assert codes(diagnosed(TRAIN.with_column("odd", column))) == {code: "note"}


def test_a_column_that_is_missing_more_on_one_side_is_found() -> None:
    lost = np.where(np.random.default_rng(0).random(4000) < 0.4, np.nan, TEST.X["income"])
    found = diagnosed(TRAIN, TEST.with_column("income", lost))
    assert the_finding(found, "missing_on_one_side").severity == "warning"
    assert "is missing in 0 % of the training rows and 4" in the_finding(found, "missing_on_one_side").text


def test_a_column_that_is_empty_on_one_side_is_found() -> None:
    found = codes(diagnosed(TRAIN, TEST.with_column("income", np.full(4000, np.nan))))
    assert found["missing_on_one_side"] == "warning"


def test_a_column_that_test_lacks_is_an_error() -> None:
    less = replace(TEST, X={name: values for name, values in TEST.X.items() if name != "hour"})
    assert codes(diagnosed(TRAIN, less)) == {"absent_column": "error"}


def test_a_column_of_another_kind_is_an_error() -> None:
    diagnosis = diagnosed(TRAIN, TEST.with_column("hour", TEST.X["hour"].astype(str)))
    assert codes(diagnosis) == {"other_kind": "error"}
    assert "'hour' holds numbers in the training rows and strings in the test rows" in diagnosis.findings[0].text
