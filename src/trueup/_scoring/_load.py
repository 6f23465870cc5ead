"""Calibrators from model files."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable

from trueup._model import CalibrationModel, ParityRows, read_model, read_model_bytes
from trueup._scoring._calibrator import Calibrator
from trueup._scoring._parity import check_parity
from trueup.errors import ModelFileError


def load(path: str | os.PathLike[str], *, n_jobs: int | None = None) -> Calibrator:
    """A calibrator from a model file.

    Everything in the file is checked before a score is given; nothing in it is executed.

    Parameters
    ----------
    path : path-like
        The model file.
    n_jobs : int, optional
        Threads for tables; by default all cores that the process may use.

    Returns
    -------
    Calibrator
        Ready to score.

    Raises
    ------
    ModelFileError
        If the file is damaged, truncated, hostile, or of a newer format.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(5000, random_state=0)
    >>> fitted = trueup.MCGrad(max_rounds=2, validation=None, rescale="train")
    >>> fitted = fitted.fit(traffic.X, traffic.y, scores=traffic.scores)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fitted.save(Path(folder) / "model.trueup")
    ...     calibrator = trueup.load(Path(folder) / "model.trueup")
    >>> calibrator
    <Calibrator: 2 rounds, 11 features>
    """
    return _checked(*read_model(path), os.fspath(path), n_jobs)


def load_bytes(content: bytes, name: str, *, n_jobs: int | None = None) -> Calibrator:
    """A calibrator from the bytes of a model file, checked as a file is; messages call it by the name."""
    return _checked(*read_model_bytes(content, name), name, n_jobs)


def _checked(model: CalibrationModel, parity: ParityRows, name: str, n_jobs: int | None) -> Calibrator:
    try:
        calibrator = Calibrator(model, n_jobs=n_jobs)
    except (ValueError, TypeError) as error:
        raise ModelFileError(f"{name!r} can't be used as a trueup model: {error}.") from error
    check_parity(model.features.names, parity, calibrator._calibrate_row, name)
    return calibrator


_AT_MOST = 4  # a worker that lives for weeks scores with many models, one after the other

_loaded: OrderedDict[tuple[str, int | None], Calibrator] = OrderedDict()
_lock = threading.Lock()


def loaded_once(sha256: str, read: Callable[[], bytes], name: str, n_jobs: int | None) -> Calibrator:
    """The calibrator of the model file with this hash, the same for all threads; `read` gives its bytes if they are
    needed."""
    key = (sha256, n_jobs)
    with _lock:  # also while it is loaded: another thread that wants it would only load it a second time
        calibrator = _loaded.get(key)
        if calibrator is None:
            calibrator = _loaded[key] = load_bytes(read(), name, n_jobs=n_jobs)
            while len(_loaded) > _AT_MOST:
                _loaded.popitem(last=False)
        _loaded.move_to_end(key)
    return calibrator
