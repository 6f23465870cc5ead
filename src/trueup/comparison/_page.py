"""A comparison's page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup import _report as page
from trueup.auditing import segments_before_and_after
from trueup.comparison._metrics import MetricDifference
from trueup.metrics import METRICS

if TYPE_CHECKING:
    from trueup.auditing import AuditResult
    from trueup.comparison._result import Comparison

__all__ = ["comparison_page"]

_MOST_TOLD = 3  # of the segments that are harmed, and of those that gain
_MOST_IN_BRIEF = 100

_VERDICTS: dict[str, tuple[str, page.Tone]] = {
    "ship": ("Ship the candidate", "good"),
    "keep": ("Keep the base", "bad"),
    "inconclusive": ("Inconclusive", "unsure"),
}
_OUTCOMES: dict[str, page.Outcome] = {"improves": "better", "worsens": "worse", "unclear": "unclear"}
_OPTIONS = {
    "gains": page.Option("gains", "good"),
    "harmed": page.Option("harmed", "bad"),
    "unclear": page.Option("can't tell"),
}


def comparison_page(
    comparison: Comparison,
    *,
    title: str = "Comparison",
    names: tuple[str, str] = ("base", "candidate"),
    audits: tuple[AuditResult, AuditResult] | None = None,
    in_full: bool = True,
) -> page.Page:
    """What a comparison's page says; in brief, it has no curves and the first segments only.

    With the audits of both, it also says where the base was wrong, and what became of that.
    """
    tables = []
    if comparison.n_segments > 1:
        tables.append(_segments(comparison, names, in_full=in_full))
    if audits is not None and in_full and audits[0].n_segments > 1:
        tables.append(segments_before_and_after(*audits, names=names))
    return page.Page(
        title=title,
        headline=_headline(comparison),
        facts=_facts(comparison, names),
        numbers=page.PageNumbers(names, tuple(map(_number, comparison._metrics)), 1 - comparison.significance),
        overall=_series(comparison, names, slice(None)) if in_full else (),
        segments=tuple(tables),
        made=page.made_with(),
    )


def _headline(comparison: Comparison) -> page.Headline:
    word, tone = _VERDICTS[comparison.verdict]
    primary = next(metric for metric in comparison._metrics if metric.role == "primary")
    metric = METRICS[primary.metric]
    form = page.Form(metric.form)
    share = primary.difference / primary.base if primary.base else math.nan
    by = f" ({page.in_form(share, page.Form.PERCENT, signed=True)})" if math.isfinite(share) else ""
    moved = (
        f"{metric.title} goes from {page.in_form(primary.base, form)} to {page.in_form(primary.candidate, form)}{by}"
    )
    why = {
        "improves": "better by more than noise explains",
        "worsens": "worse by more than noise explains",
        "unclear": "no more than noise explains",
    }[primary.outcome]
    return page.Headline(
        word,
        tone,
        f"{moved}, {why}.{_segments_in_words(comparison)}",
        tuple(page.Check(reason.holds, reason.text) for reason in comparison.reasons),
    )


def _segments_in_words(comparison: Comparison) -> str:
    if not comparison.n_segments:
        return ""
    gaining, harmed = comparison.n_gaining, comparison.n_harmed
    gain = f"{gaining:,} {'gains' if gaining == 1 else 'gain'}"
    harm = f"{harmed:,} {'is' if harmed == 1 else 'are'} harmed" if harmed else "none is harmed"
    return f" Of {comparison.n_segments:,} segments, {gain} and {harm} by more than noise explains."


def _facts(comparison: Comparison, names: tuple[str, str]) -> tuple[page.Fact, ...]:
    groups = f"in {comparison.n_groups:,} groups" if comparison.n_groups < comparison.n else ""
    facts = [
        page.Fact("Rows", f"{comparison.n:,}", groups),
        page.Fact(
            "Observed", page.in_form(comparison.prevalence, page.Form.PERCENT), f"share of {comparison.classes[1]!s}"
        ),
        page.Fact(f"Predicted, {names[0]}", page.in_form(comparison.mean_base, page.Form.PERCENT), "mean score"),
        page.Fact(f"Predicted, {names[1]}", page.in_form(comparison.mean_candidate, page.Form.PERCENT), "mean score"),
    ]
    if comparison.n_segments:
        left_out = f"{comparison.n_left_out:,} more differ too little" if comparison.n_left_out else ""
        facts.append(page.Fact("Segments compared", f"{comparison.n_segments:,}", left_out))
    return tuple(facts)


def _number(metric: MetricDifference) -> page.Number:
    known = METRICS[metric.metric]
    has_interval = math.isfinite(metric.low)
    return page.Number(
        name=known.title,
        reads=known.reads,
        values=(page.Estimate(metric.base), page.Estimate(metric.candidate)),
        form=page.Form(known.form),
        change=page.Estimate(metric.difference, metric.low, metric.high),
        p_value=metric.p_value,
        outcome=_OUTCOMES[metric.outcome] if has_interval else None,
        role={"primary": "decides", "guardrail": "must not get worse"}.get(metric.role, ""),
    )


def _segments(comparison: Comparison, names: tuple[str, str], *, in_full: bool) -> page.Segments:
    listing = comparison._listing
    listed = listing.order[: page.MOST_SEGMENTS]
    found = listing.columns(len(listed))
    chosen = _first_who_changes_most(found)[: None if in_full else _MOST_IN_BRIEF]
    columns = {name: np.asarray(values)[chosen] for name, values in found.items()}
    places = listed[chosen]
    codes = np.array([list(_OPTIONS).index(one) for one in columns["outcome"]], dtype=np.int64)
    return page.Segments(
        title="Who gains and who is harmed",
        reads="By how much the loss of each segment changes: below 0 it gets better. Open a segment to see its "
        "curves. p allows for the search of all segments; * marks what is more than noise.",
        words=tuple(columns["segment"].tolist()),
        columns=_columns(columns, comparison, names),
        choice=page.Choice("Outcome", tuple(_OPTIONS.values()), codes, "by more than noise explains"),
        significant=codes != list(_OPTIONS).index("unclear"),
        patterns=_patterns(comparison, places, columns, names),
        curves={
            place: _series(comparison, names, listing.inside(one))
            for place, one in enumerate(places[: page.MOST_CURVES if in_full else 0].tolist())
        },
        n_all=len(listing.sums),
    )


def _first_who_changes_most(columns: dict[str, Any]) -> npt.NDArray[np.int64]:
    """Those that are harmed by more than noise explains, then those that gain, most a row first; then the rest."""
    outcome = np.asarray(columns["outcome"])
    change = np.where(outcome == "unclear", 0.0, -np.abs(columns["difference"]))  # the rest stays by evidence
    rank = np.select([outcome == "harmed", outcome == "gains"], [0, 1], 2)
    return np.lexsort((change, rank))


def _columns(columns: dict[str, Any], comparison: Comparison, names: tuple[str, str]) -> tuple[page.PageColumn, ...]:
    digits = page.percent_digits(comparison.prevalence)
    rows, share, p_value = page.common_columns(columns, comparison.null_samples)
    predicted = "the mean score"
    return (
        rows,
        share,
        page.PageColumn(
            f"Predicted, {names[0]}", columns["mean_base"], page.Form.PERCENT, reads=predicted, digits=digits
        ),
        page.PageColumn(
            f"Predicted, {names[1]}", columns["mean_candidate"], page.Form.PERCENT, reads=predicted, digits=digits
        ),
        page.PageColumn(
            "Observed", columns["observed_rate"], page.Form.PERCENT, reads="the rate of positives", digits=digits
        ),
        page.PageColumn(
            "Loss changes by",
            columns["difference"],
            page.Form.CHANGE,
            low=columns["low"],
            high=columns["high"],
            reads="the candidate's loss minus the base's, with an interval for this segment alone",
        ),
        p_value,
    )


def _patterns(
    comparison: Comparison, places: Any, columns: dict[str, Any], names: tuple[str, str]
) -> tuple[page.Pattern, ...]:
    """The first few that are harmed, and that gain."""
    stood = {place: i for i, place in enumerate(places.tolist())}
    return tuple(
        page.Pattern(stood[place], _told(columns, stood[place], names, outcome))
        for outcome in ("harmed", "gains")
        for place in comparison._listing.patterns(outcome)[:_MOST_TOLD]
        if place in stood
    )


def _told(columns: dict[str, Any], i: int, names: tuple[str, str], outcome: str) -> str:
    share = page.in_form(float(columns["share"][i]), page.Form.PERCENT)
    before, after = (
        page.in_form(float(columns[name][i]), page.Form.DECIMAL) for name in ("base_loss", "candidate_loss")
    )
    is_harmed = outcome == "harmed"
    return (
        f"({share} of the rows) {'is harmed' if is_harmed else 'gains'}: its loss {'rises' if is_harmed else 'falls'} "
        f"from {before} ({names[0]}) to {after} ({names[1]})."
    )


def _series(comparison: Comparison, names: tuple[str, str], inside: Any) -> tuple[page.Series, ...]:
    rows = comparison._listing.search.loss.rows
    return tuple(
        page.series_of(name, rows.labels[inside], scores[inside], rows.weights[inside])
        for name, scores in zip(names, (rows.base, rows.candidate), strict=True)
    )
