"""What all commands do once they have read their input: compute, write the files, show the result, judge it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from trueup.cli._errors import ExitCode, WrongUsageError, after_writing
from trueup.cli._files import STANDARD_STREAM, Format, is_same_file
from trueup.cli._options import FailOn
from trueup.cli._printing import named_in_reports, print_json, reader_may_leave, shown, working_on
from trueup.cli._writing import check_output, format_of, write_table
from trueup.errors import FileError, ParameterError

__all__ = ["Answer", "answer", "file_in_title", "given", "judge_verdicts"]

R = TypeVar("R")


@dataclass(frozen=True)
class Answer:
    """Where a command's answer goes: to a person, to a program as JSON, or nowhere; and into which files."""

    as_json: bool = False
    quiet: bool = False
    segments: str | None = None  # the table of all segments
    html: str | None = None

    def checked(self, table: str) -> Answer:
        """Refuse files that can't be written, before the work and not after it."""
        if self.as_json and self.segments == STANDARD_STREAM:
            raise WrongUsageError("--json: the table goes to stdout, so JSON can't.")
        if self.segments is not None:
            self._format()
            if self.segments != STANDARD_STREAM:
                check_output(self.segments)
                if table != STANDARD_STREAM and is_same_file(table, self.segments):
                    raise ParameterError(
                        f"-o names the table itself, {self.segments!r}. Name another file for the segments."
                    )
        if self.html is not None:
            if self.html == STANDARD_STREAM:
                raise WrongUsageError("--html needs a file: a page is for a browser, not for stdout.")
            check_output(self.html)
            for other in (table, self.segments):
                if other not in (None, STANDARD_STREAM) and is_same_file(self.html, str(other)):
                    raise ParameterError(
                        f"--html names {self.html!r}, which another option names too. Name a file of its own."
                    )
        return self

    def write_files(self, result: Any, title: str) -> None:
        """Write the table of segments and the page, if they are asked for."""
        if self.segments not in (None, STANDARD_STREAM):
            self._write_segments(result)
        if self.html is not None:
            with working_on("writing the report", self.quiet), named_in_reports():
                try:
                    result.to_html(self.html, title=title)
                except OSError as error:
                    raise FileError(f"{self.html!r} can't be written: {error.strerror or error}") from error

    def show(self, result: Any, describe: Callable[[], Mapping[str, Any]], draw: Callable[[], None]) -> None:
        """Print what was asked for."""
        if self.segments == STANDARD_STREAM:
            self._write_segments(result)
        elif self.as_json:
            print_json(describe())
        elif not self.quiet:
            draw()

    def _format(self) -> Format:
        return format_of(str(self.segments), None, None)

    def _write_segments(self, result: Any) -> None:
        """Write all segments; what is not a number is missing, which every format can say."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table = result.segments
        for i, column in enumerate(table.schema):
            values = table.column(i)
            if pa.types.is_floating(column.type):
                table = table.set_column(i, column, pc.if_else(pc.is_nan(values), pa.NULL, values))
            elif pa.types.is_null(column.type):
                table = table.set_column(i, column.name, values.cast(pa.string()))
        write_table(table, str(self.segments), self._format())


def answer(
    compute: Callable[[], R],
    to: Answer,
    *,
    describe: Callable[[R, float], Mapping[str, Any]],
    draw: Callable[[R, float], None],
    write: Callable[[R], None] | None = None,
    judge: Callable[[R], str | None] = lambda _: None,
) -> int | None:
    """Compute a result, write its files, show it, and judge it for scripts.

    `describe` gives what JSON says and `draw` prints for people; both get the seconds that the work took. `judge` says
    why a script must not go on, if so.
    """
    started = time.perf_counter()
    result = compute()
    seconds = time.perf_counter() - started
    if write is not None:
        write(result)
    with after_writing():
        with reader_may_leave():
            to.show(result, lambda: describe(result, seconds), lambda: draw(result, seconds))
        failure = judge(result)
        if failure is None:
            return None
        print(f"failed: {failure}", file=sys.stderr)
        return ExitCode.LIMIT


def given(**options: Any) -> dict[str, Any]:
    """The options that were given, as parameters; the library knows the defaults of the others."""
    return {name: value for name, value in options.items() if value is not None}


def judge_verdicts(fail_on: FailOn | None, verdicts: Mapping[str, str]) -> str | None:
    """Why --fail-on ends the command, if it does."""
    if fail_on is None:
        return None
    failed = [f"{shown(name)} is {verdict}" for name, verdict in verdicts.items() if fail_on.is_met(verdict)]
    return f"{'; '.join(failed)} (--fail-on {fail_on.value})." if failed else None


def file_in_title(table: str) -> str:
    """A table's name as a page's title says it."""
    return "stdin" if table == STANDARD_STREAM else os.path.basename(table)
