"""`audit`: from a table, labels and scores to an `AuditResult`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from trueup._data import library_of, read_rows, warn_of_suspects
from trueup._runtime import check_whole, shown_progress, thread_count
from trueup.auditing._checks import check_draws, check_tests, warn_of_few_groups, warn_of_nothing
from trueup.auditing._discover import discover_segments
from trueup.auditing._listing import AuditListing
from trueup.auditing._measured import FloatArray, Measured, critical_evidence, sums_of_all, survival
from trueup.auditing._patterns import Audited
from trueup.auditing._result import AuditResult, result_of
from trueup.errors import ParameterError
from trueup.segments import (
    MIN_VARIANCE,
    NullMaxima,
    Partition,
    ScoredRows,
    SegmentGrid,
    SegmentSums,
    chosen_cuts,
    cross_columns,
    draw_group_signs,
    draw_null,
    grid_of,
    holm,
    measure_segments,
    n_passes,
    segment_partitions,
    sort_rows,
    spread_by_groups,
    step_down,
    tell_cost,
)


def audit(
    X: Any,
    y: Any,
    scores: Any,
    *,
    segments: Any = None,
    by: Sequence[str] | None = None,
    groups: Any = None,
    discover: Literal["tree"] | None = None,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    sample_weight: Any = None,
    pos_label: Any = None,
    max_depth: int = 3,
    max_values: int | Mapping[str, int] | None = None,
    min_rows: int = 10,
    min_variance: float = MIN_VARIANCE,
    max_segments: int | None = None,
    null_samples: int = 200,
    significance: float = 0.05,
    power: float = 0.8,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> AuditResult:
    """Return where scores are wrong, by how much, and whether that is more than noise.

    Parameters
    ----------
    X : table or None
        Features: a pandas, polars or pyarrow table, a dict of arrays, or a 2-D NumPy array. If it is None, only all
        rows together are audited, or the masks of `segments`.
    y : array-like of shape (n,) or str
        Labels of two classes, or soft labels in [0, 1]; or the name of their column in `X`.
    scores : array-like of shape (n,) or (n, 2), or str
        The model's probabilities of the positive class, or the name of their column.
    segments : mapping, sequence or table, optional
        Your own segments, to be audited instead of all: conditions on `X` such as
        ``["country = NO", "18 <= age < 25"]``, masks by name, or a table of booleans.
    by : sequence of str, optional
        Columns whose values make your own segments: each value, and each combination of values. A column with many
        different numbers is split into five ranges.
    groups : array-like of shape (n,) or str, optional
        Which rows belong together, such as those of one user or day, or the name of their column. Their errors may
        depend on each other, so more is put down to noise. It takes two searches instead of one.
    discover : "tree" or None, default=None
        Whether to look for segments beyond the grid too. Trees find them on one half of the rows, and they are tested
        on the other half.
    features : sequence of str, optional
        The columns of `X` that segments are made of; by default all that hold neither labels, scores nor weights.
    categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
        Columns that are categorical besides those of strings, categoricals and booleans.
    sample_weight : array-like of shape (n,) or str, optional
        Weights of at least 0, or the name of their column.
    pos_label : label, optional
        The positive class, which `scores` are about; by default the greater of the two labels.
    max_depth : int, default=3
        The most features that a segment of the grid combines.
    max_values : int or dict of str to int, optional
        How many values each feature is split into, not counting missing ones: the most frequent categories and the
        rest, or quantiles. A dict sets it per column. By default 3, and with `by` all that there are.
    min_rows : int, default=10
        The fewest rows of a segment.
    min_variance : float, default=1.0
        The least variance of a segment's sum of errors that a sigma is computed from, in squared rows: below 1, a
        single row would move the sum by more than a sigma. 0 gives the paper's sigmas. Significance doesn't depend on
        it: every segment is tested, by its evidence.
    max_segments : int, optional
        Test only this many segments, the first in order of depth and of columns.
    null_samples : int, default=200
        How often labels are drawn from the scores, and the search repeated, to learn what noise alone shows. With 0,
        p-values are adjusted by Holm's rule instead, which doesn't know how segments overlap.
    significance : float, default=0.05
        How often true scores may raise a false alarm.
    power : float, default=0.8
        The chance with which `minimum_detectable` errors are found.
    random_state : int, default=0
        Seed of the draws, and of the halves that `discover` makes.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.
    verbose : int, default=0
        Whether to show progress on a terminal.

    Returns
    -------
    AuditResult
        The numbers, and the segments as a table.

    Notes
    -----
    The MCE and each segment's error are judged against the search itself: labels are drawn from
    Bernoulli(p), all segments are searched again, and the largest values compared (Westfall and Young's
    step-down). If the scores are true, an audit with ``significance=0.05`` raises a false alarm in 5 % of cases,
    however many segments it searches. Segments are ranked by evidence: their ECCE in sigmas, discounted where so few
    positives are expected that the tail is heavier than the normal. A score of exactly 0 or 1 that turns out wrong
    is a certain error: true scores never show one, so a single one is significant.

    With `groups`, a sigma is that of sums over whole groups, if that is larger, and p-values are the larger of two:
    one as above, and one from searches in which the errors of each group as a whole change their sign by chance. A
    segment of fewer than six groups can hardly be significant then.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(20_000)
    >>> trueup.audit(traffic.X, traffic.y, traffic.scores, max_depth=2)
    AuditResult(20,000 rows, 591 segments: ECCE 1.9 σ (p = 0.223), MCE 9.4 σ (p = 0.00498))
    >>> result = trueup.audit(traffic.X, traffic.y, traffic.scores, segments=["country = NO", "hour < 6"])
    >>> result.n_segments
    3
    """
    check_tests(min_rows=min_rows, min_variance=min_variance, significance=significance, power=power)
    check_draws(null_samples, significance, needed=groups is not None)
    check_whole("random_state", random_state, 0)
    check_whole("max_segments", 1 if max_segments is None else max_segments, 1)
    if discover not in (None, "tree"):
        raise ParameterError(f'discover must be None or "tree", got {discover!r}.')
    n_threads = thread_count(n_jobs)
    roles = {"sample_weight": sample_weight, "groups": groups}
    given = read_rows(X, y, {"scores": scores}, features=features, pos_label=pos_label, **roles)
    labels, probabilities, weights = map(given.of_counted, (given.labels.values, given.scores["scores"], given.weights))
    table, cuts, group_ids = given.given.table, None, given.of_counted(given.groups)
    if segments is not None:
        if by is not None or discover is not None:
            other = "by" if by is not None else "discover"
            raise ParameterError(f"Pass either segments or {other}, not both.")
    elif table is not None:
        cuts = chosen_cuts(
            table,
            by=by,
            features=features if by is not None else given.features,
            categorical_features=categorical_features,
            max_values=max_values,
        )
    elif by is not None or discover is not None:
        raise ParameterError("Segments are made of the columns of X. Pass X.")
    found_in = given.features if cuts is not None and by is None else []
    warn_of_suspects(X, table, found_in, given.labels, given.scores["scores"])
    crossed: list[Partition] = []
    alone: list[Partition] = []
    if segments is not None:
        alone = segment_partitions(segments, given.n, table, given.counted)
    if table is not None and cuts is not None:
        crossed = cross_columns(table, **cuts, max_depth=max_depth, rows=given.counted, n_threads=n_threads)
        if discover is not None:
            alone = discover_segments(
                table,
                labels,
                probabilities,
                weights,
                features=cuts["features"],
                categorical_features=cuts["categorical_features"],
                groups=group_ids,
                rows=given.counted,
                min_rows=min_rows,
                n_threads=n_threads,
                random_state=random_state,
            )
    rows = sort_rows(labels, probabilities, weights, group_ids)
    n_groups = None if rows.groups is None else int(rows.groups.max()) + 1
    grid = grid_of(crossed, alone, max_depth=max_depth)
    drawing = [draw_null] if group_ids is None else [draw_null, draw_group_signs]
    passes = 1 + len(drawing) * (n_passes(null_samples) - 1)
    if max_segments is None:
        tell_cost("audit", rows.n, grid, passes=passes, min_rows=min_rows, n_threads=n_threads)
    codes = grid.codes_in_order(rows)
    cells = grid.cells(rows, codes)
    with shown_progress(verbose, "auditing", grid.n_combinations * passes) as progress:
        sums = measure_segments(
            rows,
            grid,
            cells,
            min_rows=min_rows,
            min_variance=min_variance,
            max_segments=max_segments,
            n_threads=n_threads,
            advance=progress.advance,
        )
        if group_ids is not None:
            sums = spread_by_groups(rows, grid, codes, sums, n_threads)
        nulls = []
        if null_samples and len(sums):
            draws = {"n_draws": null_samples, "random_state": random_state, "n_threads": n_threads}
            found = (draw(rows, grid, cells, sums, **draws, advance=progress.advance) for draw in drawing)
            nulls = [null.beyond_rounding() for null in found]
    listing = AuditListing(
        grid=grid,
        sums=sums,
        adjusted=_adjusted(sums, nulls),
        total_weight=_total_weights(rows, grid, sums),
        significance=significance,
        critical=critical_evidence(nulls, len(sums), significance),
        power=power,
        audited=Audited(rows, grid, codes, sums),
        n_threads=n_threads,
    )
    _warn_of_little(rows.n, min_rows, len(sums), n_groups)
    return result_of(
        Measured(sums_of_all(rows, min_variance)),
        listing,
        classes=given.labels.classes,
        library=library_of(X, y, scores),
        n_groups=n_groups,
        null_samples=null_samples,
        mce_p_value=max(null.p_value_of_sigmas(float(sums.sigmas.max())) for null in nulls) if nulls else None,
    )


def _warn_of_little(n_rows: int, min_rows: int, n_segments: int, n_groups: int | None) -> None:
    if not n_segments:
        warn_of_nothing(n_rows, min_rows)
    if n_groups is not None:
        warn_of_few_groups(n_groups)


def _adjusted(sums: SegmentSums, nulls: Sequence[NullMaxima]) -> FloatArray:
    """P-values that hold for all segments together, against each of the nulls; without any, by Holm's rule."""
    if not nulls:
        return holm(survival(sums.evidence))
    return np.asarray(np.max([step_down(sums.evidence, null) for null in nulls], axis=0))


def _total_weights(rows: ScoredRows, grid: SegmentGrid, sums: SegmentSums) -> FloatArray:
    """The weight of all rows that could be in each segment."""
    totals = np.full(len(sums), rows.total_weight)
    n_grid = grid.n_combinations - (len(grid.partitions) - grid.n_crossed)
    for place, partition in enumerate(grid.partitions[grid.n_crossed :]):
        if partition.among is not None:
            among = partition.among[rows.order]
            weight = float(among.sum() if rows.weights is None else rows.weights[among].sum())
            totals[sums.combination == n_grid + place] = weight
    return totals
