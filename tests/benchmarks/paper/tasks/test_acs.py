"""The Census Bureau's person files in their own format, with folktables' filters and targets."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from paper.tasks._acs import PROBLEMS, STATES, prepare_acs, read_pums_zips
from source_files import state_zip
from trueup.errors import DataFileError


def labels(tmp_path: Path, problem: str, people: list[dict[str, str]]) -> list[int]:
    table = read_pums_zips([state_zip(tmp_path / "state.zip", people)], PROBLEMS[problem])
    return [int(label) for label in table.column("label").to_pylist()]


def test_income_keeps_adults_with_income_hours_and_weight(tmp_path: Path) -> None:
    people = [
        {},
        {"PINCP": "50000"},  # not above 50,000
        {"AGEP": "16"},
        {"PINCP": "100"},
        {"WKHP": ""},
        {"PWGTP": "0"},
        {"AGEP": "17", "PINCP": "101", "WKHP": "1", "PWGTP": "1"},
    ]
    assert labels(tmp_path, "income", people) == [1, 0, 0]


def test_public_coverage_keeps_the_young_of_low_income(tmp_path: Path) -> None:
    people = [
        {"PINCP": "30000", "PUBCOV": "1"},
        {"PINCP": "30001"},
        {"AGEP": "65", "PINCP": "0"},
        {"AGEP": "64", "PINCP": "-5", "PUBCOV": "2"},
        {"AGEP": "8", "PINCP": ""},  # a child has no income, and is left out
    ]
    assert labels(tmp_path, "public", people) == [1, 0]


def test_mobility_keeps_those_between_18_and_35(tmp_path: Path) -> None:
    ages = ["18", "19", "34", "35"]
    assert labels(tmp_path, "mobility", [{"AGEP": age, "MIG": "3" if age == "34" else "1"} for age in ages]) == [1, 0]


def test_travel_keeps_adults_at_work_and_asks_for_more_than_20_minutes(tmp_path: Path) -> None:
    people = [{"JWMNP": "21"}, {"JWMNP": "20"}, {"JWMNP": ""}, {"ESR": "3"}, {"AGEP": "16"}]
    assert labels(tmp_path, "travel", people) == [1, 0, 0]


@pytest.mark.parametrize(("problem", "target"), [("employment", "ESR"), ("health", "HINS2")])
def test_employment_and_health_keep_everybody(tmp_path: Path, problem: str, target: str) -> None:
    people = [{target: "1"}, {target: "2"}, {target: "", "AGEP": "3"}]
    assert labels(tmp_path, problem, people) == [1, 0, 0]


@pytest.mark.parametrize(
    ("problem", "n_columns"),
    # The paper's Table 1: folktables' features, and those of the income problem that they lack.
    [("income", 10), ("mobility", 23), ("public", 24), ("travel", 19), ("employment", 20), ("health", 31)],
)
def test_the_base_model_has_as_many_columns_as_in_the_paper(problem: str, n_columns: int) -> None:
    assert len(PROBLEMS[problem].features) == n_columns


def test_states_come_in_the_order_of_the_files(tmp_path: Path) -> None:
    paths = [state_zip(tmp_path / f"{age}.zip", [{"AGEP": age}]) for age in ("30", "20")]
    assert read_pums_zips(paths, PROBLEMS["income"]).column("AGEP").to_pylist() == [30.0, 20.0]
    assert len(STATES) == 50


def test_codes_are_categories_and_missing_ones_are_0(tmp_path: Path) -> None:
    people = [{"OCCP": "0050", "RAC1P": "2", "SEX": "2"}, {"OCCP": "", "COW": " ", "AGEP": "70"}]
    prepared = prepare_acs(read_pums_zips([state_zip(tmp_path / "al.zip", people)], PROBLEMS["employment"]))
    assert prepared.X.column_names == ["COW", "SCHL", "MAR", "OCCP", "POBP", "RAC1P", "RELP", "AGEP", "WKHP", "SEX"]
    assert prepared.X.column("OCCP").to_pylist() == ["50", "0"]
    assert prepared.X.column("COW").to_pylist() == ["1", "0"]
    assert prepared.base_columns.column("OCCP").to_pylist() == [50.0, 0.0]
    true = {name for name, rows in prepared.groups.items() if rows[0]}
    assert true == {"Black adults", "Black women", "women"}
    assert {name for name, rows in prepared.groups.items() if rows[1]} == {"seniors"}


def test_a_file_of_another_year_is_refused_by_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "state.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("psam_p01.csv", "RT,AGEP,RELSHIPP\nP,40,20\n")
    with pytest.raises(DataFileError, match=r"psam_p01.csv has no column .*RELP.*2018"):
        read_pums_zips([path], PROBLEMS["income"])


def test_a_zip_without_persons_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("psam_h01.csv", "RT\nH\n")
    with pytest.raises(DataFileError, match=r"expected one file psam_p\*.csv inside, found 0"):
        read_pums_zips([path], PROBLEMS["income"])
