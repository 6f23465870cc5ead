"""What the whole search finds when the models are equally good: the null distribution of its maximum."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trueup.comparison._segments import Advance, SegmentDifferences, SegmentSearch
from trueup.segments import NullMaxima, draw_labels, search_draws

__all__ = ["draw_equal_models"]


def draw_equal_models(
    search: SegmentSearch,
    segments: SegmentDifferences,
    *,
    n_draws: int,
    random_state: int,
    advance: Advance = lambda combinations: None,
) -> NullMaxima:
    """Draw differences of equally good models, and search all segments again, `n_draws` times.

    Notes
    -----
    Without groups, labels are drawn with the probability at which both models lose the same on average. The
    scores stay, and with them the tails: where a label of 1 is rare and costs one model much, it is so in the
    draws too. With groups, labels are not independent, and which model is the candidate is drawn instead, for a
    whole group at once: the signs of its differences.
    """
    rng = np.random.default_rng(random_state)
    loss, rows = search.loss, search.loss.rows
    if rows.is_grouped:
        if_one = (rows.weights * loss.difference).astype(np.float32)
        if_zero = -if_one
    else:
        steps = rows.weights * loss.slope
        if_zero, if_one = ((steps * (loss.neutral - label)).astype(np.float32) for label in (0, 1))

    def draw() -> npt.NDArray[np.uint8]:
        """A bit a draw for each row."""
        if rows.is_grouped:
            return rng.integers(0, 256, rows.n_groups, dtype=np.uint8)[rows.group]
        return draw_labels(loss.neutral, rng)

    return search_draws(
        search.grid,
        # All rows are of one id: a segment's sum counts at its end only, and its range is its size.
        search.cells(np.zeros(rows.n, dtype=np.uint32)),
        segments,
        draw,
        (if_zero, if_one),
        n_draws=n_draws,
        n_threads=search.n_threads,
        advance=advance,
    )
