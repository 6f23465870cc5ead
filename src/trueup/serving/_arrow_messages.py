"""A look at the messages of an Arrow stream before Arrow itself reads them.

A compressed buffer states the size that it unfolds to, and Arrow believes it: a body of a kilobyte could ask for a
terabyte. A dictionary that grows by a word is copied whole. So streams with either are refused, and that must be known
before a batch is read. The metadata of a message is a flatbuffer; here are the few of its fields that tell, read with
every offset checked.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from trueup.serving._problems import Problem

__all__ = ["check_messages"]

_MAX_MESSAGES = 10_000

_CONTINUATION = 0xFFFFFFFF
# Of the table `Message`: the fields header_type, header and bodyLength.
_HEADER_TYPE, _HEADER, _BODY_LENGTH = 1, 2, 3
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
# Of `DictionaryBatch` the fields data, which is a `RecordBatch`, and isDelta; of `RecordBatch` the field compression.
_DATA, _IS_DELTA, _COMPRESSION = 1, 2, 3


class _BrokenStreamError(ValueError):
    """The bytes are not the messages of a stream."""


def check_messages(body: bytes) -> None:
    """Refuse a stream with a part that may unfold, or with too many parts; ValueError if that can't be told."""
    for number, (start, end) in enumerate(_messages(body)):
        if number >= _MAX_MESSAGES:
            raise Problem("bad-arrow", f"The stream has more than {_MAX_MESSAGES:,} batches. Send fewer, larger ones.")
        _check_message(body[start:end])


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


def _check_message(message: bytes) -> None:
    table = _root(message)
    kind_at, header_at = _field(message, table, _HEADER_TYPE), _field(message, table, _HEADER)
    kind = 0 if kind_at is None else _unpack("<B", message, kind_at)[0]
    if header_at is None or kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
        return
    batch = _follow(message, header_at)
    if kind == _DICTIONARY_BATCH:
        delta_at = _field(message, batch, _IS_DELTA)
        if delta_at is not None and _unpack("<B", message, delta_at)[0]:
            raise Problem("bad-arrow", "A dictionary of the stream grows. Write it with emit_dictionary_deltas=False.")
        data_at = _field(message, batch, _DATA)
        if data_at is None:
            return
        batch = _follow(message, data_at)
    if _field(message, batch, _COMPRESSION) is not None:
        raise Problem("bad-arrow", "The stream is compressed. Write it with compression=None.")


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
