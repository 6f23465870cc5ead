"""The kernel's sums, written to be read: a mask a segment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from trueup import _native


@dataclass(frozen=True)
class Case:
    """Rows in order of score, partitions of them, and combinations of partitions."""

    codes: Any
    n_values: Any
    skips_zero: Any
    score_ids: Any
    combinations: list[list[int]]

    @property
    def n_rows(self) -> int:
        return len(self.score_ids)

    @property
    def cells(self) -> _native.Cells:
        return _native.Cells(self.codes, self.n_values, self.skips_zero, self.score_ids)

    @property
    def offsets(self) -> Any:
        return np.cumsum([0, *map(len, self.combinations)]).astype(np.int32)

    @property
    def members(self) -> Any:
        return np.array([member for combo in self.combinations for member in combo], dtype=np.int32)

    def segments(self, min_rows: int) -> list[Segment]:
        """Every cell of enough rows, with its mask."""
        found = []
        for place, combo in enumerate(self.combinations):
            cells = np.zeros(self.n_rows, dtype=np.int64)
            skipped = np.zeros(self.n_rows, dtype=bool)
            for member in combo:
                cells = cells * int(self.n_values[member]) + self.codes[member]
                skipped |= bool(self.skips_zero[member]) & (self.codes[member] == 0)
            for cell in np.unique(cells[~skipped]).tolist():
                inside = (cells == cell) & ~skipped
                if np.count_nonzero(inside) >= min_rows:
                    found.append(Segment(place, cell, inside))
        return found

    def path(self, steps: Any, inside: Any) -> Any:
        """Running sums of a segment's rows at the end of each of its scores, with the nought they begin at."""
        ids = self.score_ids[inside]
        last = np.append(ids[1:] != ids[:-1], True)[: len(ids)]
        sums = np.cumsum(steps[inside], axis=0, dtype=steps.dtype)
        return np.concatenate([np.zeros_like(sums[:1]), sums[last]])


class Segment(NamedTuple):
    """A cell and its rows."""

    combination: int
    cell: int
    inside: Any


@st.composite
def cases(draw: st.DrawFn, sizes: st.SearchStrategy[int]) -> Case:
    """Cases of any shape: ties and none, partitions of 1 to 256 values, combinations of 0 to 4 of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(sizes)
    n_values = draw(st.lists(st.sampled_from([1, 2, 3, 4, 7, 256]), max_size=5))
    depths = draw(st.lists(st.integers(0, 4), max_size=12))
    combinations: list[list[int]] = [[]]
    for depth in depths if n_values else []:
        combo = sorted(rng.integers(0, len(n_values), depth).tolist())
        while math.prod(n_values[member] for member in combo) > 70_000:
            combo.pop()
        combinations.append(combo)
    if draw(st.booleans()):
        combinations.sort(key=lambda combo: (len(combo), combo))  # as the grid has them
    ties = {
        "none": np.arange(n_rows),
        "all": np.zeros(n_rows),
        "some": np.sort(rng.integers(0, max(1, n_rows), n_rows)),
        "many": np.sort(rng.integers(0, 5, n_rows)),
    }[draw(st.sampled_from(["none", "all", "some", "many"]))]
    return Case(
        codes=rng.integers(0, np.array(n_values)[:, None], (len(n_values), n_rows)).astype(np.uint8)
        if n_values
        else np.zeros((0, n_rows), dtype=np.uint8),
        n_values=np.array(n_values, dtype=np.uint32),
        skips_zero=np.array([draw(st.booleans()) for _ in n_values], dtype=np.uint8),
        score_ids=ties.astype(np.uint32),
        combinations=combinations,
    )
