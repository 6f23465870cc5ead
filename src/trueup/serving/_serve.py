"""The door to the server, and what it is told; the libraries are loaded only when the door is opened."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trueup.errors import ParameterError
from trueup.serving._slot import MAX_MODEL_MEMORY

__all__ = ["ServerOptions", "asgi_app", "read_token", "serve"]

_MAX_TOKEN_LENGTH = 4096
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True)
class ServerOptions:
    """What a server answers for, where it listens, and how much it takes on.

    Attributes
    ----------
    models, shadows : mapping of str to str
        The model files by name, the first one being the default; and candidates by the name of the model whose traffic
        they score too.
    shadow_log : str, optional
        A file of JSON lines with the scores of both.
    host, port, workers : str, int, int
        Where to listen (port 0 is any that is free), and how many processes answer.
    token : str, optional
        What clients must send as a bearer token; None lets everybody in.
    certfile, keyfile : str, optional
        PEM files for TLS.
    allow_unknown_columns : bool
        Whether columns that a model doesn't know are ignored instead of refused.
    max_body_bytes, max_rows : int
        The largest request.
    max_requests, max_bytes_in_work : int
        How many requests, and how many bytes of bodies, a worker takes on at once; more are refused with 503.
    max_connections : int
        Open connections of a worker; more wait until one of them ends.
    max_model_memory : int
        The most bytes of memory that loading a model file may take per process, going by what the file declares.
    request_seconds, keep_alive_seconds : float
        How long a client may take to send its body or to take its answer; and how long a connection may be idle, or
        take to send its headers.
    drain_seconds, stop_seconds : float
        When asked to stop: how long clients on open connections are told to go before those are closed, and after how
        long unfinished work is given up.
    reload_seconds : float
        How often model files are looked at; 0 for on SIGHUP only.
    worker_seconds : float
        After how long without a sign of life a worker is replaced.
    access_log : bool
        Whether each request is a line in the log.

    Examples
    --------
    >>> from trueup.serving import ServerOptions
    >>> ServerOptions(models={"clicks": "clicks.trueup"}).host
    '127.0.0.1'
    """

    models: Mapping[str, str]
    shadows: Mapping[str, str] = field(default_factory=dict)
    shadow_log: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    token: str | None = field(default=None, repr=False)
    certfile: str | None = None
    keyfile: str | None = None
    allow_unknown_columns: bool = False
    max_body_bytes: int = 32 * 2**20
    max_rows: int = 100_000
    max_requests: int = 64
    max_bytes_in_work: int = 64 * 2**20
    max_model_memory: int = MAX_MODEL_MEMORY
    max_connections: int = 1000
    request_seconds: float = 10.0
    keep_alive_seconds: float = 30.0
    drain_seconds: float = 1.0
    stop_seconds: float = 30.0
    reload_seconds: float = 1.0
    worker_seconds: float = 30.0
    access_log: bool = True

    def __post_init__(self) -> None:
        if not self.models:
            raise ParameterError("There is no model to serve. Name at least one model file.")
        for name in self.models:
            if not MODEL_NAME.fullmatch(name):
                raise ParameterError(
                    f"{name!r} can't be the name of a model: use up to 64 letters, digits, '.', '_' and '-'. "
                    "Give it one as NAME=FILE."
                )
        for name in self.shadows.keys() - self.models.keys():
            raise ParameterError(f"There is no model {name!r} for a candidate to shadow.")
        if self.shadow_log is not None and not self.shadows:
            raise ParameterError("A shadow log needs a candidate: add one as a shadow.")
        if not self.host.strip():
            raise ParameterError(
                "The host is empty, which would mean every network of this machine. Name an address, such as "
                "127.0.0.1, or 0.0.0.0 if you want all."
            )
        if self.token is not None:
            _check_token(self.token)
        if (self.certfile is None) != (self.keyfile is None):
            raise ParameterError("TLS needs a certificate and its key: give both files, or neither.")
        self._check_numbers()

    @property
    def default_model(self) -> str:
        """The name of the model that is meant where none is named."""
        return next(iter(self.models))

    def _check_numbers(self) -> None:
        for name, value in vars(self).items():
            least = {"workers": 1.0, "request_seconds": 0.1, "keep_alive_seconds": 0.1}.get(name)
            least = 1.0 if name.startswith("max_") else 0.0 if least is None and name.endswith("_seconds") else least
            if least is not None and not (math.isfinite(value) and value >= least):
                raise ParameterError(f"{name} must be at least {least:g}, got {value}.")
        if not 0 <= self.port <= 65535:
            raise ParameterError(f"port must be from 0 to 65535, got {self.port}.")
        if self.max_bytes_in_work < self.max_body_bytes:
            raise ParameterError(
                f"max_bytes_in_work ({self.max_bytes_in_work:,}) must be at least max_body_bytes "
                f"({self.max_body_bytes:,}), or the largest request could never be taken."
            )


def _check_token(token: str) -> None:
    """Refuse a token that no client can send in a header, without showing it."""
    if not token.strip():
        raise ParameterError("The token is empty. Set one, or none at all.")
    if len(token) > _MAX_TOKEN_LENGTH:
        raise ParameterError(f"The token has {len(token):,} characters; at most {_MAX_TOKEN_LENGTH:,} can be sent.")
    if token != token.strip() or not all(" " <= letter <= "~" for letter in token):
        raise ParameterError(
            "No client can send the token in a header. Use ASCII letters, digits and signs, and no space at the ends."
        )


def read_token(variable: str, file: str | None) -> str | None:
    """The token from a file or, without one, from an environment variable.

    Parameters
    ----------
    variable : str
        The name of the environment variable.
    file : str or None
        The file, whose content without white space around it is the token.

    Returns
    -------
    str or None
        The token; None if there is neither.

    Examples
    --------
    >>> from trueup.serving import read_token
    >>> read_token("A_VARIABLE_THAT_IS_NOT_SET", None) is None
    True
    """
    if file is None:
        token = os.environ.get(variable)
        if token is not None and not token.strip():
            raise ParameterError(f"The environment variable {variable} is empty. Set it to the token, or unset it.")
        return None if token is None else token.strip()
    with open(file, "rb") as opened:
        content = opened.read(_MAX_TOKEN_LENGTH + 1)
    if len(content) > _MAX_TOKEN_LENGTH:
        raise ParameterError(f"{file!r} is too large for a file that holds a token.")
    token = content.decode("utf-8", "replace").strip()
    if not token:
        raise ParameterError(f"{file!r} holds no token.")
    return token


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
