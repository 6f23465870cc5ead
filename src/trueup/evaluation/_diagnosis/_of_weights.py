"""What is wrong with the weights."""

from __future__ import annotations

from trueup.evaluation._diagnosis._finding import Finding
from trueup.evaluation._diagnosis._sides import Side
from trueup.evaluation._diagnosis._words import percent, short

__all__ = ["find_in_weights"]

_UNEVEN = 0.1
_OTHER_SCALE = 3.0


def find_in_weights(train: Side, test: Side | None, given: tuple[bool, bool]) -> list[Finding]:
    """Say what is wrong with the weights; `given` says which side came with weights, usable or not."""
    found = [finding for side in (train, test) if side is not None for finding in _unevenness(side)]
    if test is None:
        return found
    if given[0] != given[1]:
        has, lacks = (train, test) if given[0] else (test, train)
        text = f"{has.name} has weights and {lacks.name} has none."
        advice = f"Pass the weights of {lacks.name} too: what is learned under weights must be tested under weights."
        found.append(Finding("weights_on_one_side", "warning", text, advice, {"with": has.name, "without": lacks.name}))
    if train.weights is not None and test.weights is not None:
        means = float(train.weights.mean()), float(test.weights.mean())
        ratio = means[1] / means[0]
        if max(ratio, 1 / ratio) >= _OTHER_SCALE:
            text = f"The mean weight is {short(means[0])} in train and {short(means[1])} in test."
            advice = "Are they of one kind? Metrics don't mind the scale; the least weight of a leaf does."
            found.append(Finding("weights_of_other_scale", "note", text, advice, {"train": means[0], "test": means[1]}))
    return found


def _unevenness(side: Side) -> list[Finding]:
    if side.weights is None or side.n < 10:
        return []
    effective = side.effective_rows
    if effective >= _UNEVEN * side.n:
        return []
    heaviest = float(side.weights.max() / side.weights.sum())
    text = (
        f"The weights of {side.name} are so uneven that its {side.n:,} rows say as much as {short(effective)} of one "
        f"weight; the heaviest row alone carries {percent(heaviest)}."
    )
    advice = "Cap the weights, or look at the few rows that decide everything."
    values = {"side": side.name, "effective_rows": effective, "rows": side.n, "heaviest": heaviest}
    return [Finding("uneven_weights", "warning", text, advice, values)]
