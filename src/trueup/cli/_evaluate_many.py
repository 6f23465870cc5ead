"""Many models: each into a folder of its own, then what they say together. Can be stopped, and goes on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer, judge_verdicts
from trueup.cli._errors import ExitCode, StoppedLate, error_line
from trueup.cli._evaluate import Evaluating, Settings
from trueup.cli._evaluate_screen import VERDICT_STYLES
from trueup.cli._models import ModelSpec
from trueup.cli._printing import in_plural, percent, plain_table, screen, shown, signed
from trueup.errors import FileError, TrueupError

if TYPE_CHECKING:
    from trueup.evaluation import Outcome, Summary

__all__ = ["evaluate_many"]

SUMMARY_FILES = ("summary.json", "summary.csv", "index.html")
_BLOCK = 2**20
_MOST_MODELS = 30


def evaluate_many(
    models: list[ModelSpec],
    evaluated: Evaluating,
    settings: Settings,
    *,
    output: str,
    to: Answer,
    fail_on: opt.FailOn | None,
) -> int | None:
    """Evaluate what is not finished, write the summary, and say what it says."""
    from trueup.evaluation import summarize

    out = Path(output)
    if out.exists() and not out.is_dir():
        raise FileError(f"{output!r} is not a folder. Name another one with -o.")
    outcomes: list[Outcome] = []
    failures: dict[str, tuple[str, bool]] = {}
    files: dict[str, str] = {}

    def compute() -> Summary:
        """Evaluate the models that are not finished yet."""
        for place, spec in enumerate(models, 1):
            tell = partial(_tell, to.quiet, f"{place}/{len(models)} {shown(spec.name)}")
            outcome = _outcome(spec, evaluated, settings, out, tell)
            if isinstance(outcome, tuple):
                failures[spec.name] = outcome
            else:
                outcomes.append(outcome)
        return summarize(outcomes, failures={name: why for name, (why, _) in failures.items()})

    def judge(summary: Summary) -> str | None:
        """Why the run failed, if a model did."""
        for name, (why, _) in failures.items():
            print(f"failed: {shown(name)}: {why}", file=sys.stderr)
        verdicts = {outcome.name: outcome.verdict for outcome in outcomes}
        return None if failures else judge_verdicts(fail_on, verdicts)

    try:
        code = answer(
            compute,
            to,
            write=lambda summary: files.update(_write(summary, out)),
            describe=lambda summary, _: {"files": files} | summary.to_dict(),
            draw=lambda summary, _: _print(summary, files),
            judge=judge,
        )
    except StoppedLate:
        raise
    except KeyboardInterrupt:
        if outcomes:
            print(f"Finished models are kept in {shown(out)}: the same command goes on from there.", file=sys.stderr)
            raise StoppedLate from None
        raise
    if failures:
        return ExitCode.LIMIT if all(is_strict for _, is_strict in failures.values()) else ExitCode.DATA
    return code


def _outcome(
    spec: ModelSpec, evaluated: Evaluating, settings: Settings, out: Path, tell: Callable[[str], None]
) -> Outcome | tuple[str, bool]:
    """What became of a model; or why nothing did, and whether that is because --strict was given."""
    from trueup.errors import DiagnosisError
    from trueup.evaluation import Outcome

    report = f"{spec.name}/report.html"
    try:
        made_from = _made_from(spec, settings)
        kept = _finished(out / spec.name, made_from)
        if kept is not None:
            tell(f": {kept['verdict']}, as before")
            return Outcome.of(spec.name, kept, report)
        tell(" ...")
        evaluation = evaluated(spec)
        evaluation.save(out / spec.name, title=f"Evaluation of {spec.name}", about=made_from)
        tell(f": {evaluation.verdict}")
        return Outcome.of(spec.name, evaluation, report)
    except Exception as error:  # one model must not stop the others, whatever is wrong with it
        if not isinstance(error, (TrueupError, OSError)) and os.environ.get("TRUEUP_DEBUG", "") not in ("", "0"):
            raise
        why = error_line(error)
        tell(": failed")
        return why, isinstance(error, DiagnosisError)


def _made_from(spec: ModelSpec, settings: Settings) -> dict[str, Any]:
    """All that an evaluation depends on: if none of it has changed, it need not be made again."""
    import trueup

    if not os.path.exists(spec.table):
        raise FileError(f"There is no file {spec.table!r}.")
    digest = hashlib.sha256()
    with open(spec.table, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return {
        "table": spec.table,
        "table_sha256": digest.hexdigest(),
        "options": {**spec.columns(), **asdict(settings)},
        "version": trueup.__version__,
    }


def _finished(folder: Path, made_from: dict[str, Any]) -> dict[str, Any] | None:
    """What an earlier run found, if it was made of the same and all its files are there."""
    from trueup.evaluation import FILES

    if not all((folder / name).is_file() for name in FILES):
        return None
    try:
        facts: dict[str, Any] = json.loads((folder / "evaluation.json").read_text(encoding="utf-8"))
        same = facts["about"]
        wanted = json.loads(json.dumps(made_from))
        compared = [key for key in wanted if key != "table"]  # the same rows may have moved
        return facts if all(same[key] == wanted[key] for key in compared) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(summary: Summary, out: Path) -> dict[str, str]:
    from trueup._runtime import atomic_path

    out.mkdir(parents=True, exist_ok=True)
    contents = (json.dumps(summary.to_dict(), indent=1, allow_nan=False), summary.to_csv(), summary.to_html())
    with contextlib.ExitStack() as together:
        paths = [together.enter_context(atomic_path(out / name)) for name in SUMMARY_FILES]
        for path, content in zip(paths, contents, strict=True):
            path.write_text(content, encoding="utf-8")
    return {name: os.path.join(out, name) for name in SUMMARY_FILES}


def _tell(quiet: bool, model: str, news: str) -> None:
    """A line of progress on stderr."""
    if not quiet:
        print(f"{model}{news}", file=sys.stderr)


def _print(summary: Summary, files: dict[str, str]) -> None:
    """Show the models, the percentiles of their changes, and where the page is."""
    console = screen()
    if summary.models:
        console.print(_model_table(summary))
        console.print()
        console.print(_percentile_table(summary))
        console.print("Changes are relative. Percentiles run from the models that gain most.", style="dim")
        if summary.untrusted:
            names = ", ".join(map(shown, summary.untrusted))
            console.print(f"Left out because the data can't be trusted (see the reports): {names}.", style="yellow")
        console.print()
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in summary.verdicts.items())
    failed = f"; {len(summary.failures)} failed" if summary.failures else ""
    n_models = in_plural(len(summary.models), "model", "models")
    console.print(f"{n_models} evaluated: {verdicts}{failed}.", style="bold")
    console.print(f"The reports: {shown(files['index.html'])}", soft_wrap=True)


def _model_table(summary: Summary) -> Any:
    from rich.text import Text

    from trueup.evaluation import SHOWN_METRICS

    table = plain_table("Model", "=Verdict", ">Test rows", *_titles())
    for model in summary.models[:_MOST_MODELS]:
        changes = [_change(model.change(metric)) if model.trusted else "–" for metric in SHOWN_METRICS]
        verdict = Text(model.verdict, style=VERDICT_STYLES[model.verdict])
        table.add_row(shown(model.name), verdict, f"{model.rows:,}", *changes)
    if len(summary.models) > _MOST_MODELS:
        table.add_row(f"and {len(summary.models) - _MOST_MODELS:,} more", style="dim")
    return table


def _percentile_table(summary: Summary) -> Any:
    from trueup.evaluation import PERCENTILES, SHOWN_METRICS

    table = plain_table("=Percentile", *_titles())
    for place, percentile in enumerate(PERCENTILES):
        table.add_row(f"{percentile}th", *(_change(summary.percentiles[metric][place]) for metric in SHOWN_METRICS))
    table.add_row("improve", *(percent(summary.improved[metric], 0) for metric in SHOWN_METRICS), style="bold")
    table.add_row("don't get worse", *(percent(summary.not_worse[metric], 0) for metric in SHOWN_METRICS))
    return table


def _titles() -> list[str]:
    from trueup.evaluation import SHOWN_METRICS
    from trueup.metrics import METRICS

    return [f">{METRICS[name].title}" for name in SHOWN_METRICS]


def _change(share: float) -> str:
    if math.isnan(share):
        return "–"
    return f"{signed(100 * share, 2)} %" if share else "0.00 %"
