"""One process that answers: uvicorn's server with an acceptor of our own and an end that drops no request."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import uvicorn

from trueup.serving._app import Application, make_application
from trueup.serving._logs import Log
from trueup.serving._metrics import Metrics
from trueup.serving._models import ServedModels
from trueup.serving._options import ServerOptions
from trueup.serving._problems import Problem
from trueup.serving._protocol import limited_protocol, raw_problem
from trueup.serving._shadow import Shadow, ShadowLog

__all__ = ["Worker", "config_of"]

_HEARTBEAT_SECONDS = 0.5
_GRACE_SECONDS = 1.0  # for a connection that was accepted last to send its request
_PARENT_SECONDS = 2.0  # that the parent may be late with its word that no more connections come
_PAUSE_SECONDS = 0.1  # when there are no more file descriptors


def config_of(options: ServerOptions, application: Any) -> uvicorn.Config:
    """What uvicorn is told; loading it reads the certificate."""
    return uvicorn.Config(
        application,
        http=limited_protocol(options.request_seconds),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=options.keep_alive_seconds,
        timeout_graceful_shutdown=max(1, round(options.stop_seconds)),
        ssl_certfile=options.certfile,
        ssl_keyfile=options.keyfile,
    )


@dataclass(frozen=True, eq=False)
class Worker:
    """What a worker works with; `run` is its life.

    Attributes
    ----------
    options : ServerOptions
        What the server was told.
    models : ServedModels
        The models, loaded already.
    metrics : Metrics
        Where it counts.
    log : Log
        Where it writes.
    number : int
        Which of the workers it is.
    """

    options: ServerOptions
    models: ServedModels
    metrics: Metrics
    log: Log
    number: int = 0

    def run(self, listener: socket.socket, parent: int, started: Callable[[], None]) -> None:
        """Answer until told to stop.

        Parameters
        ----------
        listener : socket
            Where connections come from; shared with the other workers.
        parent : int
            A file descriptor that ends when the parent does.
        started : callable
            Called once signals are handled.
        """
        application = make_application(self.options, self.models, self.metrics, self.log)
        _forward_logging(self.log)
        server = _Server(config_of(self.options, application.gateway), self, application, listener)
        server.parent, server.on_started = parent, started
        server.run(sockets=[])


class _Server(uvicorn.Server):
    """uvicorn's server, but for how connections come and how it ends."""

    parent = -1

    def __init__(
        self, config: uvicorn.Config, worker: Worker, application: Application, listener: socket.socket
    ) -> None:
        super().__init__(config)
        self._worker, self._application, self._listener = worker, application, listener
        self._connecting: set[asyncio.Task[None]] = set()
        self._orphaned = False
        self._pulse: asyncio.Task[None] | None = None
        self.on_started: Callable[[], None] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets=[])
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGHUP, lambda: loop.create_task(self._reload(force=True)))
        if self.parent >= 0:
            loop.add_reader(self.parent, self._lose_parent)
        worker = self._worker
        if worker.options.shadows:
            log = None if worker.options.shadow_log is None else ShadowLog(worker.options.shadow_log)
            self._application.calibrate.shadow = Shadow(worker.models, worker.metrics, loop.call_soon_threadsafe, log)
        self._pulse = loop.create_task(self._beat())
        loop.add_reader(self._listener.fileno(), self._accept)
        self.on_started()
        worker.log.write("worker started")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer what is under way, tell open connections to go, and only then close.

        While it drains, every answer says "Connection: close", so a client with a busy connection leaves between two
        requests. New connections are still taken until the parent, by closing its end of the pipe, says that there
        are no more: the kernel would reset those in its queue. A worker that is stopped alone hears nothing, and leaves
        the queue to the others.
        """
        self._application.gateway.draining = True
        await self._until(lambda: self._orphaned, self._worker.options.drain_seconds + _PARENT_SECONDS)
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener.fileno())
        while self._accept():
            pass
        self._listener.close()
        if self._connecting:
            await asyncio.wait(self._connecting)
        await self._until(lambda: all(map(_has_asked, self.server_state.connections)), _GRACE_SECONDS)
        await super().shutdown(sockets=[])
        if self._pulse is not None:
            self._pulse.cancel()
        self._application.calibrate.close()
        if self._application.calibrate.shadow is not None:
            await loop.run_in_executor(None, self._application.calibrate.shadow.close)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> None:
        end = time.monotonic() + seconds
        while not condition() and time.monotonic() < end and not self.force_exit:
            await asyncio.sleep(0.01)

    def _accept(self) -> bool:
        """Take one connection, if there is one: one at a time, so that an idle worker gets its share."""
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return False
        except OSError as error:  # too many open files, most likely
            self._worker.log.write("accept", "error", error=error.strerror)
            self._pause_accepting()
            return False
        connection.setblocking(False)
        n_open = len(self.server_state.connections) + len(self._connecting)
        if n_open >= self._worker.options.max_connections:
            self._turn_away(connection)
            return True
        task = asyncio.get_running_loop().create_task(self._connect(connection))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)
        return True

    async def _connect(self, connection: socket.socket) -> None:
        def protocol() -> asyncio.Protocol:
            return self.config.http_protocol_class(  # type: ignore[call-arg]
                config=self.config, server_state=self.server_state, app_state={}
            )

        # What a client does wrong in a handshake is its own affair.
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            loop = asyncio.get_running_loop()
            if self.config.ssl is None:
                await loop.connect_accepted_socket(protocol, connection)
            else:
                seconds = max(self._worker.options.request_seconds, 0.1)
                await loop.connect_accepted_socket(
                    protocol, connection, ssl=self.config.ssl, ssl_handshake_timeout=seconds
                )

    def _turn_away(self, connection: socket.socket) -> None:
        self._worker.metrics.count("trueup_errors", "overloaded")
        with contextlib.suppress(OSError), connection:
            if self.config.ssl is None:
                connection.send(raw_problem(Problem("overloaded", "Too many connections are open.")))

    def _pause_accepting(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._listener.fileno())
        loop.call_later(_PAUSE_SECONDS, self._accept_again)

    def _accept_again(self) -> None:
        if self._listener.fileno() >= 0 and not self._application.gateway.draining:
            asyncio.get_running_loop().add_reader(self._listener.fileno(), self._accept)

    def _lose_parent(self) -> None:
        asyncio.get_running_loop().remove_reader(self.parent)
        self._orphaned = True
        if not self.should_exit:
            self._worker.log.write("parent gone", "error")
            self.should_exit = True

    async def _beat(self) -> None:
        """Show signs of life, and look at the model files."""
        metrics, options = self._worker.metrics, self._worker.options
        looked = time.monotonic()
        while True:
            now = time.monotonic()
            metrics.own.heartbeat = now
            metrics.set("trueup_requests_in_work", value=self._application.admission.in_work)
            metrics.set("trueup_worker_resident_bytes", str(self._worker.number), value=_resident_bytes())
            if options.reload_seconds and now - looked >= options.reload_seconds:
                looked = now
                await self._reload()
            await asyncio.sleep(min(_HEARTBEAT_SECONDS, options.reload_seconds or _HEARTBEAT_SECONDS))

    async def _reload(self, *, force: bool = False) -> None:
        """Look at the files in a thread: the loop goes on answering with what it has."""
        worker = self._worker
        loop = asyncio.get_running_loop()
        changes = await loop.run_in_executor(None, lambda: list(worker.models.reload(force=force)))
        for name, swapped, error in changes:
            outcome = "swapped" if swapped else "refused" if error else "unchanged"
            worker.metrics.count("trueup_model_reloads", name, outcome)
            worker.log.write("reload", "error" if error else "info", model=name, outcome=outcome, error=error)


def _has_asked(connection: Any) -> bool:
    """Whether a connection has had a request."""
    return connection.cycle is not None


class _Forward(logging.Handler):
    """Lines that libraries write, as lines of our log; without tracebacks, which may quote values."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        self._log.write("library", record.levelname.lower(), name=record.name, message=str(record.msg))


def _forward_logging(log: Log) -> None:
    for name in ("uvicorn", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_Forward(log)], False


def _resident_bytes() -> float:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * float(os.sysconf("SC_PAGE_SIZE"))
    except OSError:  # not Linux: the most that it ever was
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
