"""Changes to model files that keep the rest: zip, checksums, JSON and arrays stay as valid as they were."""

from __future__ import annotations

import hashlib
import io
import json
import math
import random
import zipfile
from typing import Any

import numpy as np
from fuzz_mutations import mutate_bytes, mutate_json, odd_number

__all__ = ["mutate_model_file"]

Parts = dict[str, bytes]
_MAGIC_LENGTH = 10
_EXTREMES = [
    0, 1, -1, 2, -2, 5, 31, 32, 255, 256, 2**16, 2**24, 2**31 - 1, -(2**31), 2**32 - 1, -0.0, 0.5, 1e-320, 1e300,
    1.7e308,
    float("inf"), float("-inf"), float("nan"),
]  # fmt: skip
_HEADERS = [
    ("<f8", "<f4"), ("<i4", "<i8"), ("<i4", "|O8"), ("<u4", "<i4"), ("<f8", ">f8"), ("False", "True"), (",)", ",1)"),
    ("(", "(2, "), ("(", "(-"), ("(", "(0x"), ("(", "(9"), ("(", "(1000000000"), ("'shape'", "'shape' "),
    ("}", ", 'x': 1}"), ("descr", "DESCR"),
]  # fmt: skip
_NAMES = [
    "x",
    "../x",
    "/etc/passwd",
    "trees",
    "trees/",
    "manifest.json/",
    "trees/threshold.npy",
    "score_map/scores.npy",
    "é",
    "a" * 500,
]


def mutate_model_file(data: bytes, rng: random.Random) -> bytes:
    """Another file: its bytes changed as they stand, or a part of it, with the zip and the checksums made anew."""
    parts = _parts_of(data) if rng.random() < 0.9 else None
    if not parts:
        return mutate_bytes(data, rng)
    choice = rng.random()
    if choice < 0.45 and "manifest.json" in parts:
        text = parts["manifest.json"].decode("utf-8", "replace")
        parts["manifest.json"] = mutate_json(text, rng).encode("utf-8", "surrogatepass")
    elif choice < 0.9:
        _mutate_array(parts, rng)
    else:
        _mutate_parts(parts, rng)
    if rng.random() < 0.95:
        sums = {name: hashlib.sha256(part).hexdigest() for name, part in parts.items() if name != "checksums.json"}
        parts["checksums.json"] = json.dumps(sums).encode("utf-8", "replace")
    return _zip_of(parts, rng)


def _parts_of(data: bytes) -> Parts | None:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            small = [part for part in archive.infolist() if part.file_size <= 2**20]
            return {part.filename: archive.read(part) for part in small}
    except Exception:  # a file that is no longer a zip: zipfile raises whatever it stumbles over
        return None


def _zip_of(parts: Parts, rng: random.Random) -> bytes:
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.01 else zipfile.ZIP_STORED
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, method)
        if rng.random() < 0.01:
            archive.comment = rng.randbytes(rng.randrange(30))
    return buffer.getvalue()


def _mutate_parts(parts: Parts, rng: random.Random) -> None:
    """A part removed, renamed, moved, exchanged with another, or put in."""
    name, other = rng.choice(list(parts)), rng.choice(list(parts))
    choice = rng.randrange(5)
    if choice == 0:
        del parts[name]
    elif choice == 1:
        parts[rng.choice(_NAMES)] = parts.pop(name)
    elif choice == 2:
        parts[name] = parts.pop(name)
    elif choice == 3:
        parts[name], parts[other] = parts[other], parts[name]
    else:
        parts[rng.choice(_NAMES)] = parts[name]


def _mutate_array(parts: Parts, rng: random.Random) -> None:
    names = [name for name in parts if name.endswith(".npy")]
    if not names:
        return
    name = rng.choice(names)
    content = parts[name]
    choice = rng.random()
    if choice < 0.1:
        parts[name] = mutate_bytes(content, rng)
    elif choice < 0.2:
        old, new = (text.encode() for text in rng.choice(_HEADERS))
        parts[name] = content.replace(old, new, 1)
    else:
        array = _array_of(content)
        if array is not None:
            parts[name] = _npy(_other_array(array, rng))
            if rng.random() < 0.2:  # arrays of one length often must keep it in common
                partner = rng.choice(names)
                parts[partner] = parts[name] if rng.random() < 0.2 else parts[partner]


def _array_of(content: bytes) -> Any:
    try:
        return np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # as above
        return None


def _npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _other_array(array: Any, rng: random.Random) -> Any:
    changed = array.copy()
    if not changed.ndim or not changed.size:
        return np.zeros(rng.randrange(4), array.dtype)
    choice = rng.randrange(8)
    place = rng.randrange(len(changed))
    if choice <= 3:
        for _ in range(rng.choice([1, 1, 2, 10])):
            changed[rng.randrange(len(changed))] = _as(array.dtype, rng)
    elif choice == 4:
        changed[place] = changed[rng.randrange(len(changed))]
    elif choice == 5:
        changed = np.delete(changed, place) if rng.random() < 0.5 else np.insert(changed, place, changed[place])
    elif choice == 6:
        changed = rng.choice([changed[:place], changed[::-1], np.concatenate([changed, changed])])
    else:
        changed = np.full_like(changed, _as(array.dtype, rng))
    return np.ascontiguousarray(changed)


def _as(dtype: np.dtype[Any], rng: random.Random) -> Any:
    """An odd number of a type, brought into its range."""
    value = rng.choice(_EXTREMES) if rng.random() < 0.7 else float(min(max(odd_number(rng), -1e308), 1e308))
    if dtype.kind == "f":
        return value if dtype.itemsize == 8 or not abs(value) > 6e4 else 1.0
    limits = np.iinfo(dtype)
    return limits.max if math.isnan(value) else int(min(max(value, limits.min), limits.max))
