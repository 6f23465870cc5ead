"""How tables are written in files, and what the names of files say of it."""

from __future__ import annotations

import enum

from trueup.errors import FileError

__all__ = ["COMPRESSIONS", "Format", "delimiter_of_ending", "format_of_ending", "known_ending"]


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
