"""Any trees give the same in a graph as in the compiled core."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from random_trees import random_trees
from trueup import Calibrator, export_onnx
from trueup._model import CalibrationModel, Feature, FeatureSpec, FittedRound, Trees, ValueKind

CATEGORIES = tuple(f"c{number:03}" for number in range(130))  # more than one word of bits, and more than four
FEATURES = (Feature("a", ValueKind.NUMBER), Feature("b", ValueKind.NUMBER), Feature("c", ValueKind.STRING, CATEGORIES))
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-36, np.nan, np.inf, -np.inf, 1e300]


def with_a_set_a_split(trees: Trees) -> Trees:
    """The same trees with a copy of its set for each split, as a model file has them."""
    is_set = (trees.decision_type & 1).astype(bool)
    offsets = trees.category_offsets
    words = [trees.category_words[offsets[s] : offsets[s + 1]] for s in trees.threshold[is_set].astype(int)]
    threshold = trees.threshold.copy()
    threshold[is_set] = np.arange(len(words))
    return replace(
        trees,
        threshold=threshold,
        category_offsets=np.cumsum([0, *map(len, words)]).astype(np.int32),
        category_words=np.concatenate([np.empty(0, np.uint32), *words]),
    )


@settings(max_examples=25)
@given(trees=random_trees(), seed=st.integers(0, 2**32), n_rows=st.sampled_from([1, 7, 60]))
def test_a_graph_agrees_with_the_compiled_trees(trees: Trees, seed: int, n_rows: int) -> None:
    import onnxruntime

    trees.threshold[trees.threshold == -np.inf] = -1e299  # LightGBM has none, and tables are cut at -1e300
    trees = with_a_set_a_split(trees)
    first = trees.n_trees // 2
    rounds = (FittedRound(trees.slice(0, first), 1.25), FittedRound(trees.slice(first, trees.n_trees), 0.75))
    calibrator = Calibrator(CalibrationModel(FeatureSpec(("a", "b", "c"), FEATURES), rounds))
    rng = np.random.default_rng(seed)
    rows = {
        "a": rng.choice(SPECIAL, n_rows),
        "b": rng.choice(SPECIAL, n_rows),
        "c": rng.choice([*CATEGORIES, "unseen", None], n_rows),
    }
    scores = rng.random(n_rows)
    with tempfile.TemporaryDirectory() as folder:
        exported = export_onnx(calibrator, Path(folder) / "model.onnx")
        session = onnxruntime.InferenceSession(exported.path, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, exported.feeds(rows, scores))
    np.testing.assert_allclose(found, calibrator.calibrate(rows, scores), rtol=0, atol=1e-14)
