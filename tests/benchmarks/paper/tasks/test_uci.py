"""UCI's files in their own formats, and what the paper makes of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from paper.tasks import base_scores, load_task
from paper.tasks._base_model import base_matrix
from paper.tasks._uci import prepare_bank, prepare_credit, read_bank_zip, read_credit_csv
from source_files import BANK_ROWS, bank_zip
from trueup.errors import DataFileError


@pytest.mark.parametrize("nested", [True, False])
def test_the_bank_file_is_found_in_the_zip_or_in_the_zip_within(tmp_path: Path, nested: bool) -> None:
    table = read_bank_zip(bank_zip(tmp_path / "bank-marketing.zip", BANK_ROWS, nested=nested))
    assert table.num_rows == 3
    assert table.column("balance").to_pylist() == [2143, 29, -2]
    assert table.column("y").to_pylist() == ["no", "yes", "no"]


def test_ages_are_cut_down_to_multiples_of_five_and_days_dropped(tmp_path: Path) -> None:
    bank = prepare_bank(read_bank_zip(bank_zip(tmp_path / "bank-marketing.zip", BANK_ROWS)))
    assert bank.X.column("age").to_pylist() == [55.0, 30.0, 25.0]
    assert "day" not in bank.X.column_names
    assert bank.X.column_names[:3] == ["job", "marital", "education"]
    assert bank.X.column_names[9:] == ["age", "balance", "duration", "campaign", "pdays", "previous"]
    assert bank.y.tolist() == [0, 1, 0]


def test_groups_of_the_bank_see_the_cut_ages(tmp_path: Path) -> None:
    groups = prepare_bank(read_bank_zip(bank_zip(tmp_path / "bank-marketing.zip", BANK_ROWS))).groups
    assert len(groups) == 15
    assert groups["age < 30"].tolist() == [False, False, True]
    assert groups["30 ≤ age < 40"].tolist() == [False, True, False]
    assert groups["age ≥ 50"].tolist() == [True, False, False]
    assert groups["housing = no"].tolist() == [False, False, True]


def credit_lines(n: int, header: list[str]) -> list[str]:
    """Rows whose limit is 1000 times their number, whose sex and default alternate, and whose other values are 0."""
    rows = []
    for i in range(n):
        values = dict.fromkeys(header, "0") | {"ID": str(i + 1)}
        for names, value in ((("LIMIT_BAL", "X1"), 1000 * i), (("SEX", "X2"), 1 + i % 2), (("AGE", "X5"), 20 + i)):
            values |= {name: str(value) for name in names if name in values}
        values |= {name: str(i % 2) for name in ("Y", "default payment next month") if name in values}
        rows.append(",".join(values[name] for name in header))
    return rows


UCI_NAMES = ["ID", *[f"X{i}" for i in range(1, 24)], "Y"]
SHEET_NAMES = [
    *("ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE", "PAY_0"),
    *[f"PAY_{i}" for i in range(2, 7)],
    *[f"BILL_AMT{i}" for i in range(1, 7)],
    *[f"PAY_AMT{i}" for i in range(1, 7)],
    "default payment next month",
]


@pytest.mark.parametrize("form", ["UCI's CSV", "the sheet saved as CSV"])
def test_both_forms_of_the_credit_file_give_the_same_columns(tmp_path: Path, form: str) -> None:
    path = tmp_path / "credit-default.csv"
    if form == "UCI's CSV":
        lines = [",".join(UCI_NAMES), *credit_lines(9, UCI_NAMES)]
    else:
        first = ",".join(["", *UCI_NAMES[1:]])  # the sheet's corner is empty
        lines = [first, ",".join(SHEET_NAMES), *credit_lines(9, SHEET_NAMES)]
    path.write_text("\n".join(lines) + "\n")
    table = read_credit_csv(path)
    assert table.num_columns == 24
    assert "ID" not in table.column_names
    assert table.column("AGE").to_pylist() == list(range(20, 29))
    assert table.column("default payment next month").to_pylist() == [0, 1, 0, 1, 0, 1, 0, 1, 0]


def test_another_credit_file_is_refused_with_what_it_should_be(tmp_path: Path) -> None:
    path = tmp_path / "credit-default.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataFileError, match=r"no column 'LIMIT_BAL' \(24 of 24 are missing\).*UCI's data.csv"):
        read_credit_csv(path)


def test_amounts_become_thirds_and_groups_keep_real_ages(tmp_path: Path) -> None:
    path = tmp_path / "credit-default.csv"
    path.write_text("\n".join([",".join(UCI_NAMES), *credit_lines(9, UCI_NAMES)]) + "\n")
    credit = prepare_credit(read_credit_csv(path))
    # Terciles of 0, 1000, ..., 8000 are 2667 and 5333: three rows in each third.
    assert credit.X.column("LIMIT_BAL").to_pylist() == ["0"] * 3 + ["1"] * 3 + ["2"] * 3
    assert credit.X.column_names[-1] == "SEX"
    assert credit.X.column_names[:5] == ["LIMIT_BAL", "AGE", "EDUCATION", "MARRIAGE", "PAY_0"]
    # Men are the even rows, and all are below 30.
    assert credit.groups["male, age < 30"].tolist() == [True, False] * 4 + [True]


def test_the_bank_s_base_model_has_the_paper_s_41_columns(data_folder: Path) -> None:
    task = load_task("Marketing", folder=data_folder, max_rows=5_000)
    assert base_matrix(task).shape == (5_000, 41)


def test_credit_s_base_model_has_the_paper_s_118_columns_and_its_figures(data_folder: Path, tmp_path: Path) -> None:
    from trueup.metrics import average_precision, log_loss

    task = load_task("Credit", folder=data_folder)
    # 118 is the paper's Table 1; get_dummies makes a column of every category.
    assert base_matrix(task).shape == (30_000, 118)
    scores = base_scores(task, cache=tmp_path)[task.test]
    labels = task.y[task.test]
    assert np.isclose(log_loss(labels, scores), 0.4333, atol=0.001)
    assert np.isclose(average_precision(labels, scores), 0.5319, atol=0.002)
