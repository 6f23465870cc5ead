"""HMDA's and MEPS's files as they were published for the paper's predecessors."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from paper.tasks._meps import prepare_meps, read_meps_files
from paper.tasks._mortgage import prepare_mortgages, read_mortgage_zips
from trueup.errors import DataFileError

PROTECTED = ["applicant_ethnicity", "applicant_race_1", "applicant_sex", "co_applicant_race_1", "co_applicant_sex"]


def zipped(path: Path, header: str, rows: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"data/2017/{path.stem}.csv", "\n".join([header, *rows]) + "\n")
        archive.writestr("__MACOSX/data/2017/._x.csv", "litter")
    return path


def mortgage_zips(tmp_path: Path, actions: list[int]) -> list[Path]:
    n = len(actions)
    features = zipped(
        tmp_path / "features.zip",
        "loan_type,loan_amount_000s,state_code,denial_reason_1",
        [f"{1 + i % 2},{100 + i},48,{i % 3}" for i in range(n)],
    )
    protected = zipped(
        tmp_path / "protected.zip", ",".join(PROTECTED), [f"{1 + i % 3},{1 + i % 5},{1 + i % 2},8,5" for i in range(n)]
    )
    return [features, protected, zipped(tmp_path / "target.zip", "action_taken", [str(action) for action in actions])]


def test_files_side_by_side_give_labels_features_and_groups(tmp_path: Path) -> None:
    actions = [1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, 1]
    mortgages = prepare_mortgages(read_mortgage_zips(mortgage_zips(tmp_path, actions)))
    # 4 (withdrawn) and 6 (bought) are dropped; 1, 2 and 8 are accepted.
    assert mortgages.y.tolist() == [1, 1, 0, 0, 0, 1, 1, 1, 1, 1]
    # The state and both co-applicant columns are constant; amounts have ten values, one too many for a category.
    assert mortgages.X.column_names == [
        *("loan_type", "applicant_ethnicity", "applicant_race_1", "applicant_sex"),
        "loan_amount_000s",
    ]
    assert mortgages.groups["applicant_sex = 2"].tolist() == [i % 2 == 1 for i in (0, 1, 2, 4, 6, 7, 8, 9, 10, 11)]
    assert len(mortgages.groups) == 13


def test_more_rows_than_150_000_are_sampled_as_pandas_does(tmp_path: Path) -> None:
    n = 150_010
    columns = {name: np.ones(n) for name in PROTECTED} | {"loan_amount_000s": np.arange(n), "action_taken": np.ones(n)}
    amounts = prepare_mortgages(pa.table(columns)).X.column("loan_amount_000s").to_pylist()
    import pandas as pd

    expected = pd.DataFrame({"a": np.arange(n)}).sample(n=150_000, random_state=42)["a"].tolist()
    assert amounts == expected


def test_files_of_different_lengths_are_refused(tmp_path: Path) -> None:
    paths = mortgage_zips(tmp_path, [1, 3])
    zipped(paths[2], "action_taken", ["1"])
    with pytest.raises(DataFileError, match=r"features.zip has 2, protected.zip has 2, target.zip has 1"):
        read_mortgage_zips(paths)


MEPS_HEADER = "AGE,RACE=W, REGION=1,REGION=2,REGION=3,REGION=4,POVCAT=1,POVCAT=2,POVCAT=3,POVCAT=4,RACE=NW"


def meps_files(tmp_path: Path) -> list[Path]:
    contents = {
        "meps_train_processed.csv": f"{MEPS_HEADER}\n17,1,1,0,0,0,0,1,0,0,0\n66.0,0,0,0,0,1,0,0,0,0,1\n",
        "meps_test_processed.csv": f"{MEPS_HEADER}\n34,1,0,1,0,0,1,0,0,0,0\n",
        "mepsdata_train_labels.txt": "UTILIZATION\n0.0\n1.0\n",
        "mepsdata_test_labels.txt": "UTILIZATION\n1\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return [tmp_path / name for name in contents]


def test_columns_of_zeros_and_ones_are_joined_to_features(tmp_path: Path) -> None:
    meps = prepare_meps(read_meps_files(meps_files(tmp_path)))
    assert meps.X.column_names == ["RACE", "REGION", "POVCAT", "AGE"]
    assert meps.X.column("RACE").to_pylist() == ["W", "NW", "W"]
    assert meps.X.column("REGION").to_pylist() == ["1", "4", "2"]
    assert meps.X.column("POVCAT").to_pylist() == ["2", None, "1"]  # richer than all four
    assert meps.y.tolist() == [0, 1, 1]
    assert meps.base_columns.num_columns == 11
    assert {name for name, rows in meps.groups.items() if rows[1]} == {"age 65–79", "not white", "REGION 4"}


def test_labels_that_do_not_fit_the_rows_are_refused(tmp_path: Path) -> None:
    paths = meps_files(tmp_path)
    paths[3].write_text("UTILIZATION\n1\n0\n")
    with pytest.raises(DataFileError, match=r"mepsdata_test_labels.txt: 2 rows of UTILIZATION, where 1 of UTILIZATION"):
        read_meps_files(paths)
