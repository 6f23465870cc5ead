import pytest

from trueup._runtime import shown_progress


@pytest.fixture
def terminal(monkeypatch):
    """Rich takes stderr for a terminal, whatever it is."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


def count_rows(verbose):
    with shown_progress(verbose, "counting", 4_000, unit="rows") as progress:
        progress.advance(1_000)
        progress.advance(2_000)


def test_a_terminal_shows_what_is_done_how_far_and_how_many(terminal, capsys):
    count_rows(verbose=1)
    shown = capsys.readouterr().err
    assert "counting: 3,000 rows" in shown
    assert "75%" in shown


def test_a_stage_replaces_the_one_before(terminal, capsys):
    with shown_progress(1, "round 1") as progress:
        progress.now("fitting on all rows", done=1, total=2)
    shown = capsys.readouterr().err
    assert "fitting on all rows" in shown
    assert "50%" in shown


@pytest.mark.parametrize("verbose", [0, 1])
def test_nothing_is_shown_where_there_is_no_terminal(verbose, capsys):
    count_rows(verbose)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_if_nobody_asked(terminal, capsys):
    count_rows(verbose=0)
    assert capsys.readouterr().err == ""
