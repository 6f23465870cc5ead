"""The parent of the workers: starts them, replaces those that die or hang, and ends them in peace.

Why not uvicorn's: it stops the whole service when one worker can't start, so a worker that dies while a bad model file
lies on the disk would take the others with it; it answers SIGHUP by starting all workers anew; and it takes a worker
for alive whose event loop hangs. Here workers are forks of a parent that holds the last good models; they share one
listening socket, whose queue outlives each of them, and show by a heartbeat in shared memory that their loop turns.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from trueup.serving._counters import CounterBlock, make_blocks
from trueup.serving._listener import listen, refuse_new_connections
from trueup.serving._logs import Log
from trueup.serving._metrics import Metrics
from trueup.serving._models import ServedModels
from trueup.serving._options import ServerOptions
from trueup.serving._worker import Worker, config_of

__all__ = ["Supervisor"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_TICK_SECONDS = 1.0
_LONGEST_PAUSE = 5.0  # before a worker is started again that dies at once
_QUICK_DEATH = 1.0
_HANDSHAKE_SECONDS = 0.1
_SPARE_SECONDS = 5.0  # beyond what workers are given to end


@dataclass
class _Child:
    """A worker's place: its process, and how often it died early."""

    number: int
    pid: int = 0
    started: float = 0.0
    start_at: float = 0.0
    quick_deaths: int = 0


class Supervisor:
    """Runs the workers of a server.

    Parameters
    ----------
    options : ServerOptions
        What to serve, and where.
    """

    def __init__(self, options: ServerOptions) -> None:
        self._options = options
        self._log = Log()
        self._models = ServedModels(options)
        config_of(options, None).load()  # a bad certificate shows now, and not in every worker
        self._listener = listen(options.host, options.port)
        self._memory = make_blocks(options.workers + 1)
        self._blocks = [CounterBlock(memory) for memory in self._memory]
        self._children = [_Child(number) for number in range(options.workers)]
        self._lifeline = os.pipe()  # workers see its end when the parent is gone, however it went
        self._received: list[int] = []
        self._stopping = False

    def run(self) -> None:
        """Serve until told to stop by SIGTERM or Ctrl-C."""
        with self._signals() as wake:
            gc.collect()
            gc.freeze()  # what is loaded now stays, and its pages stay shared with the workers
            self._look_after_children()
            host, port = self._listener.getsockname()[:2]
            scheme = "http" if self._options.certfile is None else "https"
            address = f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
            self._log.write("listening", address=address, workers=[child.pid for child in self._children])
            if self._options.token is None and not _is_loopback(host):
                self._log.write("no token", "warning", advice="Anybody who can reach this address can use it.")
            while not self._stopping:
                self._wait(wake, _TICK_SECONDS)
                self._handle_signals()
                self._look_after_children()
                if self._options.reload_seconds:
                    self._reload()
            self._stop(wake)

    def _handle_signals(self) -> None:
        while self._received:
            number = self._received.pop(0)
            if number in (signal.SIGTERM, signal.SIGINT):
                self._stopping = True
            elif number == signal.SIGHUP:
                self._reload(force=True)
                self._tell_children(signal.SIGHUP)

    def _reload(self, *, force: bool = False) -> None:
        """Keep the models that new workers begin with up to date. What is bad the workers say themselves."""
        for _ in self._models.reload(force=force):
            pass

    def _look_after_children(self) -> None:
        now = time.monotonic()
        for child in self._children:
            if child.pid and self._has_ended(child):
                self._plan_restart(child, now)
            if child.pid and self._hangs(child, now):
                self._log.write("worker hangs", "error", worker=child.number, pid=child.pid)
                os.kill(child.pid, signal.SIGKILL)
            if not child.pid and now >= child.start_at and not self._stopping:
                self._start(child)

    def _has_ended(self, child: _Child) -> bool:
        try:
            pid, status = os.waitpid(child.pid, os.WNOHANG)
        except ChildProcessError:
            pid, status = child.pid, 0
        if pid and not self._stopping:
            code = os.waitstatus_to_exitcode(status)
            self._log.write("worker died", "error", worker=child.number, pid=child.pid, code=code)
        if pid:
            child.pid = 0
        return bool(pid)

    def _plan_restart(self, child: _Child, now: float) -> None:
        self._blocks[-1].add("trueup_worker_restarts", (), 0.0 if self._stopping else 1.0)
        child.quick_deaths = child.quick_deaths + 1 if now - child.started < _QUICK_DEATH else 0
        child.start_at = now + (min(_LONGEST_PAUSE, 0.1 * 2**child.quick_deaths) if child.quick_deaths else 0.0)

    def _hangs(self, child: _Child, now: float) -> bool:
        seconds = self._options.worker_seconds
        return bool(seconds) and now - max(child.started, self._blocks[child.number].heartbeat) > seconds

    def _start(self, child: _Child) -> None:
        child.started = time.monotonic()
        # A signal that came before the worker can handle it must wait, not be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        pid = os.fork()
        if pid == 0:
            self._become_worker(child)
        child.pid = pid
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)

    def _become_worker(self, child: _Child) -> None:
        """In the child: answer until told to stop, and never return."""
        code = 1
        log = Log(worker=child.number, pid=os.getpid())
        try:
            signal.set_wakeup_fd(-1)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, _ignore)  # uvicorn sets its own, and raises the signal anew at its end
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(self._lifeline[1])
            own = CounterBlock(self._memory[child.number])
            worker = Worker(self._options, self._models, Metrics(own, self._blocks), log, child.number)
            worker.run(self._listener, self._lifeline[0], _let_signals_through)
            code = 0
        except BaseException as error:
            log.failure(error)
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _stop(self, wake: int) -> None:
        """Let the workers end in peace; those that don't in time are killed."""
        self._log.write("stopping")
        self._tell_children(signal.SIGTERM)
        self._wait_for_children(wake, self._options.drain_seconds)
        if refuse_new_connections(self._listener):
            self._wait_for_children(wake, _HANDSHAKE_SECONDS)  # those that have begun end in the queue
        self._listener.close()  # the workers' copies keep it open until the last of them is done
        os.close(self._lifeline[1])
        if not self._wait_for_children(wake, self._options.stop_seconds + _SPARE_SECONDS):
            self._log.write("workers did not end", "error")
            self._tell_children(signal.SIGKILL)
            self._wait_for_children(wake, _SPARE_SECONDS)
        self._log.write("stopped")

    def _wait_for_children(self, wake: int, seconds: float) -> bool:
        """Wait until all workers have ended, but not longer; whether they have."""
        end = time.monotonic() + seconds
        while True:
            for child in self._children:
                if child.pid:
                    self._has_ended(child)
            left = end - time.monotonic()
            if left <= 0 or not any(child.pid for child in self._children):
                return left > 0
            self._wait(wake, left)

    def _tell_children(self, number: int) -> None:
        for child in self._children:
            if child.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child.pid, number)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[int]:
        """Note signals as they come; the file descriptor that is given wakes who waits for one."""
        reader, writer = socket.socketpair()
        reader.setblocking(False)
        writer.setblocking(False)
        before = {number: signal.signal(number, self._receive) for number in _SIGNALS}
        old_wakeup = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        try:
            yield reader.fileno()
        finally:
            signal.set_wakeup_fd(old_wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            reader.close()
            writer.close()

    def _receive(self, number: int, frame: object) -> None:
        self._received.append(number)

    def _wait(self, wake: int, seconds: float) -> None:
        ready, _, _ = select.select([wake], [], [], seconds)
        if ready:
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)


def _let_signals_through() -> None:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


def _ignore(number: int, frame: object) -> None:
    """A handler that does nothing, which unlike SIG_IGN is not passed on."""


def _is_loopback(host: str) -> bool:
    return host.startswith("127.") or host == "::1"
