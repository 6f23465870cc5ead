"""The audit in the README prints what the README shows."""

import doctest
import re
import shlex
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from trueup.datasets import make_traffic

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.slow
def test_the_readme_shows_what_the_code_prints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    test = doctest.DocTestParser().get_doctest("\n".join(readme_blocks("pycon")), {}, "README", str(README), 0)
    assert test.examples
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert runner.run(test).failed == 0


def test_the_commands_of_the_readme_print_what_it_shows(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    pq.write_table(make_traffic(20_000).to_table().drop_columns(["true_probability"]), "visits.parquet")
    (block,) = readme_blocks("console")
    command, *shown = block.splitlines()
    outcome = run(*shlex.split(command.removeprefix("$ trueup ")))
    assert outcome.code == 0
    printed = {line.rstrip() for line in outcome.out.splitlines()}
    for line in shown:
        if line != "..." and "audited in" not in line:
            assert line.rstrip() in printed


def readme_blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
