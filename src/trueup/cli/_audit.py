"""`trueup audit`: where the scores of a table are wrong, and whether that is more than noise."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import Roles, assign_roles, check_column, positive_label
from trueup.cli._dates import dates_of, refuse_dates
from trueup.cli._errors import ExitCode, after_writing
from trueup.cli._files import STANDARD_STREAM, Reading, TableSource
from trueup.cli._findings import Findings, findings_of, verdict
from trueup.cli._pages import check_page, file_in_title, write_html
from trueup.cli._printing import print_json, reader_may_leave, shown, working_on
from trueup.cli._segment_table import check_segment_table, write_segment_table
from trueup.cli._streams import name_of, names_many
from trueup.errors import DataWarning, LabelError, ParameterError, WeightError

if TYPE_CHECKING:
    from trueup.auditing import AuditResult, SketchAudit
    from trueup.segments import Segment

__all__ = ["AuditRequest", "audit", "judge", "print_findings", "values_needed"]

# Of columns that are named with --by: the most values that are told apart, the most of a column of numbers, and into
# how many ranges numbers with more are cut.
MOST_VALUES = 100
MOST_NUMBERS = 20
RANGES = 5
_DEPTH = 3
_VALUES = 3


@dataclass(frozen=True)
class AuditRequest:
    """The options of `trueup audit`."""

    tables: tuple[str, ...]
    label: str
    score: str
    weight: str | None
    reading: Reading
    features: tuple[str, ...]
    drop: tuple[str, ...]
    categorical: tuple[str, ...]
    by: tuple[str, ...]
    where: tuple[str, ...]
    discover: bool
    max_depth: int | None
    max_values: int | None
    top: int
    output: str | None
    html: str | None
    as_json: bool
    quiet: bool
    fail_above: float | None
    fail_on_significant: bool
    stream: bool
    sketches: bool
    save_sketch: str | None
    needs_rows: tuple[str, ...]  # options given that can't be met where rows are not kept
    options: dict[str, Any]  # more parameters of trueup.audit
    positive: str | None = None

    @property
    def table(self) -> str:
        """The table, if it is one."""
        return self.tables[0]


def audit(request: AuditRequest) -> int | None:
    """Audit the scores of tables, say what came out, and whether that is within the limits."""
    if request.sketches or request.stream or request.save_sketch is not None or names_many(request.tables):
        from trueup.cli._audit_stream import audit_batches

        return audit_batches(request)
    output_format = check_segment_table(request.output, request.table)
    check_page(request.html, request.table, request.output)
    source = TableSource.of(request.table, request.reading)
    table = source.read()
    roles = assign_roles(
        table,
        source.name,
        label=request.label,
        score=request.score,
        weight=request.weight,
        features=request.by or request.features,
        categorical=request.categorical,
        drop=request.drop,
        features_option="--by" if request.by else "--features",
    )
    table = source.with_category_text(table, roles.categorical)
    import_module("trueup.auditing")  # loading it is not part of the audit's time
    started = time.perf_counter()
    result = _audited(request, roles, table, source.name)
    with working_on("comparing the segments", request.quiet):
        if request.where:  # the user asked for each of them
            findings = findings_of(result, max(request.top, 1 + len(request.where)), fold=False)
        else:
            findings = findings_of(result, request.top)
    seconds = time.perf_counter() - started
    if request.output is not None and request.output != STANDARD_STREAM:
        write_segment_table(result.segments, request.output, output_format)
    title = f"Audit of {file_in_title(request.table)}: {request.score} against {request.label}"
    write_html(result, request.html, title, request.quiet)
    with after_writing():
        with reader_may_leave():
            if request.output == STANDARD_STREAM:
                write_segment_table(result.segments, request.output, output_format)
            else:
                print_findings(
                    request, request.table if request.as_json else name_of(request.tables), findings, seconds
                )
        return judge(request, result)


def _audited(request: AuditRequest, roles: Roles, table: Any, where: str) -> AuditResult:
    from trueup._data import read_scores
    from trueup.auditing import audit as audit_scores

    scores = read_scores(table.column(request.score), table.num_rows, name=f"Column {request.score!r}")
    weights = None if roles.weight is None else table.column(roles.weight)
    X, chosen = _segments_to_test(request, roles, table, where)
    labels = table.column(roles.label)
    chosen["pos_label"] = positive_label(request.positive, labels.type)
    try:
        return audit_scores(X, labels, scores, sample_weight=weights, **chosen, **request.options)
    except LabelError as error:
        raise LabelError(f"The labels, column {roles.label!r}: {error}") from error
    except WeightError as error:
        raise WeightError(f"The weights, column {roles.weight!r}: {error}") from error


def _segments_to_test(request: AuditRequest, roles: Roles, table: Any, where: str) -> tuple[Any, dict[str, Any]]:
    """The table, and the parameters of `trueup.audit` that say which segments of it are meant."""
    if request.where:
        X = table.drop_columns([roles.label])
        return X, {"segments": _conditions(request, roles, X, where)}
    if not roles.features:
        if request.discover:
            raise ParameterError(f"--discover: {where} has no columns left that segments could be made of.")
        return None, {}
    X, categorical = table.select(roles.features), list(roles.categorical)
    depth = _DEPTH
    values: int | dict[str, int] = request.max_values or _VALUES
    if request.by:
        categorical += [name for name in dates_of(X) if name not in categorical]
        depth = min(_DEPTH, len(roles.features))
        values = request.max_values or values_needed(X, categorical)
    else:
        refuse_dates(table, roles, named=bool(request.features))
    return X, {
        "discover": "tree" if request.discover else None,
        "categorical_features": categorical or "from_dtype",
        "max_depth": depth if request.max_depth is None else request.max_depth,
        "max_values": values,
    }


def _conditions(request: AuditRequest, roles: Roles, X: Any, where: str) -> list[Segment]:
    """The segments that --where describes; those of too few rows are told of."""
    from trueup.segments import parse_segment

    segments = [parse_segment(text) for text in request.where]
    for segment in segments:
        for name in segment.columns:
            if name == roles.label:
                raise ParameterError(
                    f"--where: {str(segment)!r} is about the labels, column {name!r}. A segment is made of what is "
                    "known when the score is given."
                )
            check_column(name, X.column_names, "--where", where)
        n, least = int(segment.mask(X).sum()), request.options["min_rows"]
        if n < least:
            met = "no row meets it" if n == 0 else f"{n:,} rows meet it, fewer than --min-rows {least}"
            warnings.warn(f"--where: {str(segment)!r} is not tested: {met}.", DataWarning, stacklevel=2)
    return segments


def values_needed(table: Any, categorical: Sequence[str]) -> dict[str, int]:
    """How many values tell all categories of a column apart, or all its numbers if they are few, up to a limit."""
    import pyarrow as pa

    needed: dict[str, int] = {}
    for name in table.column_names:
        column = table.column(name)
        try:
            n = len(column.unique())
        except pa.ArrowNotImplementedError:  # lists, say; the audit will name what it can't use
            continue
        if _holds_numbers(column.type) and name not in categorical and n > MOST_NUMBERS:
            needed[name] = RANGES
            continue
        needed[name] = min(max(n, 2), MOST_VALUES)
        if n > MOST_VALUES:
            warnings.warn(
                f"--by: column {name!r} has {n:,} values. The {MOST_VALUES - 1} most frequent are tested one by "
                "one, the others as one.",
                DataWarning,
                stacklevel=2,
            )
    return needed


def _holds_numbers(arrow_type: Any) -> bool:
    import pyarrow as pa

    checks = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(check(arrow_type) for check in checks)


def print_findings(request: AuditRequest, table: str, findings: Findings, seconds: float) -> None:
    """Say what was found, as text or as JSON."""
    if request.as_json:
        about = {
            "table": table,
            "label": request.label,
            "score": request.score,
            "seconds": seconds,
            "html": request.html,
            "verdict": verdict(findings),
            "n_significant": findings.n_significant,
            "n_stories": findings.n_stories,
        }
        print_json(about | findings.result.to_dict())
    elif not request.quiet:
        from trueup.cli._audit_screen import print_audit

        what = "" if request.sketches else f": {shown(request.score)!r} against {shown(request.label)!r}"
        print_audit(request, f"{shown(table)}{what}", findings, seconds)


def judge(request: AuditRequest, result: AuditResult | SketchAudit) -> int | None:
    """The exit code, and on stderr why it is not 0."""
    reasons = []
    if result.n_segments == 0:
        if request.fail_above is not None or request.fail_on_significant:
            reasons.append("no segment could be tested, so the limit can't be checked")
    else:
        if request.fail_above is not None and result.mce > request.fail_above:
            reasons.append(f"the MCE is {result.mce:.2f} σ, above the {request.fail_above:g} σ of --fail-above")
        if request.fail_on_significant and result.significant:
            reasons.append(f"a segment is significantly wrong at significance {100 * result.significance:g} %")
    if not reasons:
        return None
    print(f"failed: {'; '.join(reasons)}.", file=sys.stderr)
    return ExitCode.LIMIT
