"""Noise of halves in segments, against the same written to be read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup import _native


def segmented(seed: int, n: int, *, ties: bool, n_groups: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Rows in order of score and four segments of them, for the kernel; and scores, masks and paths, to be read."""
    rng = np.random.default_rng(seed)
    scores = np.sort(np.round(rng.random(n), 1) if ties else rng.random(n))
    labels = (rng.random(n) < scores).astype(np.float64)
    weights = rng.uniform(0.1, 3, n)
    masks = rng.random((4, n)) < 0.6
    masks[:, 0] = True
    places = [np.flatnonzero(mask).astype(np.int32) for mask in masks]
    ends = [np.append(np.diff(scores[some]) != 0, True).astype(np.uint8) for some in places]
    paths = [rng.normal(size=len(some)) for some in places]
    arrays = {
        "group": rng.integers(0, n_groups, n).astype(np.int32),
        "weight": weights,
        "residual": weights * (labels - scores),
        "n_groups": n_groups,
        "offsets": np.append(0, np.cumsum([len(some) for some in places])).astype(np.int64),
        "places": np.concatenate(places),
        "ends": np.concatenate(ends),
        "path": np.concatenate(paths),
        "mean": rng.normal(size=4),
        "sigma": rng.uniform(0.05, 0.2, 4),
    }
    return arrays, {"scores": scores, "masks": masks, "paths": paths}


def largest_range(arrays: dict[str, Any], plain: dict[str, Any], sign_of_group: np.ndarray) -> float:
    """The largest range of any segment's path with noise, in its sigmas, as one reads it."""
    signs = sign_of_group[arrays["group"]]
    found = []
    for mask, path, mean, sigma in zip(plain["masks"], plain["paths"], arrays["mean"], arrays["sigma"], strict=True):
        noise = np.cumsum((signs * (arrays["residual"] - mean * arrays["weight"]))[mask])
        scores = plain["scores"][mask]
        sums = [0.0, *(path + noise)[np.append(scores[1:] != scores[:-1], True)]]
        found.append((max(sums) - min(sums)) / sigma)
    return max(found)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 60), ties=st.booleans(), n_groups=st.sampled_from([2, 5, 60]))
def test_a_split_adds_the_noise_of_its_halves_once_with_either_sign(
    seed: int, n: int, ties: bool, n_groups: int
) -> None:
    arrays, plain = segmented(seed, n, ties=ties, n_groups=n_groups)
    found = _native.halve_segments(**arrays, seed=seed, first=2, last=5, n_threads=2)
    for split, largest in zip(range(2, 5), found, strict=True):
        signs = 2.0 * _native.draw_half(seed, split, n_groups) - 1
        expected = [largest_range(arrays, plain, sign * signs) for sign in (1, -1)]
        assert largest == pytest.approx(expected, abs=1e-10)


def test_the_number_of_threads_changes_no_bit_of_the_largest_errors() -> None:
    arrays, _ = segmented(1, 500, ties=True, n_groups=90)
    one, four = (_native.halve_segments(**arrays, seed=3, first=0, last=30, n_threads=k) for k in (1, 4))
    np.testing.assert_array_equal(one, four)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"places": np.full(3, 9, np.int32)}, "no such row"),
        ({"places": np.full(3, -1, np.int32)}, "no such row"),
        ({"group": np.full(2, 2, np.int32)}, "no such group"),
        ({"offsets": np.array([0, 2], np.int64)}, "fit together"),
        ({"offsets": np.array([0, 4, 3], np.int64), "sigma": np.ones(2), "mean": np.ones(2)}, "ends before it begins"),
        ({"path": np.ones(2)}, "fit together"),
        ({"mean": np.ones(2)}, "fit together"),
        ({"weight": np.ones(1)}, "differ in length"),
    ],
)
def test_segments_that_are_none_are_refused(changed: dict[str, Any], message: str) -> None:
    arrays: dict[str, Any] = {
        "group": np.zeros(2, np.int32),
        "weight": np.ones(2),
        "residual": np.ones(2),
        "n_groups": 2,
        "offsets": np.array([0, 3], np.int64),
        "places": np.zeros(3, np.int32),
        "ends": np.ones(3, np.uint8),
        "path": np.ones(3),
        "mean": np.ones(1),
        "sigma": np.ones(1),
    }
    with pytest.raises(ValueError, match=message):
        _native.halve_segments(**(arrays | changed), seed=0, first=0, last=1)
