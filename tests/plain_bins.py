"""The sums of cells and bins the plain way: a mask for every cell of every combination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Found = dict[tuple[int, int], tuple[list[int], dict[int, tuple[int, int]]]]


@dataclass(frozen=True, eq=False)
class BinCase:
    """What the kernel is given."""

    codes: npt.NDArray[np.uint8]
    n_values: npt.NDArray[np.uint32]
    combinations: list[tuple[int, ...]]
    slots: npt.NDArray[np.uint16]
    n_bins: npt.NDArray[np.uint32]
    steps: npt.NDArray[np.int64]
    lanes: npt.NDArray[np.int64]

    def arguments(self) -> dict[str, Any]:
        """As the kernel takes them."""
        members = [member for combination in self.combinations for member in combination]
        lengths = [len(combination) for combination in self.combinations]
        return {
            "codes": self.codes,
            "n_values": self.n_values,
            "offsets": np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)]).astype(np.int32),
            "members": np.array(members, dtype=np.int32),
            "slots": self.slots,
            "n_bins": self.n_bins,
            "steps": self.steps,
            "lanes": self.lanes,
        }

    def plain_sums(self) -> Found:
        """Lanes and bins of every cell that has rows."""
        found: Found = {}
        for place, combination in enumerate(self.combinations):
            cells = np.zeros(len(self.steps), dtype=np.int64)
            for member in combination:
                cells = cells * int(self.n_values[member]) + self.codes[member]
            for cell in np.unique(cells).tolist():
                inside = cells == cell
                slots, steps = self.slots[len(combination)][inside], self.steps[inside]
                bins = {}
                for bin_ in np.unique(slots // 2).tolist():
                    sums = tuple(int(steps[slots == 2 * bin_ + side].sum()) for side in (0, 1))
                    if any(sums):
                        bins[bin_] = sums
                found[place, cell] = (self.lanes[inside].sum(axis=0).tolist(), bins)
        return found


def case_of(seed: int, n: int, n_lanes: int = 4) -> BinCase:
    """A few partitions, all their combinations to depth 2, and a triple."""
    rng = np.random.default_rng(seed)
    n_values = rng.integers(1, 5, 3)
    n_bins = rng.integers(1, 6, 4)
    codes = np.stack([rng.integers(0, size, n) for size in n_values]).astype(np.uint8)
    slots = np.stack([rng.integers(0, 2 * size, n) for size in n_bins]).astype(np.uint16)
    lanes = rng.integers(0, 2**40, (n, n_lanes))
    lanes[:, 0] = 1
    combinations: list[tuple[int, ...]] = [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    steps = np.where(rng.random(n) < 0.2, 0, rng.integers(0, 2**40, n))
    return BinCase(
        codes, n_values.astype(np.uint32), combinations, slots, n_bins.astype(np.uint32), steps, lanes.astype(np.int64)
    )
