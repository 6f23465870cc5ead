"""`trueup compare`: whether a candidate model should replace the base."""

from __future__ import annotations

import enum
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import Roles, assign_roles, positive_label
from trueup.cli._dates import refuse_dates
from trueup.cli._errors import ExitCode, after_writing
from trueup.cli._files import STANDARD_STREAM, Reading, TableSource
from trueup.cli._pages import check_page, file_in_title, write_html
from trueup.cli._printing import print_json, reader_may_leave
from trueup.cli._segment_table import check_segment_table, write_segment_table

if TYPE_CHECKING:
    from trueup.comparison import Comparison

__all__ = ["CompareRequest", "FailOn", "compare"]


class FailOn(str, enum.Enum):
    """Verdicts that a script must not go on with."""

    KEEP = "keep"
    INCONCLUSIVE = "inconclusive"
    NOT_SHIP = "not-ship"

    def is_met(self, verdict: str) -> bool:
        """Whether a verdict is one of these."""
        return verdict != "ship" if self is FailOn.NOT_SHIP else verdict == self.value


@dataclass(frozen=True)
class CompareRequest:
    """The options of `trueup compare`."""

    table: str
    label: str
    base: str
    candidate: str
    weight: str | None
    group: str | None
    reading: Reading
    features: tuple[str, ...]
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    top: int
    output: str | None
    html: str | None
    as_json: bool
    quiet: bool
    fail_on: FailOn | None
    options: dict[str, Any]  # more parameters of trueup.compare
    positive: str | None = None


def compare(request: CompareRequest) -> int | None:
    """Compare two columns of scores, say what came out, and whether a script may go on."""
    output_format = check_segment_table(request.output, request.table)
    check_page(request.html, request.table, request.output)
    source = TableSource.of(request.table, request.reading)
    table = source.read()
    roles = assign_roles(
        table,
        source.name,
        label=request.label,
        score=None,
        weight=request.weight,
        features=request.features,
        categorical=request.categorical,
        drop=request.drop,
        others={"--base": request.base, "--candidate": request.candidate, "--group": request.group},
    )
    refuse_dates(table, roles, named=bool(request.features))
    table = source.with_category_text(table, roles.categorical)
    import_module("trueup.comparison")  # loading it is not part of the comparison's time
    started = time.perf_counter()
    result = _compared(request, roles, table)
    seconds = time.perf_counter() - started
    if request.output is not None and request.output != STANDARD_STREAM:
        write_segment_table(result.segments, request.output, output_format)
    where = file_in_title(request.table)
    title = f"Comparison on {where}: {request.base} and {request.candidate} against {request.label}"
    write_html(result, request.html, title, request.quiet)
    with after_writing():
        with reader_may_leave():
            if request.output == STANDARD_STREAM:
                write_segment_table(result.segments, request.output, output_format)
            else:
                _print(request, result, seconds)
        return _judge(request, result)


def _compared(request: CompareRequest, roles: Roles, table: Any) -> Comparison:
    from trueup.comparison import compare as compare_models

    return compare_models(
        table,
        roles.label,
        request.base,
        request.candidate,
        groups=request.group,
        sample_weight=roles.weight,
        pos_label=positive_label(request.positive, table.column(roles.label).type),
        features=roles.features,
        categorical_features=list(roles.categorical) or "from_dtype",
        **request.options,
    )


def _print(request: CompareRequest, result: Comparison, seconds: float) -> None:
    if request.as_json:
        names = ("table", "label", "base", "candidate", "weight", "group")
        columns = {name: getattr(request, name) for name in names}
        print_json({"columns": columns, "seconds": seconds, "html": request.html} | result.to_dict())
    elif not request.quiet:
        from trueup.cli._compare_screen import print_comparison

        print_comparison(request, result, seconds)


def _judge(request: CompareRequest, result: Comparison) -> int | None:
    """The exit code, and on stderr why it is not 0."""
    if request.fail_on is None or not request.fail_on.is_met(result.verdict):
        return None
    print(f"failed: the verdict is {result.verdict}, and --fail-on {request.fail_on.value} was given.", file=sys.stderr)
    return ExitCode.LIMIT
