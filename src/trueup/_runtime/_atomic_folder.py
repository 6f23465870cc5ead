"""Folders that are either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from trueup._runtime._atomic import sync_file, sync_folder

__all__ = ["atomic_folder", "check_folder"]


def check_folder(path: str | os.PathLike[str], names: Collection[str]) -> Path:
    """Refuse a place that a folder of these files can't take; give where it really is. A folder that has other files is
    somebody's, and is not replaced."""
    target = Path(os.path.realpath(os.fsdecode(path)))
    try:
        others = sorted(set(os.listdir(target)) - set(names))
    except FileNotFoundError:
        parent = next(folder for folder in target.parents if folder.exists())
        if not parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "Not a folder", str(parent)) from None
        if not os.access(parent, os.W_OK):
            raise PermissionError(errno.EACCES, "The folder may not be written to", str(parent)) from None
        return target
    if others:
        more = "" if len(others) == 1 else f" and {len(others) - 1} more"
        raise FileExistsError(
            errno.EEXIST, f"The folder has other files in it ({others[0]}{more}). Name a new one", str(target)
        )
    if not os.access(target.parent, os.W_OK) or not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "The folder may not be written to", str(target))
    return target


@contextlib.contextmanager
def atomic_folder(path: str | os.PathLike[str], names: Collection[str]) -> Iterator[Path]:
    """A temporary folder beside `path` to write to; it takes the place of `path`, as a whole, when the block ends well.

    If the block raises or is interrupted, nothing is left of it and `path` is as it was. `names` are the files that it
    may have: see `check_folder`.
    """
    target = check_folder(path, names)
    made = _make_parents(target)
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")
    old = temporary.with_suffix(".old")
    try:
        temporary.mkdir()
        yield temporary
        for file in temporary.rglob("*"):
            (sync_folder if file.is_dir() else sync_file)(file)
        sync_folder(temporary)
        if target.exists():
            os.rename(target, old)
        os.rename(temporary, target)
        sync_folder(target.parent)
    finally:
        if old.exists() and not target.exists():  # stopped between the two renames
            os.rename(old, target)
        for leftover in (temporary, old):
            shutil.rmtree(leftover, ignore_errors=True)
        if not target.exists():
            for folder in made:
                with contextlib.suppress(OSError):
                    folder.rmdir()


def _make_parents(target: Path) -> list[Path]:
    """Make the folders above, and give those that were not there, the innermost first."""
    absent = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    return absent
