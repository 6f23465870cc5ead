"""`trueup serve`: the model as an HTTP service."""

from __future__ import annotations

import os
from dataclasses import fields
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
            "A candidate that scores the same traffic but changes no answer. NAME= tells which model it runs beside.",
            opt.MODEL,
            "[NAME=]FILE",
        ),
    ] = None,
    shadow_log: Annotated[
        str | None,
        opt.option("--shadow-log", "Add both scores, but no features, to this file of JSON lines.", opt.MODEL, "FILE"),
    ] = None,
    reload_seconds: Annotated[
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
    request_seconds: Annotated[
        float,
        opt.option(
            "--request-timeout", "How long a client may take to send or receive a body.", LIMITS, "SECONDS", min=0.1
        ),
    ] = 10.0,
    keep_alive_seconds: Annotated[
        float,
        opt.option("--keep-alive", "How long a connection may be idle or send headers.", LIMITS, "SECONDS", min=0.1),
    ] = 30.0,
    drain_seconds: Annotated[
        float,
        opt.option("--drain", "When stopping, how long to ask open connections to leave.", LIMITS, "SECONDS", min=0.0),
    ] = 1.0,
    stop_seconds: Annotated[
        float,
        opt.option("--stop-timeout", "How long requests may then take to finish.", LIMITS, "SECONDS", min=1.0),
    ] = 30.0,
    access_log: Annotated[
        bool, opt.option("--access-log/--no-access-log", "Log a line per request.", opt.OUTPUT, "")
    ] = True,
) -> None:
    """Answer live traffic over HTTP: JSON rows or Arrow streams in, calibrated probabilities out."""
    chosen = dict(locals())
    named = dict(_named(entry) for entry in models)
    if len(named) < len(models):
        raise WrongUsageError("Two models have the same name. Rename one: NAME=FILE.")
    default = next(iter(named))
    from trueup import serving
    from trueup._runtime import thread_count

    # Most options are called as the server calls them; these need a word more.
    chosen |= {
        "models": named,
        "shadows": dict(_split(entry) or (default, entry) for entry in shadow or ()),
        "workers": workers or thread_count(None),
        "max_model_memory": max_model_memory * _MIB,
        "max_body_bytes": max_body * _MIB,
        "max_bytes_in_work": max(2 * max_body, 64) * _MIB,
        "token": serving.read_token(token_env, token_file),
    }
    known = [field.name for field in fields(serving.ServerOptions) if field.name in chosen]
    serving.serve(serving.ServerOptions(**{name: chosen[name] for name in known}))


def _split(entry: str) -> tuple[str, str] | None:
    """The name and the file of ``NAME=FILE``; None for a file alone, which may have a = in it."""
    name, equals, path = entry.partition("=")
    return (name, path) if equals and not os.path.exists(entry) else None


def _named(entry: str) -> tuple[str, str]:
    """The name and the file of ``NAME=FILE``, or of a file, whose name is that without its ending."""
    stem = Path(entry).stem
    letters = stem.replace("_", "").replace("-", "")
    return _split(entry) or (stem if letters.isascii() and letters.isalnum() else _DEFAULT_NAME, entry)
