"""What a command raises becomes a line and an exit code."""

import os
import warnings

import pytest

import trueup
from trueup.cli._columns import check_column
from trueup.cli._errors import ExitCode, error_line, exit_code_of, one_line
from trueup.errors import ColumnError, DataError, ModelFileError, ParameterError, TrueupWarning


@pytest.fixture
def raising(monkeypatch):
    """Make `trueup inspect x` raise something."""

    def install(problem):
        def work(*_, **__):
            raise problem

        monkeypatch.setattr("trueup._scoring.load", work)

    return install


@pytest.mark.parametrize(
    ("problem", "code"),
    [
        (DataError("bad rows"), ExitCode.DATA),
        (ParameterError("bad option"), ExitCode.USAGE),
        (ModelFileError("bad file"), ExitCode.MODEL),
        (FileNotFoundError(2, "No such file or directory", "x"), ExitCode.DATA),
        (RuntimeError("oh"), ExitCode.BUG),
        (KeyError("x"), ExitCode.BUG),
        (KeyboardInterrupt(), ExitCode.STOPPED),
    ],
)
def test_each_problem_has_its_code_and_one_line(run, raising, problem, code, monkeypatch):
    monkeypatch.delenv("TRUEUP_DEBUG", raising=False)
    raising(problem)
    outcome = run("inspect", "x")
    assert outcome.code == code
    assert outcome.out == ""
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err


def test_a_bug_says_how_to_see_more(run, raising, monkeypatch):
    monkeypatch.delenv("TRUEUP_DEBUG", raising=False)
    raising(RuntimeError("oh"))
    assert "TRUEUP_DEBUG=1" in run("inspect", "x").err
    assert "Traceback" in run("--debug", "inspect", "x").err
    monkeypatch.setenv("TRUEUP_DEBUG", "1")
    assert "Traceback" in run("inspect", "x").err


def test_our_warnings_are_lines_and_others_are_left_alone(run, shared, monkeypatch):
    load = trueup.load

    def warning(path, **options):
        warnings.warn("rows\nare few", TrueupWarning, stacklevel=1)
        return load(path, **options)

    monkeypatch.setattr("trueup._scoring.load", warning)
    assert run("inspect", shared.model).err == "warning: rows are few\n"
    shown = warnings.showwarning
    run("inspect", shared.model)
    assert warnings.showwarning is shown


def test_ctrl_c_after_the_write_does_not_claim_that_nothing_was_written(run, shared, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("trueup.cli._apply.screen", stop)
    output = tmp_path / "o.csv"
    outcome = run("apply", shared.table, "-m", shared.model, "-o", output)
    assert outcome.code == 130
    assert outcome.err == "Stopped.\n"
    assert os.path.exists(output)


def test_a_line_has_no_breaks_and_nothing_that_steers_a_terminal():
    assert one_line("a\nb\x1b[31mc\x07 ü") == "a b\\x1b[31mc\\x07 ü"
    assert error_line(OSError("plain")) == "plain"
    assert error_line(PermissionError(13, "Permission denied", "x")) == "'x': Permission denied"
    assert exit_code_of(MemoryError()) is ExitCode.BUG


def test_the_closest_name_is_suggested_and_long_lists_are_cut():
    columns = ["Country", "device", *(f"x{i}" for i in range(100))]
    with pytest.raises(ColumnError, match="Did you mean 'Country'") as error:
        check_column("contry", columns, "--label", "'t.csv'")
    assert "and 90 more" in str(error.value)
    with pytest.raises(ColumnError) as error:
        check_column("?", ["a"], "--label", "'t.csv'")
    assert "Did you mean" not in str(error.value)


def test_the_version_is_printed(run):
    assert run("--version").out == f"trueup {trueup.__version__}\n"


def test_help_is_shown_for_nothing_and_for_help(run):
    assert run().code == 2
    for arguments in (["--help"], ["fit", "-h"], ["apply", "--help"]):
        outcome = run(*arguments)
        assert outcome.code == 0
        assert "Exit codes" in outcome.out
