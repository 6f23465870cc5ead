"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

__all__ = ["atomic_path", "sync_file", "sync_folder"]


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
        _create(temporary, target, 0o666 if mode is None else 0o600)
        yield temporary
        with open(temporary, "rb+") as written:
            if mode is not None:
                os.chmod(temporary, mode)
            os.fsync(written.fileno())
        os.replace(temporary, target)
        sync_folder(target.parent)
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


def _create(temporary: Path, target: Path, mode: int) -> None:
    """Make the temporary file, which must not be there; errors name the file that the user knows."""
    try:
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


def sync_file(path: Path) -> None:
    """Make what was written to a file durable."""
    with open(path, "rb+") as written:
        os.fsync(written.fileno())


def sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where folders can be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows
        return
    try:
        os.fsync(handle)
    except OSError:  # a file system that doesn't sync folders
        pass
    finally:
        os.close(handle)
