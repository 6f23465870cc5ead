"""`compare`: from labels, two models' scores and a table to a `Comparison`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trueup._data import library_of
from trueup._runtime import shown_progress, thread_count
from trueup.comparison._input import ComparisonInput, read_input
from trueup.comparison._listing import Listing
from trueup.comparison._losses import LOSSES, paired_loss
from trueup.comparison._mce import measure_mce, n_mce_draws, n_mce_passes
from trueup.comparison._metrics import measure_metrics
from trueup.comparison._null import draw_equal_models
from trueup.comparison._options import GUARDRAILS, CompareOptions
from trueup.comparison._reasons import Facts, reasons_of, verdict_of
from trueup.comparison._result import Comparison
from trueup.comparison._segments import SegmentSearch, measure_differences
from trueup.errors import ParameterError
from trueup.segments import (
    Partition,
    cross_columns,
    grid_of,
    hash_of_parts,
    holm,
    n_passes,
    step_down,
    tell_cost,
)

if TYPE_CHECKING:
    from trueup.auditing import AuditResult

__all__ = ["compare"]

Advance: TypeAlias = Callable[[int], None]


def compare(
    y: Any,
    base: Any,
    candidate: Any,
    X: Any = None,
    *,
    sample_weight: Any = None,
    cluster: Any = None,
    pos_label: Any = None,
    primary: str = "log_loss",
    guardrails: Sequence[str] = GUARDRAILS,
    margins: Mapping[str, float] | None = None,
    level: float = 0.05,
    power: float = 0.8,
    n_bootstrap: int = 1000,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    max_depth: int = 3,
    max_values: int | Mapping[str, int] = 3,
    min_rows: int = 10,
    null_samples: int = 200,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Return whether a candidate model should replace the base, by stated rules, and why.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of two classes, or soft labels in [0, 1], of rows that neither model was fitted on.
    base, candidate : array-like of shape (n,) or (n, 2)
        The two models' probabilities of the positive class.
    X : table, optional
        Features that segments are made of: a pandas, polars or pyarrow table, a dict of arrays, or a 2-D NumPy
        array. Without it, no segments are tested.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0.
    cluster : array-like of shape (n,), optional
        Which rows belong together, such as those of one user: they are drawn as a whole, and count as one
        observation.
    pos_label : label, optional
        The positive class, which `base` and `candidate` are about; by default the greater of the two labels.
    primary : str, default="log_loss"
        The metric that must improve: ``"log_loss"``, ``"brier"``, ``"prauc"``, ``"auroc"``, ``"ecce"`` or ``"ece"``.
    guardrails : sequence of str, default=("prauc", "auroc", "ecce")
        Metrics that must not be worse by more than their margins; ``"mce"``, the calibration error of the worst
        segment, may be one.
    margins : mapping of str to float, optional
        Margins of guardrails, in the metric's own unit. By default ``auroc`` may lose 0.005; ``prauc`` 2 % of the
        base's; ``ecce`` and ``ece`` 5 % of the rarer class's rate; ``log_loss`` and ``brier`` 1 % of the base's;
        ``mce`` 1 sigma.
    level : float, default=0.05
        The level of significance; intervals cover with a chance of 1 minus this.
    power : float, default=0.8
        The chance with which a difference is to be found, where too few rows are reported.
    n_bootstrap : int, default=1000
        How often rows, or clusters, are drawn again for the intervals of PRAUC and AUROC. For those of ECCE, ECE and
        MCE, so many halves of the rows are taken, two a split; for the MCE, it is 10 / `level` at most, 200 by default.
        Log loss and Brier score need no draws.
    features : sequence of str, optional
        The columns of `X` that segments are made of; all by default.
    categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
        Columns that are categorical besides those of strings, categoricals and booleans.
    max_depth : int, default=3
        The most features that a segment combines.
    max_values : int or dict of str to int, default=3
        Into how many values a feature is cut, or each of some, missing not counted.
    min_rows : int, default=10
        The fewest rows of a segment.
    null_samples : int, default=200
        How often the search of segments is repeated on differences of equally good models. 0 shares the level
        among the segments instead.
    random_state : int, default=0
        Seed of the draws.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.
    verbose : int, default=0
        Whether to show progress on a terminal.

    Returns
    -------
    Comparison
        The verdict, its reasons, and metrics and segments as tables.

    Notes
    -----
    The verdict is ``"ship"`` if the primary metric improves with significance, every guardrail holds, and no segment is
    significantly harmed. A guardrail holds if its interval ends within its margin, or if the metric does not get
    worse at all on these rows. The verdict is ``"keep"`` if the primary metric worsens with significance, a guardrail's
    whole interval lies beyond its margin, or a segment is significantly harmed; else it is ``"inconclusive"``, and the
    reasons say how many rows would do. Segments are compared by log loss, or by Brier score if that is the primary
    metric, and their p-values are adjusted for the search: of comparisons of equally good models, at most a share of
    `level` claims that any segment gains or is harmed.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> visits = make_traffic(20_000)
    >>> trueup.compare(visits.y, visits.scores, visits.true_probability, visits.X, max_depth=2).verdict
    'ship'
    """
    options = CompareOptions(
        primary=primary,
        guardrails=guardrails,
        margins=dict(margins or {}),
        level=level,
        power=power,
        n_bootstrap=n_bootstrap,
        features=features,
        categorical_features=categorical_features,
        max_depth=max_depth,
        max_values=max_values,
        min_rows=min_rows,
        null_samples=null_samples,
        random_state=random_state,
    )
    n_threads = thread_count(n_jobs)
    given = read_input(y, base, candidate, X, sample_weight=sample_weight, cluster=cluster, pos_label=pos_label)
    partitions = _partitions(given, options, n_threads)
    order = given.order(hash_of_parts(partitions, given.n))
    rows = given.paired(order)
    grid = grid_of(partitions, max_depth=max_depth)
    passes = n_passes(null_samples) + n_mce_passes(options)
    tell_cost("comparison", rows.n, grid, passes=passes, min_rows=min_rows, n_threads=n_threads)
    n_draws = 2 * (n_bootstrap + options.n_splits + n_mce_draws(options))
    # Drawing rows again, and ranking them, takes about twice as long as searching a combination of them.
    with shown_progress(verbose, "comparing", 2 * n_draws + grid.n_combinations * passes) as progress:

        def draw_done(n: int) -> None:
            progress.advance(2 * n)

        metrics = measure_metrics(rows, options, n_threads, draw_done)
        codes = np.stack([p.codes[order] for p in partitions]) if partitions else np.zeros((0, rows.n), np.uint8)
        loss = paired_loss(rows, primary if primary in LOSSES else LOSSES[0])
        search = SegmentSearch(loss, grid, codes, n_threads)
        if given.table is None:
            listing, n_left_out = Listing.none(search), 0
        else:
            listing, n_left_out = _searched(search, options, progress.advance)
            metrics.append(measure_mce(search, options, searched=progress.advance, drawn=draw_done))
    facts = Facts(
        n_clusters=rows.n_clusters,
        is_clustered=rows.is_clustered,
        is_identical=bool(np.array_equal(rows.base, rows.candidate)),
        n_segments=len(listing.sums),
        harmed=listing.harmed,
        level=level,
        power=power,
    )
    reasons = reasons_of(metrics, facts)
    return Comparison(
        verdict=verdict_of(reasons),
        reasons=reasons,
        n=rows.n,
        n_clusters=rows.n_clusters,
        n_segments=facts.n_segments,
        n_left_out=n_left_out,
        prevalence=rows.mean(rows.labels),
        mean_base=rows.mean(rows.base),
        mean_candidate=rows.mean(rows.candidate),
        primary=primary,
        level=level,
        n_bootstrap=n_bootstrap,
        null_samples=null_samples,
        classes=given.classes,
        _metrics=tuple(metrics),
        _listing=listing,
        _search=search,
        _audit=partial(_audited, (y, base, candidate, X, sample_weight, pos_label), options, n_jobs),
        _library=library_of(X, y, base),
    )


def _partitions(given: ComparisonInput, options: CompareOptions, n_threads: int) -> list[Partition]:
    """What segments are made of."""
    if given.table is None:
        if options.features is not None or "mce" in options.guardrails:
            raise ParameterError("Segments, and the MCE, are found among the columns of X: pass X.")
        return []
    return cross_columns(
        given.table,
        features=options.features,
        categorical_features=options.categorical_features,
        max_values=options.max_values,
        max_depth=options.max_depth,
        rows=given.rows,
        n_threads=n_threads,
    )


def _searched(search: SegmentSearch, options: CompareOptions, advance: Advance) -> tuple[Listing, int]:
    """All segments, with p-values adjusted for the search, and how many were left out."""
    sums, n_left_out = measure_differences(search, min_rows=options.min_rows, advance=advance)
    if not len(sums):
        adjusted = np.zeros(0)
    elif options.null_samples:
        null = draw_equal_models(
            search, sums, n_draws=options.null_samples, random_state=options.random_state, advance=advance
        )
        adjusted = step_down(sums.evidence, null)
    else:
        # Bennett's inequality bounds the tail of either direction.
        adjusted = holm(np.minimum(1.0, 2 * np.exp(-(sums.evidence**2) / 2)))
    listing = Listing(search, sums, adjusted, search.loss.rows.total_weight, options.level)
    return listing, n_left_out


def _audited(given: tuple[Any, ...], options: CompareOptions, n_jobs: int | None, which: str) -> AuditResult:
    from trueup.auditing import audit

    y, base, candidate, X, sample_weight, pos_label = given
    return audit(
        X,
        y,
        base if which == "base" else candidate,
        sample_weight=sample_weight,
        pos_label=pos_label,
        features=options.features,
        categorical_features=options.categorical_features,
        max_depth=options.max_depth,
        max_values=options.max_values,
        min_rows=options.min_rows,
        null_samples=options.null_samples,
        significance=options.level,
        power=options.power,
        random_state=options.random_state,
        n_jobs=n_jobs,
    )
