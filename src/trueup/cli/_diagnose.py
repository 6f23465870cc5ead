"""`trueup diagnose`: what is wrong with tables before anything is fitted or tested on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._columns import Columns, Roles, check_column, read_rows
from trueup.cli._errors import WrongUsageError
from trueup.cli._files import STANDARD_STREAM, Reading, TableSource, name_of
from trueup.cli._printing import screen, shown, working_on

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.evaluation import Diagnosis

__all__ = ["diagnose"]

_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}


def diagnose(
    table: opt.Table,
    *,
    label: opt.Label,
    score: opt.Score = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    test: Annotated[
        str | None, opt.option("--test", "Rows to test on, in a table of the same columns.", opt.INPUT, "TABLE")
    ] = None,
    input_format: opt.InputFormat = None,
    delimiter: opt.Delimiter = None,
    max_rows: Annotated[
        int, opt.option("--max-rows", "How many rows to draw for telling the two tables apart.", metavar="N", min=100)
    ] = 50_000,
    seed: opt.Seed = 0,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    jobs: opt.Jobs = None,
    strict: opt.Strict = False,
) -> int | None:
    """Show what is wrong with rows before anything is fitted or tested on them."""
    opt.refuse_both(features=features, drop=drop)
    if test == STANDARD_STREAM == table:
        raise WrongUsageError("Both tables are stdin. Name a file for one of them.")
    reading = Reading.of(input_format, delimiter)
    columns = Columns(label, score, weight, features, drop, categorical, dates="keep")

    def compute() -> Diagnosis:
        """Look at the rows."""
        from trueup.evaluation import diagnose as diagnose_rows

        rows = read_rows(table, reading, columns)
        roles = rows.roles
        with working_on("diagnosing", quiet):
            return diagnose_rows(
                rows.table,
                roles.label,
                roles.score,
                sample_weight=roles.weight,
                pos_label=rows.pos_label(positive),
                test=None if test is None else _test_rows(test, reading, roles),
                features=roles.features,
                categorical_features=roles.categorical or "from_dtype",
                max_rows=max_rows,
                random_state=seed,
                n_jobs=jobs,
            )

    def describe(diagnosis: Diagnosis, seconds: float) -> dict[str, Any]:
        """The findings as JSON."""
        return {"table": table, "test": test, "label": label, "score": score, "seconds": seconds} | diagnosis.to_dict()

    def draw(diagnosis: Diagnosis, seconds: float) -> None:
        """The findings on the screen."""
        n = f"{diagnosis.n_train:,} rows"
        if test is not None:
            n += f" to fit on, {diagnosis.n_test:,} of {shown(test)} to test on"
        console = screen()
        console.print(f"{shown(name_of([table]))}: {n}, {seconds:.1f} s", style="bold", soft_wrap=True)
        if not diagnosis.findings:
            console.print("Nothing found.", style="bold green")
        _print_findings(console, diagnosis.findings)

    def judge(diagnosis: Diagnosis) -> str | None:
        """Why the data fail, if warnings are errors."""
        if not strict or diagnosis.ok:
            return None
        return f"--strict, and there are warnings ({', '.join(dict.fromkeys(one.code for one in diagnosis.warnings))})."

    return answer(compute, Answer(as_json, quiet), describe=describe, draw=draw, judge=judge)


def _test_rows(path: str, reading: Reading, roles: Roles) -> tuple[Any, ...]:
    """The rows to test on. Only labels must be there: whatever else they lack is a finding."""
    source = TableSource.of(path, reading)
    table = source.read()
    check_column(roles.label, table.column_names, "--label", source.name)
    there = set(table.column_names)
    score, weight = (name if name in there else None for name in (roles.score, roles.weight))
    there &= {*roles.features, roles.label, score, weight}
    text = source.with_category_text(table, [name for name in roles.categorical if name in there])
    return text.select([name for name in table.column_names if name in there]), roles.label, score, weight


def _print_findings(console: Console, findings: Iterable[Any]) -> None:
    """Show findings: what each is, and under it what to do."""
    from rich.padding import Padding
    from rich.text import Text

    for finding in findings:
        line = Text(f"{finding.severity} ", style=_COLOURS[finding.severity])
        line.append(shown(finding.text), style="default not bold")
        console.print(line)
        console.print(Padding(shown(finding.advice), (0, 0, 0, 2)), style="dim")
