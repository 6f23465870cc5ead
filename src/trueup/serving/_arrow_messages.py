"""A look at the messages of an Arrow stream before Arrow itself reads them.

Arrow believes what a stream declares. A compressed buffer states the size that it unfolds to, a dictionary of nulls its
length, and a schema may name one text a million times, which becomes a million texts. So a body of a kilobyte could ask
for a terabyte, and what it asks for must be known before Arrow reads a batch. The metadata of a message is a
flatbuffer; here are the few of its fields that tell, read with every offset checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from trueup._data import field_at, follow, scalar_of, unpack_at
from trueup.serving._problems import Problem

__all__ = ["check_messages"]

_MAX_MESSAGES = 10_000
_MAX_DICTIONARY_VALUES = 1_000_000  # of all dictionaries together; some types cost two microseconds per value
_MAX_SCHEMA_BYTES = 2**20
_BYTES_OF_TABLE = 64  # what each part of a schema counts for at least

_CONTINUATION = 0xFFFFFFFF
# Fields of the flatbuffer tables, by number. `Message`:
_VERSION, _HEADER_TYPE, _HEADER, _BODY_LENGTH, _CUSTOM_METADATA = range(5)
_SCHEMA, _DICTIONARY_BATCH, _RECORD_BATCH = 1, 2, 3  # kinds of headers
_VERSION_5 = 4  # of all releases since 1.0; in version 4, custom metadata may say that buffers are compressed
# `DictionaryBatch`, whose data is a `RecordBatch`:
_DATA, _IS_DELTA = 1, 2
# `RecordBatch`:
_LENGTH, _NODES, _COMPRESSION = 0, 1, 3
# `Field`, whose type has a text or a list as its field 1 if it is a timestamp or a union:
_TYPE_KIND, _TYPE = 2, 3
_TIMESTAMP, _UNION = 10, 14

# What can be long in the tables of a schema: texts (None), and lists of other tables.
_OF_PAIR: dict[int, Any] = {0: None, 1: None}
_OF_FIELD: dict[int, Any] = {0: None, 6: _OF_PAIR}
_OF_FIELD[5] = _OF_FIELD
_OF_SCHEMA: dict[int, Any] = {1: _OF_FIELD, 2: _OF_PAIR}


def check_messages(body: bytes, max_rows: int) -> int:
    """How many rows a stream declares; a `Problem` if it asks for too much, ValueError if that can't be told."""
    n_rows = n_values = 0
    for number, (start, end) in enumerate(_messages(body)):
        if number >= _MAX_MESSAGES:
            raise Problem("bad-arrow", f"The stream has more than {_MAX_MESSAGES:,} batches. Send fewer, larger ones.")
        message = body[start:end]
        table = follow(message, 0)
        kind, header_at = scalar_of("<B", message, table, _HEADER_TYPE), field_at(message, table, _HEADER)
        if header_at is None:
            continue
        header = follow(message, header_at)
        if kind == _SCHEMA:
            _check_schema(message, header)
        elif kind in (_DICTIONARY_BATCH, _RECORD_BATCH):
            _check_is_plain(message, table)
            if kind == _RECORD_BATCH:
                n_rows += _batch_length(message, header)
            else:
                n_values += _dictionary_length(message, header)
        if n_rows > max_rows:
            raise Problem("too-many-rows", f"The stream has more than {max_rows:,} rows.")
        if n_values > _MAX_DICTIONARY_VALUES:
            raise Problem(
                "bad-arrow",
                f"The dictionaries of the stream have more than {_MAX_DICTIONARY_VALUES:,} values. Leave out the "
                "values that no row has, or send the columns without dictionaries.",
            )
    return n_rows


def _messages(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the metadata of each message begin and end."""
    place = 0
    while place < len(body):
        (length,) = unpack_at("<I", body, place)
        place += 4
        if length == _CONTINUATION:
            (length,) = unpack_at("<I", body, place)
            place += 4
        if length == 0:
            return  # the end of the stream; what stands behind it is never read
        end = place + length
        if end > len(body):
            raise ValueError("it is cut short")
        yield place, end
        message = body[place:end]
        place = end + _not_negative(scalar_of("<q", message, follow(message, 0), _BODY_LENGTH))


def _check_is_plain(message: bytes, table: int) -> None:
    """Refuse a batch whose metadata could tell Arrow to unfold it."""
    if scalar_of("<h", message, table, _VERSION) != _VERSION_5:
        raise Problem("bad-arrow", "A batch of the stream is of an old metadata version. Write it with version 5.")
    if field_at(message, table, _CUSTOM_METADATA) is not None:
        raise Problem("bad-arrow", "A batch of the stream has custom metadata. Write it without.")


def _batch_length(message: bytes, batch: int) -> int:
    if field_at(message, batch, _COMPRESSION) is not None:
        raise Problem("bad-arrow", "The stream is compressed. Write it with compression=None.")
    return _not_negative(scalar_of("<q", message, batch, _LENGTH))


def _dictionary_length(message: bytes, dictionary: int) -> int:
    """How many values a dictionary has, which its nodes tell: Arrow does not compare them with the batch."""
    if scalar_of("<B", message, dictionary, _IS_DELTA):
        raise Problem("bad-arrow", "A dictionary of the stream grows. Write it with emit_dictionary_deltas=False.")
    data_at = field_at(message, dictionary, _DATA)
    if data_at is None:
        return 0
    batch = follow(message, data_at)
    length, nodes_at = _batch_length(message, batch), field_at(message, batch, _NODES)
    if nodes_at is None:
        return length
    vector = follow(message, nodes_at)
    (count,) = unpack_at("<I", message, vector)
    if vector + 4 + 16 * count > len(message):
        raise ValueError("an offset points outside")
    lengths = np.frombuffer(message, "<i8", 2 * count, vector + 4)[::2]  # each node is a length and a count of nulls
    return max(length, int(lengths.max(initial=0)))


def _check_schema(message: bytes, schema: int) -> None:
    """Refuse a schema that is far larger than its message: parts of it may stand in many places at once."""
    n_bytes, waiting = 0, [(schema, _OF_SCHEMA)]
    while waiting:
        table, parts = waiting.pop()
        for number, inner in parts.items():
            at = field_at(message, table, number)
            if at is None:
                continue
            vector = follow(message, at)
            (count,) = unpack_at("<I", message, vector)
            n_bytes += count if inner is None else count * _BYTES_OF_TABLE
            _check_schema_bytes(n_bytes)
            if inner is not None:
                waiting += [(follow(message, vector + 4 + 4 * place), inner) for place in range(count)]
        if parts is _OF_FIELD and scalar_of("<B", message, table, _TYPE_KIND) in (_TIMESTAMP, _UNION):
            n_bytes += _bytes_of_type(message, table)
            _check_schema_bytes(n_bytes)


def _bytes_of_type(message: bytes, field: int) -> int:
    """The length of a timestamp's zone or of a union's list of types."""
    type_at = field_at(message, field, _TYPE)
    long_at = None if type_at is None else field_at(message, follow(message, type_at), 1)
    return 0 if long_at is None else 4 * unpack_at("<I", message, follow(message, long_at))[0]


def _check_schema_bytes(n_bytes: int) -> None:
    if n_bytes > _MAX_SCHEMA_BYTES:
        raise Problem("bad-arrow", "The schema of the stream is too large. Send fewer columns, without their metadata.")


def _not_negative(length: int) -> int:
    if length < 0:
        raise ValueError("a length is below zero")
    return length
