"""From a Dask frame to a `CalibrationModel`; its rows stay on the workers."""

from __future__ import annotations

import contextlib
import math
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from trueup._fitting import (
    EMPTY_FOLD,
    ONE_CLASS,
    SAMPLE_ROWS,
    STRATIFIED_MAX_ROWS,
    Dealing,
    FitOptions,
    FitOutcome,
    GrowthParameters,
    PackingPlan,
    StreamRoles,
    check_before_reading,
    dealing_for,
    few_groups,
    fit_folds,
    fitted_model,
    growth_of,
    most_intervals,
    no_rounds,
    plan_of,
    seeds_from,
    shown_rounds,
    too_few,
)
from trueup._model import CalibrationModel
from trueup.calibration import MCGrad, fitted_by
from trueup.distributed._cluster import (
    Partitions,
    columns_of,
    connected,
    naming_unreadable,
    reduced,
    shared_with_all,
    spread,
)
from trueup.distributed._growing import DaskFold, DaskRows, agreed_rescaling
from trueup.distributed._partitions import (
    PartitionSizes,
    base_logits,
    dealt,
    describe_partition,
    facts_of,
    label_sums,
    merged_facts,
    pack_partition,
    sampled_codes,
)
from trueup.distributed._shard import Growth, forget
from trueup.errors import DataError


def fit_dask(
    frame: Any,
    *,
    label: str,
    score: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    estimator: MCGrad | None = None,
    client: Any = None,
) -> MCGrad:
    """Fit MCGrad on a Dask frame: rows stay where they are, and all workers grow the trees together.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows, with all columns.
    label : str
        The column of labels.
    score : str, optional
        The column of the base model's probabilities; the estimator's `score_column` by default.
    weight : str, optional
        The column of weights.
    group : str, optional
        A column of groups, such as a user's id, which are never split apart: a hash of the group decides which rows
        validate. By default each row is dealt for itself, as in `MCGrad.fit`, whatever the partitions are.
    estimator : MCGrad, optional
        The parameters to fit with; ``MCGrad()`` by default. It is cloned, and its `n_jobs` is of no use here: every
        worker uses the threads that it has.
    client : distributed.Client, optional
        The cluster; by default the one that was connected last.

    Returns
    -------
    MCGrad
        An ordinary fitted estimator, which needs no Dask to score.

    See Also
    --------
    trueup.MCGrad : On one machine; `MCGrad.fit_stream` for tables larger than its memory.

    Notes
    -----
    Derivatives are rounded to multiples of a power of two, at most 2⁻²⁰ of the largest weight, so that their sums are
    exact: the trees of a round depend neither on the number of workers nor on which of them holds a partition. If a
    worker is lost, Dask makes its partitions again, and the workers that are left grow the round again.

    Workers send each other sums of derivatives over connections of LightGBM's own, at ports that are free at the time.
    These are neither encrypted nor authenticated, even if the cluster's own are.

    Examples
    --------
    >>> from distributed import Client
    >>> import dask.dataframe as dd
    >>> from trueup import MCGrad
    >>> from trueup.distributed import fit_dask
    >>> client = Client("scheduler:8786")  # doctest: +SKIP
    >>> frame = dd.read_parquet("days/")  # doctest: +SKIP
    >>> model = fit_dask(frame, label="y", score="p", estimator=MCGrad(max_rounds=20))  # doctest: +SKIP
    >>> model.save("model.trueup")  # doctest: +SKIP
    """
    columns = {"label": label, "score": score, "weight": weight, "group": group}
    with connected(client) as cluster:
        unfitted: MCGrad = MCGrad() if estimator is None else clone(estimator)
        return fitted_by(unfitted, lambda options: _fit(options, frame, cluster, **columns))


def _fit(options: FitOptions, frame: Any, client: Any, **columns: Any) -> CalibrationModel:
    """Fit a model on partitions that stay on the workers; `columns` names label, score, weight and group."""
    roles = StreamRoles.among(columns_of(frame), "The frame", options, **columns)
    seeds = seeds_from(options.random_state)
    check_before_reading(options, seeds)
    partitions = list(frame.to_delayed())
    plan = _learned(client, partitions, roles, options)
    dealing = dealing_for(options.validation, plan.n_rows, seeds[0])
    rows, sizes, base_rate, positive_rate, reason = _packed(client, partitions, plan, dealing)
    parameters = growth_of(options, plan.spec, seeds[1])
    outcome = _fitted(rows, sizes, dealing, plan, reason=reason, parameters=parameters, options=options)
    return fitted_model(
        options, plan.spec, plan.labels, outcome, base_rate=base_rate, n_rows=plan.n_rows, positive_rate=positive_rate
    )


def _learned(client: Any, partitions: Sequence[Any], roles: StreamRoles, options: FitOptions) -> PackingPlan:
    """Learn what all partitions hold, and so how to pack them."""
    from dask.delayed import delayed

    facts = client.compute([delayed(facts_of)(rows, roles, number) for number, rows in enumerate(partitions)])
    with naming_unreadable(partitions, facts, roles.columns):
        merged = reduced(client, merged_facts, facts)
        intervals, pos_label = most_intervals(options), options.pos_label
        # Made on a worker: the facts hold a sample of the rows, the plan only where they are cut.
        plan = client.submit(lambda found: found.facts.plan(intervals, pos_label), merged, pure=False)
        learned: PackingPlan = plan.result()
    return learned


def _packed(
    client: Any, partitions: Sequence[Any], plan: PackingPlan, dealing: Dealing
) -> tuple[DaskRows, list[PartitionSizes], float | None, float, str]:
    """All rows, packed on the workers, and how many are in which fold; the base rate, None if there are scores; the
    rate of positives; and why there are too few rows for the folds, or nothing.
    """
    cut = min(2**64 - 1, int(SAMPLE_ROWS / plan.n_rows * 2**64))
    packed = spread(client, partitions, pack_partition, shared_with_all(client, plan), cut)
    with naming_unreadable(partitions, packed, plan.roles.columns):
        counts = client.gather(client.map(lambda partition: partition.rows.n_rows, packed, pure=False))
    if sum(counts) != plan.n_rows:
        raise DataError(
            f"The frame had {plan.n_rows:,} rows when it was read first, and {sum(counts):,} when it was read again. "
            "It must give the same rows whenever it is computed."
        )
    packed = [rows for rows, n in zip(packed, counts, strict=True) if n]
    counts = [n for n in counts if n]
    few = None
    if plan.roles.group is not None:
        each = client.gather(client.map(lambda partition: few_groups([partition.rows.groups]), packed, pure=False))
        few = None if any(some is None for some in each) else few_groups(each)
    dealt_here, reason = _folds(client, packed, counts, plan, dealing)
    places = np.cumsum([0, *counts[:-1]]).tolist()
    held = Partitions(client, client.map(dealt, packed, places, dealt_here, dealing=dealing, few=few, pure=False))
    weight, positive = held.total(label_sums)
    rate = positive / weight
    base_rate = None if plan.roles.score is not None else rate
    logits = held.map(base_logits, base_rate=base_rate)
    reference = reduced(client, np.concatenate, held.map(sampled_codes))
    folds: list[int | None] = [*dealing.folds, None]
    sizes = held.each(describe_partition, logits, folds=folds, soft=plan.labels.soft)
    return DaskRows(held, len(plan.columns), logits, reference), sizes, base_rate, rate, reason


def _folds(
    client: Any, packed: Sequence[Any], counts: Sequence[int], plan: PackingPlan, dealing: Dealing
) -> tuple[Sequence[Any], str]:
    """The fold of each row of each partition, None if its worker can tell; and why there are too few rows, or nothing.

    Few rows are stratified by their labels, which come here, and folds go back: so fits in memory and on a cluster
    validate the same rows.
    """
    on_workers = [None] * len(packed)
    if not dealing.n_folds or plan.roles.group is not None or plan.n_rows > STRATIFIED_MAX_ROWS:
        return on_workers, ""
    labels = np.concatenate(client.gather(client.map(lambda partition: partition.rows.labels, packed, pure=False)))
    folds = dealing.by_label(labels, plan.labels.soft)
    return (on_workers, folds) if isinstance(folds, str) else (np.split(folds, np.cumsum(counts)[:-1]), "")


def _fitted(
    rows: DaskRows,
    sizes: Sequence[PartitionSizes],
    dealing: Dealing,
    plan: PackingPlan,
    *,
    reason: str,
    parameters: GrowthParameters,
    options: FitOptions,
) -> FitOutcome:
    folds: list[int | None] = [*dealing.folds, None]
    reason = reason or _too_few(sizes, folds, plan, parameters)
    if reason and options.max_rounds:
        return no_rounds(reason, rows.n_features)
    fit = uuid.uuid4().hex
    unit = _gradient_unit(sum(size.n_rows for size in sizes), max(size.largest_weight for size in sizes))

    def fold_at(place: int) -> DaskFold:
        """The rows of a split; in the last one, no row validates."""
        growth = Growth(fit, folds[place], parameters.booster, parameters.n_trees, plan.labels.soft, unit)
        return DaskFold(rows, growth, [size.train[place][0] for size in sizes])

    searched = [fold_at(place) for place in dealing.folds] or [fold_at(-1)]
    # The workers have threads of their own, and rounds are grown one after the other.
    fit_plan = plan_of(options, validates=dealing.n_folds > 0, n_threads=1)

    final_fold = (lambda _: fold_at(-1)) if dealing.n_folds else None
    try:
        with shown_rounds(options.verbose, fit_plan.max_rounds) as listener:
            return fit_folds(searched, final_fold, fit_plan, listener, agreed_rescaling)
    finally:
        with contextlib.suppress(Exception):
            rows.partitions.client.run(forget, fit, on_error="ignore")


def _too_few(
    sizes: Sequence[PartitionSizes], folds: Sequence[int | None], plan: PackingPlan, parameters: GrowthParameters
) -> str:
    """Why no tree can be grown in one of the splits, or nothing."""
    for place, fold in enumerate(folds):
        n_rows, positive, hessian = (sum(values) for values in zip(*(size.train[place] for size in sizes), strict=True))
        if n_rows == 0 or (fold is not None and not sum(size.n_validation[place] for size in sizes)):
            return EMPTY_FOLD
        if not plan.labels.soft and positive in (0, n_rows):
            return ONE_CLASS
        reason = too_few(int(n_rows), float(hessian), plan.roles.weight is not None, parameters)
        if reason:
            return reason
    return ""


def _gradient_unit(n_rows: int, largest_weight: float) -> float:
    """The power of two that derivatives are multiples of, so that doubles hold any sum of them exactly."""
    bits = min(24, 52 - math.ceil(math.log2(max(n_rows, 2))))
    return 2.0 ** (math.ceil(math.log2(largest_weight)) - bits)
