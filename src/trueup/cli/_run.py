"""Running a command: what it raises becomes a line on stderr and an exit code."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

import typer

from trueup.cli._errors import ExitCode, StoppedLate, WrongUsageError, error_line, exit_code_of, one_line
from trueup.cli._printing import discard_stdout, typed
from trueup.errors import TrueupWarning, speaking_to_the_shell

__all__ = ["run"]

# Newer versions of typer carry their own copy of click, older ones use the installed one: this is its
# UsageError in both.
_UsageError: Any = typer.BadParameter.__mro__[1]

# They stop a command as Ctrl-C does, so that it can remove what it has not finished writing. Windows has no SIGHUP.
_SIGNALS = ("SIGTERM", "SIGHUP")


def run(arguments: Sequence[str]) -> int:
    """Run the command line and give its exit code."""
    state = {"debug": os.environ.get("TRUEUP_DEBUG", "") not in ("", "0")}  # which --debug changes
    _open_closed_streams()
    _never_fail_to_print()
    with typed(arguments), speaking_to_the_shell(), _plain_warnings(), _stopping_on_signals() as stop:
        try:
            return _run(arguments, state)
        except BrokenPipeError:
            discard_stdout()  # the reader has seen enough, as `head` does
            return ExitCode.FINE
        except StoppedLate:
            _say("Stopped.")
            return stop.exit_code
        except KeyboardInterrupt:
            _say("Stopped. Nothing was written.")
            return stop.exit_code
        except Exception as error:
            if state["debug"]:
                traceback.print_exc()
            _say(f"error: {error_line(error)}")
            if isinstance(error, WrongUsageError):
                _say(_usage(arguments))
            return exit_code_of(error)


def _run(arguments: Sequence[str], state: dict[str, bool]) -> int:
    """Let typer read the arguments, then do the work outside of it.

    Commands return their work instead of doing it: around a command, typer turns Ctrl-C and broken pipes into
    exits of its own, and differently so from version to version.
    """
    from trueup.cli._app import app

    command = typer.main.get_command(app)
    try:
        work: Callable[[], int | None] | int | None = command.main(
            args=list(arguments), prog_name="trueup", standalone_mode=False, obj=state
        )
    except typer.Abort:
        raise KeyboardInterrupt from None
    except _UsageError as error:
        if not error.format_message():  # nothing was asked for, and the help page has been printed
            return ExitCode.USAGE
        raise WrongUsageError(error.format_message()) from None
    if work == ExitCode.STOPPED:
        raise KeyboardInterrupt
    if callable(work):
        work = work()
    sys.stdout.flush()
    return work or ExitCode.FINE


@dataclass
class Stop:
    """Which signal has stopped the command: Ctrl-C unless another one came."""

    number: int = signal.SIGINT
    came: bool = False

    @property
    def exit_code(self) -> int:
        """What a shell reports of a process that this signal has ended."""
        return 128 + self.number

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the work, once.

        Closing a terminal and stopping a service often send several signals in a row: the later ones must not
        interrupt the removal of unfinished files.
        """
        if not self.came:
            self.number, self.came = number, True
            raise KeyboardInterrupt


@contextlib.contextmanager
def _stopping_on_signals() -> Iterator[Stop]:
    """Turn signals that would end the process at once into `KeyboardInterrupt`.

    A signal that was ignored when the process started, as `nohup` does with SIGHUP and shells do with SIGINT for jobs
    in the background, stays ignored; a handler that somebody else has set stays too.
    """
    stop = Stop()
    known = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    in_main_thread = threading.current_thread() is threading.main_thread()  # others may not set handlers
    ours = [number for number in known if in_main_thread and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, stop.receive)
    try:
        yield stop
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show the package's own warnings as lines that a user of a program expects."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", TrueupWarning)
        in_python_style = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, TrueupWarning):
                print(f"warning: {one_line(str(message))}", file=sys.stderr)
            else:
                in_python_style(message, category, *place, **more)

        warnings.showwarning = show
        yield


def _usage(arguments: Sequence[str]) -> str:
    from trueup.cli._app import EXAMPLES

    named = next((name for name in arguments if not name.startswith("-")), "")
    known = {work.__name__ for work in EXAMPLES}
    program = f"trueup {named}" if named in known else "trueup"
    return f"Usage: {program} [OPTIONS] ... For all options: {program} --help"


def _say(line: str) -> None:
    """A line on stderr, if anybody can still read it: a terminal that was closed can't be written to."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def _open_closed_streams() -> None:
    """Let streams that were closed when the process started (``>&-``) lead nowhere.

    They are None in Python, and printing to them would fail. Worse, the next file that is opened, a model say, would
    get the number of such a stream, and a library that prints would write into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in the order of their numbers
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (open as long as the process)
            os.set_inheritable(nowhere.fileno(), True)
            setattr(sys, name, nowhere)


def _never_fail_to_print() -> None:
    """Let a terminal that has no letter for σ show a question mark."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
