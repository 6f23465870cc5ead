"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path

__all__ = ["atomic_path"]


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path` to write to; it takes the place of `path` when the block ends well.

    The file is flushed to the disk before it is renamed, so a crash or a kill at any moment leaves either the old file
    or the new one. When the block raises, the temporary file is removed and `path` is untouched.
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing at the file that is replaced
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        yield temporary
        mode = target.stat().st_mode & 0o777 if target.exists() else None
        with open(temporary, "rb+") as written:
            if mode is not None:
                os.chmod(temporary, mode)
            os.fsync(written.fileno())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
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
