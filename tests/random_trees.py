"""Trees of any shape, with every kind of split, for tests of what walks them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from trueup._model import Trees

__all__ = ["N_FEATURES", "random_trees"]

N_FEATURES = 3  # two numbers, one of categories; feature 3 is the logit


@st.composite
def random_trees(draw: st.DrawFn) -> Trees:
    """Trees of any shape, with every kind of split."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(0, draw(st.sampled_from([3, 7, 7, 20]))), max_size=12))
    left, right = [], []
    for n_splits in sizes:
        children = np.full((n_splits, 2), 0)
        # As LightGBM grows them: each new split takes the place of a leaf.
        places: list[tuple[int, int]] = []
        for split in range(n_splits):
            if split:
                parent, side = places.pop(rng.integers(len(places)))
                children[parent, side] = split
            places += [(split, 0), (split, 1)]
        for leaf, (parent, side) in enumerate(places):
            children[parent, side] = ~leaf
        left.append(children[:, 0])
        right.append(children[:, 1])
    n = sum(sizes)
    features = rng.integers(0, N_FEATURES + 1, n)
    is_set = features == 2
    n_sets = draw(st.integers(1, 4))
    lengths = rng.integers(0, 4, n_sets)
    thresholds = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0, 2.5, np.inf, -np.inf], n)
    missing = rng.integers(0, 3 if draw(st.booleans()) else 1, n) if draw(st.booleans()) else np.full(n, 2)
    return Trees(
        node_offsets=np.cumsum([0, *sizes]).astype(np.int32),
        split_feature=features.astype(np.int32),
        threshold=np.where(is_set, rng.integers(0, n_sets, n), thresholds).astype(float),
        decision_type=np.where(is_set, 1, rng.integers(0, 2, n) * 2 + missing * 4).astype(np.uint8),
        left_child=np.concatenate([np.empty(0), *left]).astype(np.int32),
        right_child=np.concatenate([np.empty(0), *right]).astype(np.int32),
        leaf_values=rng.normal(size=n + len(sizes)),
        category_offsets=np.cumsum([0, *lengths]).astype(np.int32),
        category_words=rng.integers(0, 2**32, lengths.sum(), dtype=np.uint32),
    )
