"""`compare`: from a table, labels and two models' scores to a `Comparison`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from trueup._data import Rows, library_of, read_rows
from trueup._runtime import shown_progress, thread_count
from trueup.comparison._listing import ComparisonListing
from trueup.comparison._mce import measure_mce, n_mce_draws, n_mce_passes
from trueup.comparison._metrics import measure_metrics
from trueup.comparison._options import GUARDRAILS, CompareOptions
from trueup.comparison._reasons import Facts, reasons_of, verdict_of
from trueup.comparison._result import Comparison
from trueup.comparison._rows import LOSSES, order_of, paired_loss, paired_rows
from trueup.comparison._segments import SegmentSearch, draw_equal_models, measure_differences
from trueup.errors import ParameterError, SuspiciousDataWarning
from trueup.segments import Partition, cross_columns, grid_of, hash_of_parts, holm, n_passes, step_down, tell_cost

if TYPE_CHECKING:
    from trueup.auditing import AuditResult

__all__ = ["compare"]

Advance: TypeAlias = Callable[[int], None]


def compare(
    X: Any,
    y: Any,
    base: Any,
    candidate: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    primary: str = "log_loss",
    guardrails: Sequence[str] = GUARDRAILS,
    margins: Mapping[str, float] | None = None,
    significance: float = 0.05,
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
    """Say whether a candidate model should replace the base, by stated rules, and why.

    Parameters
    ----------
    X : table or None
        Features that segments are made of: a pandas, polars or pyarrow table, a dict of arrays, or a 2-D NumPy array.
        It may also hold the columns that the parameters below name. None tests no segments.
    y : array-like of shape (n,) or str
        Labels of two classes, or soft labels in [0, 1], of rows that neither model was fitted on; or the name of their
        column in `X`, which is then not a feature.
    base, candidate : array-like of shape (n,) or (n, 2), or str
        The two models' probabilities of the positive class, or the names of their columns.
    groups : array-like of shape (n,) or str, optional
        Which rows belong together, such as those of one user: they are resampled together, and count as one
        observation.
    sample_weight : array-like of shape (n,) or str, optional
        Weights of at least 0.
    pos_label : label, optional
        The positive class, which `base` and `candidate` are about; by default the greater of the two labels.
    primary : str, default="log_loss"
        The metric that must improve: ``"log_loss"``, ``"brier"``, ``"prauc"``, ``"auroc"``, ``"ecce"`` or ``"ece"``.
    guardrails : sequence of str, default=("prauc", "auroc", "ecce")
        Metrics that must not get worse by more than their margins; ``"mce"``, the calibration error of the worst
        segment, may be one.
    margins : mapping of str to float, optional
        Margins of guardrails, in the metric's own unit. By default ``auroc`` may lose 0.005; ``prauc`` 2 % of the
        base's; ``ecce`` and ``ece`` 5 % of the rarer class's rate; ``log_loss`` and ``brier`` 1 % of the base's;
        ``mce`` 1 sigma.
    significance : float, default=0.05
        The error rate of the tests; intervals cover with a probability of 1 minus this.
    power : float, default=0.8
        How likely a difference should be found, when the result says how many rows that takes.
    n_bootstrap : int, default=1000
        How often rows, or groups, are resampled for the intervals of PRAUC and AUROC. ECCE, ECE and MCE use as many
        halves of the rows instead, two per split; the MCE at most 10 / `significance` of them. Log loss and Brier score
        need no resampling.
    features : sequence of str, optional
        The columns of `X` that segments are made of; by default all that are not named above.
    categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
        Columns that are categorical besides those of strings, categoricals and booleans.
    max_depth : int, default=3
        How many features a segment may combine.
    max_values : int or dict of str to int, default=3
        How many values each feature is cut into, not counting missing ones; a dict sets it per column.
    min_rows : int, default=10
        The fewest rows of a segment.
    null_samples : int, default=200
        How often the search for segments is repeated on differences between equally good models. With 0, the error
        rate is shared among the segments instead.
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
    The verdict is ``"ship"`` if the primary metric improves significantly, every guardrail holds, and no segment is
    significantly harmed. A guardrail holds if its interval ends within its margin, or if the metric does not get
    worse at all on these rows. The verdict is ``"keep"`` if the primary metric worsens significantly, a guardrail's
    whole interval lies beyond its margin, or a segment is significantly harmed. Otherwise it is ``"inconclusive"``, and
    the reasons say how many rows would do. Segments are compared by log loss, or by Brier score if that is the primary
    metric. Their p-values account for the search: when two models are equally good, any segment at all is reported as
    gaining or harmed in at most a share of `significance` of comparisons.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> visits = make_traffic(20_000)
    >>> trueup.compare(visits.X, visits.y, visits.scores, visits.true_probability, max_depth=2).verdict
    'ship'
    """
    options = CompareOptions(
        primary, guardrails, margins or {}, significance, power, n_bootstrap, min_rows, null_samples, random_state
    )
    n_threads = thread_count(n_jobs)
    given = read_rows(
        X,
        y,
        {"base": base, "candidate": candidate},
        features=features,
        pos_label=pos_label,
        sample_weight=sample_weight,
        groups=groups,
    )
    search_options: dict[str, Any] = {
        "categorical_features": categorical_features,
        "max_depth": max_depth,
        "max_values": max_values,
    }
    partitions = _partitions(given, options, n_threads, search_options)
    order = order_of(given, hash_of_parts(partitions, given.n_counted))
    rows = paired_rows(given, order)
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
        if given.features:
            listing, n_left_out = _searched(search, options, progress.advance)
            metrics.append(measure_mce(search, options, searched=progress.advance, drawn=draw_done))
        else:
            listing, n_left_out = ComparisonListing.none(search), 0
    facts = Facts(
        n_groups=rows.n_groups,
        is_grouped=rows.is_grouped,
        is_identical=bool(np.array_equal(rows.base, rows.candidate)),
        n_segments=len(listing.sums),
        harmed=listing.harmed,
        significance=significance,
        power=power,
    )
    reasons = reasons_of(metrics, facts)
    audit_options = search_options | {
        "X": X if given.features else None,
        "y": given.given.values["y"],
        "sample_weight": given.given.values["sample_weight"],
        "pos_label": given.pos_label,
        "features": given.features or None,
        "min_rows": min_rows,
        "null_samples": null_samples,
        "significance": significance,
        "power": power,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    return Comparison(
        verdict=verdict_of(reasons),
        reasons=reasons,
        n=rows.n,
        n_groups=rows.n_groups,
        n_segments=facts.n_segments,
        n_left_out=n_left_out,
        prevalence=rows.mean(rows.labels),
        mean_base=rows.mean(rows.base),
        mean_candidate=rows.mean(rows.candidate),
        primary=primary,
        significance=significance,
        n_bootstrap=n_bootstrap,
        null_samples=null_samples,
        classes=given.labels.classes,
        _metrics=tuple(metrics),
        _listing=listing,
        _audit=partial(_audited, given.scores, audit_options),
        _library=library_of(X, y, base),
    )


def _partitions(given: Rows, options: CompareOptions, n_threads: int, how: Mapping[str, Any]) -> list[Partition]:
    """What segments are made of."""
    if not given.features:
        if "mce" in options.guardrails:
            raise ParameterError("The MCE is the error of the worst segment, and segments are made of X: pass X.")
        return []
    assert given.given.table is not None
    return cross_columns(given.given.table, features=given.features, rows=given.counted, n_threads=n_threads, **how)


def _searched(search: SegmentSearch, options: CompareOptions, advance: Advance) -> tuple[ComparisonListing, int]:
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
    return ComparisonListing(search.grid, sums, adjusted, options.significance, search), n_left_out


def _audited(scores: Mapping[str, Any], how: Mapping[str, Any], which: str) -> AuditResult:
    """The audit of one of the two models, when somebody asks for it."""
    from trueup.auditing import audit

    with warnings.catch_warnings():  # nobody asked for this audit in particular, and a fit has told of its columns
        warnings.simplefilter("ignore", SuspiciousDataWarning)
        return audit(scores=scores[which], **how)
