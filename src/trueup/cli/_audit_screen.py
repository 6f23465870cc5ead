"""An audit on a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueup.cli._findings import Finding, Findings, detectable_in_words, in_plural, p_value_in_words, verdict
from trueup.cli._printing import facts, percent, screen, shown

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.cli._audit import AuditRequest

__all__ = ["print_audit"]

_WIDTH_WITH_ROOM = 96
_WIDTH_OF_A_TABLE = 72


def print_audit(request: AuditRequest, heading: str, findings: Findings, seconds: float) -> None:
    """Show an audit on stdout."""
    console, result = screen(), findings.result
    console.print(heading, style="bold", soft_wrap=True)
    console.print(facts(_facts(findings, seconds)))
    console.print()
    colour = "red" if result.significant else "green" if result.n_segments else "yellow"
    console.print(verdict(findings), style=f"bold {colour}")
    if findings.shown:
        console.print()
        _print_segments(console, findings)
        _print_notes(console, findings, request.discover)
    if request.output is not None:
        console.print(f"All segments are in {shown(request.output)}.", soft_wrap=True)
    if request.html is not None:
        console.print(f"The report is {shown(request.html)}.", soft_wrap=True)


def _facts(findings: Findings, seconds: float) -> list[tuple[str, Any]]:
    result = findings.result
    promised, observed = (_rate(value, result.prevalence) for value in (result.mean_score, result.prevalence))
    rows: list[tuple[str, Any]] = [
        ("Rows", f"{result.n:,}, audited in {seconds:.1f} s"),
        ("Base rate", f"promised {promised}, observed {observed}"),
        (
            "ECCE",
            f"{findings.ecce_sigmas} σ ({_chance(result.p_value)}), all rows together; {result.ecce:.4f} of them",
        ),
    ]
    if result.n_segments:
        chance = _chance(result.mce_p_value, findings.n_draws)
        rows.append(
            ("MCE", f"{findings.mce_sigmas} σ ({chance}), the worst segment; {result.mce_absolute:.4f} of all rows")
        )
        rows.append(("Alpha", f"{result.alpha:.4f}"))
    rows.append(("Segments", _segments_in_words(findings)))
    if found := detectable_in_words(result):
        rows.append(("Would find", f"{found}, in {percent(result.power, 0)} of cases"))
    if result.classes not in ((0, 1), (False, True)):
        rows.append(("Positive class", shown(repr(result.classes[1]))))
    return rows


def _segments_in_words(findings: Findings) -> str:
    result = findings.result
    words = f"{result.n_segments:,} tested"
    if not findings.n_draws:
        words += f"; p-values shared among them ({findings.rule})"
    return words


def _chance(p_value: float, n_draws: int = 0) -> str:
    words = p_value_in_words(p_value, n_draws)
    if words == "–":
        return "not compared with noise"
    return f"p {words}" if words[0] in "<≤" else f"p = {words}"


def _print_segments(console: Console, findings: Findings) -> None:
    from rich.padding import Padding

    if console.width >= _WIDTH_OF_A_TABLE:
        console.print(_table(findings, gap=2 if console.width >= _WIDTH_WITH_ROOM else 1))
        return
    for finding in findings.shown:
        style = "bold" if finding.is_significant else "dim"
        console.print(shown(finding.segment), style=style)
        promised, observed, interval = _rates(finding, findings.result.prevalence)
        numbers = (
            f"{finding.rows:,} rows ({percent(finding.share)}), promised {promised}, observed {observed} "
            f"({interval}), {finding.score_is}, {finding.sigmas} σ, p {_p_value(finding, findings)}"
        )
        console.print(Padding(numbers, (0, 0, 0, 2)), style=style)


def _table(findings: Findings, gap: int) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, gap, 0, 0), header_style="cyan", pad_edge=False)
    table.add_column("Segment", overflow="fold")
    for name in ("Rows", "Promised", "Observed"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Score is", no_wrap=True)
    for name in ("σ", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for finding in findings.shown:
        promised, observed, interval = _rates(finding, findings.result.prevalence)
        table.add_row(
            shown(finding.segment),
            f"{finding.rows:,}\n{percent(finding.share)}",
            promised,
            f"{observed}\n{interval}",
            finding.score_is,
            finding.sigmas,
            _p_value(finding, findings),
            style="bold" if finding.is_significant else "dim",
        )
    return table


def _print_notes(console: Console, findings: Findings, with_trees: bool) -> None:
    more = []
    shown_stories = sum(finding.is_significant for finding in findings.shown)
    if findings.folded and findings.n_stories > shown_stories:
        stories = in_plural(findings.n_stories - shown_stories, "more story", "more stories")
        more.append(f"{stories} (--top {findings.n_stories})")
    if findings.folded and findings.n_repeating:
        more.append(
            in_plural(findings.n_repeating, "more segment that repeats", "more segments that repeat") + " these"
        )
    if more:
        console.print(f"and {', and '.join(more)}.")
    if findings.folded and findings.n_untold:
        others = in_plural(findings.n_untold, "more segment is", "more segments are")
        console.print(f"{others} significantly wrong, and these don't explain it: correct these first.")
    notes = ["Ranges: 95 % intervals."]
    if findings.n_draws:
        notes.insert(0, "p: the chance of as much anywhere in this search if the scores are true.")
    if findings.n_significant:
        notes.append("*: significant.")
    if any("–" in finding.sigmas for finding in findings.shown):
        notes.append("σ: the exact value is in the range.")
    if with_trees:
        notes.append("Segments that trees found are tested on the half of the rows that the trees did not see.")
    console.print(" ".join(notes), style="dim")


def _rates(finding: Finding, prevalence: float) -> tuple[str, str, str]:
    promised, observed = (_rate(value, prevalence) for value in (finding.mean_score, finding.observed_rate))
    digits = _digits(prevalence)
    low, high = (f"{100 * bound:.{digits}f}" for bound in (finding.observed_low, finding.observed_high))
    return promised, observed, f"{low}–{high}"


def _rate(value: float, prevalence: float) -> str:
    return percent(value, _digits(prevalence))


def _digits(prevalence: float) -> int:
    """Digits of a percentage that show differences between segments of this rate."""
    return 1 if prevalence >= 0.01 else 2 if prevalence >= 0.001 else 3


def _p_value(finding: Finding, findings: Findings) -> str:
    mark = " *" if finding.is_significant else ""
    return p_value_in_words(finding.adjusted_p_value, findings.n_draws) + mark
