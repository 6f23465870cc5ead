"""Timings: one cell a method and number of groups, kept as they end."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from paper import TimingPlan, read_timing, run_timing
from paper._timing import _random_groups


def test_times_are_kept_and_not_taken_again(tmp_path: Path) -> None:
    plan = TimingPlan("Simulated", None, 400, 100, n_groups=(2, 4))
    told: list[tuple[int, int]] = []
    run_timing(plan, tmp_path, lambda done, total: told.append((done, total)))
    cells = read_timing(plan, tmp_path)
    assert [(cell.method, cell.n_groups) for cell in cells] == [
        (method, n) for method in ("MCGrad", "HKRR", "DFMC") for n in (2, 4)
    ]
    assert told[-1] == (6, 6)
    assert all(cell.fit_seconds > 0 and cell.predict_seconds > 0 for cell in cells)
    run_timing(plan, tmp_path, lambda done, total: told.append((-1, -1)))
    assert told[-1] == (6, 6)


def test_other_rows_are_timed_anew(tmp_path: Path) -> None:
    run_timing(TimingPlan("Simulated", None, 400, 100, n_groups=(2,)), tmp_path)
    assert read_timing(TimingPlan("Simulated", None, 300, 100, n_groups=(2,)), tmp_path) == []


def test_a_time_a_row_is_in_microseconds(tmp_path: Path) -> None:
    plan = TimingPlan("Simulated", None, 400, 100, n_groups=(2,))
    run_timing(plan, tmp_path)
    cell = read_timing(plan, tmp_path)[0]
    assert np.isclose(cell.fit_microseconds * 400, cell.fit_seconds * 1e6)


def test_random_groups_hold_5_to_50_percent_of_the_rows() -> None:
    groups = _random_groups(4_000, 20, np.random.default_rng(0))
    assert groups.shape == (4_000, 20)
    assert groups.mean(axis=0).min() > 0.03
    assert groups.mean(axis=0).max() < 0.53
