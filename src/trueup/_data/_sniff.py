"""How tables are written in files: what their names, their first bytes and their first lines tell."""

from __future__ import annotations

import csv
import enum
import io
import re
from dataclasses import dataclass
from typing import Any

from trueup.errors import FileError, ParameterError


class Format(str, enum.Enum):
    """How a table is written."""

    PARQUET = "parquet"
    CSV = "csv"
    ARROW = "arrow"


# Endings that a text file may have besides, and what pyarrow calls them.
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_PLAIN = {
    ".parquet": Format.PARQUET,
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".arrow": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
}
_ENDINGS = _PLAIN | {f"{text}{packed}": Format.CSV for text in (".csv", ".tsv") for packed in COMPRESSIONS}


def known_ending(path: str) -> str:
    """The ending that says how a file is written; empty if it has none of those."""
    return next((ending for ending in _ENDINGS if path.lower().endswith(ending)), "")


def format_of_ending(path: str, advice: str) -> Format:
    """The format that a file's ending says; an error with that advice if it says none."""
    ending = known_ending(path)
    if ending:
        return _ENDINGS[ending]
    packed = f".csv and .tsv also with {', '.join(COMPRESSIONS)}"
    raise FileError(f"{path!r} has none of the known endings ({', '.join(_PLAIN)}; {packed}). {advice}")


def delimiter_of_ending(path: str) -> str | None:
    """The delimiter that a file's ending says: a tab in .tsv."""
    return "\t" if known_ending(path).startswith(".tsv") else None


_HEAD = 2**16  # bytes that are looked at
_RECORDS = 50  # of them, lines that are looked at
_DELIMITERS = (",", ";", "\t", "|")
_SHOWN = {"\t": "tabs"}
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
_MAGIC = {b"PAR1": Format.PARQUET, b"ARROW1": Format.ARROW, b"\xff\xff\xff\xff": Format.ARROW}
_WITH_COMMA, _WITH_POINT = re.compile(r"-?\d+,\d+"), re.compile(r"-?\d+\.\d+")
_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3})+")


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str = ","
    decimal_point: str = "."
    compression: str | None = None


CSV = Dialect()


@dataclass(frozen=True)
class Written:
    """How a file is written, and what of it was assumed, in words; empty if its name or an option says it all."""

    format: Format
    dialect: Dialect = CSV
    assumed: str = ""


def delimiter_named(name: str) -> str:
    r"""The delimiter that an option names: one character, or ``tab`` or ``\t`` for a tab."""
    delimiter = "\t" if name in ("tab", "\\t") else name
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ParameterError(f"The delimiter must be one character, such as ; or tab, got {name!r}.")
    return delimiter


def opened(source: Any, dialect: Dialect) -> Any:
    """The bytes of a CSV file, unpacked: of a path, or of what is in memory."""
    import pyarrow as pa

    file = pa.BufferReader(source) if isinstance(source, bytes) else source
    return pa.input_stream(file, compression=dialect.compression)


def sniff(source: str | bytes, path: str, format_: Format | None, delimiter: str | None, advice: str) -> Written:
    """How a file, or what is in it, is written: as was asked for, or as its first bytes, its name and its first lines
    tell.

    `advice` is what a message says to do if nothing tells.
    """
    start, compression = _start(source)
    found = next((known for magic, known in _MAGIC.items() if start.startswith(magic)), None)
    if format_ is not None and found not in (None, format_):
        raise FileError(
            f"{_called(path)} is not a {format_.value} file but {_called_format(found)}. Leave the format out."
        )
    if found is not None:
        named = format_ or _ENDINGS.get(known_ending(path))
        told = "" if named in (None, found) else f"Reading {_called(path)} as what it is: {_called_format(found)}."
        return Written(found, assumed=told)
    format_ = format_ or format_of_ending(path, advice)
    if format_ is not Format.CSV:
        return Written(format_)
    return _csv(start, path, delimiter, compression)


def _start(source: str | bytes) -> tuple[bytes, str | None]:
    """The first bytes, unpacked, and how they were packed."""
    import pyarrow as pa

    with pa.OSFile(source) if isinstance(source, str) else pa.BufferReader(source) as file:
        start = file.read(_HEAD)
        compression = next((name for magic, name in _COMPRESSIONS.items() if start.startswith(magic)), None)
        if compression is None:
            return start, None
        file.seek(0)
        with pa.input_stream(file, compression=compression) as unpacked:
            return unpacked.read(_HEAD), compression


def _csv(start: bytes, path: str, delimiter: str | None, compression: str | None) -> Written:
    text = start.decode("utf-8-sig", errors="replace")
    chosen = delimiter or delimiter_of_ending(path)
    assumed = []
    if chosen is None:
        chosen = _delimiter(text, whole=len(start) < _HEAD)
        if chosen != ",":
            assumed.append(f"{_SHOWN.get(chosen, repr(chosen))} between columns")
    point = "," if chosen != "," and _has_decimal_commas(_records(text, chosen)) else "."
    if point == ",":
        assumed.append("decimal commas")
    told = f"Reading {_called(path)} with {' and '.join(assumed)}, as its first lines suggest." if assumed else ""
    return Written(Format.CSV, Dialect(chosen, point, compression), told)


def _delimiter(text: str, *, whole: bool) -> str:
    """What parts the first lines into the most columns, as many in each; the comma if nothing does."""
    best, most = ",", 1
    for delimiter in _DELIMITERS:
        records = _records(text, delimiter)
        if not whole and len(records) > 1:
            records.pop()  # which may have been cut
        widths = {len(record) for record in records}
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    return best


def _records(text: str, delimiter: str) -> list[list[str]]:
    records = []
    try:
        for record in csv.reader(io.StringIO(text), delimiter=delimiter):
            if record:
                records.append(record)
            if len(records) > _RECORDS:
                break
    except csv.Error:  # a field that is too long, or a NUL: this is no text
        return []
    return records


def _has_decimal_commas(records: list[list[str]]) -> bool:
    """Whether numbers are written as 0,25: in at least as many columns as have 0.25, which may be versions.

    That 1,234 is a thousand or a one can't be told, so it is no evidence.
    """
    columns = list(zip(*records[1:], strict=False))
    with_comma = sum(
        any(_WITH_COMMA.fullmatch(value) and not _THOUSANDS.fullmatch(value) for value in column) for column in columns
    )
    return with_comma > 0 and with_comma >= sum(any(map(_WITH_POINT.fullmatch, column)) for column in columns)


def _called(path: str) -> str:
    return repr(path) if path else "stdin"


def _called_format(format_: Format | None) -> str:
    return "a Parquet file" if format_ is Format.PARQUET else "an Arrow file"
