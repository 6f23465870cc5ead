"""Fitting tables that are read batch by batch, or by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import Roles, assign_roles, positive_label
from trueup.cli._dates import refuse_dates
from trueup.errors import FileError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from trueup._data import Stream
    from trueup.cli._fit import FitRequest

__all__ = ["estimator", "fitted_stream", "roles_of_table"]

PATIENCE = 10  # seconds that a scheduler has to answer


def fitted_stream(request: FitRequest, stream: Stream) -> Any:
    """The model of tables that are read batch by batch; on a cluster if one is named."""
    named = (request.label, request.score, request.weight, request.group)
    # Its error names the file, and the one that follows would not.
    stream.check([name for name in named if name is not None and name in stream.partial_columns])
    roles = roles_of_table(request, stream.shape(), stream.name)
    columns: dict[str, Any] = {
        "label": roles.label,
        "score": roles.score,
        "weight": roles.weight,
        "group": request.group,
    }
    more = {
        "features": list(roles.features),
        "pos_label": positive_label(request.positive, stream.schema([roles.label]).field(0).type),
    }
    if request.scheduler is None:
        return estimator(request, roles, **more).fit_stream(stream, **columns)
    return _fitted_on_cluster(request, stream, partial(estimator, request, roles, **more), columns)


def roles_of_table(request: FitRequest, table: Any, where: str) -> Roles:
    """Which column is what; the column of groups is no feature unless it is named as one."""
    drop = request.drop
    if request.group is not None and not request.features:
        drop = (*drop, request.group)
    roles = assign_roles(
        table,
        where,
        label=request.label,
        score=request.score,
        weight=request.weight,
        features=request.features,
        categorical=request.categorical,
        drop=drop,
    )
    refuse_dates(table, roles, named=bool(request.features))
    return roles


def estimator(request: FitRequest, roles: Roles, **parameters: Any) -> Any:
    """An estimator with the options that were given."""
    from trueup.calibration import MCGrad

    return MCGrad(
        score_column=roles.score,
        categorical_features=list(roles.categorical) or "from_dtype",
        verbose=0 if request.quiet else 1,
        **request.estimator,
        **parameters,
    )


def _fitted_on_cluster(
    request: FitRequest, stream: Stream, estimator_of: Callable[..., Any], columns: dict[str, Any]
) -> Any:
    try:
        import dask.dataframe as dd
        from distributed import Client
    except ImportError:
        raise MissingExtraError('A cluster needs Dask, which is not installed: pip install "trueup[dask]".') from None
    from trueup.distributed import fit_dask

    if not stream.files or not all(file.lower().endswith(".parquet") for file in stream.files):
        raise ParameterError("--scheduler: the workers of a cluster read Parquet files. Name such.")
    try:
        client = Client(request.scheduler, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise FileError(f"--scheduler: there is no Dask scheduler at {request.scheduler!r} ({error}).") from error
    with client:
        return fit_dask(dd.read_parquet(list(stream.files)), estimator=estimator_of(), client=client, **columns)
