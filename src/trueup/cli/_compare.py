"""`trueup compare`: whether a candidate model should replace the base."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer, file_in_title, given
from trueup.cli._columns import Columns, read_rows
from trueup.cli._files import Reading
from trueup.cli._streams import name_of

if TYPE_CHECKING:
    from trueup.comparison import Comparison

__all__ = ["compare"]


def compare(
    table: opt.Table,
    *,
    label: opt.Label,
    base: Annotated[str, opt.option("--base", "The column of the base model's probabilities.", opt.COLUMNS, "COLUMN")],
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
    rows = read_rows(table, Reading.of(input_format, delimiter), columns)
    from trueup.comparison import compare as compare_models

    def compute() -> Comparison:
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
        names = {"label": label, "base": base, "candidate": candidate, "weight": weight, "group": group}
        return {"columns": {"table": table, **names}, "seconds": seconds, "html": html} | result.to_dict()

    def draw(result: Comparison, seconds: float) -> None:
        from trueup.cli._compare_screen import print_comparison

        heading = f"{name_of([table])}: {candidate!r} instead of {base!r}, by {label!r}"
        print_comparison(heading, result, seconds, top, to)

    def judge(result: Comparison) -> str | None:
        if fail_on is None or not fail_on.is_met(result.verdict):
            return None
        return f"the verdict is {result.verdict}, and --fail-on {fail_on.value} was given."

    title = f"Comparison on {file_in_title(table)}: {base} and {candidate} against {label}"
    return answer(
        compute, to, write=lambda result: to.write_files(result, title), describe=describe, draw=draw, judge=judge
    )
