"""A model in a file that may be replaced while it is in use."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from trueup._scoring import Calibrator, load
from trueup.errors import ModelFileError, TrueupError

__all__ = ["LoadedModel", "ModelSlot"]

_Signature: TypeAlias = tuple[int, int, int]

_ATTEMPTS = 3  # at reading a file that somebody is writing to
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model as it was loaded from a file, checked in full.

    Attributes
    ----------
    calibrator : Calibrator
        What scores with it.
    path : str
        The file.
    sha256 : str
        The hash of the file's bytes.
    n_bytes : int
        The size of the file.
    loaded_at : float
        When it was loaded, in seconds since 1970.

    Examples
    --------
    >>> from trueup.serving import LoadedModel
    >>> LoadedModel.__annotations__["sha256"]
    'str'
    """

    calibrator: Calibrator
    path: str
    sha256: str
    n_bytes: int
    loaded_at: float


class ModelSlot:
    """A model file and the last good model from it, which is swapped for a new one in one step.

    Take `calibrator` once for each piece of work and use that: it stays what it is while another thread
    reloads. A file that is damaged, missing or refused never replaces the model that is there.

    Parameters
    ----------
    path : path-like
        The model file. It must be good now; later it needn't be.
    n_jobs : int, optional
        Threads for tables; by default all cores that the process may use.
    accept : callable, optional
        Called with each new calibrator before it is used; it raises an error of `trueup.errors` to refuse it.

    Raises
    ------
    ModelFileError
        If the file can't be used.

    See Also
    --------
    trueup.load : A calibrator from a model file, for good.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from trueup.baselines import PlattCalibrator
    >>> from trueup.serving import ModelSlot
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.trueup"
    ...     PlattCalibrator().fit({"x": [0, 0, 0]}, [0, 1, 1], scores=[0.1, 0.3, 0.5]).save(path)
    ...     slot = ModelSlot(path)
    ...     before = slot.calibrator
    ...     _ = path.write_bytes(b"half a model")
    ...     slot.reload(), slot.calibrator is before, slot.error is None
    (False, True, False)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        n_jobs: int | None = None,
        accept: Callable[[Calibrator], None] | None = None,
    ) -> None:
        self._path = os.fspath(path)
        self._n_jobs = n_jobs
        self._accept = accept
        self._reloading = threading.Lock()
        self._error: str | None = None
        self._tried = _signature(self._path)
        self._current = self._load()

    def __repr__(self) -> str:
        return f"<ModelSlot: {self._path!r}, sha256 {self._current.sha256[:12]}>"

    @property
    def current(self) -> LoadedModel:
        """The model in use, with the facts about its file."""
        return self._current

    @property
    def calibrator(self) -> Calibrator:
        """What scores with the model in use."""
        return self._current.calibrator

    @property
    def error(self) -> str | None:
        """Why the file that is there now is not in use; None if it is."""
        return self._error

    def reload(self, *, force: bool = False) -> bool:
        """Look at the file, and use it if it is another one and good.

        May be called from any thread, and as often as one likes: a file that has the size, the time and the
        place on the disk that it had is not read again.

        Parameters
        ----------
        force : bool
            Read the file even if it seems to be the same.

        Returns
        -------
        bool
            Whether another model is in use now. If the file is bad, False, and `error` says why.
        """
        if not self._reloading.acquire(blocking=False):
            return False  # another thread is at it
        try:
            signature = _signature(self._path)
            if signature == self._tried and not force:
                return False
            self._tried = signature
            loaded = self._load()
        except (TrueupError, OSError) as error:
            self._error = str(error)
            return False
        finally:
            self._reloading.release()
        self._error = None
        if loaded.sha256 == self._current.sha256:
            return False
        self._current = loaded
        return True

    @contextlib.contextmanager
    def watch(self, seconds: float = 1.0) -> Iterator[ModelSlot]:
        """Reload in a thread whenever the file changes, until the block ends.

        Parameters
        ----------
        seconds : float
            How often to look.

        Yields
        ------
        ModelSlot
            This one.
        """
        done = threading.Event()

        def look() -> None:
            """Look at the file until told to stop."""
            while not done.wait(seconds):
                self.reload()

        watcher = threading.Thread(target=look, name="trueup-model-watch", daemon=True)
        watcher.start()
        try:
            yield self
        finally:
            done.set()
            watcher.join()

    def _load(self) -> LoadedModel:
        """The model in the file, whose hash is of the very bytes that were read."""
        for _ in range(_ATTEMPTS):
            before = _signature(self._path)
            calibrator = load(self._path, n_jobs=self._n_jobs)
            digest, n_bytes = _sha256(self._path)
            if _signature(self._path) == before:
                if self._accept is not None:
                    self._accept(calibrator)
                return LoadedModel(calibrator, self._path, digest, n_bytes, time.time())
        raise ModelFileError(f"{self._path!r} changes while it is read. Write it elsewhere and rename it.")


def _signature(path: str) -> _Signature:
    """What tells one file from the next without reading it; zeros if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return status.st_mtime_ns, status.st_size, status.st_ino


def _sha256(path: str) -> tuple[str, int]:
    digest, n_bytes = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            n_bytes += len(block)
    return digest.hexdigest(), n_bytes
