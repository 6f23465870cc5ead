"""A look at the messages of an Arrow stream before Arrow itself reads them.

A compressed buffer states the size that it unfolds to, and Arrow believes it: a body of a kilobyte could ask for a
terabyte. So compressed streams are refused, and that must be known before a batch is read. The metadata of a
message is a flatbuffer; here are the few of its fields that tell, read with every offset checked.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["has_compressed_batch"]

_CONTINUATION = 0xFFFFFFFF
# Of the table `Message`: the fields header_type, header and bodyLength.
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
# Of `DictionaryBatch` the field data, which is a `RecordBatch`; of that, the field compression.
_DATA, _COMPRESSION = 1, 3


class _BrokenStreamError(ValueError):
    """The bytes are not the messages of a stream."""


def has_compressed_batch(body: bytes) -> bool:
    """Whether any batch or dictionary of a stream is compressed; ValueError if that can't be told."""
    return any(_is_compressed(body[start:end]) for start, end in _messages(body))


def _messages(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the metadata of each message begin and end."""
    place = 0
    while place < len(body):
        (length,) = _unpack("<I", body, place)
        place += 4
        if length == _CONTINUATION:
            (length,) = _unpack("<I", body, place)
            place += 4
        if length == 0:
            return  # the end of the stream; what stands behind it is never read
        end = place + length
        if end > len(body):
            raise _BrokenStreamError("it is cut short")
        yield place, end
        place = end + _body_length(body[place:end])


def _body_length(message: bytes) -> int:
    field = _field(message, _root(message), _BODY_LENGTH)
    length: int = 0 if field is None else _unpack("<q", message, field)[0]
    if length < 0:
        raise _BrokenStreamError("a message has a length below zero")
    return length


def _is_compressed(message: bytes) -> bool:
    table = _root(message)
    kind_at, header_at = _field(message, table, _HEADER_TYPE), _field(message, table, _HEADER)
    kind = 0 if kind_at is None else _unpack("<B", message, kind_at)[0]
    if header_at is None or kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        return False
    batch = _follow(message, header_at)
    if kind == _DICTIONARY_BATCH:
        data_at = _field(message, batch, _DATA)
        if data_at is None:
            return False
        batch = _follow(message, data_at)
    return _field(message, batch, _COMPRESSION) is not None


def _root(message: bytes) -> int:
    return _follow(message, 0)


def _follow(message: bytes, place: int) -> int:
    """Where a table is whose offset stands at a place."""
    return int(place + _unpack("<I", message, place)[0])


def _field(message: bytes, table: int, number: int) -> int | None:
    """Where a field of a table stands; None if it has its default value."""
    vtable = table - _unpack("<i", message, table)[0]
    (size,) = _unpack("<H", message, vtable)
    entry = 4 + 2 * number
    if entry + 2 > size:
        return None
    (offset,) = _unpack("<H", message, vtable + entry)
    return table + offset if offset else None


def _unpack(form: str, data: bytes, place: int) -> tuple[int, ...]:
    if place < 0 or place + struct.calcsize(form) > len(data):
        raise _BrokenStreamError("an offset points outside")
    return struct.unpack_from(form, data, place)
