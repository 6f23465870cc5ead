"""`trueup bench paper`: what it runs, writes, prints and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUEUP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TRUEUP_DATA", raising=False)


def test_the_page_is_written_and_named(run, tmp_path: Path) -> None:
    out = tmp_path / "page"
    options = ["--tasks=Simulated", "--max-rows=1000", "--methods=base_model,MCGrad_one_round", "--no-timing"]
    outcome = run("bench", "paper", *options, "--jobs=1", f"--out={out}")
    assert outcome.code == 0, outcome.err
    assert f"The page: {out / 'paper.html'}" in outcome.out
    assert sorted(path.name for path in out.iterdir()) == ["cells", "paper.csv", "paper.html", "paper.md"]


def test_a_failed_cell_is_told_and_ends_with_code_3(run, tmp_path: Path) -> None:
    options = ["--tasks=Credit", "--methods=base_model", "--no-timing", f"--data={tmp_path}", f"--out={tmp_path / 'p'}"]
    outcome = run("bench", "paper", *options)
    assert outcome.code == 3
    assert "failed: Credit, base_model: DataFileError" in outcome.out
    assert (tmp_path / "p" / "paper.html").exists()


@pytest.mark.parametrize(
    ("option", "told"), [("--tasks=Incomes", "no task 'Incomes'"), ("--methods=X", "no method 'X'")]
)
def test_a_name_that_is_not_there_is_refused_before_anything_runs(run, tmp_path: Path, option: str, told: str) -> None:
    outcome = run("bench", "paper", option, f"--out={tmp_path / 'page'}")
    assert outcome.code == 2
    assert told in outcome.err
    assert not (tmp_path / "page").exists()


def test_quiet_prints_nothing(run, tmp_path: Path) -> None:
    options = ["--tasks=Simulated", "--max-rows=1000", "--methods=base_model", "--no-timing", "--jobs=1", "--quiet"]
    outcome = run("bench", "paper", *options, f"--out={tmp_path / 'page'}")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_ctrl_c_ends_with_code_130_and_says_how_to_go_on(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import trueup.replication

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(trueup.replication, "run_cells", interrupted)
    outcome = run("bench", "paper", "--tasks=Simulated", f"--out={tmp_path / 'page'}")
    assert outcome.code == 130
    assert outcome.err.endswith("the same command goes on from there.\nStopped.\n")
