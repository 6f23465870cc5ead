"""From a table that comes batch by batch to a `CalibrationModel`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import Hashes, Stream, listed, naming, open_stream
from trueup._fitting._facts import TableFacts
from trueup._fitting._options import FitOptions
from trueup._fitting._plan import PackedRows, PackedStore, PackingPlan
from trueup._fitting._roles import StreamRoles
from trueup._fitting._rounds import fit_data, fitted_model, growth_of
from trueup._fitting._sides import Sides, sides_for
from trueup._fitting._splits import Split
from trueup._fitting._summary import seeds_from
from trueup._model import CalibrationModel, FeatureSpec, RoundRecord
from trueup._runtime import give_back_memory, shown_progress
from trueup._scoring import score_logits
from trueup.errors import DataWarning, ParameterError, TableError, callers_level

__all__ = ["check_before_reading", "fit_stream_model", "most_intervals", "roles_of"]

_MANY = 1_000_000  # rows of which a column of numbers is no burden
_MOST_ROWS_AT_ONCE = 4_000_000  # above, the fit on all rows waits for the search: two of them take twice the memory


def fit_stream_model(
    options: FitOptions, source: Any, *, label: str, score: str | None, weight: str | None, group: str | None
) -> tuple[CalibrationModel, tuple[RoundRecord, ...]]:
    """Fit a model on a table that is read twice and never held, and tell how it came about."""
    stream = open_stream(source)
    if not stream.rereadable:
        raise TableError(
            f"{stream.name} can be read only once, and a fit reads its rows twice. Pass files, a dataset, a query, or "
            "a list of batches."
        )
    roles = roles_of(stream, options, label=label, score=score, weight=weight, group=group)
    seeds = seeds_from(options.random_state)
    check_before_reading(options, seeds)
    plan, rows = _packed(stream, roles, options)
    sides = sides_for(options.validation, plan.n_rows, seeds[0])
    splits = _splits(sides, rows, soft=plan.labels.soft)
    base_rate = None if roles.score is not None else float(np.average(rows.labels, weights=rows.weights))
    base_logit = None if base_rate is None else float(score_logits(np.array([base_rate]))[0])
    data = rows.training_data(plan.labels.soft, base_logit)
    del rows
    give_back_memory()
    parameters, follows = growth_of(options, plan.spec, seeds[1]), data.n_rows <= _MOST_ROWS_AT_ONCE
    outcome = fit_data(data, data.n_rows, splits, parameters, options, follows=follows)
    positive_rate = float(np.average(data.labels, weights=data.weights))
    model = fitted_model(
        options,
        plan.spec,
        outcome,
        labels=plan.labels,
        base_rate=base_rate,
        n_rows=data.n_rows,
        positive_rate=positive_rate,
    )
    return model, outcome.history


def roles_of(
    stream: Stream, options: FitOptions, *, label: str, score: str | None, weight: str | None, group: str | None
) -> StreamRoles:
    """Which column of a stream is what; columns that only some parts have are told of and left out."""
    if score is not None and options.score_column not in (None, score):
        raise ParameterError(f"score names {score!r}, and score_column {options.score_column!r}. Name one column.")
    score = options.score_column if score is None else score
    named = () if isinstance(options.features, str) else options.features or ()
    stream.check([name for name in (label, score, weight, group, *named) if name is not None])
    if stream.partial_columns and options.features is None:
        name, where = next(iter(stream.partial_columns.items()))
        warnings.warn(
            f"Column {listed(stream.partial_columns)} is left out, for not all parts have it ({name!r} is missing in "
            f"{where}). Name the features to say which are meant.",
            DataWarning,
            stacklevel=callers_level(),
        )
    return StreamRoles.among(
        stream.columns,
        stream.name,
        label=label,
        score=score,
        weight=weight,
        group=group,
        features=options.features,
        categorical=options.categorical_features,
    )


def most_intervals(options: FitOptions) -> int:
    """Into how many intervals numbers are cut: two bins of LightGBM's are for zero and for what is missing."""
    for name, value in (options.lightgbm_params or {}).items():
        if name in ("max_bin", "max_bins"):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 2:
                raise ParameterError(f"lightgbm_params: {name} must be a whole number of at least 2, got {value!r}.")
            return max(2, int(value) - 2)
    return 253


def check_before_reading(options: FitOptions, seeds: tuple[int, int]) -> None:
    """Refuse parameters that can't be meant, before rows are read for a long time."""
    sides_for(options.validation, 0, seeds[0])
    most_intervals(options)
    growth_of(options, FeatureSpec((), ()), seeds[1])


def _packed(stream: Stream, roles: StreamRoles, options: FitOptions) -> tuple[PackingPlan, PackedRows]:
    """All rows, packed."""
    facts = TableFacts(roles)
    _read(stream, roles, options, "learning what the columns hold", facts.add)
    plan = facts.plan(most_intervals(options), options.pos_label)
    del facts
    store = PackedStore(plan)
    _read(stream, roles, options, "packing", lambda piece, first_row: store.add(plan.pack(piece, first_row)))
    return plan, store.rows()


def _read(stream: Stream, roles: StreamRoles, options: FitOptions, doing: str, use: Callable[[Any, int], None]) -> None:
    """Read all rows once, and show on a terminal how many have come."""
    first_row = 0
    with shown_progress(options.verbose, doing, stream.n_rows, unit="rows") as progress:
        for batch in stream.batches(roles.columns):
            with naming(batch):
                use(batch.table, first_row)
            first_row += batch.table.num_rows
            progress.advance(batch.table.num_rows)


def _splits(sides: Sides, rows: PackedRows, *, soft: bool) -> list[Split] | str:
    """Training and validation rows, or why there are too few for them."""
    if not sides.n_folds:
        return []
    dealt = _dealt(sides, rows.hashes)
    splits = []
    for part in sides.parts:
        train, valid = _places(dealt != part), _places(dealt == part)
        if len(train) == 0 or len(valid) == 0:
            return "there are too few groups to split: a fold would be empty"
        if not soft and _of_one_class(rows.labels, train):
            return "one side of the split trains on one class only"
        splits.append((train, valid))
    return splits


def _dealt(sides: Sides, hashes: Hashes) -> npt.NDArray[np.int8]:
    """The side of each row, some rows at a time: a hash takes eight times the memory of a side."""
    dealt = np.empty(len(hashes), np.int8)
    for first in range(0, len(hashes), _MANY):
        dealt[first : first + _MANY] = sides.of_rows(hashes[first : first + _MANY])
    return dealt


def _places(rows: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
    found = [
        (np.flatnonzero(rows[first : first + _MANY]) + first).astype(np.int32) for first in range(0, len(rows), _MANY)
    ]
    return np.concatenate(found)


def _of_one_class(labels: npt.NDArray[np.float64], train: npt.NDArray[np.int32]) -> bool:
    return all(
        (labels[train[first : first + _MANY]] == labels[train[0]]).all() for first in range(0, len(train), _MANY)
    )
