"""From a table that comes batch by batch to a `CalibrationModel`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from trueup._data import Stream, listed, naming, open_stream
from trueup._fitting._options import FitOptions, seeds_from
from trueup._fitting._packing import PackedRows, PackedStore, PackingPlan, TableFacts
from trueup._fitting._roles import StreamRoles, score_of
from trueup._fitting._rounds import fit_data, fitted_model, growth_of
from trueup._fitting._splits import dealing_for
from trueup._model import CalibrationModel, FeatureSpec
from trueup._runtime import give_back_memory, shown_progress
from trueup.errors import DataWarning, ParameterError, TableError, callers_level

_MOST_ROWS_AT_ONCE = 4_000_000  # with more, the fit on all rows waits for the search, to halve the memory


def fit_stream_model(options: FitOptions, source: Any, **columns: str | None) -> CalibrationModel:
    """Fit a model on a table that is read twice and never held; `columns` names label, score, weight and group."""
    stream = open_stream(source)
    if not stream.rereadable:
        raise TableError(
            f"{stream.name} can be read only once, and a fit reads its rows twice. Pass files, a dataset, a query, or "
            "a list of batches."
        )
    roles = _roles_of(stream, options, columns)
    seeds = seeds_from(options.random_state)
    check_before_reading(options, seeds)
    plan, rows = _packed(stream, roles, options)
    dealing = dealing_for(options.validation, plan.n_rows, seeds[0])
    splits = dealing.splits(rows.labels, soft=plan.labels.soft, groups=rows.groups)
    rate = float(np.average(rows.labels, weights=rows.weights))
    base_rate = None if roles.score is not None else rate
    data = rows.training_data(plan.labels.soft, base_rate)
    del rows
    give_back_memory()
    parameters, follows = growth_of(options, plan.spec, seeds[1]), data.n_rows <= _MOST_ROWS_AT_ONCE
    outcome = fit_data(data, data.n_rows, splits, parameters, options, follows=follows)
    return fitted_model(
        options, plan.spec, plan.labels, outcome, base_rate=base_rate, n_rows=data.n_rows, positive_rate=rate
    )


def _roles_of(stream: Stream, options: FitOptions, columns: dict[str, Any]) -> StreamRoles:
    """The roles of a stream's columns. Columns that are not in every file are ignored, with a warning."""
    named = () if isinstance(options.features, str) else options.features or ()
    columns = {**columns, "score": score_of(options, columns.get("score"))}
    stream.check([name for name in (*columns.values(), *named) if name is not None])
    if stream.partial_columns and options.features is None:
        name, where = next(iter(stream.partial_columns.items()))
        warnings.warn(
            f"Ignoring column {listed(stream.partial_columns)}: not every file or batch has it ({name!r} is missing in "
            f"{where}). Name the features to say which are meant.",
            DataWarning,
            stacklevel=callers_level(),
        )
    return StreamRoles.among(stream.columns, stream.name, options, **columns)


def most_intervals(options: FitOptions) -> int:
    """How many intervals to cut numbers into: LightGBM needs two more bins, for zero and for missing values."""
    for name, value in (options.lightgbm_params or {}).items():
        if name in ("max_bin", "max_bins"):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 2:
                raise ParameterError(f"lightgbm_params: {name} must be a whole number of at least 2, got {value!r}.")
            return max(2, int(value) - 2)
    return 253


def check_before_reading(options: FitOptions, seeds: tuple[int, int]) -> None:
    """Refuse impossible parameters before spending a long time on reading rows."""
    dealing_for(options.validation, 0, seeds[0])
    most_intervals(options)
    growth_of(options, FeatureSpec((), ()), seeds[1])


def _packed(stream: Stream, roles: StreamRoles, options: FitOptions) -> tuple[PackingPlan, PackedRows]:
    """Read all rows twice, and pack them."""
    facts = TableFacts(roles)
    _read(stream, roles, options, "learning what the columns hold", facts.add)
    plan = facts.plan(most_intervals(options), options.pos_label)
    del facts
    store = PackedStore(plan)
    _read(stream, roles, options, "packing", lambda batch, _: store.add(plan.pack(batch)))
    return plan, store.rows()


def _read(stream: Stream, roles: StreamRoles, options: FitOptions, doing: str, use: Callable[[Any, int], None]) -> None:
    """Read all rows once, showing progress on a terminal."""
    first_row = 0
    with shown_progress(options.verbose, doing, stream.n_rows, unit="rows") as progress:
        for batch in stream.batches(roles.columns):
            with naming(batch):
                use(batch.table, first_row)
            first_row += batch.table.num_rows
            progress.advance(batch.table.num_rows)
