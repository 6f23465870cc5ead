"""What there is to say about a model, as plain values."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from trueup.cli._printing import in_plural, percent, shown

if TYPE_CHECKING:
    from trueup._model import CalibrationModel, FittedRound

__all__ = ["base_model_in_words", "describe_model", "losses", "most_used", "rounds_and_trees"]


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
