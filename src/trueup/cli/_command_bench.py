"""The options of `trueup bench paper`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from trueup.cli._bench import BenchRequest, bench_paper
from trueup.cli._options import EXIT_CODES, Work

__all__ = ["bench_app"]

bench_app = typer.Typer(help="Run benchmarks.", no_args_is_help=True)


@bench_app.callback()
def _bench() -> None:
    """Run benchmarks."""


@bench_app.command("paper", epilog=EXIT_CODES)
def _paper(
    *,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for the page; finished cells in it are not run again.")
    ] = Path("trueup-paper"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder of ready data files; by default the one that TRUEUP_DATA names, and without it files are "
            "downloaded from their sources.",
        ),
    ] = None,
    tasks: Annotated[list[str] | None, typer.Option(help="Tasks, as a,b; the paper's eleven by default.")] = None,
    methods: Annotated[list[str] | None, typer.Option(help="Methods, as a,b; all by default.")] = None,
    max_rows: Annotated[
        int, typer.Option(min=0, help="The most rows of a task; 0 takes all that there are.")
    ] = 400_000,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Tasks to run side by side; by default as many as there are cores.")
    ] = None,
    timing: Annotated[bool, typer.Option(help="Time the methods by the number of groups, too.")] = True,
    quick: Annotated[
        bool, typer.Option("--quick", help="At most 20,000 rows of a task, and few timings: a look in two minutes.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
) -> Work:
    """Run the benchmark of the MCGrad paper and set its figures beside ours, on one page."""
    request = BenchRequest(
        out=out,
        data=data,
        tasks=tuple(name for names in tasks or () for name in names.split(",")),
        methods=tuple(name for names in methods or () for name in names.split(",")),
        max_rows=max_rows or None,
        jobs=jobs,
        timing=timing,
        quick=quick,
        quiet=quiet,
    )
    return partial(bench_paper, request)
