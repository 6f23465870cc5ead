"""Small drawings and words of the page that need arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trueup._report._values import Estimate, Outcome

__all__ = ["IntervalMark", "interval_mark", "outcome_words"]

_WIDTH = 120.0
_MARGIN = 6.0


@dataclass(frozen=True)
class IntervalMark:
    """Where an interval is drawn on a line of its own, with 0 in the middle."""

    low: float
    value: float
    high: float
    width: float = _WIDTH

    @property
    def zero(self) -> float:
        """Where 0 is."""
        return self.width / 2


def interval_mark(estimate: Estimate) -> IntervalMark | None:
    """Where to draw a change and its interval; None if it has none."""
    ends = (estimate.low, estimate.value, estimate.high)
    reach = max(abs(end) for end in ends)
    if not all(math.isfinite(end) for end in ends) or reach == 0:
        return None
    low, value, high = (_WIDTH / 2 + (_WIDTH / 2 - _MARGIN) * end / reach for end in ends)
    return IntervalMark(low, value, high)


def outcome_words(outcome: Outcome | None) -> str:
    """What a change means, in a word or two."""
    return {"better": "better", "worse": "worse", "unclear": "can't tell", "same": "no change", None: ""}[outcome]
