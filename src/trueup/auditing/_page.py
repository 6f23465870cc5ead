"""An audit's page."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup import _report as page
from trueup.auditing._listing import AuditListing
from trueup.auditing._result import detectable_in_words, in_plural, patterns_in_words

if TYPE_CHECKING:
    from trueup.auditing._result import AuditResult

_MOST_PATTERNS = 5
_ROWS_AT_ONCE = 100_000  # up to here, patterns are found so fast that a notebook may wait for them

DIRECTIONS = {
    "over-estimates": page.Option("too high", "up"),
    "under-estimates": page.Option("too low", "down"),
    "both": page.Option("both ways", "both"),
}


def audit_page(result: AuditResult, *, title: str = "Audit", in_full: bool = True) -> page.Page:
    """An audit's page; in brief, it has no curves, and segments only if their patterns are found quickly."""
    has_patterns = in_full or result._listing.has_found_patterns or result.n <= _ROWS_AT_ONCE
    has_segments = result.n_segments > 1 and has_patterns
    listed = page.MOST_SEGMENTS if in_full else _MOST_PATTERNS
    has_curves = in_full and result.n_segments > 0 and not result.from_sketch  # which has no rows to draw
    return page.Page(
        title=title,
        headline=_headline(result, has_patterns),
        facts=_facts(result),
        numbers=_numbers(result),
        overall=(_series("scores", result._listing, slice(None)),) if has_curves else (),
        segments=(_segments(result, listed, page.MOST_CURVES if has_curves else 0),) if has_segments else (),
        made=page.made_with(),
    )


def _headline(result: AuditResult, has_patterns: bool) -> page.Headline:
    predicted, observed = (page.in_form(rate, page.Form.PERCENT) for rate in (result.mean_score, result.prevalence))
    overall = f"All rows together, {predicted} positives were predicted and {observed} observed."
    if result.n_segments == 0:
        return page.Headline("Nothing could be tested", "unsure", f"There are too few rows. {overall}")
    n = result.n_significant
    if not n:
        found = detectable_in_words(result)
        seen = f" {found[0].upper()}{found[1:]} would most likely have been found." if found else ""
        searched = in_plural(result.n_segments, "segment", "segments")
        sentence = f"None of {searched} is wrong by more than noise explains.{seen}"
        return page.Headline("No error beyond noise", "good", f"{sentence} {overall}")
    if result.n_segments == 1:
        return page.Headline("Wrong overall", "bad", f"{overall} That is more than noise explains.")
    are = "segment is" if n == 1 else "segments are"
    patterns = f", in {patterns_in_words(result)}" if has_patterns and not result.from_sketch else ""
    sentence = f"{n:,} of {result.n_segments:,} {are} off by more than noise explains{patterns}."
    return page.Headline(f"Wrong in {in_plural(n, 'segment', 'segments')}", "bad", f"{sentence} {overall}")


def _facts(result: AuditResult) -> tuple[page.Fact, ...]:
    draws = f"{result.null_samples:,} times" if result.null_samples else "no: p-values are adjusted by Holm's rule"
    facts = [
        page.Fact("Rows", f"{result.n:,}", f"in {result.n_groups:,} groups" if result.n_groups < result.n else ""),
        page.Fact("Predicted", page.in_form(result.mean_score, page.Form.PERCENT), "mean score"),
        page.Fact("Observed", page.in_form(result.prevalence, page.Form.PERCENT), f"share of {result.classes[1]!s}"),
        page.Fact("Segments tested", f"{result.n_segments:,}"),
        page.Fact("Search repeated on noise", draws, f"significance {100 * result.significance:g} %"),
    ]
    return tuple(facts)


def _numbers(result: AuditResult) -> page.PageNumbers:
    least = 1 / (result.null_samples + 1) if result.null_samples else 0.0
    would = detectable_in_words(result)
    rows = [
        page.Number(
            "ECCE",
            "How wrong the scores are, all rows together, in standard errors (σ). Noise alone gives 1 to 2.5 σ.",
            (page.Estimate(result.ecce_sigma, *_unless_exact(result, "ecce_sigma")),),
            page.Form.SIGMAS,
            p_value=result.p_value,
        ),
        page.Number(
            "ECCE, of all rows",
            "The same as a share of the rows: observed and predicted positives differ by this much in some range.",
            (page.Estimate(result.ecce, *_unless_exact(result, "ecce")),),
            page.Form.PERCENT,
        ),
        page.Number(
            "MCE",
            "How wrong the worst segment is. Its p allows for the search of all segments.",
            (page.Estimate(result.mce, *_unless_exact(result, "mce")),),
            page.Form.SIGMAS,
            p_value=result.mce_p_value,
            least=least,
        ),
        page.Number(
            "Would have been found",
            f"The smallest error that this audit finds in {100 * result.power:g} % of cases, as a share of all rows"
            f"{f': {would}' if would else ''}.",
            (page.Estimate(result.minimum_detectable),),
            page.Form.PERCENT,
        ),
    ]
    return page.PageNumbers(("Value",), tuple(row for row in rows if math.isfinite(row.values[0].value)))


def _segments(result: AuditResult, n_listed: int, n_curves: int) -> page.Segments:
    """The segments as a table of the page, with curves for the most important ones."""
    listing = result._listing
    columns = listing.columns(n_listed)
    order = listing.order[:n_listed]
    return page.Segments(
        title="Where the scores are wrong" if result.significant else "The segments, the most suspicious first",
        reads="Predicted is the mean score, observed the rate of positives. "
        f"{'Open a segment to see its curves. ' if n_curves else ''}p allows for all the segments that were searched; "
        "* marks what is more than noise.",
        words=tuple(columns["segment"]),
        columns=_columns(columns, result),
        choice=_directions(columns["direction"]),
        significant=columns["significant"],
        repeats=_repeats(listing, order.tolist()),
        patterns=_patterns(columns),
        curves={
            place: (_series("scores", listing, _inside(listing, int(order[place]))),)
            for place in _worth_a_click(listing, order, n_curves)
        },
        n_all=len(listing.sums),
    )


def segments_before_and_after(
    before: AuditResult, after: AuditResult, *, names: tuple[str, str] = ("before", "after")
) -> page.Segments:
    """Two audits of the same rows and segments as one table: where scores were wrong, and how they are afterwards."""
    table = _segments(before, page.MOST_SEGMENTS, 0)
    listing, later = before._listing, after._listing
    order = listing.order[: page.MOST_SEGMENTS]
    places = _same_segments(listing, later, order)
    known = places >= 0
    sums = later.sums.of(places[known])
    score, sigmas = np.full(len(order), np.nan), np.full(len(order), np.nan)
    score[known], sigmas[known] = sums.score / sums.weight, sums.sigmas
    columns = {column.title: column for column in table.columns}
    predicted, error = columns["Predicted"], columns["ECCE"]
    return replace(
        table,
        title=f"Where the scores were wrong, {names[0]} and {names[1]}",
        reads=f"The segments in the order of {names[0]}, with both errors. Open one to see both curves. p and * "
        f"belong to {names[0]}; noise alone gives an ECCE of 1 to 2.5 σ.",
        columns=(
            columns["Rows"],
            replace(predicted, title=f"Predicted, {names[0]}"),
            replace(predicted, title=f"Predicted, {names[1]}", values=score),
            columns["Observed"],
            replace(error, title=f"ECCE, {names[0]}"),
            replace(error, title=f"ECCE, {names[1]}", values=sigmas),
            columns["p"],
        ),
        curves={
            place: (
                _series(names[0], listing, _inside(listing, int(order[place]))),
                _series(names[1], later, _inside(later, int(places[place]))),
            )
            for place in _worth_a_click(listing, order, page.MOST_CURVES)
            if known[place]
        },
    )


def _same_segments(listing: AuditListing, later: AuditListing, order: Any) -> npt.NDArray[np.int64]:
    """Where the segments of one audit are among the sums of another; -1 if they were not tested there."""
    found = {
        key: i for i, key in enumerate(zip(later.sums.combination.tolist(), later.sums.cell.tolist(), strict=True))
    }
    sums = listing.sums.of(order)
    keys = zip(sums.combination.tolist(), sums.cell.tolist(), strict=True)
    return np.array([found.get(key, -1) for key in keys], dtype=np.int64)


def _columns(columns: dict[str, Any], result: AuditResult) -> tuple[page.PageColumn, ...]:
    digits = page.percent_digits(result.prevalence)
    rows, share, p_value = page.common_columns(columns, result.null_samples)
    return (
        rows,
        share,
        page.PageColumn("Predicted", columns["mean_score"], page.Form.PERCENT, digits=digits, reads="the mean score"),
        page.PageColumn(
            "Observed",
            columns["observed_rate"],
            page.Form.PERCENT,
            low=columns["observed_low"],
            high=columns["observed_high"],
            digits=digits,
            reads="the rate of positives, with a 95 % interval",
        ),
        page.PageColumn(
            "ECCE",
            columns["ecce_sigma"],
            page.Form.SIGMAS,
            low=columns.get("ecce_sigma_low"),
            high=columns.get("ecce_sigma_high"),
            reads="how wrong, in standard errors",
        ),
        p_value,
    )


def _directions(directions: list[str]) -> page.Choice:
    """Which way the scores are wrong, as readers filter by it."""
    names = list(DIRECTIONS)
    codes = np.array([names.index(one) for one in directions], dtype=np.int64)
    return page.Choice("Score is", tuple(DIRECTIONS.values()), codes, "too high: more was predicted than observed")


def _repeats(listing: AuditListing, order: list[int]) -> Any:
    """For each segment, the place in the table of the pattern that explains it; -1 if none does."""
    explained_by = listing.patterns.explained_by
    position = {place: i for i, place in enumerate(order)}
    repeats = np.array([position.get(explained_by.get(place, -1), -1) for place in order], dtype=np.int64)
    return repeats if (repeats >= 0).any() else None


def _patterns(columns: dict[str, Any]) -> tuple[page.Pattern, ...]:
    found = np.flatnonzero(columns["is_pattern"] & columns["significant"])[:_MOST_PATTERNS]
    return tuple(page.Pattern(int(place), _pattern_in_words(columns, int(place))) for place in found)


def _pattern_in_words(columns: dict[str, Any], i: int) -> str:
    percents = {
        name: page.in_form(float(columns[name][i]), page.Form.PERCENT)
        for name in ("share", "mean_score", "observed_rate", "observed_low", "observed_high")
    }
    wrong = {
        "over-estimates": "too high",
        "under-estimates": "too low",
        "both": "too high for some of them and too low for others",
    }[columns["direction"][i]]
    return (
        f"({percents['share']} of the rows): {percents['mean_score']} predicted, {percents['observed_rate']} observed "
        f"({percents['observed_low']} to {percents['observed_high']}). The scores are {wrong}."
    )


def _worth_a_click(listing: AuditListing, order: Any, most: int) -> list[int]:
    """The segments that get curves: patterns, and those with the most evidence."""
    n_patterns = min(len(listing.patterns.found), most, len(order)) if most else 0
    by_evidence = np.argsort(-listing.sums.evidence[order], kind="stable")
    return list(dict.fromkeys([*range(n_patterns), *by_evidence[:most].tolist()]))[:most]


def _unless_exact(result: AuditResult, name: str) -> tuple[float, ...]:
    """The bounds of a number that a sketch doesn't know exactly."""
    return (getattr(result, f"{name}_low"), getattr(result, f"{name}_high")) if result.from_sketch else ()


def _inside(listing: AuditListing, place: int) -> Any:
    """Which rows are in a segment."""
    assert listing.audited is not None
    return listing.audited.inside(place)


def _series(name: str, listing: AuditListing, inside: Any) -> page.Series:
    assert listing.audited is not None
    rows = listing.audited.rows
    weights = None if rows.weights is None else rows.weights[inside]
    return page.series_of(name, rows.labels[inside], rows.scores[inside], weights)
