"""Cells are run once, kept whole, and go on after a failure or a stop."""

from __future__ import annotations

import dataclasses
import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from paper import Plan, finished_cells, run_cells
from paper import _run as run_file
from paper._cells import CellKey, cell_path, read_cell
from paper._methods import METHODS, Method, Outcome, ScoredTask
from paper._metrics import measure
from paper.tasks import load_task
from source_files import BANK_ROWS, bank_zip
from trueup.errors import DataFileError


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    return Plan(tmp_path / "out", ("Simulated",), ("base_model", "MCGrad_one_round"), max_rows=1_000)


def test_a_cell_is_run_once(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []
    run_cells(plan, lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
    cells, failures = finished_cells(plan)
    assert [cell.key.method for cell in cells] == ["base_model", "MCGrad_one_round"]
    assert failures == {}
    monkeypatch.setattr(run_file, "load_task", lambda *_, **__: pytest.fail("run again"))
    run_cells(plan)


def test_other_settings_are_another_cell(plan: Plan) -> None:
    run_cells(plan)
    other = dataclasses.replace(plan, max_rows=1_200)
    assert other.unfinished("Simulated") == ["base_model", "MCGrad_one_round"]
    assert finished_cells(other) == ([], {})


def test_other_data_are_another_cell(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_cells(plan)
    monkeypatch.setenv("TRUEUP_DATA", str(tmp_path))
    assert plan.unfinished("Simulated") == ["base_model", "MCGrad_one_round"]


def test_the_key_knows_the_method_s_settings() -> None:
    names = ("MCGrad", "MCGrad_msh_20", "trueup")
    settings = {name: CellKey.of("Simulated", METHODS[name], "sources", None).settings for name in names}
    assert len(set(settings.values())) == 3
    assert '"min_sum_hessian_in_leaf": 20.0' in settings["MCGrad_msh_20"]


def test_a_cell_is_kept_as_plain_json(plan: Plan) -> None:
    run_cells(plan)
    path = cell_path(plan.out, "Simulated", "MCGrad_one_round")
    kept = json.loads(path.read_text())
    assert kept["rounds"] == 1
    assert kept["origin"] == "simulated"
    assert read_cell(path) == plan.finished("Simulated", "MCGrad_one_round")


def test_a_damaged_cell_is_named(plan: Plan) -> None:
    run_cells(plan)
    cell_path(plan.out, "Simulated", "base_model").write_text('{"key"')
    with pytest.raises(DataFileError, match=r"Simulated--base_model.json is no finished cell.*Delete it"):
        finished_cells(plan)


def failing(rows: ScoredTask) -> Outcome:
    raise ValueError(f"nothing to be done with {len(rows.scores)} scores")


def test_a_failure_is_told_and_the_others_go_on(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "base_model", Method("base_model", "", {}, failing))
    run_cells(plan)
    cells, failures = finished_cells(plan)
    assert [cell.key.method for cell in cells] == ["MCGrad_one_round"]
    assert failures == {("Simulated", "base_model"): "ValueError: nothing to be done with 1000 scores"}
    monkeypatch.undo()


def test_what_failed_is_run_again(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(METHODS, "base_model", Method("base_model", "", {}, failing))
        run_cells(plan)
    run_cells(plan)
    assert finished_cells(plan)[1] == {}


def test_a_task_without_data_fails_in_all_its_cells(plan: Plan, tmp_path: Path) -> None:
    lacking = dataclasses.replace(plan, tasks=("Marketing",), data=tmp_path)
    run_cells(lacking)
    cells, failures = finished_cells(lacking)
    assert cells == []
    assert set(failures) == {("Marketing", "base_model"), ("Marketing", "MCGrad_one_round")}
    assert "bank-marketing.zip" in failures["Marketing", "base_model"]


def test_warnings_of_a_method_are_kept_with_its_cell(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    def warning(rows: ScoredTask) -> Outcome:
        warnings.warn("look here", UserWarning, stacklevel=1)
        return Outcome(rows.scores[rows.task.test])

    monkeypatch.setitem(METHODS, "base_model", Method("base_model", "", {}, warning))
    run_cells(plan)
    assert finished_cells(plan)[0][0].notes == ("look here",)


@pytest.mark.slow
def test_processes_give_the_same_figures_as_one(tmp_path: Path) -> None:
    bank_zip(tmp_path / "bank-marketing.zip", BANK_ROWS * 200)
    alone = Plan(tmp_path / "alone", ("Simulated", "Marketing"), ("MCGrad_one_round",), tmp_path, 600, 1)
    beside = dataclasses.replace(alone, out=tmp_path / "beside", jobs=2)
    run_cells(alone)
    run_cells(beside)
    figures = [{cell.key.task: cell.metrics for cell in finished_cells(plan)[0]} for plan in (alone, beside)]
    assert figures[0] == figures[1]
    assert len(figures[0]) == 2


def test_ctrl_c_keeps_what_is_finished(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(rows: ScoredTask) -> Outcome:
        raise KeyboardInterrupt

    monkeypatch.setitem(METHODS, "MCGrad_one_round", Method("MCGrad_one_round", "", {}, interrupted))
    with pytest.raises(KeyboardInterrupt):
        run_cells(plan)
    assert plan.finished("Simulated", "base_model") is not None
    assert plan.unfinished("Simulated") == ["MCGrad_one_round"]
    assert finished_cells(plan)[1] == {}


def test_ctrl_c_ends_the_processes_too(plan: Plan, tmp_path: Path) -> None:
    def interrupt(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(dataclasses.replace(plan, tasks=("Simulated", "Marketing"), data=tmp_path, jobs=2), interrupt)
    assert multiprocessing.active_children() == []


def test_figures_of_merit_are_those_of_the_metrics() -> None:
    # Scores of a half: one group all positive, one all negative, of 50 rows each; on the whole they are right.
    y, p = np.repeat([1, 0], 50), np.full(100, 0.5)
    groups = {"first": y == 1, "second": y == 0}
    found = measure({"half": np.repeat(["x", "y"], 50)}, y, p, groups)
    # In a half, the sum of errors is 25 and its standard deviation sqrt(50 / 4): 7.07 sigmas.
    assert found["mce_prespecified"] == pytest.approx(25 / np.sqrt(12.5))
    assert found["mce_unspecified"] == found["mce_all"] == pytest.approx(found["mce_prespecified"])
    assert found["mce_abs_prespecified"] == 0.5
    assert found["ecce"] == 0
    assert found["ece"] == 0
    assert found["log_loss"] == pytest.approx(np.log(2))


def test_groups_as_features_are_the_prespecified_ones() -> None:
    task = load_task("Simulated", max_rows=500)
    rows = ScoredTask(task, np.full(500, 0.5))
    table = rows.group_table(task.test)
    assert table.column_names == list(task.groups)
    assert rows.groups(task.test).sum() == sum(sum(table.column(name).to_pylist()) for name in table.column_names)
