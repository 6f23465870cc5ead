"""A model in a file that may be replaced while it is in use."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from trueup._model import read_file_bytes
from trueup._scoring import Calibrator, load_bytes
from trueup.errors import ModelFileError

__all__ = ["MAX_MODEL_MEMORY", "LoadedModel", "ModelSlot"]

MAX_MODEL_MEMORY = 512 * 2**20  # bytes; enough for a million splits, or as many categories


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model as it was loaded from a file, checked in full.

    Attributes
    ----------
    calibrator : Calibrator
        What scores with it.
    path, sha256, n_bytes : str, str, int
        The file, the hash of its bytes, and its size.
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
    reloads. Whatever goes wrong with a new file, the model that is there stays, and `error` says why.

    Parameters
    ----------
    path : path-like
        The model file. It must be good now; later it needn't be.
    n_jobs : int, optional
        Threads for tables; by default all cores that the process may use.
    accept : callable, optional
        Called with each new calibrator before it is used; it raises an error to refuse it.
    max_memory : int
        The most bytes of memory that loading a file may take, going by what the file declares; a file that may take
        more is refused before it is loaded.

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
        accept: Callable[[Calibrator], object] | None = None,
        max_memory: int = MAX_MODEL_MEMORY,
    ) -> None:
        self._path, self._n_jobs, self._accept, self._max_memory = os.fspath(path), n_jobs, accept, max_memory
        self._reloading = threading.Lock()
        self._error: str | None = None
        self._tried = _signature(self._path)
        self._current = self._load(None)

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
        before = self._current
        try:
            signature = _signature(self._path)
            if signature != self._tried or force:
                self._tried = signature  # from before the file is read: if it changes meanwhile, it is read again
                self._current, self._error = self._load(before), None
        except Exception as error:  # whatever it is, who looks at files all day must go on
            self._error = str(error) or type(error).__name__
        finally:
            self._reloading.release()
        return self._current is not before

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
            """Reload until the slot is closed."""
            while not done.wait(seconds):
                self.reload()

        watcher = threading.Thread(target=look, name="trueup-model-watch", daemon=True)
        watcher.start()
        try:
            yield self
        finally:
            done.set()
            watcher.join()

    def _load(self, before: LoadedModel | None) -> LoadedModel:
        """The model in the file; the one from before if the bytes are the same.

        The file is opened once and read once, so what is checked, hashed and loaded is the same.
        """
        try:
            content = read_file_bytes(self._path, max_memory=self._max_memory)
            sha256 = hashlib.sha256(content).hexdigest()
            if before is not None and sha256 == before.sha256:
                return before
            calibrator = load_bytes(content, self._path, n_jobs=self._n_jobs)
            if self._accept is not None:
                self._accept(calibrator)
        except MemoryError:
            raise ModelFileError(f"{self._path!r} can't be loaded: there is not enough memory for it.") from None
        return LoadedModel(calibrator, self._path, sha256, len(content), time.time())


def _signature(path: str) -> tuple[int, int, int]:
    """What tells one file from the next without reading it; zeros if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0, 0)
    return status.st_mtime_ns, status.st_size, status.st_ino
