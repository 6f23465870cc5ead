"""Calibrators of this process, by what the model file holds, so that each model is loaded once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from trueup._scoring._calibrator import Calibrator
from trueup._scoring._load import load_bytes

__all__ = ["loaded_once"]

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
