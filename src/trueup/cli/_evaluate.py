"""`trueup evaluate`: one table, or many; this decides which, and evaluates the one."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer, file_in_title, judge_verdicts
from trueup.cli._columns import Columns, read_rows
from trueup.cli._errors import ExitCode, WrongUsageError
from trueup.cli._files import STANDARD_STREAM, Reading
from trueup.cli._models import ModelSpec, models_in_folder, models_in_manifest
from trueup.cli._printing import named_in_reports, print_json, shown
from trueup.errors import DiagnosisError, FileError, ParameterError

if TYPE_CHECKING:
    from trueup.evaluation import Evaluation

__all__ = ["Evaluating", "Settings", "evaluate"]


@dataclass(frozen=True)
class Settings:
    """What an evaluation depends on besides its table and columns."""

    max_rounds: int = 100
    refit: bool = False
    comparison: Mapping[str, Any] = field(default_factory=dict)  # the rules: parameters of trueup.compare
    seed: int = 0
    strict: bool = False


Evaluating: TypeAlias = Callable[[ModelSpec], "Evaluation"]


@named_in_reports()
def evaluate(
    table: Annotated[
        str | None,
        typer.Argument(
            help=f"Scored rows, or a folder with one table per model: {opt.INPUT_FILES}", show_default=False
        ),
    ] = None,
    *,
    output: opt.OutputFolder,
    label: Annotated[str | None, opt.column("--label", "The column of labels: two classes of any type.")] = None,
    score: opt.Score = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    time: opt.Time = None,
    group: opt.Group = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    test_size: Annotated[
        float, opt.option("--test-size", "The share of the rows to test on, roughly.", opt.MODEL, "SHARE")
    ] = 0.3,
    max_rounds: opt.MaxRounds = 100,
    refit: Annotated[
        bool,
        opt.flag(
            "--refit",
            "Save a model that is fitted again on all rows, with at most as many rounds, instead of the one that was "
            "tested.",
            opt.MODEL,
        ),
    ] = False,
    primary: opt.Primary = opt.PrimaryMetric.LOG_LOSS,
    guardrail: opt.Guardrails = None,
    significance: opt.Significance = 0.05,
    seed: opt.Seed = 0,
    manifest: opt.Manifest = None,
    input_format: opt.InputFormat = None,
    delimiter: opt.Delimiter = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    jobs: opt.Jobs = None,
    strict: opt.Strict = False,
    fail_on: opt.FailOnVerdict = None,
) -> int | None:
    """Calibrate scores on some of the rows, and test on the others whether to ship the result."""
    opt.refuse_both(features=features, drop=drop)
    if (table is None) == (manifest is None):
        raise WrongUsageError("Name one of these: a table, a folder of tables, or --manifest.")
    if not 0 < test_size < 1:
        raise WrongUsageError(f"--test-size must be a share between 0 and 1, got {test_size:g}.")
    if output == STANDARD_STREAM:
        raise FileError("An evaluation is a folder of files and can't go to stdout. Name a folder with -o.")
    lists = {"features": features, "drop": drop, "categorical": categorical}
    columns: dict[str, Any] = {name: tuple(names or ()) for name, names in lists.items()}
    spec = ModelSpec(table or "", label, score, weight, positive, time, group, test_size, **columns)
    rules = {"significance": significance, **opt.rules_of(primary, guardrail)}
    settings = Settings(max_rounds, refit, rules, seed, strict)
    reading, to = Reading.of(input_format, delimiter), Answer(as_json, quiet)

    def evaluated(spec: ModelSpec) -> Evaluation:
        """Evaluate one model."""
        return _evaluated(spec, settings, reading, jobs, verbose=0 if quiet else 1)

    if manifest is None and not (spec.table != STANDARD_STREAM and os.path.isdir(spec.table)):
        return _evaluate_one(spec, evaluated, settings, output=output, to=to, force=force, fail_on=fail_on)
    models = models_in_folder(spec.table, spec) if manifest is None else models_in_manifest(manifest, spec)
    from trueup.cli._evaluate_many import evaluate_many

    return evaluate_many(models, evaluated, settings, output=output, to=to, fail_on=fail_on)


def _evaluate_one(
    spec: ModelSpec,
    evaluated: Evaluating,
    settings: Settings,
    *,
    output: str,
    to: Answer,
    force: bool,
    fail_on: opt.FailOn | None,
) -> int | None:
    from trueup._runtime import check_folder
    from trueup.evaluation import FILES

    spec.check(repr(spec.table))
    check_folder(output, FILES)
    if not force and any(os.path.exists(os.path.join(output, name)) for name in FILES):
        raise ParameterError(
            f"-o: {output!r} has the results of an earlier evaluation. Name another folder, or add --force."
        )
    files: dict[str, str] = {}

    def write(evaluation: Evaluation) -> None:
        """Write the folder of results."""
        about = {"table": spec.table, "options": {**spec.columns(), **asdict(settings)}}
        files.update(evaluation.save(output, title=f"Evaluation of {file_in_title(spec.table)}", about=about))

    def draw(evaluation: Evaluation, _: float) -> None:
        """The verdict on the screen."""
        from trueup.cli._evaluate_screen import print_evaluation

        print_evaluation(evaluation, spec, files)

    try:
        return answer(
            lambda: evaluated(spec),
            to,
            write=write,
            describe=lambda evaluation, _: {"table": spec.table, "files": files} | evaluation.to_dict(),
            draw=draw,
            judge=lambda evaluation: judge_verdicts(fail_on, {"the verdict": evaluation.verdict}),
        )
    except DiagnosisError as error:
        return _stopped_by_strict(spec, to, error)


def _evaluated(spec: ModelSpec, settings: Settings, reading: Reading, jobs: int | None, verbose: int) -> Evaluation:
    """The evaluation of one table."""
    from trueup.calibration import MCGrad
    from trueup.evaluation import evaluate as evaluate_scores

    roles = (str(spec.label), spec.score, spec.weight, spec.features, spec.drop, spec.categorical)
    columns = Columns(*roles, others={"--time": spec.time, "--group": spec.group}, dates="ignore")
    rows = read_rows(spec.table, reading, columns)
    return evaluate_scores(
        rows.table,
        rows.roles.label,
        rows.roles.score,
        sample_weight=rows.roles.weight,
        pos_label=rows.pos_label(spec.positive),
        time=spec.time,
        groups=spec.group,
        test_size=spec.test_size,
        features=rows.roles.features,
        categorical_features=rows.roles.categorical or "from_dtype",
        estimator=MCGrad(max_rounds=settings.max_rounds, n_jobs=jobs, random_state=settings.seed, verbose=verbose),
        refit=settings.refit,
        strict=settings.strict,
        comparison=settings.comparison,
        random_state=settings.seed,
        n_jobs=jobs,
        verbose=verbose,
    )


def _stopped_by_strict(spec: ModelSpec, to: Answer, error: DiagnosisError) -> int:
    """Say what the diagnosis found, and end with the exit code of a limit."""
    diagnosis: Any = error.diagnosis
    if to.as_json:
        print_json({"table": spec.table, "verdict": None, "diagnosis": diagnosis.to_dict()})
    for finding in diagnosis.warnings:
        print(f"{finding.severity}: {shown(finding.text)} {shown(finding.advice)}", file=sys.stderr)
    print("failed: the diagnosis of the data has warnings (--strict). Nothing was written.", file=sys.stderr)
    return ExitCode.LIMIT
