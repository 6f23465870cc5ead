"""`make paper`: what it runs, writes, prints and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

import paper
from paper.__main__ import main

QUICK = ["--tasks=Simulated", "--max-rows=1000", "--no-timing", "--jobs=1"]


def test_the_page_is_written_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "page"
    assert main([*QUICK, "--methods=base_model,MCGrad_one_round", f"--out={out}"]) == 0
    assert f"The page: {out / 'paper.html'}" in capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == ["cells", "paper.csv", "paper.html", "paper.md"]


def test_a_failed_cell_is_reported_and_ends_with_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--tasks=Credit", "--methods=base_model", "--no-timing", f"--data={tmp_path}", f"--out={tmp_path / 'p'}"]
    assert main(options) == 3
    assert "failed: Credit, base_model: DataFileError" in capsys.readouterr().out
    assert (tmp_path / "p" / "paper.html").exists()


@pytest.mark.parametrize(
    ("option", "told"), [("--tasks=Incomes", "no task 'Incomes'"), ("--methods=X", "no method 'X'")]
)
def test_a_name_that_is_not_there_is_refused_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, told: str
) -> None:
    with pytest.raises(SystemExit) as end:
        main([option, f"--out={tmp_path / 'page'}"])
    assert end.value.code == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "page").exists()


def test_quiet_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*QUICK, "--methods=base_model", "--quiet", f"--out={tmp_path / 'page'}"]) == 0
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_ends_with_code_130_and_says_how_to_continue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "run_cells", interrupted)
    assert main(["--tasks=Simulated", f"--out={tmp_path / 'page'}"]) == 130
    assert capsys.readouterr().err.endswith("the same command continues there.\n")
