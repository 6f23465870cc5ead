"""What a fit did, as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from trueup.calibration import MCGrad

__all__ = ["describe_fit", "feature_shares"]


def describe_fit(model: MCGrad) -> dict[str, Any]:
    """The rounds of a model, what each did, and which columns they used."""
    return {
        "n_rounds": model.n_rounds_,
        "n_rows": model.model_.summary.n_rows,
        "feature_shares": dict(feature_shares(model)),
        "history": [asdict(record) for record in model.history_],
    }


def feature_shares(model: MCGrad) -> list[tuple[str, float]]:
    """Columns by their share of the gain of all rounds, the largest first; the score is one of them."""
    gains = model.model_.summary.gains
    total = sum(gains)
    if not total:
        return []
    names = [*model.model_.features.names, "the score itself"]
    shares = [(name, gain / total) for name, gain in zip(names, gains, strict=True) if gain > 0]
    return sorted(shares, key=lambda share: -share[1])
