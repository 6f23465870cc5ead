"""`trueup evaluate`: one table, or many; this decides which, and evaluates the one."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import assign_roles, check_column, positive_label
from trueup.cli._compare import FailOn
from trueup.cli._dates import refuse_dates, without_dates
from trueup.cli._errors import ExitCode, after_writing
from trueup.cli._files import STANDARD_STREAM, Reading, TableSource
from trueup.cli._models import ModelSpec, models_in_folder, models_in_manifest
from trueup.cli._printing import print_json, reader_may_leave, shown
from trueup.cli._typed import named_in_reports
from trueup.errors import DiagnosisError, FileError, ParameterError

if TYPE_CHECKING:
    from trueup.evaluation import Evaluation

__all__ = ["EvaluateOptions", "EvaluateRequest", "evaluate", "evaluated", "failing", "stopped_by_strict"]


@dataclass(frozen=True)
class EvaluateOptions:
    """Options that an evaluation depends on besides its table and columns."""

    max_rounds: int = 100
    refit: bool = False
    comparison: Mapping[str, Any] = field(default_factory=dict)  # the rules: parameters of trueup.compare
    seed: int = 0
    strict: bool = False


@dataclass(frozen=True)
class EvaluateRequest:
    """The options of `trueup evaluate`."""

    spec: ModelSpec
    manifest: str | None
    output: str
    reading: Reading
    options: EvaluateOptions
    jobs: int | None
    as_json: bool
    quiet: bool
    force: bool
    fail_on: FailOn | None


@named_in_reports()
def evaluate(request: EvaluateRequest) -> int | None:
    """Evaluate what the request names, write it, and say what came out."""
    if request.output == STANDARD_STREAM:
        raise FileError("An evaluation is a folder of files and can't go to stdout. Name a folder with -o.")
    if request.manifest is not None:
        return _many(request, models_in_manifest(request.manifest, request.spec))
    if request.spec.table != STANDARD_STREAM and os.path.isdir(request.spec.table):
        return _many(request, models_in_folder(request.spec.table, request.spec))
    return _one(request)


def _many(request: EvaluateRequest, models: list[ModelSpec]) -> int | None:
    from trueup.cli._evaluate_many import evaluate_many

    return evaluate_many(request, models)


def _one(request: EvaluateRequest) -> int | None:
    from trueup._runtime import check_folder
    from trueup.evaluation import FILES

    spec = request.spec.check(repr(request.spec.table))
    check_folder(request.output, FILES)
    if not request.force and any(os.path.exists(os.path.join(request.output, name)) for name in FILES):
        raise ParameterError(
            f"-o: {request.output!r} has the results of an earlier evaluation. Name another folder, or add --force."
        )
    try:
        evaluation, where = evaluated(request, spec)
    except DiagnosisError as error:
        return stopped_by_strict(request, error)
    about = {"table": spec.table, "options": {**spec.columns(), **asdict(request.options)}}
    files = evaluation.save(request.output, title=f"Evaluation of {where}", about=about)
    with after_writing():
        with reader_may_leave():
            if request.as_json:
                print_json({"table": spec.table, "files": files} | evaluation.to_dict())
            elif not request.quiet:
                from trueup.cli._evaluate_screen import print_evaluation

                print_evaluation(evaluation, spec, files)
        return failing(request, {"the verdict": evaluation.verdict})


def evaluated(request: EvaluateRequest, spec: ModelSpec) -> tuple[Evaluation, str]:
    """The evaluation of one table, and what the table is called."""
    from trueup.calibration import MCGrad
    from trueup.evaluation import evaluate as evaluate_scores

    source = TableSource.of(spec.table, request.reading)
    table = source.read()
    no_features = _no_features(spec, table.column_names, source.name)
    roles = assign_roles(
        table,
        source.name,
        label=str(spec.label),
        score=spec.score,
        weight=spec.weight,
        features=spec.features,
        categorical=spec.categorical,
        drop=(*spec.drop, *no_features),
    )
    if spec.features:
        refuse_dates(table, roles, named=True)
    else:
        roles = without_dates(table, roles)
    table = source.with_category_text(table, roles.categorical)
    options = request.options
    verbose = 0 if request.quiet else 1
    evaluation = evaluate_scores(
        table,
        roles.label,
        roles.score,
        sample_weight=roles.weight,
        pos_label=positive_label(spec.positive, table.column(roles.label).type),
        time=spec.time,
        groups=spec.group,
        test_size=spec.test_size,
        features=roles.features,
        categorical_features=roles.categorical or "from_dtype",
        estimator=MCGrad(
            max_rounds=options.max_rounds, n_jobs=request.jobs, random_state=options.seed, verbose=verbose
        ),
        refit=options.refit,
        strict=options.strict,
        comparison=options.comparison,
        random_state=options.seed,
        n_jobs=request.jobs,
        verbose=verbose,
    )
    return evaluation, "stdin" if spec.table == STANDARD_STREAM else os.path.basename(spec.table)


def _no_features(spec: ModelSpec, columns: list[str], where: str) -> list[str]:
    """The columns of times and groups, which are no features unless they are named as such."""
    named = {"--time": spec.time, "--group": spec.group}
    for option, name in named.items():
        if name is not None:
            check_column(name, columns, option, where)
    return [] if spec.features else [name for name in named.values() if name is not None]


def stopped_by_strict(request: EvaluateRequest, error: DiagnosisError) -> int:
    """Tell what the diagnosis found, and end with the exit code of a limit."""
    diagnosis: Any = error.diagnosis
    if request.as_json:
        print_json({"table": request.spec.table, "verdict": None, "diagnosis": diagnosis.to_dict()})
    for finding in diagnosis.warnings:
        print(f"{finding.severity}: {shown(finding.text)} {shown(finding.advice)}", file=sys.stderr)
    print("failed: the diagnosis of the data has warnings (--strict). Nothing was written.", file=sys.stderr)
    return ExitCode.LIMIT


def failing(request: EvaluateRequest, verdicts: Mapping[str, str]) -> int | None:
    """The exit code that --fail-on asks for, and on stderr why."""
    if request.fail_on is None:
        return None
    failed = [f"{shown(name)} is {verdict}" for name, verdict in verdicts.items() if request.fail_on.is_met(verdict)]
    if not failed:
        return None
    print(f"failed: {'; '.join(failed)} (--fail-on {request.fail_on.value}).", file=sys.stderr)
    return ExitCode.LIMIT
