"""`trueup serve`: the model as an HTTP service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from trueup.cli._errors import WrongUsageError

__all__ = ["serve"]

_WHERE, _WHO, _LIMITS, _MODELS = "Where", "Who may ask", "Limits", "Models"
_MIB = 2**20
_DEFAULT_NAME = "default"


def serve(
    models: Annotated[
        list[str],
        typer.Argument(help="Model files, or NAME=FILE; the first is the default.", metavar="[NAME=]FILE..."),
    ],
    *,
    shadow: Annotated[
        list[str] | None,
        typer.Option(
            "--shadow",
            help="A candidate that scores the same traffic and changes no answer; NAME= tells for which model.",
            metavar="[NAME=]FILE",
            rich_help_panel=_MODELS,
        ),
    ] = None,
    shadow_log: Annotated[
        str | None,
        typer.Option(
            help="Add the scores of both to this file of JSON lines, without feature values.", rich_help_panel=_MODELS
        ),
    ] = None,
    reload_every: Annotated[
        float,
        typer.Option(
            min=0.0, help="Seconds between looks at the model files; 0: on SIGHUP only.", rich_help_panel=_MODELS
        ),
    ] = 1.0,
    allow_unknown_columns: Annotated[
        bool,
        typer.Option(
            "--allow-unknown-columns",
            help="Ignore columns that the model does not know, instead of refusing the request.",
            rich_help_panel=_MODELS,
        ),
    ] = False,
    max_model_memory: Annotated[
        int,
        typer.Option(
            min=1,
            help="MiB of memory that loading a model file may take; larger files are refused.",
            rich_help_panel=_MODELS,
        ),
    ] = 512,
    host: Annotated[str, typer.Option(help="The address to listen on.", rich_help_panel=_WHERE)] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 is any that is free.", rich_help_panel=_WHERE)
    ] = 8000,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; by default one a core that may be used.", rich_help_panel=_WHERE),
    ] = None,
    certfile: Annotated[str | None, typer.Option(help="A PEM certificate, for TLS.", rich_help_panel=_WHO)] = None,
    keyfile: Annotated[str | None, typer.Option(help="The PEM key of it.", rich_help_panel=_WHO)] = None,
    token_file: Annotated[
        str | None, typer.Option(help="A file that holds the bearer token.", rich_help_panel=_WHO)
    ] = None,
    token_env: Annotated[
        str,
        typer.Option(help="Without a file, the environment variable that holds it.", rich_help_panel=_WHO),
    ] = "TRUEUP_TOKEN",
    max_rows: Annotated[int, typer.Option(min=1, help="Rows a request.", rich_help_panel=_LIMITS)] = 100_000,
    max_body: Annotated[int, typer.Option(min=1, help="MiB a request.", rich_help_panel=_LIMITS)] = 32,
    max_requests: Annotated[
        int, typer.Option(min=1, help="Requests at once a worker; more get 503.", rich_help_panel=_LIMITS)
    ] = 64,
    max_connections: Annotated[
        int, typer.Option(min=1, help="Open connections per worker; more wait.", rich_help_panel=_LIMITS)
    ] = 1000,
    request_timeout: Annotated[
        float,
        typer.Option(
            min=0.1, help="Seconds that a client may take to send a body or take an answer.", rich_help_panel=_LIMITS
        ),
    ] = 10.0,
    keep_alive: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds that a connection may be idle or send headers.", rich_help_panel=_LIMITS),
    ] = 30.0,
    drain: Annotated[
        float,
        typer.Option(
            min=0.0,
            help="Seconds in which open connections are told to go when the server stops.",
            rich_help_panel=_LIMITS,
        ),
    ] = 1.0,
    stop_timeout: Annotated[
        float,
        typer.Option(min=1.0, help="Seconds that requests in flight are given then.", rich_help_panel=_LIMITS),
    ] = 30.0,
    access_log: Annotated[bool, typer.Option(help="Write a line of log for each request.")] = True,
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
