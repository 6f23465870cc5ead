"""`trueup audit`: where the scores of a table are wrong, and whether that is more than noise."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer, file_in_title, given
from trueup.cli._columns import Columns, Roles, TableRows, check_column, naming_columns, positive_label, read_rows
from trueup.cli._errors import WrongUsageError
from trueup.cli._files import Reading, name_of, names_many, stream_of
from trueup.cli._printing import shown, working_on
from trueup.cli._writing import check_output
from trueup.errors import DataWarning, LabelError, ParameterError

if TYPE_CHECKING:
    from trueup._data import Stream
    from trueup.auditing import AuditResult, Sketch, SketchSpec
    from trueup.segments import Segment

__all__ = ["audit"]

_SAMPLE_ROWS = 200_000


def audit(
    tables: opt.Tables,
    *,
    label: Annotated[
        str | None, opt.column("--label", "The column of labels: two classes of any type. Required.")
    ] = None,
    score: opt.Score = None,
    weight: opt.Weight = None,
    group: opt.Group = None,
    positive: opt.Positive = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    by: opt.By = None,
    where: opt.Where = None,
    discover: opt.Discover = False,
    max_depth: opt.MaxDepth = None,
    max_values: opt.MaxValues = None,
    min_rows: opt.MinRows = 10,
    max_segments: opt.MaxSegments = None,
    null_samples: opt.NullSamples = None,
    significance: opt.Significance = 0.05,
    seed: opt.Seed = 0,
    stream: opt.Stream = False,
    sketches: opt.Sketches = False,
    input_format: opt.InputFormat = None,
    delimiter: opt.Delimiter = None,
    top: opt.Top = 10,
    output: opt.SegmentTable = None,
    save_sketch: opt.SaveSketch = None,
    html: opt.Html = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    jobs: opt.Jobs = None,
    fail_above: opt.FailAbove = None,
    fail_on_significant: opt.FailOnSignificant = False,
) -> int | None:
    """Show where scores are wrong, by how much, and whether that is more than noise."""
    for one, name in {"--label": label, "--score": score}.items():
        if name is None and not sketches:
            raise WrongUsageError(f"{one} is missing. Name the column.")
    opt.refuse_both(by=by, where=where, discover=discover)
    opt.refuse_both(features=features, drop=drop, by=by)
    opt.refuse_both(features=features, drop=drop, where=where)
    to = Answer(as_json, quiet, segments=output, html=html).checked(tables[0])
    in_batches = sketches or stream or save_sketch is not None or names_many(tables)
    if in_batches:
        needs_rows = "needs all rows in memory, and here they are read batch by batch. Leave it out, or audit one file."
        of_rows = {"group": group, "where": where, "discover": discover or None, "max_segments": max_segments}
        _refuse(needs_rows, **of_rows, null_samples=null_samples)
        if save_sketch is not None:
            check_output(save_sketch)
    search = given(max_depth=max_depth, max_values=max_values)
    if sketches:
        roles = {"label": label, "score": score, "weight": weight, "positive": positive}
        chosen = {"features": features, "drop": drop, "categorical": categorical, "by": by}
        hold_it = "can't be given with --sketches, which have it in them."
        _refuse(hold_it, **roles, **chosen, **search, stream=stream or None)
    # Conditions may be about any column, so --where refuses none.
    dates: Literal["refuse", "keep"] = "keep" if where else "refuse"
    columns = Columns(label or "", score, weight, features, drop, categorical, by, {"--group": group}, dates)
    reading, verbose = Reading.of(input_format, delimiter), 0 if quiet else 1

    def of_table() -> AuditResult:
        """Audit one table in memory."""
        rows = read_rows(tables[0], reading, columns)
        options = search | given(null_samples=null_samples)
        options |= {
            "groups": group,
            "pos_label": rows.pos_label(positive),
            "min_rows": min_rows,
            "max_segments": max_segments,
        }
        options |= {"significance": significance, "random_state": seed, "n_jobs": jobs, "verbose": verbose}
        return _audited(rows, columns, _conditions(rows, where, min_rows) if where else None, discover, options)

    def of_batches() -> AuditResult:
        """Audit many rows by way of a sketch."""
        outputs = [path for path in (output, save_sketch) if path is not None]
        if sketches:
            sketch = _merged(tables, outputs, quiet)
        else:
            read = stream_of(tables, reading, outputs)
            sketch = _sketched(read, columns, positive=positive, search=search, seed=seed, n_jobs=jobs, verbose=verbose)
        result = sketch.audit(min_rows=min_rows, significance=significance)
        if save_sketch is not None:
            sketch.save(save_sketch)
        return result

    def describe(result: AuditResult, seconds: float) -> dict[str, Any]:
        """The result as JSON."""
        from trueup.auditing import verdict_in_words

        return {
            "table": name_of(tables) if in_batches else tables[0],
            "label": label or "",
            "score": score or "",
            "seconds": seconds,
            "html": html,
            "verdict": verdict_in_words(result, folded=not where),
            "n_significant": result.n_significant,
            "n_patterns": result.n_patterns,
        } | result.to_dict()

    def draw(result: AuditResult, seconds: float) -> None:
        """The result on the screen."""
        from trueup.cli._audit_screen import print_audit

        # The user asked for each segment of --where.
        most = max(top, 1 + len(where)) if where else top
        heading = shown(name_of(tables) + ("" if sketches else f": {score!r} against {label!r}"))
        print_audit(heading, result, seconds, to, top=most, fold=not where, with_trees=discover)

    title = f"Audit of {file_in_title(tables[0])}" + ("" if sketches else f": {score} against {label}")
    return answer(
        of_batches if in_batches else of_table,
        to,
        write=lambda result: to.write_files(result, title),
        describe=describe,
        draw=draw,
        judge=lambda result: _failure(result, fail_above, fail_on_significant),
    )


def _failure(result: AuditResult, fail_above: float | None, fail_on_significant: bool) -> str | None:
    """Why the limits that were set are not met, if so."""
    reasons = []
    if not result.n_segments and (fail_above is not None or fail_on_significant):
        reasons.append("no segment could be tested, so the limit can't be checked")
    if result.n_segments and fail_above is not None and result.mce > fail_above:
        reasons.append(f"the MCE is {result.mce:.2f} σ, above the {fail_above:g} σ of --fail-above")
    if result.n_segments and fail_on_significant and result.significant:
        reasons.append(f"a segment is significantly wrong at significance {100 * result.significance:g} %")
    return f"{'; '.join(reasons)}." if reasons else None


def _refuse(why: str, **options: object) -> None:
    for name in given(**options):
        raise ParameterError(f"--{name.replace('_', '-')} {why}")


def _audited(
    rows: TableRows, columns: Columns, conditions: list[Segment] | None, discover: bool, options: dict[str, Any]
) -> AuditResult:
    from trueup.auditing import audit as audit_scores

    roles = rows.roles
    X = rows.table
    if conditions is not None:
        options = options | {"segments": conditions}
    elif columns.by:
        options = options | {"by": roles.features}
    elif roles.features:
        options = options | {"features": roles.features, "discover": "tree" if discover else None}
    elif discover:
        raise ParameterError(f"--discover: {rows.name} has no columns left that segments could be made of.")
    else:  # only all rows are left to ask about
        named = [name for name in (roles.label, roles.score, roles.weight, options["groups"]) if name is not None]
        X = rows.table.select(named)
    return audit_scores(
        X,
        roles.label,
        roles.score,
        sample_weight=roles.weight,
        categorical_features=roles.categorical or "from_dtype",
        **options,
    )


def _conditions(rows: TableRows, texts: Sequence[str], min_rows: int) -> list[Segment]:
    """The segments that --where describes; a warning tells of those with too few rows."""
    from trueup.segments import parse_segment

    segments = [parse_segment(text) for text in texts]
    for segment in segments:
        for name in segment.columns:
            if name == rows.roles.label:
                raise ParameterError(
                    f"--where: {str(segment)!r} is about the labels, column {name!r}. A segment is made of what is "
                    "known when the score is given."
                )
            check_column(name, rows.table.column_names, "--where", rows.name)
        n = int(segment.mask(rows.table).sum())
        if n < min_rows:
            met = "no row meets it" if n == 0 else f"{n:,} rows meet it, fewer than --min-rows {min_rows}"
            warnings.warn(f"--where: {str(segment)!r} is not tested: {met}.", DataWarning, stacklevel=2)
    return segments


def _merged(paths: Sequence[str], outputs: Sequence[str], quiet: bool) -> Sketch:
    """The sketch of all rows of which the files are sketches."""
    from trueup._data import find_files
    from trueup.auditing import load_sketch, merge_sketches

    files = [found.path for found in find_files(paths)]
    for output in outputs:
        if os.path.realpath(output) in map(os.path.realpath, files):
            raise ParameterError(f"{output!r} is one of the sketches to read. Name another file.")
    with working_on("merging the sketches", quiet):
        return merge_sketches(load_sketch(path) for path in files)


def _sketched(
    stream: Stream,
    columns: Columns,
    *,
    positive: str | None,
    search: dict[str, int],
    seed: int,
    n_jobs: int | None,
    verbose: int,
) -> Sketch:
    """The sketch of a stream's rows."""
    from trueup._model import ValueKind
    from trueup._runtime import give_back_memory
    from trueup.auditing import sketch_stream

    for name, lacking in stream.partial_columns.items():
        warnings.warn(f"Ignoring column {name!r}: {lacking} doesn't have it.", DataWarning, stacklevel=2)
    roles = columns.find(stream.shape(), stream.name)
    stream = stream.with_kinds(dict.fromkeys(roles.categorical, ValueKind.STRING))
    with working_on("drawing a sample", not verbose):
        named = [name for name in (roles.label, roles.score, roles.weight) if name is not None]
        sample = stream.sample(_SAMPLE_ROWS, [*named, *roles.features], seed=seed)
    spec = _spec(stream, sample, columns, roles, positive=positive, search=search)
    del sample
    give_back_memory()  # of the sample
    with naming_columns(roles):
        return sketch_stream(
            stream,
            label=roles.label,
            score=str(roles.score),
            weight=roles.weight,
            spec=spec,
            n_jobs=n_jobs,
            verbose=verbose,
        )


def _spec(
    stream: Stream, sample: Any, columns: Columns, roles: Roles, *, positive: str | None, search: dict[str, int]
) -> SketchSpec:
    """What to count, learned from a sample of all rows."""
    from trueup._data import read_table
    from trueup.auditing import SketchSpec, naming_bad_scores
    from trueup.segments import chosen_cuts

    X = sample.select(roles.features)
    cuts = search | chosen_cuts(
        read_table(X),
        by=roles.features if columns.by else None,
        features=None,
        categorical_features=roles.categorical or "from_dtype",
        max_values=search.get("max_values"),
    )
    with naming_bad_scores(stream, str(roles.score)):
        return SketchSpec.learn(
            X if roles.features else None,
            sample.column(roles.score),
            sample_weight=None if roles.weight is None else sample.column(roles.weight),
            classes=_classes(sample.column(roles.label), roles.label, positive),
            **cuts,
        )


def _classes(labels: Any, name: str, positive: str | None) -> tuple[Any, ...]:
    """The two labels, negative first. A sample of few positives may have none, which is fine if labels are numbers."""
    import pyarrow as pa

    from trueup._data import read_labels

    pos_label = positive_label(positive, labels.type)
    try:
        found = tuple(read_labels(labels, len(labels), pos_label=pos_label).classes)
    except LabelError as error:
        if pa.types.is_integer(labels.type) or pa.types.is_floating(labels.type) or pa.types.is_boolean(labels.type):
            return (0, 1) if pos_label is None or pos_label == 1 else (1, 0)
        raise LabelError(f"The labels, column {name!r}: {error}") from error
    return (0, 1) if found == (0, 1) else found
