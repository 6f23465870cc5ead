"""What many models say together, on a screen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trueup.cli._evaluate_screen import VERDICT_STYLES
from trueup.cli._printing import in_plural, percent, plain_table, screen, shown

if TYPE_CHECKING:
    from trueup.evaluation import Summary

__all__ = ["print_summary"]

_MOST_MODELS = 30


def print_summary(summary: Summary, files: dict[str, str]) -> None:
    """Show the models, the percentiles of their changes, and where the page is."""
    console = screen()
    if summary.models:
        console.print(_model_table(summary))
        console.print()
        console.print(_percentile_table(summary))
        console.print("Changes are relative. Percentiles run from the models that gain most.", style="dim")
        if summary.untrusted:
            names = ", ".join(map(shown, summary.untrusted))
            console.print(f"Left out because the data can't be trusted (see the reports): {names}.", style="yellow")
        console.print()
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in summary.verdicts.items())
    failed = f"; {len(summary.failures)} failed" if summary.failures else ""
    n_models = in_plural(len(summary.models), "model", "models")
    console.print(f"{n_models} evaluated: {verdicts}{failed}.", style="bold")
    console.print(f"The reports: {shown(files['index.html'])}", soft_wrap=True)


def _model_table(summary: Summary) -> Any:
    from rich.text import Text

    from trueup.evaluation import SHOWN_METRICS
    from trueup.metrics import METRICS

    titles = (f">{METRICS[name].title}" for name in SHOWN_METRICS)
    table = plain_table("Model", "=Verdict", ">Test rows", *titles)
    for model in summary.models[:_MOST_MODELS]:
        changes = [_change(model.change(metric)) if model.trusted else "–" for metric in SHOWN_METRICS]
        verdict = Text(model.verdict, style=VERDICT_STYLES[model.verdict])
        table.add_row(shown(model.name), verdict, f"{model.rows:,}", *changes)
    if len(summary.models) > _MOST_MODELS:
        table.add_row(f"and {len(summary.models) - _MOST_MODELS:,} more", style="dim")
    return table


def _percentile_table(summary: Summary) -> Any:

    from trueup.evaluation import PERCENTILES, SHOWN_METRICS
    from trueup.metrics import METRICS

    table = plain_table("=Percentile", *(f">{METRICS[name].title}" for name in SHOWN_METRICS))
    for place, percentile in enumerate(PERCENTILES):
        table.add_row(f"{percentile}th", *(_change(summary.percentiles[metric][place]) for metric in SHOWN_METRICS))
    table.add_row("improve", *(percent(summary.improved[metric], 0) for metric in SHOWN_METRICS), style="bold")
    table.add_row("don't get worse", *(percent(summary.not_worse[metric], 0) for metric in SHOWN_METRICS))
    return table


def _change(share: float) -> str:
    if math.isnan(share):
        return "–"
    return f"{100 * share:+.2f} %".replace("-", "−") if share else "0.00 %"
