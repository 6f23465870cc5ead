"""Rows that are there more than once: copies are told from coincidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planted import Rows, clean_rows, coarse_rows, codes, diagnosed
from trueup.evaluation._diagnosis._of_rows import _is_copied
from trueup.evaluation._diagnosis._prints import coincidence, mixed, no_prints

TRAIN, TEST = clean_rows(6000, 1), clean_rows(4000, 2)


def together(one: Rows, other: Rows) -> Rows:
    X = {name: np.concatenate([one.X[name], other.X[name]]) for name in one.X}
    return Rows(X, np.concatenate([one.y, other.y]), np.concatenate([one.scores, other.scores]))


@pytest.mark.parametrize(("n_leaked", "severity"), [(2000, "error"), (200, "warning"), (20, "note")])
def test_rows_of_train_in_test_are_found_and_counted(n_leaked: int, severity: str) -> None:
    leaked = together(TEST.of(slice(0, 4000 - n_leaked)), TRAIN.of(slice(0, n_leaked)))
    diagnosis = diagnosed(TRAIN, leaked)
    assert codes(diagnosis) == {"shared_rows": severity}
    assert diagnosis.findings[0].values["rows"] == n_leaked
    assert f"{n_leaked:,} of the 4,000 test rows" in diagnosis.findings[0].text


def test_leaked_rows_are_found_in_coarse_tables_too() -> None:
    # 144 combinations and two labels: nearly every row of test has a twin in train by chance, leaked or not.
    train = coarse_rows(150, 1)
    few = coarse_rows(150, 2)
    assert "shared_rows" not in codes(diagnosed(train, few))
    assert codes(diagnosed(train, train))["shared_rows"] == "error"


def test_leaked_rows_with_other_scores_are_found_by_their_features() -> None:
    leaked = together(TEST.of(slice(0, 3000)), replace(TRAIN.of(slice(0, 1000)), scores=TEST.scores[3000:]))
    assert codes(diagnosed(TRAIN, leaked))["shared_features"] == "error"


def test_a_row_number_does_not_hide_leaked_rows() -> None:
    train = TRAIN.with_column("row_id", np.random.default_rng(0).permutation(6000))
    test = TRAIN.of(slice(0, 4000)).with_column("row_id", np.random.default_rng(1).permutation(4000))
    assert codes(diagnosed(train, test))["shared_rows"] == "error"


def test_a_table_that_was_appended_to_itself_is_found() -> None:
    diagnosis = diagnosed(together(TRAIN, TRAIN))
    assert codes(diagnosis) == {"duplicated_rows": "warning"}
    assert "6,000 of the 12,000 training rows (50 %) repeat another row" in diagnosis.findings[0].text


def test_a_few_copies_are_found_where_a_measured_column_rules_out_coincidence() -> None:
    assert codes(diagnosed(together(TRAIN, TRAIN.of(slice(0, 120))))) == {"duplicated_rows": "warning"}


def test_many_copies_are_found_without_such_a_column() -> None:
    # Some 12 million combinations of four columns: 6,000 rows hold hardly a pair by chance.
    coarse = replace(TRAIN, X={name: TRAIN.X[name] for name in ("site", "city", "hour", "cents")})
    assert codes(diagnosed(together(coarse, coarse.of(slice(0, 600))))) == {"duplicated_rows": "warning"}
    assert codes(diagnosed(coarse)) == {}


def test_copies_that_a_random_split_tore_apart_are_found_on_both_sides() -> None:
    twice = together(TRAIN, TRAIN)
    in_test = np.random.default_rng(0).random(12_000) < 0.4
    found = codes(diagnosed(twice.of(~in_test), twice.of(in_test)))
    assert found == {"duplicated_rows": "warning", "shared_rows": "error"}


@pytest.mark.parametrize("n", [100, 1000, 20_000])
def test_a_coarse_table_that_repeats_itself_is_no_alarm(n: int) -> None:
    for seed in range(3 if n > 1000 else 8):
        found = codes(diagnosed(coarse_rows(n, 2 * seed), coarse_rows(n, 2 * seed + 1)))
        assert set(found) & {"duplicated_rows", "shared_rows", "shared_features"} == set()


def test_no_sample_of_any_population_is_taken_for_copied() -> None:
    # Populations from flat to steep, and samples from sparse to dense: 0.01 % of alarms are allowed.
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(2000):
        n_values = int(rng.choice([2, 5, 19, 30, 300, 3000]))
        shares = rng.dirichlet(np.full(n_values, rng.choice([0.02, 0.3, 3.0])))
        counts = rng.multinomial(int(rng.integers(50, 5000)), shares)
        alarms += _is_copied(counts[counts > 0])
    assert alarms <= 2


def test_dealing_at_random_gives_what_is_expected() -> None:
    # The mean of rows shared or unseen over many deals is the formula's, and so is their spread.
    rng = np.random.default_rng(0)
    values = rng.geometric(0.05, 2000)
    shared, unseen, expected = [], [], []
    for _ in range(400):
        in_test = rng.permutation(2000) < 600
        of_train, of_test = (np.bincount(values[side], minlength=values.max() + 1) for side in (~in_test, in_test))
        one, other = coincidence(of_train, of_test, shared=True), coincidence(of_train, of_test, shared=False)
        shared.append(one.rows)
        unseen.append(other.rows)
        assert one.rows + other.rows == 600
        expected.append((one.expected, other.expected, other.standard_error))
    assert np.mean(shared) == pytest.approx(expected[0][0], abs=0.5)
    assert np.mean(unseen) == pytest.approx(expected[0][1], abs=0.5)
    assert np.std(unseen) == pytest.approx(expected[0][2], rel=0.3)


@given(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0, np.nan, 2.5]), st.integers(0, 3)), min_size=1, max_size=40))
def test_prints_are_equal_just_where_rows_are(rows: list[tuple[float, int]]) -> None:
    values = np.array(rows, dtype=np.float64)
    prints = mixed(mixed(no_prints(len(rows)), values[:, 0]), values[:, 1])
    plain = [(None if np.isnan(a) else a + 0.0, b) for a, b in values.tolist()]
    for i, row in enumerate(plain):
        assert [bool(one) for one in prints == prints[i]] == [other == row for other in plain]


def test_the_order_of_columns_counts() -> None:
    one, two = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    prints = mixed(mixed(no_prints(2), one), two)
    assert prints[0] != prints[1]
