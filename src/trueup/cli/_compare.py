"""`trueup compare`: whether a candidate model should replace the base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer, file_in_title, given, judge_verdicts
from trueup.cli._columns import Columns, read_rows
from trueup.cli._files import Reading, name_of
from trueup.cli._printing import (
    TERMS,
    facts,
    in_plural,
    metric_table,
    p_value_in_words,
    percent,
    plain_table,
    positive_class,
    print_places,
    screen,
    shown,
    signed,
)

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.comparison import Comparison

__all__ = ["compare"]

_VERDICTS = {
    "ship": "Ship the candidate.",
    "keep": "Keep the base.",
    "inconclusive": "Inconclusive: these rows support neither shipping nor keeping.",
}
_COLOURS = {"ship": "green", "keep": "red", "inconclusive": "yellow"}
_WIDTH_OF_A_TABLE = 72


def compare(
    table: opt.Table,
    *,
    label: opt.Label,
    base: Annotated[str, opt.column("--base", "The column of the base model's probabilities.")],
    candidate: opt.Candidate,
    weight: opt.Weight = None,
    group: opt.Group = None,
    positive: opt.Positive = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    max_depth: opt.MaxDepth = None,
    max_values: opt.MaxValues = None,
    min_rows: opt.MinRows = 10,
    primary: opt.Primary = opt.PrimaryMetric.LOG_LOSS,
    guardrail: opt.Guardrails = None,
    significance: opt.Significance = 0.05,
    bootstrap: opt.Bootstrap = 1000,
    null_samples: opt.NullSamples = None,
    seed: opt.Seed = 0,
    input_format: opt.InputFormat = None,
    delimiter: opt.Delimiter = None,
    top: opt.Top = 10,
    output: opt.SegmentTable = None,
    html: opt.Html = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    jobs: opt.Jobs = None,
    fail_on: opt.FailOnVerdict = None,
) -> int | None:
    """Say whether a candidate model should replace the base: ship, keep or inconclusive, and why."""
    opt.refuse_both(features=features, drop=drop)
    rules = opt.rules_of(primary, guardrail)
    to = Answer(as_json, quiet, segments=output, html=html).checked(table)
    others = {"--base": base, "--candidate": candidate, "--group": group}
    columns = Columns(label, None, weight, features, drop, categorical, others=others)
    reading = Reading.of(input_format, delimiter)

    def compute() -> Comparison:
        """Compare the two columns of scores."""
        from trueup.comparison import compare as compare_models

        rows = read_rows(table, reading, columns)
        return compare_models(
            rows.table,
            label,
            base,
            candidate,
            groups=group,
            sample_weight=weight,
            pos_label=rows.pos_label(positive),
            features=rows.roles.features,
            categorical_features=rows.roles.categorical or "from_dtype",
            min_rows=min_rows,
            significance=significance,
            n_bootstrap=bootstrap,
            random_state=seed,
            n_jobs=jobs,
            verbose=0 if quiet else 1,
            **rules,
            **given(max_depth=max_depth, max_values=max_values, null_samples=null_samples),
        )

    def describe(result: Comparison, seconds: float) -> dict[str, object]:
        """The result as JSON."""
        names = {"label": label, "base": base, "candidate": candidate, "weight": weight, "group": group}
        return {"columns": {"table": table, **names}, "seconds": seconds, "html": html} | result.to_dict()

    heading = f"{name_of([table])}: {candidate!r} instead of {base!r}, by {label!r}"
    title = f"Comparison on {file_in_title(table)}: {base} and {candidate} against {label}"
    return answer(
        compute,
        to,
        write=lambda result: to.write_files(result, title),
        describe=describe,
        draw=lambda result, seconds: _print(heading, result, seconds, top, to),
        judge=lambda result: judge_verdicts(fail_on, {"the verdict": result.verdict}),
    )


def _print(heading: str, result: Comparison, seconds: float, top: int, to: Answer) -> None:
    """Show a comparison on stdout."""
    from rich.padding import Padding

    console = screen()
    console.print(shown(heading), style="bold", soft_wrap=True)
    console.print(facts(_facts(result, seconds)))
    console.print()
    console.print(_VERDICTS[result.verdict], style=f"bold {_COLOURS[result.verdict]}")
    for reason in result.reasons:
        mark, text = "✓" if reason.holds else "✗", shown(reason.text)
        console.print(Padding(f"{mark} {text}", (0, 0, 0, 2)))
    console.print()
    console.print(metric_table("Metric", "Base", "Candidate", result.to_dict(0)["metrics"]))
    if result.n_segments and top:
        console.print()
        _print_segments(console, result._rows_of(result._listing.ranked(top)), result.null_samples)
    _print_notes(console, result)
    print_places(console, to)


def _facts(result: Comparison, seconds: float) -> list[tuple[str, Any]]:
    rows = f"{result.n:,}"
    if result.n_groups != result.n:
        rows += f" in {result.n_groups:,} groups"
    predicted = f"base {percent(result.mean_base)}, candidate {percent(result.mean_candidate)}"
    found: list[tuple[str, Any]] = [
        ("Rows", f"{rows}, compared in {seconds:.1f} s"),
        ("Base rate", f"predicted by {predicted}; observed {percent(result.prevalence)}"),
    ]
    if result.n_segments:
        words = (
            f"{result.n_segments:,} tested: {result.n_gaining:,} get significantly better, {result.n_harmed:,} worse"
        )
        if result.n_left_out:
            words += f"; {result.n_left_out:,} left out, because the two models hardly differ there"
        found.append(("Segments", words))
    return found + positive_class(result.classes)


def _print_segments(console: Console, segments: list[dict[str, Any]], n_draws: int) -> None:
    is_narrow = console.width < _WIDTH_OF_A_TABLE
    table = plain_table("Segment", ">Rows", ">Difference", ">p", "=Outcome")
    for row in segments:
        name, rows, difference = shown(row["segment"]), f"{row['rows']:,}", signed(row["difference"], 5)
        p_value = p_value_in_words(row["adjusted_p_value"], n_draws)
        if is_narrow:
            console.print(f"{name}: {rows} rows, {difference}, p {p_value}, {row['outcome']}")
        style = "dim" if row["outcome"] == "unclear" else "bold"
        table.add_row(name, f"{rows}\n{percent(row['share'])}", difference, p_value, row["outcome"], style=style)
    if not is_narrow:
        console.print(table)


def _print_notes(console: Console, result: Comparison) -> None:
    notes = [TERMS, f"Differences: candidate minus base. Intervals: {100 * (1 - result.significance):g} %."]
    if result.n_segments:
        what = in_plural(result.null_samples, "search", "searches")
        drawn = f", against {what} among equally good models" if result.null_samples else ""
        notes.append(f"p: corrected for the search{drawn}. Segments that repeat others are not listed.")
    console.print(" ".join(notes), style="dim")
