"""The door to the server, which loads its libraries only when it is opened."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from trueup.errors import ParameterError
from trueup.serving._options import ServerOptions

__all__ = ["asgi_app", "serve"]


def serve(options: ServerOptions) -> None:
    """Answer live traffic until the process is told to stop.

    Blocks. Call it from the main thread of a process that has no other threads. SIGTERM and Ctrl-C end it
    once all requests in flight have been answered; SIGHUP makes it read its model files again.

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
        from trueup.serving._server import Server
    except ImportError as error:
        raise _not_installed(error) from None
    Server(options).run()


def asgi_app(
    models: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]], **options: Any
) -> Callable[..., Awaitable[None]]:
    """Make an ASGI application that answers for some models, to run under any ASGI server or inside another app.

    It does what `serve` does, except for what belongs to the server: sockets, TLS, workers, and limits on headers and
    connections. Each process counts its own metrics.

    Parameters
    ----------
    models : path-like, or mapping of str to path-like
        The model file, or the model files by name; the first one is the default.
    **options
        Other options of `ServerOptions`, such as ``token`` or ``max_rows``.

    Returns
    -------
    ASGI application
        A callable of scope, receive and send, with a lifespan.

    Raises
    ------
    ModelFileError
        If a model file can't be used.

    See Also
    --------
    serve : The same with a server of its own.

    Examples
    --------
    >>> from trueup.serving import asgi_app
    >>> asgi_app("no-such-file.trueup", token="secret")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no-such-file.trueup'
    """
    try:
        from trueup.serving._app import Application
        from trueup.serving._logs import Log
        from trueup.serving._metrics import CounterBlock, Metrics, make_blocks
        from trueup.serving._models import ServedModels
    except ImportError as error:
        raise _not_installed(error) from None
    named = models if isinstance(models, Mapping) else {"default": models}
    told = ServerOptions(models={name: os.fspath(path) for name, path in named.items()}, **options)
    block = CounterBlock(make_blocks(1)[0])
    return Application(told, ServedModels(told), Metrics(block, [block]), Log())


def _not_installed(error: ImportError) -> ParameterError:
    return ParameterError(f'Serving needs {error.name}, which is not installed: pip install "trueup[serve]".')
