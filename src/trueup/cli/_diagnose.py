"""`trueup diagnose`: what is wrong with tables before anything is fitted or tested on them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import Roles, assign_roles, check_column, positive_label
from trueup.cli._errors import ExitCode
from trueup.cli._files import STANDARD_STREAM, Reading, TableSource
from trueup.cli._printing import print_json, reader_may_leave, screen, shown, working_on
from trueup.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.evaluation import Diagnosis

__all__ = ["DiagnoseRequest", "diagnose", "print_findings"]

_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


@dataclass(frozen=True)
class DiagnoseRequest:
    """The options of `trueup diagnose`."""

    table: str
    test: str | None
    label: str
    score: str | None
    weight: str | None
    reading: Reading
    features: tuple[str, ...]
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    as_json: bool
    quiet: bool
    strict: bool
    options: dict[str, Any]  # more parameters of trueup.diagnose
    positive: str | None = None


def diagnose(request: DiagnoseRequest) -> int | None:
    """Diagnose one or two tables, say what was found, and whether that is allowed."""
    if request.test == STANDARD_STREAM == request.table:
        raise ParameterError("Both tables are stdin. Name a file for one of them.")
    table, roles, where = _train(request)
    test = None if request.test is None else _test(request, request.test, roles)
    import_module("trueup.evaluation")  # loading it is not part of the time
    started = time.perf_counter()
    with working_on("diagnosing", request.quiet):
        diagnosis = _diagnosed(request, _parts(table, roles), test, roles)
    seconds = time.perf_counter() - started
    with reader_may_leave():
        _print(request, diagnosis, seconds, where)
    if request.strict and not diagnosis.ok:
        codes = ", ".join(dict.fromkeys(finding.code for finding in diagnosis.warnings))
        print(f"failed: --strict, and there are warnings ({codes}).", file=sys.stderr)
        return ExitCode.LIMIT
    return None


def _train(request: DiagnoseRequest) -> tuple[Any, Roles, str]:
    source = TableSource.of(request.table, request.reading)
    table = source.read()
    roles = assign_roles(
        table,
        source.name,
        label=request.label,
        score=request.score,
        weight=request.weight,
        features=request.features,
        categorical=request.categorical,
        drop=request.drop,
    )
    return source.with_category_text(table, roles.categorical), roles, source.name


def _test(request: DiagnoseRequest, path: str, roles: Roles) -> tuple[Any, ...]:
    """The parts of the table to test on. Only labels must be there: what else it lacks is a finding."""
    source = TableSource.of(path, request.reading)
    table = source.read()
    check_column(roles.label, table.column_names, "--label", source.name)
    there = [name for name in roles.categorical if name in table.column_names]
    return _parts(source.with_category_text(table, there), roles)


def _parts(table: Any, roles: Roles) -> tuple[Any, ...]:
    """Features, labels, scores and weights; None for what is not there."""
    names = table.column_names
    features = table.select([name for name in roles.features if name in names]) if roles.features else None
    score, weight = (table.column(name) if name in names else None for name in (roles.score, roles.weight))
    return features, table.column(roles.label), score, weight


def _diagnosed(
    request: DiagnoseRequest, train: tuple[Any, ...], test: tuple[Any, ...] | None, roles: Roles
) -> Diagnosis:
    from trueup.evaluation import diagnose as diagnose_rows

    features, labels, scores, weights = train
    return diagnose_rows(
        features,
        labels,
        scores,
        sample_weight=weights,
        pos_label=positive_label(request.positive, labels.type),
        test=test,
        categorical_features=list(roles.categorical) or "from_dtype",
        **request.options,
    )


def _print(request: DiagnoseRequest, diagnosis: Diagnosis, seconds: float, where: str) -> None:
    if request.as_json:
        about = {"table": request.table, "test": request.test, "label": request.label, "score": request.score}
        print_json(about | {"seconds": seconds} | diagnosis.to_dict())
    elif not request.quiet:
        console = screen()
        console.print(f"{shown(where)}: {_rows(request, diagnosis)}, {seconds:.1f} s", style="bold", soft_wrap=True)
        if not diagnosis.findings:
            console.print("Nothing found.", style="bold green")
        print_findings(console, diagnosis.findings)


def _rows(request: DiagnoseRequest, diagnosis: Diagnosis) -> str:
    rows = f"{diagnosis.n_train:,} rows"
    return (
        rows if request.test is None else f"{rows} to fit on, {diagnosis.n_test:,} of {shown(request.test)} to test on"
    )


def print_findings(console: Console, findings: Iterable[Any]) -> None:
    """Show findings: what each is, and under it what to do."""
    from rich.padding import Padding
    from rich.text import Text

    for finding in findings:
        line = Text(f"{finding.severity} ", style=_COLOURS[finding.severity])
        line.append(shown(finding.text), style="default not bold")
        console.print(line)
        console.print(Padding(shown(finding.advice), (0, 0, 0, 2)), style="dim")
