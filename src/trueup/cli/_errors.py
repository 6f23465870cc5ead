"""Exit codes, and errors as one line that a person can act on."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator

from trueup.errors import ExportError, ModelFileError, ParameterError, TrueupError

__all__ = [
    "EXIT_CODE_MEANINGS",
    "ExitCode",
    "StoppedLate",
    "WrongUsageError",
    "after_writing",
    "error_line",
    "exit_code_of",
    "one_line",
]


class ExitCode(enum.IntEnum):
    """How a run ended."""

    FINE = 0
    BUG = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    LIMIT = 5
    STOPPED = 130


EXIT_CODE_MEANINGS = {
    ExitCode.FINE: "fine",
    ExitCode.BUG: "an unexpected error: a bug in trueup",
    ExitCode.USAGE: "wrong usage",
    ExitCode.DATA: "the data can't be used, or a file can't be read or written",
    ExitCode.MODEL: "the model file can't be used, or can't be exported",
    ExitCode.LIMIT: "a limit that was asked for is not met",
    ExitCode.STOPPED: "stopped by Ctrl-C (by SIGTERM 143, by SIGHUP 129)",
}


class WrongUsageError(ParameterError):
    """Options that make no sense, alone or together: the error is followed by where to read how they are used."""


class StoppedLate(KeyboardInterrupt):
    """Ctrl-C was pressed when the output had been written already."""


@contextlib.contextmanager
def after_writing() -> Iterator[None]:
    """Mark what a command does after writing, when "nothing was written" is no longer true."""
    try:
        yield
    except KeyboardInterrupt:
        raise StoppedLate from None


def exit_code_of(error: Exception) -> ExitCode:
    """The exit code for an error."""
    if isinstance(error, (ModelFileError, ExportError)):
        return ExitCode.MODEL
    if isinstance(error, ParameterError):
        return ExitCode.USAGE
    if isinstance(error, (TrueupError, OSError)):
        return ExitCode.DATA
    return ExitCode.BUG


def error_line(error: Exception) -> str:
    """What went wrong, in one line."""
    if isinstance(error, TrueupError):
        return one_line(str(error))
    if isinstance(error, OSError):
        where = "" if error.filename is None else f"{error.filename!r}: "
        if isinstance(error, FileNotFoundError) and where:
            return one_line(f"There is no file {error.filename!r}.")
        return one_line(f"{where}{error.strerror}" if error.strerror else str(error))
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return one_line(
        f"unexpected {what}. This is a bug in trueup. To see where it happened, run `trueup --debug ...` or "
        "set TRUEUP_DEBUG=1."
    )


def one_line(text: str) -> str:
    """The text without line breaks, and with nothing in it that could steer a terminal."""
    joined = " ".join(text.splitlines())
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in joined)
