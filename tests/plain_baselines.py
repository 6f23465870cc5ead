"""HKRR and DFMC as their pseudo-code reads, a row at a time: what the fast ones are tested and measured against."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["PlainHKRR", "plain_dfmc"]


class PlainHKRR:
    """Algorithm 1 of Hébert-Johnson et al. (2018) with the oracle of Hansen et al. (2024), in lists and loops."""

    def __init__(self, alpha: float, bin_width: float, max_iterations: int, average_bins: bool, seed: int) -> None:
        self.alpha, self.bin_width, self.max_iterations = alpha, bin_width, max_iterations
        self.average_bins, self.seed = average_bins, seed

    def fit(self, scores: Any, labels: Any, masks: Sequence[Sequence[bool]], weights: Any = None) -> PlainHKRR:
        generator = np.random.RandomState(self.seed)
        p, y = [float(score) for score in scores], [float(label) for label in labels]
        w = [1.0] * len(p) if weights is None else [float(weight) for weight in weights]
        members = [[i for i in range(len(p)) if mask[i]] for mask in masks]
        n_bins = round(1 / self.bin_width)
        segments, bins = generator.permutation(len(masks)).tolist(), generator.permutation(n_bins).tolist()
        self.moves: list[tuple[int, int, float]] = []
        self.n_iterations, changed = 0, True
        while changed and self.n_iterations < self.max_iterations:
            self.n_iterations += 1
            changed = False
            for segment in segments:
                size = sum(w[i] for i in members[segment])
                for bin_ in bins:
                    cell = [i for i in members[segment] if self.bin_of(p[i]) == bin_]
                    weight = sum(w[i] for i in cell)
                    if not cell or weight < self.alpha * self.bin_width * size:
                        continue
                    promised = sum(w[i] * p[i] for i in cell) / weight
                    happened = sum(w[i] * y[i] for i in cell) / weight
                    if abs(happened - promised) < self.alpha / 2:
                        continue
                    delta = happened - promised + generator.uniform(-self.alpha / 4, self.alpha / 4)
                    for i in cell:
                        p[i] = min(max(p[i] + delta, 0.0), 1.0)
                    self.moves.append((segment, bin_, delta))
                    changed = True
        self.bin_means = []
        for bin_ in range(n_bins):
            inside = [i for i in range(len(p)) if self.bin_of(p[i]) == bin_]
            weight = sum(w[i] for i in inside)
            self.bin_means.append(sum(w[i] * p[i] for i in inside) / weight if inside else math.nan)
        return self

    def calibrate(self, scores: Any, masks: Sequence[Sequence[bool]]) -> list[float]:
        found = []
        for i, score in enumerate(scores):
            p = float(score)
            for segment, bin_, delta in self.moves:
                if masks[segment][i] and self.bin_of(p) == bin_:
                    p = min(max(p + delta, 0.0), 1.0)
            mean = self.bin_means[self.bin_of(p)]
            found.append(mean if self.average_bins and not math.isnan(mean) else p)
        return found

    def bin_of(self, p: float) -> int:
        """Which of the intervals (k lambda, (k + 1) lambda] holds a probability; 0 is in the first."""
        return max(0, math.ceil(p / self.bin_width) - 1)


def plain_dfmc(
    scores: Any, labels: Any, masks: Sequence[Sequence[bool]], n_trees: int, n_cuts: int = 20, rate: float = 0.1
) -> list[float]:
    """The boosting of Jin et al. (2025), a row at a time: the best pair of tests on segments and cuts of the score.

    A tree asks for a segment or a cut of the logit, and in each of its halves for another; a leaf has at least 20 rows.
    """
    n = len(scores)
    base = [math.log(max(p, 2**-1022) / max(1 - p, 2**-53)) for p in scores]
    order = sorted(base)
    cuts = sorted({order[int(n * k / (n_cuts + 1))] for k in range(1, n_cuts + 1)})
    tests = [[bool(mask[i]) for i in range(n)] for mask in masks] + [[z <= cut for z in base] for cut in cuts]
    logits = list(base)
    for _ in range(n_trees):
        gradient, hessian = [], []
        for i in range(n):
            p = 1 / (1 + math.exp(-logits[i]))
            gradient.append(p - labels[i])
            hessian.append(p * (1 - p))
        root = _best(tests, range(n), gradient, hessian)
        if root is None:
            break
        for side in (True, False):
            half = [i for i in range(n) if tests[root][i] is side]
            split = _best(tests, half, gradient, hessian)
            leaves = [half] if split is None else [[i for i in half if tests[split][i] is s] for s in (True, False)]
            for leaf in leaves:
                step = -rate * sum(gradient[i] for i in leaf) / max(sum(hessian[i] for i in leaf), 1e-3)
                for i in leaf:
                    logits[i] += step
    return [1 / (1 + math.exp(-z)) for z in logits]


def _best(tests: list[list[bool]], rows: Any, gradient: list[float], hessian: list[float]) -> int | None:
    rows = list(rows)
    total_g, total_h = sum(gradient[i] for i in rows), sum(hessian[i] for i in rows)
    best, best_gain = None, 1e-12
    for number, test in enumerate(tests):
        g = h = 0.0
        count = 0
        for i in rows:
            if test[i]:
                g += gradient[i]
                h += hessian[i]
                count += 1
        if min(count, len(rows) - count) < 20 or min(h, total_h - h) < 1e-3:
            continue
        gain = g * g / h + (total_g - g) ** 2 / (total_h - h) - total_g * total_g / total_h
        if gain > best_gain:
            best, best_gain = number, gain
    return best
