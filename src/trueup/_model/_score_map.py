"""A map of the score that may stand before the rounds: a closed form on the logit, or knots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._model._checked import fields_of, finite

__all__ = ["KnotMap", "LogitMap", "ScoreMap", "map_entry", "read_map"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LogitMap:
    """A closed form: the logit l becomes ``shift + slope l + bend l² + tilt ln(sigmoid(l))``.

    Slope alone is a temperature; with a shift it is Platt's map, with a bend the quadratic one. The beta map
    ``c + a ln p - b ln(1 - p)`` has slope b and tilt a - b.
    """

    shift: float = 0.0
    slope: float = 1.0
    bend: float = 0.0
    tilt: float = 0.0

    def largest(self, logit: float) -> float:
        """A bound on the mapped logits of all logits up to this size."""
        return abs(self.shift) + abs(self.slope) * logit + abs(self.bend) * logit**2 + abs(self.tilt) * (logit + 1.0)


@dataclass(frozen=True, eq=False)
class KnotMap:
    """Straight lines between knots, constant beyond them: scores in ascending order, and a probability for each."""

    scores: Floats
    values: Floats


ScoreMap: TypeAlias = LogitMap | KnotMap
_LOGIT_FIELDS = ("shift", "slope", "bend", "tilt")


def map_entry(score_map: ScoreMap | None) -> dict[str, Any] | None:
    """What the manifest says of a map; knots are arrays of their own."""
    if isinstance(score_map, LogitMap):
        return {"form": "logit", **{name: getattr(score_map, name) for name in _LOGIT_FIELDS}}
    return None if score_map is None else {"form": "knots"}


def read_map(entry: Any, scores: Floats | None, values: Floats | None) -> ScoreMap | None:
    """What `map_entry` has written, and the knots if the file has any."""
    if entry is None:
        return None
    if scores is not None and values is not None:
        fields_of(entry, ("form",))
        return _checked_knots(scores, values)
    entry = fields_of(entry, ("form", *_LOGIT_FIELDS))
    if entry["form"] != "logit":
        raise ValueError("the map of the score has no known form")
    return LogitMap(**{name: finite(entry[name]) for name in _LOGIT_FIELDS})


def _checked_knots(scores: Floats, values: Floats) -> KnotMap:
    if not len(scores) or len(scores) != len(values):
        raise ValueError("a map needs one value per knot")
    if not np.isfinite(scores).all() or not (scores[1:] > scores[:-1]).all():
        raise ValueError("the knots of a map must ascend")
    if not ((values >= 0) & (values <= 1)).all() or not (values[1:] >= values[:-1]).all():
        raise ValueError("the values of a map must be probabilities that never fall")
    return KnotMap(scores, values)
