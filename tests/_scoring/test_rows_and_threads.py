"""Scoring in somebody's own service: few rows at a time, many threads, forks, and what the rows lacked."""

from __future__ import annotations

import os
import threading
import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueup
from small_fits import quick
from trueup._data import read_table
from trueup._scoring import observe_rows, observe_table
from trueup.errors import ColumnError, ScoreError

RNG = np.random.default_rng(0)
N = 300
COLUMNS = {
    "city": RNG.choice(["Oslo", "Kiel", "Rome"], N).tolist(),
    "age": RNG.integers(18, 80, N).tolist(),
    "income": [None if place % 9 == 0 else float(value) for place, value in enumerate(RNG.normal(size=N))],
}
SCORES = RNG.uniform(0.05, 0.95, N)
LABELS = (RNG.random(N) < np.where(np.array(COLUMNS["city"]) == "Oslo", 0.8, 0.2)).astype(int)
CALIBRATOR = trueup.Calibrator(quick().fit(COLUMNS, LABELS, scores=SCORES).model_)
ROWS = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*COLUMNS.values(), strict=True)]


def test_rows_get_what_a_table_of_them_gets():
    together = CALIBRATOR.calibrate(COLUMNS, SCORES)
    assert np.array_equal(CALIBRATOR.calibrate_rows(ROWS, SCORES), together)
    assert CALIBRATOR.calibrate_rows([], []).shape == (0,)


def test_a_bad_row_is_named():
    with pytest.raises(ColumnError, match="Row 2: Column 'age' holds strings"):
        CALIBRATOR.calibrate_rows([*ROWS[:2], {**ROWS[2], "age": "old"}], SCORES[:3])
    with pytest.raises(ScoreError, match=r"Row 1: score is 1\.5"):
        CALIBRATOR.calibrate_rows(ROWS[:2], [0.5, 1.5])
    with pytest.raises(ScoreError, match="Got 1 score for 2 rows"):
        CALIBRATOR.calibrate_rows(ROWS[:2], [0.5])


@pytest.mark.parametrize("score", [True, np.True_, np.array([0.5, 0.5, 0.5]), "0.5", 1j])
def test_a_score_that_a_table_refuses_is_refused_for_a_row_too(score: object) -> None:
    with pytest.raises(ScoreError, match="pass one probability in"):
        CALIBRATOR.calibrate_one(ROWS[0], score)
    with pytest.raises(ScoreError):
        CALIBRATOR.calibrate({name: values[:1] for name, values in COLUMNS.items()}, [score])


def test_an_array_of_one_score_is_refused_by_name_for_a_row() -> None:
    with pytest.raises(ScoreError, match=r"score is array\(\[0\.5\]\); pass one probability"):
        CALIBRATOR.calibrate_one(ROWS[0], np.array([0.5]))


@pytest.mark.parametrize("score", [np.float32(0.5), np.array(0.5), Decimal("0.5"), np.float64(0.5)])
def test_a_score_may_be_a_number_of_any_type(score: object) -> None:
    assert CALIBRATOR.calibrate_one(ROWS[0], score) == CALIBRATOR.calibrate_one(ROWS[0], 0.5)


def test_eight_threads_give_the_answers_of_one():
    alone = [CALIBRATOR.calibrate_one(row, score) for row, score in zip(ROWS, SCORES, strict=True)]
    found: list[list[float]] = [[] for _ in range(8)]
    begin = threading.Barrier(8)

    def score_all(place: int) -> None:
        begin.wait()
        for _ in range(5):
            found[place] += [CALIBRATOR.calibrate_one(row, score) for row, score in zip(ROWS, SCORES, strict=True)]

    threads = [threading.Thread(target=score_all, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answers == alone * 5 for answers in found)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_calibrator_works_after_a_fork():
    expected = CALIBRATOR.calibrate(COLUMNS, SCORES)
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer versions of Python count the threads of others
        child = os.fork()
    if child == 0:  # nothing but scoring: what pytest holds is the parent's
        same = np.array_equal(CALIBRATOR.calibrate_rows(ROWS, SCORES), expected)
        same &= np.array_equal(CALIBRATOR.calibrate(COLUMNS, SCORES), expected)
        os.write(writer, b"same" if same else b"other")
        os._exit(0)
    os.close(writer)
    assert os.read(reader, 10) == b"same"
    os.waitpid(child, 0)
    os.close(reader)


VALUES = {
    "city": st.sampled_from(["Oslo", "Kiel", "Bergen", None]),
    "age": st.one_of(st.integers(0, 99), st.none()),
    "income": st.one_of(st.floats(-3, 3), st.none()),
}


@given(st.lists(st.fixed_dictionaries(VALUES), min_size=1, max_size=20))
def test_what_rows_lack_is_counted_alike_row_by_row_and_as_a_table(rows):
    scores = np.full(len(rows), 0.4)
    columns = {name: [row[name] for row in rows] for name in VALUES}
    by_row = observe_rows(CALIBRATOR, rows, scores)
    by_table = observe_table(CALIBRATOR, read_table(columns), scores)
    missing = {name: columns[name].count(None) for name in columns if None in columns[name]}
    unseen = {"city": columns["city"].count("Bergen")} if "Bergen" in columns["city"] else {}
    assert by_row.missing == by_table.missing == missing
    assert by_row.unseen == by_table.unseen == unseen
    assert np.array_equal(by_row.probabilities, by_table.probabilities)
    assert np.array_equal(by_row.probabilities, CALIBRATOR.calibrate(columns, scores))


def test_a_missing_score_is_no_warning_here_and_no_probability():
    scores = np.array([0.4, np.nan])
    for observed in (
        observe_rows(CALIBRATOR, ROWS[:2], scores),
        observe_table(CALIBRATOR, read_table({k: v[:2] for k, v in COLUMNS.items()}), scores),
    ):
        assert np.isnan(observed.probabilities).tolist() == [False, True]
