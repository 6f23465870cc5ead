"""`trueup inspect`: all that a model file says about itself. LightGBM is not needed."""

from __future__ import annotations

import json
import math
import os
import zipfile
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._printing import bytes_in_words, facts, in_plural, percent, plain_table, screen, shown

if TYPE_CHECKING:
    from trueup._model import CalibrationModel, FittedRound

__all__ = ["base_model_in_words", "describe_model", "inspect", "losses", "most_used", "rounds_and_trees"]

_SHOWN_FEATURES = 25


def inspect(model: opt.ModelFile, *, as_json: opt.AsJson = False, quiet: opt.Quiet = False) -> int | None:
    """Check a model file and show what is in it: rounds, losses, features, versions."""

    def compute() -> dict[str, Any]:
        """Read the model file."""
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
        ("File", f"format {description['format']}, {bytes_in_words(description['bytes'])}, all checks passed"),
        ("Fitted on", f"{description['rows']:,} rows, {percent(description['positive_rate'], 2)} of them positive"),
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
    columns = (">Round", ">Training loss", ">Validation loss", ">Theta", ">Logit change", "=")
    table = plain_table(*columns, gap=1, indented=True)
    for record in description["history"]:
        number, kept = record["round"], record["kept"]
        cells = ["", "", "base model"]
        if number:
            # Of a round that was kept, the factor that the model applies; of another, the one that was tried.
            theta = description["thetas"][number - 1] if kept else record["theta"]
            cells = [f"{theta:.4f}", f"{record['logit_change']:.4f}", "" if kept else "tried, not kept"]
        measured = (_loss(record[name]) for name in ("train_loss", "validation_loss"))
        table.add_row(str(number), *measured, *cells, style=None if kept else "dim")
    return table


def _loss(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.5f}"


def describe_model(model: CalibrationModel) -> dict[str, Any]:
    """A model as JSON holds it."""
    from trueup._model import encode_value, map_entry

    summary = model.summary
    total = sum(summary.gains) or 1.0
    gains = summary.gains or (0.0,) * (len(model.features.features) + 1)
    return {
        "rounds": len(model.rounds),
        "trees": sum(_n_grown(fitted) for fitted in model.rounds),
        "score_map": map_entry(model.score_map),
        "thetas": [fitted.theta for fitted in model.rounds],
        "rows": summary.n_rows,
        "positive_rate": summary.positive_rate,
        "classes": [encode_value(label) for label in model.classes],
        "base_model": "scores" if model.base_rate is None else "base rate",
        "score_column": model.features.score_column,
        "base_rate": model.base_rate,
        "score_importance": gains[-1] / total,
        "features": [
            {
                "name": feature.name,
                "kind": feature.kind.value,
                "categorical": feature.is_categorical,
                "categories": None if feature.categories is None else len(feature.categories),
                "importance": gain / total,
            }
            for feature, gain in zip(model.features.features, gains, strict=False)
        ],
        "history": [
            {
                "round": record.number,
                "kept": record.number <= len(model.rounds),
                **{name: value for name, value in asdict(record).items() if name not in ("number", "seconds")},
            }
            for record in summary.history
        ],
        "parameters": dict(summary.parameters),
        "versions": dict(summary.versions),
    }


def rounds_and_trees(description: dict[str, Any]) -> str:
    """How large the model is, in words."""
    rounds, trees = (in_plural(description[kind], kind[:-1], kind) for kind in ("rounds", "trees"))
    return f"{rounds}, {trees}"


def losses(description: dict[str, Any]) -> dict[str, Any]:
    """The mean log loss before the first round and after the last one that was kept."""
    history, last = description["history"], description["rounds"]
    if not history:
        return {"rows": None, "before": None, "after": None}
    on_validation = not math.isnan(history[0]["validation_loss"])
    name = "validation_loss" if on_validation else "train_loss"
    return {
        "rows": "validation" if on_validation else "training",
        "before": history[0][name],
        "after": history[min(last, len(history) - 1)][name],
    }


def most_used(description: dict[str, Any], at_most: int = 5) -> str:
    """The features with the largest importance."""
    ranked = sorted(description["features"], key=lambda feature: -feature["importance"])
    used = [feature for feature in ranked if feature["importance"] > 0][:at_most]
    return ", ".join(f"{shown(feature['name'])} {percent(feature['importance'], 0)}" for feature in used)


def base_model_in_words(description: dict[str, Any]) -> str:
    """Where the scores come from that the rounds correct."""
    if description["base_model"] == "base rate":
        return f"none was given: every row starts from the base rate, {percent(description['base_rate'], 2)}"
    column = description["score_column"]
    return "scores" if column is None else f"the scores in column {shown(column)!r}"


def _n_grown(fitted: FittedRound) -> int:
    """How many trees of a round have splits: the shift of its logits is one that has none."""
    offsets = fitted.trees.node_offsets
    return int((offsets[1:] > offsets[:-1]).sum())
