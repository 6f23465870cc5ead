"""`trueup serve`: the model as an HTTP service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from trueup.cli import _options as opt
from trueup.cli._errors import WrongUsageError

__all__ = ["serve"]

WHERE, ACCESS, LIMITS = "Where", "Access", "Limits"
_MIB = 2**20
_DEFAULT_NAME = "default"


def serve(
    models: Annotated[
        list[str], typer.Argument(help="Model files, or NAME=FILE; the first is the default.", metavar="[NAME=]FILE")
    ],
    *,
    shadow: Annotated[
        list[str] | None,
        opt.option(
            "--shadow",
            "A candidate that scores the same traffic but changes no answer. NAME= says beside which model it runs.",
            opt.MODEL,
            "[NAME=]FILE",
        ),
    ] = None,
    shadow_log: Annotated[
        str | None,
        opt.option("--shadow-log", "Add both scores, but no features, to this file of JSON lines.", opt.MODEL, "FILE"),
    ] = None,
    reload_every: Annotated[
        float,
        opt.option(
            "--reload-every",
            "How many seconds to wait between looks at the model files. With 0, only SIGHUP reloads them.",
            opt.MODEL,
            "SECONDS",
            min=0.0,
        ),
    ] = 1.0,
    allow_unknown_columns: Annotated[
        bool,
        opt.flag(
            "--allow-unknown-columns",
            "Ignore columns that the model does not know, instead of refusing the request.",
            opt.MODEL,
        ),
    ] = False,
    max_model_memory: Annotated[
        int,
        opt.option(
            "--max-model-memory",
            "How much memory loading a model file may take. Larger files are refused.",
            opt.MODEL,
            "MIB",
            min=1,
        ),
    ] = 512,
    host: Annotated[str, opt.option("--host", "The address to listen on.", WHERE, "ADDRESS")] = "127.0.0.1",
    port: Annotated[
        int, opt.option("--port", "The port to listen on; 0 takes any that is free.", WHERE, "N", min=0, max=65535)
    ] = 8000,
    workers: Annotated[
        int | None, opt.option("--workers", "How many processes: by default one per usable core.", WHERE, "N", min=1)
    ] = None,
    certfile: Annotated[str | None, opt.option("--certfile", "A PEM certificate, for TLS.", ACCESS, "FILE")] = None,
    keyfile: Annotated[str | None, opt.option("--keyfile", "The PEM key of the certificate.", ACCESS, "FILE")] = None,
    token_file: Annotated[
        str | None, opt.option("--token-file", "A file that holds the bearer token.", ACCESS, "FILE")
    ] = None,
    token_env: Annotated[
        str,
        opt.option("--token-env", "The environment variable that holds it, without --token-file.", ACCESS, "NAME"),
    ] = "TRUEUP_TOKEN",
    max_rows: Annotated[int, opt.option("--max-rows", "Rows per request.", LIMITS, "N", min=1)] = 100_000,
    max_body: Annotated[int, opt.option("--max-body", "MiB per request.", LIMITS, "MIB", min=1)] = 32,
    max_requests: Annotated[
        int, opt.option("--max-requests", "Requests at once per worker. More get 503.", LIMITS, "N", min=1)
    ] = 64,
    max_connections: Annotated[
        int, opt.option("--max-connections", "Open connections per worker. More have to wait.", LIMITS, "N", min=1)
    ] = 1000,
    request_timeout: Annotated[
        float,
        opt.option(
            "--request-timeout", "How long a client may take to send or receive a body.", LIMITS, "SECONDS", min=0.1
        ),
    ] = 10.0,
    keep_alive: Annotated[
        float,
        opt.option("--keep-alive", "How long a connection may be idle or send headers.", LIMITS, "SECONDS", min=0.1),
    ] = 30.0,
    drain: Annotated[
        float,
        opt.option("--drain", "When stopping, how long to ask open connections to leave.", LIMITS, "SECONDS", min=0.0),
    ] = 1.0,
    stop_timeout: Annotated[
        float,
        opt.option("--stop-timeout", "How long requests may then take to finish.", LIMITS, "SECONDS", min=1.0),
    ] = 30.0,
    access_log: Annotated[
        bool, opt.option("--access-log/--no-access-log", "Log a line per request.", opt.OUTPUT, "")
    ] = True,
) -> None:
    """Answer live traffic over HTTP: JSON rows or Arrow streams in, calibrated probabilities out."""
    named = dict(_named(entry) for entry in models)
    if len(named) < len(models):
        raise WrongUsageError("Two models have the same name. Rename one: NAME=FILE.")
    default = next(iter(named))
    from trueup import serving

    options = serving.ServerOptions(
        models=named,
        shadows=dict(_shadow(entry, default) for entry in shadow or ()),
        shadow_log=shadow_log,
        reload_seconds=reload_every,
        allow_unknown_columns=allow_unknown_columns,
        max_model_memory=max_model_memory * _MIB,
        host=host,
        port=port,
        workers=workers or _cores(),
        certfile=certfile,
        keyfile=keyfile,
        max_rows=max_rows,
        max_body_bytes=max_body * _MIB,
        max_bytes_in_work=max(2 * max_body, 64) * _MIB,
        max_requests=max_requests,
        max_connections=max_connections,
        request_seconds=request_timeout,
        keep_alive_seconds=keep_alive,
        drain_seconds=drain,
        stop_seconds=stop_timeout,
        access_log=access_log,
        token=serving.read_token(token_env, token_file),
    )
    serving.serve(options)


def _named(entry: str) -> tuple[str, str]:
    """The name and the file of ``NAME=FILE``, or of a file, whose name is that without its ending."""
    name, equals, path = entry.partition("=")
    if equals and not os.path.exists(entry):
        return name, path
    stem = Path(entry).stem
    usable = stem.replace("_", "").replace("-", "").isascii() and stem.replace("_", "").replace("-", "").isalnum()
    return (stem if usable else _DEFAULT_NAME), entry


def _shadow(entry: str, default: str) -> tuple[str, str]:
    name, equals, path = entry.partition("=")
    return (name, path) if equals and not os.path.exists(entry) else (default, entry)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
