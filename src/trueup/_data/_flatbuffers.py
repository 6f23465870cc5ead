"""Fields of a flatbuffer, as Arrow writes the metadata of its messages, read with every offset checked.

Arrow believes what a message declares: a compressed buffer of a kilobyte may state that it unfolds to a terabyte. So
what a stranger's bytes ask for is read here before Arrow reads them.
"""

from __future__ import annotations

import struct


def follow(message: bytes, place: int) -> int:
    """Where a table is whose offset stands at a place."""
    return int(place + unpack_at("<I", message, place)[0])


def field_at(message: bytes, table: int, number: int) -> int | None:
    """Where a field of a table stands; None if it has its default value."""
    vtable = table - unpack_at("<i", message, table)[0]
    (size,) = unpack_at("<H", message, vtable)
    entry = 4 + 2 * number
    if entry + 2 > size:
        return None
    (offset,) = unpack_at("<H", message, vtable + entry)
    return table + offset if offset else None


def scalar_of(form: str, message: bytes, table: int, number: int) -> int:
    """A number in a table; the default of all that are read here is 0."""
    at = field_at(message, table, number)
    return 0 if at is None else unpack_at(form, message, at)[0]


def unpack_at(form: str, data: bytes, place: int) -> tuple[int, ...]:
    """The numbers at a place, or a ValueError if it is outside."""
    try:
        if place >= 0:  # below, Python would count from the end
            return struct.unpack_from(form, data, place)
    except struct.error:
        pass
    raise ValueError("an offset points outside")
