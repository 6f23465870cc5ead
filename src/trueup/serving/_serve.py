"""The door to the server, which loads its libraries only when it is opened."""

from __future__ import annotations

import os

from trueup.errors import ParameterError
from trueup.serving._options import ServerOptions

__all__ = ["serve"]


def serve(options: ServerOptions) -> None:
    """Answer live traffic until the process is told to stop.

    Blocks; to be called from the main thread of a process that has no other threads. SIGTERM and Ctrl-C end it
    when all requests in flight have been answered, SIGHUP makes it read its model files again.

    Parameters
    ----------
    options : ServerOptions
        What to serve, and where.

    Raises
    ------
    ModelFileError
        If a model file can't be used. Once the server runs, a bad file is reported, and the old model stays.
    OSError
        If a file is not there, or the address can't be listened on.

    Examples
    --------
    >>> from trueup.serving import ServerOptions, serve
    >>> serve(ServerOptions(models={"clicks": "no-such-file.trueup"}))
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file.trueup'
    """
    if not hasattr(os, "fork"):
        raise ParameterError("Serving needs a system with fork, such as Linux or macOS.")
    try:
        from trueup.serving._supervisor import Supervisor
    except ImportError as error:
        raise ParameterError(
            f'Serving needs {error.name}, which is not installed: pip install "trueup[serve]".'
        ) from None
    Supervisor(options).run()
