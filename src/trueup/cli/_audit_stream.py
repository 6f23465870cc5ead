"""`trueup audit` of tables that are read batch by batch, and of sketches of them."""

from __future__ import annotations

import os
import time
import warnings
from typing import TYPE_CHECKING, Any

from trueup.cli._audit import AuditRequest, judge, print_findings, values_needed
from trueup.cli._columns import Roles, assign_roles, positive_label
from trueup.cli._dates import dates_of, refuse_dates
from trueup.cli._errors import after_writing
from trueup.cli._files import STANDARD_STREAM, check_output
from trueup.cli._findings import findings_of_sketch
from trueup.cli._printing import reader_may_leave, working_on
from trueup.cli._segment_table import check_segment_table, write_segment_table
from trueup.cli._streams import name_of, refuse_output_in, stream_of
from trueup.errors import DataWarning, LabelError, ParameterError

if TYPE_CHECKING:
    from trueup._data import Stream
    from trueup.auditing import Sketch, SketchSpec

__all__ = ["audit_batches"]

_SAMPLE_ROWS = 200_000
_DEPTH, _VALUES = 3, 3


def audit_batches(request: AuditRequest) -> int | None:
    """Audit tables by way of their sketch, say what came out, and whether that is within the limits."""
    _refuse_what_needs_rows(request)
    output_format = check_segment_table(request.output, request.table)
    if request.save_sketch is not None:
        check_output(request.save_sketch)
    started = time.perf_counter()
    sketch = _merged(request) if request.sketches else _sketched(request)
    result = sketch.audit(min_rows=request.options["min_rows"], significance=request.options["significance"])
    findings = findings_of_sketch(result, request.top)
    seconds = time.perf_counter() - started
    if request.save_sketch is not None:
        sketch.save(request.save_sketch)
    if request.output is not None and request.output != STANDARD_STREAM:
        write_segment_table(result.segments, request.output, output_format)
    with after_writing():
        with reader_may_leave():
            if request.output == STANDARD_STREAM:
                write_segment_table(result.segments, request.output, output_format)
            else:
                print_findings(request, name_of(request.tables), findings, seconds)
        return judge(request, result)


def _refuse_what_needs_rows(request: AuditRequest) -> None:
    if request.needs_rows:
        raise ParameterError(
            f"{request.needs_rows[0]} needs all rows in memory, and here they are read batch by batch. Leave it out, "
            "or audit one file that fits."
        )
    if request.sketches:
        learned = {
            "--by": request.by,
            "--features": request.features,
            "--drop": request.drop,
            "--categorical": request.categorical,
            "--max-depth": request.max_depth is not None,
            "--max-values": request.max_values is not None,
            "--label": request.label,
            "--score": request.score,
            "--weight": request.weight,
            "--positive": request.positive,
            "--stream": request.stream,
        }
        for option, given in learned.items():
            if given:
                raise ParameterError(f"{option} can't be given with --sketches, which have it in them.")


def _merged(request: AuditRequest) -> Sketch:
    """The sketch of all rows that the files are sketches of."""
    from trueup._data import find_files
    from trueup.auditing import load_sketch, merge_sketches

    paths = [found.path for found in find_files(request.tables)]
    for output in (request.output, request.save_sketch):
        if output is not None and os.path.realpath(output) in map(os.path.realpath, paths):
            raise ParameterError(f"{output!r} is one of the sketches to read. Name another file.")
    with working_on("merging the sketches", request.quiet):
        return merge_sketches(load_sketch(path) for path in paths)


def _sketched(request: AuditRequest) -> Sketch:
    """The sketch of the tables' rows."""
    from trueup._model import ValueKind
    from trueup._runtime import give_back_memory
    from trueup.auditing import sketch_stream

    stream = stream_of(request.tables, request.reading, single_files=True)
    assert stream is not None
    for output in (request.output, request.save_sketch):
        if output not in (None, STANDARD_STREAM):
            refuse_output_in(request.tables, str(output), stream)
    roles = _roles(request, stream)
    stream = stream.with_kinds(dict.fromkeys(roles.categorical, ValueKind.STRING))
    spec = _spec(request, stream, roles)
    give_back_memory()  # of the sample
    try:
        return sketch_stream(
            stream,
            label=roles.label,
            score=request.score,
            weight=roles.weight,
            spec=spec,
            n_jobs=request.options["n_jobs"],
            verbose=request.options["verbose"],
        )
    except LabelError as error:
        raise LabelError(f"The labels, column {roles.label!r}: {error}") from error


def _roles(request: AuditRequest, stream: Stream) -> Roles:
    for name, lacking in stream.partial_columns.items():
        warnings.warn(f"Column {name!r} is left out: {lacking} doesn't have it.", DataWarning, stacklevel=2)
    return assign_roles(
        stream.shape(),
        stream.name,
        label=request.label,
        score=request.score,
        weight=request.weight,
        features=request.by or request.features,
        categorical=request.categorical,
        drop=request.drop,
        features_option="--by" if request.by else "--features",
    )


def _spec(request: AuditRequest, stream: Stream, roles: Roles) -> SketchSpec:
    """What to count, learned from rows that are drawn from all."""
    from trueup.auditing import SketchSpec, naming_bad_scores

    columns = [name for name in (roles.label, request.score, roles.weight) if name is not None]
    with working_on("drawing a sample", request.quiet):
        sample = stream.sample(_SAMPLE_ROWS, [*columns, *roles.features], seed=request.options["random_state"])
    X, categorical, depth = sample.select(roles.features), list(roles.categorical), _DEPTH
    values: Any = request.max_values or _VALUES
    if request.by:
        categorical += [name for name in dates_of(X) if name not in categorical]
        depth = min(_DEPTH, len(roles.features))
        values = request.max_values or values_needed(X, categorical)
    else:
        refuse_dates(X, roles, named=bool(request.features))
    with naming_bad_scores(stream, request.score):
        return SketchSpec.learn(
            X if roles.features else None,
            sample.column(request.score),
            sample_weight=None if roles.weight is None else sample.column(roles.weight),
            categorical_features=categorical or "from_dtype",
            classes=_classes(sample.column(roles.label), roles.label, request.positive),
            max_depth=depth if request.max_depth is None else request.max_depth,
            max_values=values,
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
