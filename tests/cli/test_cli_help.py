"""The help pages, on a terminal of 80 columns."""

import inspect
import re
import shlex

import pytest
import typer

from trueup.cli._app import EXAMPLES, app

COMMANDS = typer.main.get_command(app).commands


@pytest.fixture
def page(run, monkeypatch):
    """The help page of a command, without its frames."""
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *command: run(*command, "--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_cut(page, name):
    shown = page(name)
    assert "…" not in shown
    for parameter in COMMANDS[name].params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("-"):
                assert re.search(rf"{re.escape(option)}(?![\w-])", shown), option


@pytest.mark.parametrize("name", COMMANDS)
def test_each_page_has_an_example_that_can_be_typed(page, name):
    example = re.search(r"Example: (trueup .*)", page(name))[1]
    program, command, *arguments = shlex.split(example)
    assert (program, command) == ("trueup", name)
    COMMANDS[name].make_context(name, arguments)  # which refuses options that there are not


def test_an_option_that_several_commands_have_means_the_same_in_all():
    meanings = {}
    of_one_command = {"--score", "--label", "--output", "--max-rows", "--stream"}  # said in the words of the command
    for command in COMMANDS.values():
        for parameter in command.params:
            for option in set(parameter.opts) - of_one_command:
                if option.startswith("--"):
                    meanings.setdefault(option, set()).add(parameter.help)
    assert {option for option, texts in meanings.items() if len(texts) > 1} == set()


def test_all_commands_that_print_can_be_quiet():
    for work in EXAMPLES:
        assert work.__name__ == "serve" or "quiet" in inspect.signature(work).parameters


def test_nothing_asked_is_answered_by_the_help_page_alone(run):
    outcome = run()
    assert "Commands" in outcome.out
    assert (outcome.code, outcome.err) == (2, "")


def test_wrong_options_are_plain_lines_that_name_the_help_page(run):
    outcome = run("audit", "t.csv", "--scor=p")
    assert outcome.code == 2
    error, usage = outcome.err.splitlines()
    assert error.startswith("error: No such option: --scor")
    assert "--score" in error
    assert usage == "Usage: trueup audit [OPTIONS] ... For all options: trueup audit --help"
    assert "Usage: trueup [OPTIONS]" in run("adit").err
