"""Files from the sources: downloaded once, kept in a folder, and refused if they change."""

from __future__ import annotations

import contextlib
import hashlib
import json
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from trueup._runtime import atomic_path, cache_folder
from trueup.errors import DataFileError

__all__ = ["HASHES_FILE", "RemoteFile", "fetch"]

HASHES_FILE = "known-hashes.json"
_ATTEMPTS = 3
_SECONDS_TO_ANSWER = 5
_BLOCK = 2**20


@dataclass(frozen=True)
class RemoteFile:
    """A file at its source.

    Attributes
    ----------
    name : str
        What it is called in the cache folder.
    url : str
        Where it comes from.
    sha256 : str or None
        Its checksum where one is published; else the first download's is kept.
    """

    name: str
    url: str
    sha256: str | None = None


def fetch(file: RemoteFile, folder: Path | None = None) -> Path:
    """The path of a file: from the folder if it is there, else downloaded into it; checked in both cases.

    Parameters
    ----------
    file : RemoteFile
        The file.
    folder : Path, optional
        Where it is kept; the cache folder by default.

    Returns
    -------
    Path
        The file, whose checksum is the published one, or the same as ever.
    """
    folder = cache_folder() / "downloads" if folder is None else folder
    path = folder / file.name
    if not path.exists():
        _download(file, folder)
    _check_hash(file, path)
    return path


def _download(file: RemoteFile, folder: Path) -> None:
    try:
        import pooch
    except ImportError:
        raise DataFileError(
            _wanted(file, folder, "Downloading needs pooch, which is not installed: pip install pooch.")
        ) from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_reachable(file.url)
        shelf = pooch.create(
            folder,
            base_url="",
            registry={file.name: f"sha256:{file.sha256}" if file.sha256 else None},
            urls={file.name: file.url},
            retry_if_failed=_ATTEMPTS - 1,
        )
        with _progress(file.name) as progress:
            downloader = pooch.HTTPDownloader(progressbar=progress, timeout=60)
            shelf.fetch(file.name, downloader=downloader)
    except (OSError, ValueError) as error:  # what requests and pooch raise
        raise DataFileError(_wanted(file, folder, f"The download failed: {str(error).rstrip('.')}.")) from error


def _check_reachable(url: str) -> None:
    """Ask for a connection before pooch does: without a network it would try for minutes before it names the file."""
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.hostname or ""):
        parts = urlsplit(proxy)
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    socket.create_connection((parts.hostname or "", port), timeout=_SECONDS_TO_ANSWER).close()


def _wanted(file: RemoteFile, folder: Path, why: str) -> str:
    return (
        f"{why} Wanted: {file.name}, from {file.url}. Download it yourself and put it at {folder / file.name}, or set "
        "TRUEUP_DATA to a folder of ready files."
    )


@contextlib.contextmanager
def _progress(name: str) -> Any:
    """A bar on a terminal, and nothing elsewhere; in the form that pooch asks for."""
    if not sys.stderr.isatty():
        yield False
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, transient=True) as bars:
        yield _Bar(bars, name)


class _Bar:
    """What pooch tells of a download, shown by rich."""

    def __init__(self, bars: Any, name: str) -> None:
        self._bars, self._task = bars, bars.add_task(name, total=None)
        self._total = 0

    @property
    def total(self) -> int:
        """The size of the file."""
        return self._total

    @total.setter
    def total(self, size: int) -> None:
        self._total = size
        self._bars.update(self._task, total=size or None)

    def update(self, size: int) -> None:
        """Count what has come."""
        self._bars.update(self._task, advance=size)

    def reset(self) -> None:
        """Begin again; pooch then counts the whole file once more."""
        self._bars.reset(self._task)

    def close(self) -> None:
        """Be done."""


def _check_hash(file: RemoteFile, path: Path) -> None:
    """Compare with the published checksum, or with that of the first time; keep the first."""
    found = _sha256(path)
    known_path = path.parent / HASHES_FILE
    known = _read_hashes(known_path)
    expected = file.sha256 or known.get(file.name)
    if expected is None:
        with contextlib.suppress(PermissionError), atomic_path(known_path) as temporary:
            temporary.write_text(json.dumps(known | {file.name: found}, indent=2, sort_keys=True) + "\n", "utf-8")
        return
    if found != expected:
        raise DataFileError(
            f"{path} is not the file that it was: its SHA-256 is {found}, and {expected} is "
            f"{'published' if file.sha256 else f'on record in {known_path}'}. Delete it to download it again"
            f"{'' if file.sha256 else '; if the source has changed it for good, delete its line in the record too'}."
        )


def _read_hashes(path: Path) -> dict[str, str]:
    try:
        return {str(name): str(value) for name, value in json.loads(path.read_text("utf-8")).items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise DataFileError(f"{path} can't be read ({error}). Delete it to record the files' hashes anew.") from error


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
