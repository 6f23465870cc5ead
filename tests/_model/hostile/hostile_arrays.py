"""Arrays of other values, lengths, types and shapes, with checksums that are right."""

import io
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
from hostile_file import Entries, HostileFile, npy, with_checksums, zip_of

EXTREMES = [
    0, 1, -1, 2, -2, 5, 31, 32, 255, 256, 2**15, 2**16, 2**24, 2**31 - 1, -(2**31), 2**32 - 1, -0.0, 0.5,
    1e-320, 1e9, 1e300, 1.7e308, -1.7e308, float("inf"), float("-inf"), float("nan"),
]  # fmt: skip


def wrong_arrays(entries: Entries, rng: random.Random) -> Iterator[HostileFile]:
    """Arrays of other values, lengths, types and shapes, and arrays that are none."""
    arrays = {name: np.load(io.BytesIO(content)) for name, content in entries.items() if name.endswith(".npy")}
    for name, array in arrays.items():
        for label, content in (
            *(odd_values(array, rng) if len(array) else ()),
            *odd_shapes(array),
            *odd_headers(entries[name], array),
        ):
            changed = with_checksums({**entries, name: content})
            yield HostileFile(f"{name} {label}", zip_of(changed), recomputed=True)
    for i in range(150):
        changed = dict(entries)
        for name in rng.sample(sorted(arrays), min(3, len(arrays))):
            changed[name] = npy(
                np.array(rng.choices(arrays[name].tolist() or [0], k=len(arrays[name]))).astype(arrays[name].dtype)
            )
        yield HostileFile(f"three arrays shuffled, {i}", zip_of(with_checksums(changed)), recomputed=True)
    nothing = {name: npy(array[:0]) for name, array in arrays.items()}
    yield HostileFile("all arrays are empty", zip_of(with_checksums({**entries, **nothing})), recomputed=True)


def odd_values(array: Any, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    for value in EXTREMES:
        with np.errstate(all="ignore"):
            cast = np.array([value]).astype(array.dtype)[0]
        for place in {0, len(array) - 1, rng.randrange(len(array)), rng.randrange(len(array))}:
            changed = array.copy()
            changed[place] = cast
            yield f"has {value} at {place}", npy(changed)
        yield f"is all {value}", npy(np.full_like(array, cast))
    for i in range(20):
        changed = array.copy()
        a, b = rng.randrange(len(array)), rng.randrange(len(array))
        changed[[a, b]] = changed[[b, a]]
        yield f"has two values swapped, {i}", npy(changed)
    yield "is in reverse", npy(array[::-1].copy())
    yield "is sorted", npy(np.sort(array))


def odd_shapes(array: Any) -> Iterator[tuple[str, bytes]]:
    for length in (0, 1, max(0, len(array) - 1), len(array) + 1, 2 * len(array), 100_000):
        yield f"has {length} values", npy(np.resize(array, length))
    yield "has two dimensions", npy(array.reshape(1, -1))
    yield "has no dimension", npy(np.zeros((), array.dtype))
    for other in ("<i8", ">i4", "<f4", "<u2", "|S4", "<U1", "?", "<c16", "<M8[s]", "|V4", ">f8", "<i2"):
        yield f"is of type {other}", npy(np.zeros(len(array), other))


def odd_headers(content: bytes, array: Any) -> Iterator[tuple[str, bytes]]:
    """The same values under headers that NumPy would evaluate."""
    data = array.tobytes()
    descr, n = array.dtype.str, len(array)
    texts = [
        f"{{'descr': '|O', 'fortran_order': False, 'shape': ({n},), }}",
        f"{{'descr': '{descr}', 'fortran_order': True, 'shape': ({n},), }}",
        f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (-1,), }}",
        f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n}L,), }}",
        f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({10**30},), }}",
        f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({n}, 1), }}",
        f"{{'descr': [('a', '{descr}')], 'fortran_order': False, 'shape': ({n},), }}",
        f"{{'descr': ('{descr}', (10000000,)), 'fortran_order': False, 'shape': ({n},), }}",
        f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (1e9,), }}",
        f"{{'shape': ({n},), 'descr': '{descr}', }}",
        "(" * 9000 + ")" * 9000,
        "-" * 60_000 + "1",
        "[" * 30_000,
        "__import__('os').abort()",
        "'\\d'",
        "",
    ]
    for text in texts:
        header = text.encode() + b"\n"
        yield f"has the header {text[:60]}", content[:8] + len(header).to_bytes(2, "little") + header + data
    yield "has a header of 65,535 bytes", content[:8] + b"\xff\xff" + content[10:]
    yield "has a header of no bytes", content[:8] + b"\x00\x00" + content[10:]
    yield "is of version 2", content[:6] + b"\x02\x00" + content[8:10] + bytes(2) + content[10:]
    yield "is of version 3", content[:6] + b"\x03\x00" + content[8:10] + bytes(2) + content[10:]
    yield "has more bytes than it says", content + bytes(1)
    yield "has fewer bytes than it says", content[:-1]
    yield "is 5 bytes", content[:5]
