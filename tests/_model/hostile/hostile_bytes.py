"""Model files as bad disks and broken copies leave them."""

import random
from collections.abc import Iterator

from hostile_file import HostileFile


def damaged_bytes(good: bytes, rng: random.Random) -> Iterator[HostileFile]:
    """Bits flipped, bytes cut off, put in, taken out, overwritten and moved."""
    directory = good.index(b"PK\x01\x02")
    places = [*range(directory, len(good)), *(rng.randrange(directory) for _ in range(800))]
    for place in places:
        changed = bytearray(good)
        changed[place] ^= 1 << rng.randrange(8)
        yield HostileFile(f"bit flipped at {place}", bytes(changed))
    for length in [*range(0, len(good), 50), *range(len(good) - 60, len(good))]:
        yield HostileFile(f"cut off at {length}", good[:length])
        yield HostileFile(f"beginning lost up to {length}", good[length:])
    for i in range(250):
        place, other, size = rng.randrange(len(good)), rng.randrange(len(good)), rng.randrange(1, 50)
        noise = rng.randbytes(size)
        yield HostileFile(f"put in, {i}", good[:place] + noise + good[place:])
        yield HostileFile(f"taken out, {i}", good[:place] + good[place + size :])
        yield HostileFile(f"overwritten, {i}", good[:place] + noise + good[place + size :])
        yield HostileFile(f"copied, {i}", good[:place] + good[other : other + size] + good[place + size :])
    for size in (0, 1, 21, 22, 42, 100, 100_000):
        yield HostileFile(f"{size} zeros", bytes(size))
        yield HostileFile(f"{size} bytes of noise", rng.randbytes(size))
    yield HostileFile("an end of a zip alone", b"PK\x05\x06" + bytes(18))
    yield HostileFile("twice the same file", good + good)
    yield HostileFile("something before it", b"#!/bin/sh\n" + good)
    yield HostileFile("something after it", good + b"\n")
