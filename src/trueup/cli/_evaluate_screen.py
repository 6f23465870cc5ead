"""An evaluation on a screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueup.cli._files import STANDARD_STREAM
from trueup.cli._models import ModelSpec
from trueup.cli._printing import TERMS, facts, in_plural, metric_table, p_value_in_words, percent, screen, shown

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.evaluation import Evaluation, RowFacts

__all__ = ["VERDICT_STYLES", "draw_numbers", "draw_verdict", "print_evaluation", "verdict_in_words"]

VERDICT_STYLES = {"ship": "bold green", "keep": "bold red", "inconclusive": "bold yellow"}
_VERDICTS = {
    "ship": "SHIP the calibrated scores.",
    "keep": "KEEP the scores as they are.",
    "inconclusive": "INCONCLUSIVE: these rows can't tell.",
}
_MOST_SEGMENTS = 3


def print_evaluation(evaluation: Evaluation, spec: ModelSpec, files: dict[str, str]) -> None:
    """Show an evaluation on stdout; the verdict and the report's path come last, where the eye is."""
    console = screen()
    table = "stdin" if spec.table == STANDARD_STREAM else shown(spec.table)
    console.print(f"{table}: {shown(spec.score)!r} against {shown(spec.label)!r}", style="bold", soft_wrap=True)
    draw_numbers(console, evaluation)
    console.print()
    draw_verdict(console, evaluation, files)


def draw_numbers(console: Console, evaluation: Evaluation) -> None:
    """Show what the verdict rests on: the split, the diagnosis, the metrics, the segments."""
    console.print(facts(_facts(evaluation)))
    for finding in evaluation.diagnosis.warnings:
        text = f"{shown(finding.text)} {shown(finding.advice)}"
        console.print(facts([(f"{finding.severity:10}", text)]), style="yellow")
    console.print()
    console.print(metric_table("Held-out rows", "Before", "After", evaluation.comparison.to_dict(0)["metrics"]))
    console.print(_how_sure(evaluation), style="dim")
    _draw_segments(console, evaluation)


def draw_verdict(console: Console, evaluation: Evaluation, files: dict[str, str]) -> None:
    """Show the verdict, its reasons, and where the files are."""
    console.print(verdict_in_words(evaluation), style=VERDICT_STYLES[evaluation.verdict])
    for reason in evaluation.reasons:
        mark, style = ("✓", None) if reason.holds else ("✗", "yellow")
        console.print(facts([(mark, shown(reason.text))]), style=style)
    console.print(f"The model:  {shown(files['model.trueup'])}, {_saved(evaluation)}", soft_wrap=True)
    if "report.html" in files:
        console.print(f"The report: {shown(files['report.html'])}", soft_wrap=True)


def verdict_in_words(evaluation: Evaluation) -> str:
    """The verdict as a sentence."""
    return f"Verdict: {_VERDICTS[evaluation.verdict]}"


def _facts(evaluation: Evaluation) -> list[tuple[str, Any]]:
    split, model = evaluation.split, evaluation.model
    rounds = in_plural(model.n_rounds_, "round", "rounds")
    findings = evaluation.diagnosis.findings
    counted = {kind: sum(one.severity == kind for one in findings) for kind in ("error", "warning")}
    diagnosis = ", ".join(in_plural(n, kind, f"{kind}s") for kind, n in counted.items() if n)
    if evaluation.diagnosis.ok:
        notes = in_plural(len(findings), "note", "notes")
        diagnosis = f"clean, {notes} in the report" if findings else "nothing found"
    kinds = {"time": f"in time, by {split.by!r}", "group": f"by {split.by!r}", "random": "at random"}
    rows: list[tuple[str, Any]] = [
        ("Trained on", _rows_in_words(split.train)),
        ("Tested on", f"{_rows_in_words(split.test)}; {percent(split.share, 0)} of all"),
        ("Split", kinds[split.kind]),
        ("Fitted", f"{rounds} in {evaluation.seconds.fit:.1f} s"),
        ("Diagnosis", diagnosis),
    ]
    if split.not_features:
        names = ", ".join(repr(shown(name)) for name in split.not_features)
        why = "new rows come from later times" if split.kind == "time" else "new rows belong to new groups"
        rows.insert(3, ("Not features", f"{names}: {why}"))
    return rows


def _rows_in_words(rows: RowFacts) -> str:
    span = ""
    if rows.first is not None:
        span = f" of {rows.first}" if rows.first == rows.last else f" of {rows.first} to {rows.last}"
    elif rows.n_groups is not None:
        span = f" of {in_plural(rows.n_groups, 'group', 'groups')}"
    return f"{rows.rows:,} rows{span}: predicted {percent(rows.mean_score)}, observed {percent(rows.positive_rate)}"


def _how_sure(evaluation: Evaluation) -> str:
    comparison, drawn = evaluation.comparison, ""
    if comparison.n_groups < comparison.n:
        drawn = f", from resampling {comparison.n_groups:,} groups instead of single rows"
    return f"Intervals: {100 * (1 - comparison.significance):g} % confidence{drawn}. {TERMS}"


def _draw_segments(console: Console, evaluation: Evaluation) -> None:
    from trueup.metrics import METRICS

    comparison = evaluation.comparison
    if not comparison.n_segments:
        return
    compared_by = "brier" if comparison.primary == "brier" else "log_loss"
    before, after = evaluation.audits
    wrong = f"{before.n_significant:,} were significantly wrong before, {after.n_significant:,} are after"
    changed = f"{comparison.n_gaining:,} get significantly better, {comparison.n_harmed:,} significantly worse"
    console.print()
    console.print(f"Of {comparison.n_segments:,} segments, {changed}; {wrong}.")
    for outcome, style in (("harmed", "red"), ("gains", "green")):
        for row in comparison._rows_of(comparison._listing.patterns(outcome)[:_MOST_SEGMENTS]):
            p_value = p_value_in_words(row["adjusted_p_value"], comparison.null_samples)
            loss = f"{METRICS[compared_by].label} {row['base_loss']:.4f} → {row['candidate_loss']:.4f}"
            numbers = f"{row['rows']:,} rows: {loss} (p {p_value})"
            console.print(f"  {outcome}: {shown(row['segment'])}", style=style)
            console.print(f"    {numbers}")


def _saved(evaluation: Evaluation) -> str:
    rounds = in_plural(evaluation.serving.n_rounds_, "round", "rounds")
    if evaluation.refitted is None:
        return f"the one that was tested ({rounds}, fitted on the training rows)"
    return f"fitted again on all rows ({rounds}; the one that was tested had {evaluation.model.n_rounds_})"
