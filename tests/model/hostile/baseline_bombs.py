"""Small files of format 2 that a careless reader would need hours or gigabytes for, with checksums that are right."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from hostile_file import Entries, HostileFile, npy, with_checksums, zip_of


def baseline_bombs(entries: Entries) -> Iterator[HostileFile]:
    """Many groups, many conditions, many moves, many levels."""
    manifest = json.loads(entries["manifest.json"])

    def file(name: str, change: dict[str, Any], arrays: dict[str, Any] | None = None) -> HostileFile:
        changed = {**entries, "manifest.json": json.dumps({**manifest, **change}).encode()}
        changed.update({f"{key}.npy": npy(array) for key, array in (arrays or {}).items()})
        return HostileFile(name, zip_of(with_checksums(changed)), recomputed=True)

    column = manifest["columns"][0]
    missing = {"test": "missing", "column": column, "excluded": False}
    masks = [{"name": str(i), "conditions": None} for i in range(200_000)]
    yield file("200,000 masks", {"groups": manifest["groups"] + masks})
    yield file("a group of 300,000 conditions", {"groups": [{"name": "x", "conditions": [missing] * 300_000}]})
    tests = [{"name": str(i), "conditions": [missing]} for i in range(9_000)]
    yield file("9,000 conditions", {"groups": manifest["groups"] + tests})
    hashes = {"name": column, "kind": "MIXED", "categories": [i * (2**61 - 1) for i in range(60_000)]}
    one_of = {"test": "one_of", "values": hashes, "excluded": False, "or_missing": False}
    yield file("values of equal hash", {"groups": [{"name": "x", "conditions": [one_of]}]})
    for width in (1e-300, 1e-9, 1e-5, 1e300, -0.1, 0):
        yield file(f"bins of width {width}", {"body": {"bin_width": width}})
    for n in (0, -1, 10**6, 2**62, 10**30):
        yield file(f"{n} levels", {"body": {"n_levels": n}})
    if manifest["kind"] == "cell_updates":
        yield from move_bombs(file)


def move_bombs(file: Any) -> Iterator[HostileFile]:
    n = 2**20
    moves = {
        "cell_updates/group": np.zeros(n, "<i4"),
        "cell_updates/bin": np.full(n, 3, "<i4"),
        "cell_updates/delta": np.full(n, 1e-12),
    }
    yield file("a million moves of one cell", {}, moves)
    yield file("a million moves, in some arrays only", {}, {"cell_updates/delta": np.zeros(n)})
