"""Granian with what it lacks for us: one socket for all workers, models that outlive them, and an end without loss.

Granian (read at 2.8.7) starts the workers, replaces dead ones, speaks HTTP and TLS. Four things are ours:

- one listening socket. On Linux its workers open a socket each, and who waits in the queue of a killed one is lost.
- the loop of the main process. Granian's ends the whole service when a worker dies twice in 5.5 seconds, starts all
  workers anew on SIGHUP, and does not see a worker that hangs.
- the start of its end: clients are told to go before the socket is closed.
- workers are forks of a parent that holds the last good models, so a new one never needs the file.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import multiprocessing
import os
import signal
import socket
import struct
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from granian.constants import HTTPModes, Interfaces, SSLProtocols
from granian.http import HTTP1Settings
from granian.server.mp import MPServer, SocketHolder

from trueup.serving._app import Application
from trueup.serving._gateway import MAX_HEADER_BYTES
from trueup.serving._logs import Log, open_standard_streams
from trueup.serving._metrics import HEARTBEAT, STOPPING, CounterBlock, Metrics, make_blocks
from trueup.serving._models import ServedModels
from trueup.serving._serve import ServerOptions

__all__ = ["Server", "listen", "refuse_new_connections"]

BACKLOG = 1024

# Of the Linux kernel: a socket option, and a program for its packet filter, which sees a segment from its TCP header
# on. Its 14th byte holds the flags; a segment that opens a connection, with SYN set, is dropped, others are let in.
_SO_ATTACH_FILTER = 26
_LOAD_BYTE, _JUMP_IF_BIT, _RETURN = 0x30, 0x45, 0x06
_FLAGS_OFFSET, _SYN, _ALL = 13, 0x02, 0xFFFFFFFF
_PROGRAM = ((_LOAD_BYTE, 0, 0, _FLAGS_OFFSET), (_JUMP_IF_BIT, 0, 1, _SYN), (_RETURN, 0, 0, 0), (_RETURN, 0, 0, _ALL))

_TICK_SECONDS = 1.0
_SHORTEST_LIFE = 1.0  # seconds from a worker's start to that of its successor
_LAST_SECONDS = 0.5  # for those who connected last to be accepted, and to send their request


class Server(MPServer):  # type: ignore[misc]
    """The main process and its workers."""

    reload_signal: bool  # set by Granian's handler of SIGHUP

    def __init__(self, options: ServerOptions) -> None:
        open_standard_streams()
        self._options, self._log = options, Log()
        self._models = ServedModels(options)
        self._memory = make_blocks(options.workers + 1)
        self._blocks = [CounterBlock(memory) for memory in self._memory]
        super().__init__(
            "trueup",
            interface=Interfaces.ASGI,
            workers=options.workers,
            # Granian also speaks HTTP/2, but then a connection on which nothing is ever sent is held for ever.
            http=HTTPModes.http1,
            http1_settings=HTTP1Settings(
                header_read_timeout=round(1000 * options.keep_alive_seconds), max_buffer_size=MAX_HEADER_BYTES
            ),
            websockets=False,
            backpressure=options.max_connections,
            log_enabled=False,
            ssl_cert=None if options.certfile is None else Path(options.certfile),
            ssl_key=None if options.keyfile is None else Path(options.keyfile),
            ssl_protocol_min=SSLProtocols.tls12,
            workers_kill_timeout=max(1, round(options.stop_seconds)),
        )
        self._listener = listen(options.host, options.port, options.request_seconds)

    def run(self) -> None:
        """Serve until told to stop by SIGTERM or Ctrl-C."""
        gc.collect()
        gc.freeze()  # what is loaded now stays, and its pages stay shared with the workers
        before = multiprocessing.get_start_method(allow_none=True)
        multiprocessing.set_start_method("fork", force=True)
        try:
            self.serve(target_loader=self._make_application, wrap_loader=False)
        finally:
            multiprocessing.set_start_method(before, force=True)
        self._log.write("stopped")
        self._log.close()

    def startup(self, spawn_target: Any, target_loader: Any) -> None:
        """Say where the workers listen, and start them."""
        host, port = self._listener.getsockname()[:2]
        scheme = "http" if self._options.certfile is None else "https"
        address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
        self._log.write("listening", address=address)
        if self._options.token is None and host != "::1" and not host.startswith("127."):
            self._log.write("no token", "warning", advice="Anybody who can reach this address can use it.")
        super().startup(spawn_target, target_loader)

    def shutdown(self, exit_code: int = 0) -> None:
        """Tell clients to go, let nobody in any more, and end the workers when they have answered."""
        self._log.write("stopping")
        self._blocks[-1].marks[STOPPING] = 1  # from now on, answers close their connections
        time.sleep(self._options.drain_seconds)
        if refuse_new_connections(self._listener):
            time.sleep(_LAST_SECONDS)
        self.interrupt_children.clear()
        super().shutdown(exit_code)

    def signal_handler_interrupt(self, *received: Any) -> None:
        """Stop; in a worker that has no handlers of its own yet, at once."""
        if os.getpid() != self.pid:
            os._exit(0)
        super().signal_handler_interrupt()

    def _init_shared_socket(self) -> None:
        self._ssp, self._sso = None, self._listener
        self._shd = SocketHolder(self._listener.fileno(), False, BACKLOG)

    def _spawn_worker(self, idx: int, target: Any, callback_loader: Any) -> Any:
        return super()._spawn_worker(idx, target, partial(callback_loader, idx))

    def _serve_loop(self, spawn_target: Any, target_loader: Any) -> None:
        dead: set[int] = set()
        while not self.interrupt_signal:
            self.main_loop_interrupt.wait(_TICK_SECONDS)
            self.main_loop_interrupt.clear()
            self._look_at_models()
            self._kill_hanging_workers()
            while self.interrupt_children:
                dead.add(idx := self.interrupt_children.pop())
                died = self.wrks[idx].inner
                self._log.write("worker died", "error", worker=idx, pid=died.pid, code=died.exitcode)
            for idx in sorted(dead):
                if time.monotonic() - self.wrks[idx].birth >= _SHORTEST_LIFE:
                    dead.remove(idx)
                    self._blocks[-1].add("trueup_worker_restarts", (), 1.0)
                    self._respawn_workers([idx], spawn_target, target_loader)

    def _look_at_models(self) -> None:
        """Keep the models that new workers begin with up to date. What is bad the workers say themselves."""
        force, self.reload_signal = self.reload_signal, False
        if force or self._options.reload_seconds:
            list(self._models.reload(force=force))
        if force:
            for worker in self.wrks:
                _send(worker.inner.pid, signal.SIGHUP)

    def _kill_hanging_workers(self) -> None:
        seconds, now = self._options.worker_seconds, time.monotonic()
        for worker in self.wrks:
            seen = max(worker.birth, float(self._blocks[worker.idx].marks[HEARTBEAT]))
            if seconds and now - seen > seconds and worker.is_alive():
                self._log.write("worker hangs", "error", worker=worker.idx, pid=worker.inner.pid)
                _send(worker.inner.pid, signal.SIGKILL)

    def _make_application(self, number: int) -> Application:
        """In a worker: the application that it serves."""
        log = Log(worker=number, pid=os.getpid())
        metrics = Metrics(CounterBlock(self._memory[number]), self._blocks)
        parent = self._blocks[-1]

        def start() -> None:
            """Listen to the parent, once the event loop runs."""
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGINT, int)  # Ctrl-C reaches all processes; the parent says when to end
            loop.add_signal_handler(signal.SIGHUP, partial(application.reload, force=True))
            main = multiprocessing.parent_process()
            if main is not None:
                loop.add_reader(main.sentinel, lose_parent, main.sentinel)
            log.write("worker started")

        def lose_parent(sentinel: int) -> None:
            """End as if told to: nobody is there any more who could."""
            asyncio.get_running_loop().remove_reader(sentinel)
            log.write("parent gone", "error")
            os.kill(os.getpid(), signal.SIGTERM)

        application = Application(
            self._options, self._models, metrics, log,
            worker=number, stopping=lambda: bool(parent.marks[STOPPING]), on_start=start,
        )  # fmt: skip
        return application


def listen(host: str, port: int, answer_seconds: float) -> socket.socket:
    """A socket that listens.

    Where the system can (Linux), a connection ends if its client takes none of its answer for `answer_seconds`: no
    HTTP server sees that, since the kernel holds the bytes.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(1000 * answer_seconds)))
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(error.errno, f"Can't listen on {host} port {port}: {error.strerror or error}") from error
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def refuse_new_connections(listener: socket.socket) -> bool:
    """Let no more connections begin, in all processes that share the socket; those in its queue can still be taken.

    A socket that is closed resets the connections that nobody has accepted yet, and between the last `accept` and
    `close` there is always room for one more. With the filter there is not: who knocks now is not answered, tries again
    a second later, and is refused then, as by any server that has ended.
    Says whether the system can do it: Linux can.
    """
    if not sys.platform.startswith("linux"):
        return False
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in _PROGRAM)
    memory = ctypes.create_string_buffer(program)
    try:
        listener.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", len(_PROGRAM), ctypes.addressof(memory))
        )
    except OSError:
        return False
    return True


def _send(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
