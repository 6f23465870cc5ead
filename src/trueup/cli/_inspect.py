"""`trueup inspect`: all that a model file says about itself. LightGBM is not needed."""

from __future__ import annotations

import json
import math
import os
import zipfile
from typing import Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._describe import base_model_in_words, describe_model, losses, rounds_and_trees
from trueup.cli._printing import bytes_in_words, facts, percent, plain_table, screen, shown

__all__ = ["inspect"]

_SHOWN_FEATURES = 25


def inspect(model: opt.ModelFile, *, as_json: opt.AsJson = False, quiet: opt.Quiet = False) -> int | None:
    """Check a model file and show what is in it: rounds, losses, features, versions."""

    def compute() -> dict[str, Any]:
        from trueup._scoring import load

        loaded = load(model).model
        with zipfile.ZipFile(model) as archive:  # `load` has checked it
            file_format = json.loads(archive.read("manifest.json"))["format"]
        file = {"model": model, "format": file_format, "bytes": os.path.getsize(model)}
        return file | describe_model(loaded)

    return answer(
        compute,
        Answer(as_json, quiet),
        describe=lambda description, _: description | {"loss": losses(description)},
        draw=lambda description, _: _print(description),
    )


def _print(description: dict[str, Any]) -> None:
    console = screen()
    heading = f"{shown(description['model'])}: {rounds_and_trees(description)}"
    console.print(heading, style="bold", soft_wrap=True)
    console.print(facts(_facts(description)))
    console.print()
    console.print(_feature_table(description))
    if description["history"]:
        console.print()
        console.print(_round_table(description))


def _facts(description: dict[str, Any]) -> list[tuple[str, Any]]:
    negative, positive = description["classes"]
    versions = ", ".join(f"{name} {version}" for name, version in description["versions"].items())
    parameters = ", ".join(f"{name}={json.dumps(value)}" for name, value in description["parameters"].items())
    return [
        (
            "File",
            f"format {description['format']}, {bytes_in_words(description['bytes'])}, all checks passed",
        ),
        (
            "Fitted on",
            f"{description['rows']:,} rows, {percent(description['positive_rate'], 2)} of them positive",
        ),
        ("Labels", shown(f"{positive!r} is positive, {negative!r} is negative")),
        ("Base model", base_model_in_words(description)),
        *([("Map", _map_in_words(description["score_map"]))] if description["score_map"] else []),
        ("Made with", shown(versions) or "–"),
        ("Parameters", shown(parameters) or "–"),
    ]


def _map_in_words(score_map: dict[str, Any]) -> str:
    """What is done to the score before the rounds."""
    if score_map["form"] == "knots":
        return "of the score: straight lines between knots"
    terms = {"": score_map["shift"], "logit": score_map["slope"], "logit²": score_map["bend"]}
    terms["ln(score)"] = score_map["tilt"]
    said = (f"{value:+.4g} {name}".strip() for name, value in terms.items() if value)
    return f"of the score's logit: {' '.join(said)}"


def _feature_table(description: dict[str, Any]) -> Any:
    table = plain_table("Feature", "Holds", ">Categories", ">Importance", indented=True)
    ranked = sorted(description["features"], key=lambda feature: -feature["importance"])
    for feature in ranked[:_SHOWN_FEATURES]:
        categories = f"{feature['categories']:,}" if feature["categorical"] else ""
        table.add_row(shown(feature["name"]), feature["kind"], categories, percent(feature["importance"]))
    if len(ranked) > _SHOWN_FEATURES:
        table.add_row(f"and {len(ranked) - _SHOWN_FEATURES:,} more (all with --json)", style="dim")
    table.add_row("the score itself", "", "", percent(description["score_importance"]), style="dim")
    return table


def _round_table(description: dict[str, Any]) -> Any:
    columns = (">Round", ">Training loss", ">Validation loss", ">Theta", ">Logit change", "")
    table = plain_table(*columns, indented=True)
    for record in description["history"]:
        number = record["round"]
        is_base = number == 0
        # Of a round that was kept, the factor that the model applies; of another, the one that was tried.
        theta = description["thetas"][number - 1] if record["kept"] and number else record["theta"]
        remark = "base model" if is_base else "" if record["kept"] else "tried, not kept"
        table.add_row(
            str(number),
            _loss(record["train_loss"]),
            _loss(record["validation_loss"]),
            "" if is_base else f"{theta:.4f}",
            "" if is_base else f"{record['logit_change']:.4f}",
            remark,
            style=None if record["kept"] else "dim",
        )
    return table


def _loss(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.5f}"
