"""Many models: each into a folder of its own, then what they say together. Can be stopped, and goes on."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli._errors import ExitCode, StoppedLate, after_writing, error_line
from trueup.cli._evaluate import EvaluateRequest, evaluated, failing
from trueup.cli._models import ModelSpec
from trueup.cli._printing import print_json, reader_may_leave, shown
from trueup.errors import FileError, TrueupError

if TYPE_CHECKING:
    from trueup.evaluation import Outcome, Summary

__all__ = ["evaluate_many"]

SUMMARY_FILES = ("summary.json", "summary.csv", "index.html")
_BLOCK = 2**20


def evaluate_many(request: EvaluateRequest, models: list[ModelSpec]) -> int | None:
    """Evaluate what is not finished, write the summary, and say what it says."""
    from trueup.evaluation import summarize

    out = Path(request.output)
    if out.exists() and not out.is_dir():
        raise FileError(f"{request.output!r} is not a folder. Name another one with -o.")
    outcomes, failures, is_strict_alone = [], {}, True
    try:
        for place, spec in enumerate(models, 1):
            outcome, why, is_strict = _outcome(request, spec, out, f"{place}/{len(models)} {shown(spec.name)}")
            if outcome is not None:
                outcomes.append(outcome)
            else:
                failures[spec.name] = why
                is_strict_alone = is_strict_alone and is_strict
    except KeyboardInterrupt:
        if outcomes:
            print(f"Finished models are kept in {shown(out)}: the same command goes on from there.", file=sys.stderr)
            raise StoppedLate from None
        raise
    summary = summarize(outcomes, failures=failures)
    files = _write(summary, out)
    with after_writing():
        with reader_may_leave():
            if request.as_json:
                print_json({"files": files} | summary.to_dict())
            elif not request.quiet:
                from trueup.cli._summary_screen import print_summary

                print_summary(summary, files)
        for name, why in failures.items():
            print(f"failed: {shown(name)}: {why}", file=sys.stderr)
        if failures:
            return ExitCode.LIMIT if is_strict_alone else ExitCode.DATA
        return failing(request, {outcome.name: outcome.verdict for outcome in outcomes})


def _outcome(request: EvaluateRequest, spec: ModelSpec, out: Path, what: str) -> tuple[Outcome | None, str, bool]:
    """What became of a model; or why nothing did, and whether that is because --strict was given."""
    from trueup.errors import DiagnosisError
    from trueup.evaluation import Outcome

    report = f"{spec.name}/report.html"
    try:
        made_from = _made_from(request, spec)
        kept = _finished(out / spec.name, made_from)
        if kept is not None:
            _tell(request, f"{what}: {kept['verdict']}, as before")
            return Outcome.of(spec.name, kept, report), "", False
        _tell(request, f"{what} ...")
        evaluation, _ = evaluated(request, spec)
        evaluation.save(out / spec.name, title=f"Evaluation of {spec.name}", about=made_from)
        _tell(request, f"{what}: {evaluation.verdict}")
        return Outcome.of(spec.name, evaluation, report), "", False
    except Exception as error:  # one model must not stop the others, whatever is wrong with it
        if not isinstance(error, (TrueupError, OSError)) and os.environ.get("TRUEUP_DEBUG", "") not in ("", "0"):
            raise
        why = error_line(error)
        _tell(request, f"{what}: failed")
        return None, why, isinstance(error, DiagnosisError)


def _made_from(request: EvaluateRequest, spec: ModelSpec) -> dict[str, Any]:
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
        "options": {**spec.columns(), **asdict(request.options)},
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


def _tell(request: EvaluateRequest, line: str) -> None:
    """A line of progress on stderr."""
    if not request.quiet:
        print(line, file=sys.stderr)
