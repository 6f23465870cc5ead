"""Printing for people and for programs."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from trueup.cli._errors import one_line
from trueup.errors import FileError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from trueup.cli._answer import Answer

__all__ = [
    "TERMS",
    "bytes_in_words",
    "check_stdout",
    "discard_stdout",
    "facts",
    "in_plural",
    "metric_table",
    "named_in_reports",
    "p_value_in_words",
    "percent",
    "plain_table",
    "positive_class",
    "print_json",
    "print_places",
    "reader_may_leave",
    "screen",
    "shown",
    "signed",
    "typed",
    "working_on",
]

MAX_WIDTH = 100
_OUTCOMES = {"improves": ("better", "green"), "worsens": ("worse", "red"), "unclear": ("unclear", "dim")}
# Where a person first meets them.
TERMS = (
    "ECCE: the largest sum of errors over any range of scores; MCE: the largest ECCE of a segment; σ: in units of "
    "what noise alone gives."
)
_TYPED: ContextVar[str] = ContextVar("_TYPED", default="")  # the command, for the last line of its reports


def screen() -> Console:
    """Stdout for people."""
    from rich.console import Console

    class Screen(Console):
        """A console whose reader may leave."""

        def on_broken_pipe(self) -> None:
            """Leave it to `trueup.cli._run`; rich would end the process with a code that means a bug here."""
            raise BrokenPipeError

    console = Screen(file=sys.stdout, highlight=False, markup=False, emoji=False)
    console.width = min(console.width, MAX_WIDTH)
    return console


def check_stdout() -> None:
    """Refuse to write to a stdout that is closed what a program waits for; a summary for people may go nowhere."""
    if getattr(sys.stdout, "name", None) == os.devnull:  # as `trueup.cli._run` opens what was closed
        raise FileError("stdout is closed, so the result can't be written to it. Name a file, or send stdout to one.")


def print_json(value: Mapping[str, Any]) -> None:
    """One JSON object on stdout; what is not a finite number is null."""
    check_stdout()
    print(json.dumps(_finite(value), indent=2, allow_nan=False))


def facts(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Names and values in two columns."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(f"  {name}", value)
    return table


def plain_table(*columns: str, gap: int = 2, indented: bool = False) -> Table:
    """A table without lines. A > before a column's name aligns it to the right, and a = keeps it on one line."""
    from rich.table import Table

    table = Table(box=None, padding=(0, gap) if indented else (0, gap, 0, 0), header_style="cyan", pad_edge=indented)
    for name in columns:
        is_number = name.startswith(">")
        table.add_column(
            name.lstrip(">="),
            justify="right" if is_number else "left",
            no_wrap=is_number or name.startswith("="),
            overflow="fold",
        )
    return table


def positive_class(classes: Sequence[Any]) -> list[tuple[str, RenderableType]]:
    """The fact which class is positive, unless it goes without saying."""
    return [] if list(classes) == [0, 1] else [("Positive class", shown(repr(classes[1])))]


def metric_table(title: str, base: str, candidate: str, metrics: Iterable[Mapping[str, Any]]) -> Table:
    """Each metric of two models, and what changes: entries of a comparison's `to_dict`."""
    from rich.text import Text

    from trueup.metrics import METRICS

    table = plain_table(f"={title}", f">{base}", f">{candidate}", ">Difference", ">Interval", "")
    for metric in metrics:
        known, is_sure = METRICS[metric["metric"]], metric["low"] is not None
        # One digit more where the interval is so narrow that its ends would look alike.
        is_narrow = is_sure and not known.unit and 0 < metric["high"] - metric["low"] < 0.0005
        digits = known.digits + is_narrow
        low, high, difference = (signed(metric[name], digits) for name in ("low", "high", "difference"))
        outcome, style = _OUTCOMES[metric["outcome"]] if is_sure else ("", "dim")
        role = {"primary": ", decides", "guardrail": ", guards"}.get(metric["role"], "")
        table.add_row(
            known.title,
            *(_with_unit(metric[name], digits, known.unit) for name in ("base", "candidate")),
            difference,
            f"{low} to {high}" if is_sure else "",
            Text(f"{outcome}{role}".removeprefix(", "), style=style),
        )
    return table


def shown(name: object) -> str:
    """A name from the data or a file, safe to print."""
    return one_line(str(name))


def print_places(console: Console, to: Answer) -> None:
    """Say where the files are."""
    if to.segments is not None:
        console.print(f"All segments are in {shown(to.segments)}.", soft_wrap=True)
    if to.html is not None:
        console.print(f"The report is {shown(to.html)}.", soft_wrap=True)


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return "–" if math.isnan(share) else f"{100 * share:.{digits}f} %"


def signed(value: float | None, digits: int) -> str:
    """A change, with the sign that sentences have: a minus as wide as the plus."""
    return "–" if value is None or math.isnan(value) else f"{value:+.{digits}f}".replace("-", "−")


def _with_unit(value: float | None, digits: int, unit: str) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}{unit}"


def in_plural(n: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many}"


def p_value_in_words(p_value: float | None, n_draws: int = 0) -> str:
    """A p-value; of the smallest that so many draws can show, that it is at most that."""
    from trueup._report import p_value_in_form

    return p_value_in_form(p_value, 1 / (n_draws + 1) if n_draws else 0.0)


def bytes_in_words(size: int) -> str:
    """A size as a person says it."""
    for unit, amount in (("MB", 1_000_000), ("kB", 1_000)):
        if size >= amount:
            return f"{size / amount:.1f} {unit}"
    return f"{size} bytes"


@contextlib.contextmanager
def working_on(what: str, quiet: bool) -> Iterator[None]:
    """Show on a terminal what takes its time."""
    if quiet:
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextlib.contextmanager
def typed(arguments: Sequence[str]) -> Iterator[None]:
    """Keep in mind what was typed, as a shell takes it again."""
    before = _TYPED.set(shlex.join(["trueup", *arguments]))
    try:
        yield
    finally:
        _TYPED.reset(before)


@contextlib.contextmanager
def named_in_reports() -> Iterator[None]:
    """Name the command in the reports that are made within; apart, for commands without reports don't load them."""
    from trueup._report import made_by

    with made_by(_TYPED.get()):
        yield


@contextlib.contextmanager
def reader_may_leave() -> Iterator[None]:
    """Print to a reader who may have seen enough, as `head` has, and go on: the exit code has its own say."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()


def discard_stdout() -> None:
    """Send the rest nowhere; Python would complain of a reader who has left when it flushes at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _finite(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
