"""Files and folders that are either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it takes the place of `path` when the block ends well.

    It is flushed to the disk before it is renamed, so a crash at any moment leaves the old file or the new one; if the
    block raises, `path` is untouched. A link keeps pointing at the file that is replaced, and a file keeps its
    permissions. A folder or a device is not replaced, nor is a file that may not be written to: an `OSError`.
    """
    target = Path(os.path.realpath(os.fsdecode(path)))
    mode = _mode_of(target)
    # Forty characters are at most 160 bytes: a long name must not become too long.
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")
    try:
        try:
            os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600))
        except OSError as error:  # which would name a file that the user doesn't know
            raise OSError(error.errno, error.strerror, str(target)) from error
        yield temporary
        with open(temporary, "rb+") as written:
            if mode is not None:
                os.chmod(temporary, mode)
            os.fsync(written.fileno())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _mode_of(target: Path) -> int | None:
    """The permissions of the file that is there; None if none is."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise OSError(code, "Not a file that can be replaced", str(target))
    if not os.access(target, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise PermissionError(errno.EACCES, "The file may not be written to", str(target))
    return stat.S_IMODE(mode) & 0o777


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where folders can be opened."""
    with contextlib.suppress(OSError):  # Windows opens no folder, and some file systems don't sync them
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
    made = [folder for folder in target.parents if not folder.exists()]  # the innermost first
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}.tmp")
    old = temporary.with_suffix(".old")
    try:
        temporary.mkdir()
        yield temporary
        for file in (*temporary.rglob("*"), temporary):
            if file.is_dir():
                _sync_folder(file)
            else:
                with open(file, "rb+") as written:
                    os.fsync(written.fileno())
        if target.exists():
            os.rename(target, old)
        os.rename(temporary, target)
        _sync_folder(target.parent)
    finally:
        if old.exists() and not target.exists():  # stopped between the two renames
            os.rename(old, target)
        for leftover in (temporary, old):
            shutil.rmtree(leftover, ignore_errors=True)
        if not target.exists():
            for folder in made:
                with contextlib.suppress(OSError):
                    folder.rmdir()
