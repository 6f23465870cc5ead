"""An audit on a screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trueup.cli._findings import Findings, sigmas
from trueup.cli._printing import facts, in_plural, p_value_in_words, percent, plain_table, print_places, screen, shown

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.cli._answer import Answer

__all__ = ["print_audit"]

_WIDTH_WITH_ROOM = 96
_WIDTH_OF_A_TABLE = 72


def print_audit(heading: str, findings: Findings, seconds: float, with_trees: bool, to: Answer) -> None:
    """Show an audit on stdout."""
    console, result = screen(), findings.result
    console.print(heading, style="bold", soft_wrap=True)
    console.print(facts(_facts(findings, seconds)))
    console.print()
    colour = "red" if result.significant else "green" if result.n_segments else "yellow"
    console.print(findings.verdict, style=f"bold {colour}")
    if findings.shown:
        console.print()
        _print_segments(console, findings)
        _print_notes(console, findings, with_trees)
    print_places(console, to)


def _facts(findings: Findings, seconds: float) -> list[tuple[str, Any]]:
    from trueup.auditing import detectable_in_words

    result = findings.result
    values = result.to_dict(0)
    predicted, observed = (_rate(value, result.prevalence) for value in (result.mean_score, result.prevalence))
    rows: list[tuple[str, Any]] = [
        ("Rows", f"{result.n:,}, audited in {seconds:.1f} s"),
        ("Base rate", f"predicted {predicted}, observed {observed}"),
        (
            "ECCE",
            f"{sigmas(values)} σ ({_chance(result.p_value)}), all rows together; {result.ecce:.4f} of them",
        ),
    ]
    if result.n_segments:
        chance = _chance(result.mce_p_value, findings.result.null_samples)
        rows.append(
            ("MCE", f"{sigmas(values, 'mce')} σ ({chance}), the worst segment; {result.mce_absolute:.4f} of all rows")
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
    if not findings.result.null_samples:
        words += "; p-values corrected for their number (Holm)"
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
        style = "bold" if finding["significant"] else "dim"
        console.print(shown(finding["segment"]), style=style)
        predicted, observed, interval = _rates(finding, findings.result.prevalence)
        numbers = (
            f"{finding['rows']:,} rows ({percent(finding['share'])}), predicted {predicted}, observed {observed} "
            f"({interval}), {_score_is(finding)}, {sigmas(finding)} σ, p {_p_value(finding, findings)}"
        )
        console.print(Padding(numbers, (0, 0, 0, 2)), style=style)


def _table(findings: Findings, gap: int) -> Any:
    table = plain_table("Segment", ">Rows", ">Predicted", ">Observed", "=Score is", ">σ", ">p", gap=gap)
    for finding in findings.shown:
        predicted, observed, interval = _rates(finding, findings.result.prevalence)
        table.add_row(
            shown(finding["segment"]),
            f"{finding['rows']:,}\n{percent(finding['share'])}",
            predicted,
            f"{observed}\n{interval}",
            _score_is(finding),
            sigmas(finding),
            _p_value(finding, findings),
            style="bold" if finding["significant"] else "dim",
        )
    return table


def _print_notes(console: Console, findings: Findings, with_trees: bool) -> None:
    more = []
    n_untold = findings.result.n_significant - findings.result.n_patterns - findings.result.n_repeating
    shown_patterns = sum(finding["significant"] for finding in findings.shown)
    if findings.folded and findings.result.n_patterns > shown_patterns:
        patterns = in_plural(findings.result.n_patterns - shown_patterns, "more pattern", "more patterns")
        more.append(f"{patterns} (--top {findings.result.n_patterns})")
    if findings.folded and findings.result.n_repeating:
        more.append(
            in_plural(findings.result.n_repeating, "more segment that repeats", "more segments that repeat") + " these"
        )
    if more:
        console.print(f"and {', and '.join(more)}.")
    if findings.folded and n_untold:
        others = in_plural(n_untold, "more segment is", "more segments are")
        console.print(f"{others} significantly wrong, which those above don't explain: correct those first.")
    notes = [
        "ECCE: the largest sum of errors over any range of scores; MCE: the largest ECCE of a segment; σ: in units of "
        "what noise alone gives. Ranges: 95 % intervals."
    ]
    if findings.result.null_samples:
        notes.insert(0, "p: how often a search like this finds as much where all scores are right.")
    if findings.result.n_significant:
        notes.append("*: significant.")
    if any("–" in sigmas(finding) for finding in findings.shown):
        notes.append("Where σ is a range, the exact value lies in it.")
    if with_trees:
        notes.append("Segments that trees found are tested on the half of the rows that the trees did not see.")
    console.print(" ".join(notes), style="dim")


def _score_is(finding: Mapping[str, Any]) -> str:
    return {"over-estimates": "too high", "under-estimates": "too low"}.get(finding["direction"], "both")


def _rates(finding: Mapping[str, Any], prevalence: float) -> tuple[str, str, str]:
    predicted, observed = (_rate(finding[name], prevalence) for name in ("mean_score", "observed_rate"))
    digits = _digits(prevalence)
    low, high = (f"{100 * finding[bound]:.{digits}f}" for bound in ("observed_low", "observed_high"))
    return predicted, observed, f"{low}–{high}"


def _rate(value: float, prevalence: float) -> str:
    return percent(value, _digits(prevalence))


def _digits(prevalence: float) -> int:
    """Digits of a percentage that show differences between segments of this rate."""
    return 1 if prevalence >= 0.01 else 2 if prevalence >= 0.001 else 3


def _p_value(finding: Mapping[str, Any], findings: Findings) -> str:
    mark = " *" if finding["significant"] else ""
    return p_value_in_words(finding["adjusted_p_value"], findings.result.null_samples) + mark
