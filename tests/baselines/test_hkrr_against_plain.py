"""The fast HKRR makes the moves that its pseudo-code makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_baselines import PlainHKRR
from trueup._fitting import seeds_from
from trueup.baselines import HKRR
from trueup.baselines._cells import bins_of


def some_rows(seed: int, n: int, n_segments: int) -> tuple[Any, Any, Any]:
    """Scores that are wrong by segment, labels, and segments of all sizes that overlap."""
    rng = np.random.default_rng(seed)
    masks = rng.random((n_segments, n)) < rng.uniform(0.02, 0.9, (n_segments, 1))
    scores = rng.uniform(0, 1, n)
    truth = np.clip(scores + rng.normal(0, 0.2, n_segments) @ masks, 0, 1)
    labels = (rng.random(n) < truth).astype(int)
    labels[:2] = 0, 1
    return scores, labels, masks


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 300),
    n_segments=st.integers(1, 20),
    alpha=st.sampled_from([0.02, 0.1, 0.3]),
    bin_width=st.sampled_from([0.1, 0.25, 0.05]),
    average=st.booleans(),
    weighted=st.booleans(),
)
def test_the_fast_hkrr_is_the_plain_one(
    seed: int, n: int, n_segments: int, alpha: float, bin_width: float, average: bool, weighted: bool
) -> None:
    scores, labels, masks = some_rows(seed, n, n_segments)
    weights = np.random.default_rng(seed).uniform(0.5, 3, n) if weighted else None
    segments = {f"g{g}": mask for g, mask in enumerate(masks)}
    X = {"x": np.zeros(n)}
    fast = HKRR(alpha=alpha, bin_width=bin_width, average_bins=average, random_state=seed)
    fast.fit(X, labels, scores=scores, segments=segments, sample_weight=weights)
    plain = PlainHKRR(alpha, bin_width, 1000, average, seeds_from(seed)[0]).fit(scores, labels, masks, weights)
    body = fast.updates_
    assert list(zip(body.segment.tolist(), body.bin.tolist(), strict=True)) == [move[:2] for move in plain.moves]
    np.testing.assert_allclose(body.delta, [move[2] for move in plain.moves], atol=1e-10)
    assert fast.n_iterations_ == plain.n_iterations
    new_scores, _, new_masks = some_rows(seed + 1, 50, n_segments)
    new_groups = {f"g{g}": mask for g, mask in enumerate(new_masks)}
    found = fast.calibrate({"x": np.zeros(50)}, new_scores, new_groups)
    np.testing.assert_allclose(found, plain.calibrate(new_scores, new_masks), atol=1e-9)


def test_bins_are_closed_above_and_the_first_one_below_too() -> None:
    asked = np.array([0.0, 1e-300, 0.25, 0.2500001, 0.5, 0.75, 0.76, 1.0])
    assert bins_of(asked, 0.25, 4).tolist() == [0, 0, 0, 1, 1, 2, 3, 3]
