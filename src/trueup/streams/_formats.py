"""How tables are written in files, and what the names of files say of it."""

from __future__ import annotations

import enum

from trueup.errors import FileError

__all__ = ["Format", "format_of_ending", "known_ending"]


class Format(str, enum.Enum):
    """How a table is written."""

    PARQUET = "parquet"
    CSV = "csv"
    ARROW = "arrow"


_ENDINGS = {
    ".parquet": Format.PARQUET,
    ".csv": Format.CSV,
    ".csv.gz": Format.CSV,
    ".arrow": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
}


def known_ending(path: str) -> str:
    """The ending that says how a file is written; empty if it has none of those."""
    return next((ending for ending in _ENDINGS if path.lower().endswith(ending)), "")


def format_of_ending(path: str, advice: str) -> Format:
    """The format that a file's ending says; an error with that advice if it says none."""
    ending = known_ending(path)
    if ending:
        return _ENDINGS[ending]
    raise FileError(f"{path!r} has none of the known endings ({', '.join(_ENDINGS)}). {advice}")
