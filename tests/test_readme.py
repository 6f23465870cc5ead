"""The README's own code runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_quickstart_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("python")
    exec(compile(code, str(README), "exec"), {})
    losses, one = capsys.readouterr().out.splitlines()
    before, after = map(float, losses.split(" -> "))
    assert after < before
    assert 0 < float(one) < 1
    assert (tmp_path / "model.trueup").exists()


def test_the_quickstart_is_short() -> None:
    (code,) = blocks("python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 15


def test_the_commands_run_as_they_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pyarrow.parquet as pq

    from trueup.cli import main
    from trueup.datasets import make_traffic

    monkeypatch.chdir(tmp_path)
    table = make_traffic(3000, random_state=0).to_table()
    names = [{"label": "y", "score": "p"}.get(name, name) for name in table.column_names]
    table = table.rename_columns(names).drop_columns(["true_probability"])
    pq.write_table(table, "scored.parquet")
    pq.write_table(table.drop_columns(["y"]), "new.parquet")
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("trueup ")]
    assert len(commands) == 4
    for command in commands:
        with pytest.raises(SystemExit) as stopped:
            main(command.split()[1:])
        assert stopped.value.code == 0, command
    assert pq.read_schema("calibrated.parquet").names[-1] == "calibrated"
    assert "rounds" in capsys.readouterr().out


def test_the_two_commands_are_there() -> None:
    makefile = (README.parent / "Makefile").read_text(encoding="utf-8")
    for command in ("demo", "test"):
        assert f"make {command} " in README.read_text(encoding="utf-8")
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)
