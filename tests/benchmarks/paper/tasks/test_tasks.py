"""Tasks: rows from ready files or the sources' own, the paper's splits, and a base model that is fitted once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paper.tasks import TASKS, Task, base_scores, load_task
from paper.tasks import _base_model as base_model_file
from paper.tasks._columns import as_codes, categories
from paper.tasks._task import split_rows
from source_files import BANK_ROWS, bank_zip, state_zip
from trueup.errors import DataFileError, ParameterError


def test_splits_are_the_paper_s_and_part_the_rows() -> None:
    train, validation, test = split_rows(101)
    # A fifth of 101, cut down, twice; the rest is for training.
    assert (len(train), len(validation), len(test)) == (61, 20, 20)
    assert sorted([*train, *validation, *test]) == list(range(101))
    np.random.seed(42)  # noqa: NPY002 the published way
    assert test.tolist() == sorted(np.random.choice(101, 20, replace=False).tolist())  # noqa: NPY002


def test_whole_numbers_are_categories_by_their_digits() -> None:
    assert categories(np.array([3.0, np.nan, -1.0, 3.0])).to_pylist() == ["3", None, "-1", "3"]


def test_texts_become_their_places_among_the_sorted() -> None:
    table = pa.table({"colour": ["red", None, "blue", "red"]})
    assert as_codes(table, "colour").tolist() == [2.0, 0.0, 1.0, 2.0]


def test_a_task_reads_the_source_s_own_files_from_a_folder(tmp_path: Path) -> None:
    bank_zip(tmp_path / "bank-marketing.zip", BANK_ROWS * 50)
    task = load_task("Marketing", folder=tmp_path)
    assert (task.origin, task.source) == ("same data", "UCI Bank Marketing")
    assert len(task.y) == 150
    assert task.categorical[0] == "job"
    assert task.numerical[0] == "age"


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state_zip(tmp_path / "acs-2018-csv_pca.zip", [{"AGEP": str(20 + i)} for i in range(60)])
    monkeypatch.setenv("TRUEUP_DATA", str(tmp_path))
    assert load_task("ACSIncomeCA").X.num_columns == 10


def test_a_ready_file_is_preferred_and_says_what_it_is(tmp_path: Path) -> None:
    bank_zip(tmp_path / "bank-marketing.zip", BANK_ROWS)
    columns = {name: [1] * 200 for name in ("COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "SEX", "RAC1P")}
    columns |= {"AGEP": list(range(200)), "PINCP": [0, 1] * 100, "ST": ["CA", "TX"] * 100, "row": list(range(200))}
    pq.write_table(pa.table(columns), tmp_path / "acs_income_2018.parquet")
    california = load_task("ACSIncomeCA", folder=tmp_path)
    assert (california.origin, len(california.y)) == ("subset", 100)
    assert california.X.column_names[-3:] == ["AGEP", "WKHP", "SEX"]
    assert "PINCP" not in california.base_columns.column_names  # in the file it is the label


def test_fewer_rows_are_always_the_same_ones_and_make_a_subset(tmp_path: Path) -> None:
    bank_zip(tmp_path / "bank-marketing.zip", BANK_ROWS * 100)
    one, other = (load_task("Marketing", folder=tmp_path, max_rows=120) for _ in range(2))
    assert (one.origin, len(one.y)) == ("subset", 120)
    assert one.X.equals(other.X)


def test_small_groups_are_left_out(tmp_path: Path) -> None:
    bank_zip(tmp_path / "bank-marketing.zip", [*([BANK_ROWS[0]] * 199), BANK_ROWS[2]])
    # One of 200 rows is 0.5 %, which is not above 0.5 %.
    assert "age < 30" not in load_task("Marketing", folder=tmp_path).groups


def test_a_folder_without_the_file_is_told_of_with_the_source(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match=r"neither acs_income_2018.parquet nor acs-2018-csv_pak.zip and 49 more"):
        load_task("ACSIncome", folder=tmp_path)


def test_a_ready_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "bank_marketing.parquet")
    with pytest.raises(DataFileError, match=r"The file of task Marketing is not what it should be: .*age"):
        load_task("Marketing", folder=tmp_path)


def test_a_task_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(ParameterError, match=r"no task 'Income'. Tasks are MEPS, Credit, .*, and Simulated"):
        load_task("Income")


@pytest.mark.parametrize("max_rows", [99, 1.5, "many"])
def test_a_limit_that_makes_no_sense_is_refused(max_rows: object) -> None:
    with pytest.raises(ParameterError, match=r"max_rows must be"):
        load_task("Simulated", max_rows=max_rows)  # type: ignore[arg-type]


@pytest.fixture
def simulated() -> Task:
    return load_task("Simulated", max_rows=1_000)


def test_base_scores_are_kept_in_a_file(simulated: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = base_scores(simulated, cache=tmp_path)

    def fail(*_: object) -> None:
        raise AssertionError("fitted again")

    monkeypatch.setattr(base_model_file, "_fitted_scores", fail)
    np.testing.assert_array_equal(base_scores(simulated, cache=tmp_path), first)


def test_other_labels_are_another_base_model(simulated: Task, tmp_path: Path) -> None:
    from dataclasses import replace

    first = base_scores(simulated, cache=tmp_path)
    turned = replace(simulated, y=1 - simulated.y)
    np.testing.assert_allclose(base_scores(turned, cache=tmp_path), 1 - first, atol=1e-4)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_loads_from_the_ready_files(name: str, data_folder: Path) -> None:
    task = load_task(name, folder=data_folder, max_rows=2_000)
    assert len(task.y) == 2_000
    assert set(np.unique(task.y)) == {0, 1}
    assert task.groups
    assert task.X.column_names == [*task.categorical, *task.numerical]
    assert all(len(rows) == len(task.y) for rows in task.groups.values())
