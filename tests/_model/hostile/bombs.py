"""Small files that a careless reader would need hours or gigabytes for, with checksums that are right."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hostile_file import Entries, HostileFile, npy, with_checksums, zip_of


def bombs(entries: Entries) -> Iterator[HostileFile]:
    """Small files that a careless reader would need hours or gigabytes for."""
    manifest = json.loads(entries["manifest.json"])

    def file(name: str, change: dict[str, Any], arrays: dict[str, Any] | None = None) -> HostileFile:
        changed = {**entries, "manifest.json": json.dumps({**manifest, **change}).encode()}
        changed.update({f"trees/{key}.npy": npy(array) for key, array in (arrays or {}).items()})
        return HostileFile(name, zip_of(with_checksums(changed)), recomputed=True)

    empty_round = {"n_trees": 0, "theta": 1.0}
    yield file("a hundred thousand empty rounds", {"rounds": manifest["rounds"] + [empty_round] * 100_000})
    yield file("five thousand rounds, almost all empty", {"rounds": manifest["rounds"] + [empty_round] * 4_997})
    for name, values in (
        ("integers", [i * (2**61 - 1) for i in range(60_000)]),
        ("decimals", [{"decimal": str(i * (2**61 - 1))} for i in range(60_000)]),
        ("long integers", [-i * (2**61 - 1) << 70 for i in range(60_000, 0, -1)]),
    ):
        for kind in ("MIXED", "NUMBER"):
            feature = {**manifest["features"][5], "kind": kind, "categories": values}
            yield file(
                f"{name} of equal hash, {kind}",
                {"features": [*manifest["features"][:5], feature, *manifest["features"][6:]]},
            )
    parity = {
        "rows": manifest["parity"]["rows"] * 2_000,
        "scores": [0.5] * 16_000,
        "expected": [0.5] * 16_000,
    }
    yield file("many parity rows", {"parity": parity})
    yield from tree_bombs(manifest, file)


def tree_bombs(manifest: Any, file: Callable[..., HostileFile]) -> Iterator[HostileFile]:
    def trees(n: int, n_splits: int, sets: Any, words: Any) -> dict[str, Any]:
        """`n` trees that are chains of categorical splits on the first feature."""
        chain = np.arange(1, n_splits + 1, dtype="<i4")
        chain[-1] = ~0
        return {
            "node_offsets": np.arange(n + 1, dtype="<i4") * n_splits,
            "split_feature": np.zeros(n * n_splits, "<i4"),
            "threshold": np.asarray(sets, "<f8"),
            "decision_type": np.ones(n * n_splits, "u1"),
            "left_child": np.tile(~np.arange(1, n_splits + 1, dtype="<i4"), n),
            "right_child": np.tile(chain, n),
            "leaf_values": np.full(n * (n_splits + 1), 1e-9),
            "category_offsets": np.concatenate([[0], np.cumsum(words)]).astype("<i4"),
            "category_words": np.full(int(np.sum(words)), 2**32 - 1, "<u4"),
        }

    one_a_tree = [{"n_trees": 1, "theta": 1.0}] * 3000
    shared = trees(3000, 1, np.zeros(3000), [250_000])
    yield file("a large set that all rounds share", {"rounds": one_a_tree}, shared)
    one_round = [{"n_trees": 2000, "theta": 1.0}]
    tables = trees(2000, 7, np.arange(14_000), [2048] + [0] * 13_999)
    yield file("a table of masks a split", {"rounds": one_round}, tables)
    long = trees(1, 200_000, np.arange(200_000), [0] * 200_000)
    yield file("a tree of 200,000 levels", {"rounds": [{"n_trees": 1, "theta": 1.0}]}, long)
    large = trees(1, 1, [0], [2**20])
    yield file("a set of 2**25 categories", {"rounds": [{"n_trees": 1, "theta": 1.0}]}, large)
