"""An audit on a screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trueup.cli._printing import (
    TERMS,
    facts,
    in_plural,
    p_value_in_words,
    percent,
    plain_table,
    positive_class,
    print_places,
    screen,
    shown,
    working_on,
)

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.auditing import AuditResult
    from trueup.cli._answer import Answer

__all__ = ["print_audit"]

_WIDTH_WITH_ROOM = 96
_WIDTH_OF_A_TABLE = 72


def print_audit(
    heading: str, result: AuditResult, seconds: float, to: Answer, *, top: int, fold: bool, with_trees: bool
) -> None:
    """Show an audit on stdout; folded, segments that repeat others are only counted."""
    from trueup.auditing import verdict_in_words

    console, fold = screen(), fold and not result.from_sketch  # which can't tell which segments repeat others
    with working_on("comparing the segments", to.quiet):
        segments = _segments(result, top, fold)
    console.print(heading, style="bold", soft_wrap=True)
    console.print(facts(_facts(result, seconds)))
    console.print()
    colour = "red" if result.significant else "green" if result.n_segments else "yellow"
    console.print(verdict_in_words(result, folded=fold), style=f"bold {colour}")
    if segments:
        console.print()
        _print_segments(console, result, segments)
        _print_notes(console, result, segments, fold, with_trees)
    print_places(console, to)


def _segments(result: AuditResult, top: int, fold: bool) -> list[dict[str, Any]]:
    """The segments to show: entries of the result's `to_dict`."""
    if not fold and not result.from_sketch:
        return sorted(result.to_dict(None)["segments"], key=lambda row: -float(row["evidence"]))[:top]
    rows: list[dict[str, Any]] = result.to_dict(top)["segments"]
    if not fold:
        return rows
    return [row for row in rows if row["explained_by"] is None and (row["is_pattern"] or not row["significant"])]


def _facts(result: AuditResult, seconds: float) -> list[tuple[str, Any]]:
    from trueup._report import percent_digits
    from trueup.auditing import detectable_in_words

    values, digits = result.to_dict(0), percent_digits(result.prevalence)
    predicted, observed = (percent(value, digits) for value in (result.mean_score, result.prevalence))
    ecce = f"{_sigmas(values, 'ecce_sigma')} σ ({_chance(result.p_value)}), all rows together"
    groups = f" in {result.n_groups:,} groups" if result.n_groups < result.n else ""
    rows: list[tuple[str, Any]] = [
        ("Rows", f"{result.n:,}{groups}, audited in {seconds:.1f} s"),
        ("Base rate", f"predicted {predicted}, observed {observed}"),
        ("ECCE", f"{ecce}; {result.ecce:.4f} of them"),
    ]
    if result.n_segments:
        mce = f"{_sigmas(values, 'mce')} σ ({_chance(result.mce_p_value, result.null_samples)}), the worst segment"
        rows.append(("MCE", f"{mce}; {result.mce_absolute:.4f} of all rows"))
        rows.append(("Alpha", f"{result.alpha:.4f}, the MCE over the square root of the number of rows"))
    corrected = "" if result.null_samples else "; p-values corrected for their number (Holm)"
    rows.append(("Segments", f"{result.n_segments:,} tested{corrected}"))
    if found := detectable_in_words(result):
        rows.append(("Would find", f"{found}, in {percent(result.power, 0)} of cases"))
    return rows + positive_class(result.classes)


def _print_segments(console: Console, result: AuditResult, segments: list[dict[str, Any]]) -> None:
    from rich.padding import Padding

    from trueup._report import percent_digits

    digits = percent_digits(result.prevalence)
    gap = 2 if console.width >= _WIDTH_WITH_ROOM else 1
    table = plain_table("Segment", ">Rows", ">Predicted", ">Observed", "=Score is", ">σ", ">p", gap=gap)
    is_narrow = console.width < _WIDTH_OF_A_TABLE
    for row in segments:
        style = "bold" if row["significant"] else "dim"
        name, rows, share = shown(row["segment"]), f"{row['rows']:,}", percent(row["share"])
        predicted, observed = (percent(row[rate], digits) for rate in ("mean_score", "observed_rate"))
        interval = "–".join(f"{100 * row[end]:.{digits}f}" for end in ("observed_low", "observed_high"))
        direction = {"over-estimates": "too high", "under-estimates": "too low"}.get(row["direction"], "both")
        size = _sigmas(row, "ecce_sigma")
        p_value = p_value_in_words(row["adjusted_p_value"], result.null_samples) + " *" * row["significant"]
        if is_narrow:
            console.print(name, style=style)
            numbers = f"{rows} rows ({share}), predicted {predicted}, observed {observed} ({interval}), {direction}"
            console.print(Padding(f"{numbers}, {size} σ, p {p_value}", (0, 0, 0, 2)), style=style)
        cells = (f"{rows}\n{share}", predicted, f"{observed}\n{interval}", direction, size, p_value)
        table.add_row(name, *cells, style=style)
    if not is_narrow:
        console.print(table)


def _print_notes(
    console: Console, result: AuditResult, segments: list[dict[str, Any]], fold: bool, with_trees: bool
) -> None:
    if fold:
        _print_counts(console, result, sum(row["significant"] for row in segments))
    notes = [f"{TERMS} Ranges: 95 % intervals."]
    if result.null_samples:
        notes.insert(0, "p: how often a search like this finds as much where all scores are right.")
    if result.n_significant:
        notes.append("*: significant.")
    if any("–" in _sigmas(row, "ecce_sigma") for row in segments):
        notes.append("Where σ is a range, the exact value lies in it.")
    if with_trees:
        notes.append("Segments that trees found are tested on the half of the rows that the trees did not see.")
    console.print(" ".join(notes), style="dim")


def _print_counts(console: Console, result: AuditResult, n_shown: int) -> None:
    """Count the significant segments that are not shown."""
    more = []
    if result.n_patterns > n_shown:
        patterns = in_plural(result.n_patterns - n_shown, "more pattern", "more patterns")
        more.append(f"{patterns} (--top {result.n_patterns})")
    if result.n_repeating:
        more.append(f"{in_plural(result.n_repeating, 'more segment that repeats', 'more segments that repeat')} these")
    if more:
        console.print(f"and {', and '.join(more)}.")
    n_untold = result.n_significant - result.n_patterns - result.n_repeating
    if n_untold:
        others = in_plural(n_untold, "more segment is", "more segments are")
        console.print(f"{others} significantly wrong, which those above don't explain: correct those first.")


def _sigmas(values: Mapping[str, Any], name: str) -> str:
    """A number of sigmas, or the range that it is in, which is all that a sketch knows."""
    least, most = (f"{values.get(f'{name}{end}', values.get(name)):,.1f}" for end in ("_low", "_high"))
    return least if least == most else f"{least}–{most}"


def _chance(p_value: float, n_draws: int = 0) -> str:
    words = p_value_in_words(p_value, n_draws)
    if words == "–":
        return "not compared with noise"
    return f"p {words}" if words[0] in "<≤" else f"p = {words}"
