"""The options that set the rules of a verdict: those of `trueup compare` and of `trueup evaluate`."""

from __future__ import annotations

import enum
from typing import Annotated, Any, TypeAlias

import typer

__all__ = ["RULES", "Guardrails", "Primary", "PrimaryMetric", "Significance", "rules_of"]

RULES = "The rules"


class PrimaryMetric(str, enum.Enum):
    """What can be primary: `trueup.metrics.METRICS` without the MCE, written out so that parsing loads nothing else."""

    LOG_LOSS = "log_loss"
    BRIER = "brier"
    PRAUC = "prauc"
    AUROC = "auroc"
    ECCE = "ecce"
    ECE = "ece"


Primary: TypeAlias = Annotated[
    PrimaryMetric, typer.Option("--primary", help="The metric that must improve.", rich_help_panel=RULES)
]
Guardrails: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--guardrail",
        help="A metric that must not get worse by more than a margin: auroc, or auroc=0.002 to set the margin. Repeat "
        "the option for more, or say none. By default prauc, auroc and ecce; mce is possible too, in sigmas.",
        metavar="METRIC[=MARGIN]",
        rich_help_panel=RULES,
    ),
]
Significance: TypeAlias = Annotated[
    float,
    typer.Option(
        "--significance",
        help="The error rate of the tests; intervals cover 1 minus this: 0.05 is 5 %.",
        rich_help_panel=RULES,
    ),
]


def rules_of(primary: PrimaryMetric, guardrails: list[str] | None) -> dict[str, Any]:
    """The parameters of `trueup.compare` that the options mean."""
    if guardrails is None:
        return {"primary": primary.value}
    if guardrails == ["none"]:
        return {"primary": primary.value, "guardrails": ()}
    margins: dict[str, float] = {}
    names = []
    for text in guardrails:
        name, equals, margin = text.partition("=")
        known = [*(metric.value for metric in PrimaryMetric), "mce"]
        if name not in known:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(known)}", param_hint="--guardrail")
        names.append(name)
        if equals:
            try:
                margins[name] = float(margin)
            except ValueError:
                raise typer.BadParameter(f"{margin!r} is not a number", param_hint="--guardrail") from None
    return {"primary": primary.value, "guardrails": tuple(names), "margins": margins}
