"""Small changes to bytes and to JSON, drawn from a generator: what every fuzzer here is made of."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["mutate_bytes", "mutate_json", "odd_number", "odd_text"]

_NUMBERS = [
    0, 1, -1, 2, 3, 7, 8, 9, 31, 32, 63, 64, 65, 255, 256, 2**15, 2**16, 2**24, 2**31 - 1, 2**31, -(2**31), 2**32,
    2**53,
    2**62, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30, 10**309, 0.0, -0.0, 0.1, 0.5, 0.999999, 1.5, 1e-320, 1e-300, 1e15,
    1e300, -1e300, 1.7e308,
]  # fmt: skip
_TEXTS = [
    "", " ", "a", "x" * 1000, "NUMBER", "MIXED", "EMPTY", "STRING", "DATE", "nan", "inf", "-inf", "1e999", "true",
    "null",
    "2020-01-01", "2020-02-30", "2020-01-01T00:00:00", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00+23:59",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999-14:00", "20200101", "2020-W01-1", "25:00", "é", "中国",
    "\x00", "\u2028", "\U0001f600", "../../etc/passwd", "__class__", "score", "rows", "score_map", "cell_updates",
    "level_trees", "group_rounds",
]  # fmt: skip
# Text that no encoder would write: JSON that Python or orjson may read in ways of their own.
_RAW_JSON = [
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1E400", "0.1e-9999", "9" * 5000, "[" * 2000, '{"a":' * 2000,
    "\ufeff",
    '"\\ud800"', '"\\udc00\\ud800"', "01", "1.", ".5", "+1", "'a'", "//", "undefined", "--1", "1e", '"\x01"', ",",
    "[]", "{}", "",
]  # fmt: skip
_HOLE = '"fuzz-hole-0d1f3a"'


def odd_number(rng: random.Random) -> int | float:
    """A number at which something may break."""
    return rng.choice([*_NUMBERS, rng.uniform(-2, 2), rng.randrange(-300, 300)])


def odd_text(rng: random.Random) -> str:
    """A text at which something may break."""
    if rng.random() < 0.7:
        return rng.choice(_TEXTS)
    return "".join(chr(rng.choice([rng.randrange(32, 127), rng.randrange(0xD800)])) for _ in range(rng.randrange(6)))


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bits flipped, bytes overwritten, put in, taken out, moved and cut off, and words of some bytes replaced."""
    if not data:
        return rng.randbytes(rng.randrange(64))
    place, other, size = rng.randrange(len(data)), rng.randrange(len(data)), rng.randrange(1, 33)
    choice = rng.randrange(8)
    if choice == 0:
        return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]
    if choice == 1:
        return data[:place] + rng.randbytes(size) + data[place + size :]
    if choice == 2:
        return data[:place] + rng.randbytes(size) + data[place:]
    if choice == 3:
        return data[:place] + data[place + size :]
    if choice == 4:
        return data[:place] + data[other : other + size] + data[place + size :]
    if choice == 5:
        return data[:place] if rng.random() < 0.2 else data + data[other : other + size]
    form, limit = rng.choice([("<H", 2**16), ("<I", 2**32), ("<Q", 2**64)])
    word = struct.pack(form, int(_clipped(odd_number(rng))) % limit)
    place -= place % len(word) if rng.random() < 0.8 else 0  # most formats align their words
    return data[:place] + word + data[place + len(word) :]


def _clipped(number: int | float) -> float:
    return max(-(2.0**63), min(2.0**64, number))


def mutate_json(text: str, rng: random.Random) -> str:
    """The same JSON but for one value, or text that is no longer JSON."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return mutate_bytes(text.encode(), rng).decode("utf-8", "replace")
    if rng.random() < 0.05:
        return mutate_bytes(text.encode(), rng).decode("utf-8", "replace")
    wrapped = [document]
    parent, key = _somewhere(wrapped, rng)
    if rng.random() < 0.1:
        parent[key] = json.loads(_HOLE)
        return json.dumps(wrapped[0]).replace(_HOLE, rng.choice(_RAW_JSON), 1)
    rng.choice(_EDITS)(parent, key, rng)
    return json.dumps(wrapped[0]) if wrapped else ""


def _somewhere(wrapped: list[Any], rng: random.Random) -> tuple[Any, Any]:
    """A container in a document, and a key of it; the way down is drawn step by step, so that no value is too deep."""
    parent: Any = wrapped
    key: Any = 0
    while True:
        value = parent[key]
        if not isinstance(value, (dict, list)) or not value or (parent is not wrapped and rng.random() < 0.15):
            break
        parent, key = value, rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
    return parent, key


def _replace_by_odd(parent: Any, key: Any, rng: random.Random) -> None:
    simple: Sequence[Any] = [None, True, False, [], {}, [None], [[]], {"a": 1}, {"float": "nan"}, {"decimal": "sNaN"}]
    parent[key] = rng.choice([odd_number(rng), odd_number(rng), odd_text(rng), rng.choice(simple)])


def _nudge(parent: Any, key: Any, rng: random.Random) -> None:
    value = parent[key]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        _replace_by_odd(parent, key, rng)
    else:
        step = rng.choice([1, -1, value, -2 * value, 1e-9])
        parent[key] = value + (1 if abs(value) > 1e300 and isinstance(step, float) else step)


def _remove(parent: Any, key: Any, rng: random.Random) -> None:
    del parent[key]


def _repeat(parent: Any, key: Any, rng: random.Random) -> None:
    if isinstance(parent, dict):
        parent[odd_text(rng)] = parent[key]
    else:
        parent[key:key] = [parent[key]] * rng.choice([1, 1, 2, 70])


def _rename(parent: Any, key: Any, rng: random.Random) -> None:
    if isinstance(parent, dict):
        parent[odd_text(rng)] = parent.pop(key)
    else:
        rng.shuffle(parent)


def _exchange(parent: Any, key: Any, rng: random.Random) -> None:
    other = rng.choice(list(parent)) if isinstance(parent, dict) else rng.randrange(len(parent))
    parent[key], parent[other] = parent[other], parent[key]


def _wrap(parent: Any, key: Any, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 2, 30])):
        parent[key] = [parent[key]] if rng.random() < 0.5 else {odd_text(rng): parent[key]}


_EDITS: list[Callable[[Any, Any, random.Random], None]] = [
    _replace_by_odd, _replace_by_odd, _nudge, _remove, _repeat, _rename, _exchange, _wrap,
]  # fmt: skip
