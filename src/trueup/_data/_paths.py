"""From paths, folders and patterns to files in a fixed order, with the columns that their folders' names tell."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from trueup.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"-?[0-9]+")
_SMALLEST, _LARGEST = -(2**31), 2**31 - 1  # of the 32 bits that Arrow gives the numbers in folders' names


@dataclass(frozen=True)
class Found:
    """A file, and what the names of its folders say, such as ``year=2024``; None is a missing value."""

    path: str
    in_folders: Mapping[str, str | None]


def is_pattern(path: str) -> bool:
    """Whether a path is a pattern of files' names, and not the name of one that is there."""
    return glob.has_magic(path) and not os.path.exists(path)


def find_files(paths: Iterable[str | os.PathLike[str]]) -> list[Found]:
    """The files that paths, folders and patterns name, those of each in the order of their names."""
    files = [found for path in paths for found in _expanded(os.fspath(path))]
    seen: dict[str, str] = {}
    for found in files:
        real = os.path.realpath(found.path)
        if real in seen:
            same = f"{found.path!r} is named twice" if seen[real] == found.path else ""
            what = same or f"{seen[real]!r} and {found.path!r} are the same file"
            raise FileError(f"{what}: its rows would count twice. Name it once.")
        seen[real] = found.path
    return files


def would_read(path: str, output: str) -> bool:
    """Whether a folder or a pattern would find a file that is written there."""
    base, pattern = (path, ()) if os.path.isdir(path) else _divided(path)
    if not is_pattern(path) and not os.path.isdir(path):
        return False
    inside = Path(os.path.relpath(os.path.realpath(output), os.path.realpath(base or "."))).parts
    return inside[0] != os.pardir and not any(map(_is_hidden, inside)) and _matches(inside, pattern)


def folder_columns(files: Sequence[Found]) -> dict[str, pa.DataType]:
    """The types of the columns that folders' names tell: integers if all values are, else strings."""
    import pyarrow as pa

    values: dict[str, set[str]] = {}
    for found in files:
        for name, value in found.in_folders.items():
            values.setdefault(name, set()).update(() if value is None else (value,))
    return {name: pa.int32() if some and all(map(_is_integer, some)) else pa.string() for name, some in values.items()}


def _is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None and _SMALLEST <= int(text) <= _LARGEST


def _expanded(path: str) -> list[Found]:
    if is_pattern(path):
        return _matching(path)
    if os.path.isdir(path):
        files = sorted(_inside(path))
        if not files:
            raise FileError(f"The folder {path!r} has no files to read (names that begin with _ or . are passed over).")
        return [Found(file, _told_by_folders(path, file)) for file in files]
    if not os.path.exists(path):
        raise FileError(f"There is no file {path!r}.")
    return [Found(path, {})]


def _matching(pattern: str) -> list[Found]:
    """The files that match a pattern, and those inside of folders that do."""
    base, _ = _divided(pattern)
    n_fixed = len(Path(base).parts)
    matches = glob.glob(pattern, recursive=True)
    visible = [path for path in matches if not any(map(_is_hidden, Path(path).parts[n_fixed:]))]
    files: set[str] = set()
    for path in visible:
        files.update(_inside(path) if os.path.isdir(path) and "**" not in pattern else [path])
    files = {path for path in files if not os.path.isdir(path)}
    if not files:
        hidden = len(matches) - len(visible)
        passed_over = f" ({hidden:,} with names that begin with _ or . are passed over)" if hidden else ""
        raise FileError(f"No file matches {pattern!r}{passed_over}.")
    return [Found(path, _told_by_folders(base, path)) for path in sorted(files)]


def _divided(pattern: str) -> tuple[str, tuple[str, ...]]:
    """The folder that a pattern begins with, and the parts of it that follow."""
    parts = Path(pattern).parts
    n_fixed = next((i for i, part in enumerate(parts) if glob.has_magic(part)), len(parts))
    return str(Path(*parts[:n_fixed])) if n_fixed else "", parts[n_fixed:]


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern, or are inside of a folder that does."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_matches(parts[i:], pattern[1:]) for i in range(len(parts) + 1))
    return bool(parts) and fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _inside(folder: str) -> Iterator[str]:
    """All files in a folder and the folders in it, links followed, each folder once."""
    seen: set[str] = set()
    for here, folders, names in os.walk(folder, followlinks=True, onerror=_refuse):
        real = os.path.realpath(here)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        yield from (os.path.join(here, name) for name in names if not _is_hidden(name))


def _refuse(error: OSError) -> None:
    raise FileError(f"The folder {error.filename!r} can't be read: {error.strerror}.") from error


def _is_hidden(name: str) -> bool:
    """Whether a name is that of a marker, a checksum or something unfinished, by the custom of Hadoop and Spark."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _told_by_folders(base: str, path: str) -> dict[str, str | None]:
    """What the names of the folders between say: ``year=2024`` is a column."""
    between = Path(path).parts[len(Path(base).parts) : -1] if base else Path(path).parts[:-1]
    pairs = [part.partition("=") for part in between if "=" in part]
    return {unquote(name): None if value == _NO_VALUE else unquote(value) for name, _, value in pairs}
