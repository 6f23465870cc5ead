"""`trueup audit` of tables that are read batch by batch, and of sketches of them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import Columns, Roles, naming_columns, positive_label
from trueup.cli._printing import working_on
from trueup.errors import DataWarning, LabelError, ParameterError

if TYPE_CHECKING:
    from trueup._data import Stream
    from trueup.auditing import Sketch, SketchSpec

__all__ = ["merged", "sketched"]

_SAMPLE_ROWS = 200_000


def merged(paths: Sequence[str], outputs: Sequence[str], quiet: bool) -> Sketch:
    """The sketch of all rows of which the files are sketches."""
    from trueup._data import find_files
    from trueup.auditing import load_sketch, merge_sketches

    files = [found.path for found in find_files(paths)]
    for output in outputs:
        if os.path.realpath(output) in map(os.path.realpath, files):
            raise ParameterError(f"{output!r} is one of the sketches to read. Name another file.")
    with working_on("merging the sketches", quiet):
        return merge_sketches(load_sketch(path) for path in files)


def sketched(
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
