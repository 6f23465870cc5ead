"""What goes wrong in production, done on purpose: no wrong answer, no lost request, no growth, and it heals itself."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from running_server import SECONDS, RunningServer
from trueup.serving import ModelSlot


class Load:
    """Threads that ask on connections that they keep, and check every answer."""

    def __init__(self, server: RunningServer, request: Any, expected: dict[str, list[float]]) -> None:
        self._server, self._body, self._expected = server, json.dumps(request), expected
        self._done = threading.Event()
        self._lock = threading.Lock()
        self.answers = 0
        self.broken: list[str] = []  # connections that ended after a request was sent and before it was answered
        self.wrong: list[Any] = []
        self.by_model: dict[str, int] = {}
        self._threads = [threading.Thread(target=self._run, daemon=True) for _ in range(4)]

    def _run(self) -> None:
        while not self._done.is_set():
            connection = self._server.connection()
            try:
                connection.connect()
                while self._ask(connection) and not self._done.is_set():
                    pass
            except ConnectionRefusedError:  # the service has ended
                return
            finally:
                connection.close()

    def _ask(self, connection: http.client.HTTPConnection) -> bool:
        """Ask once; whether the connection may be used again."""
        try:
            connection.request("POST", "/v1/calibrate", self._body, {"content-type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, http.client.HTTPException) as error:
            with self._lock:
                self.broken.append(repr(error))
            return False
        self._check(response.status, answer)
        return not response.will_close

    def _check(self, status: int, answer: Any) -> None:
        with self._lock:
            self.answers += 1
            sha256 = answer.get("sha256")
            if status != 200 or answer["probabilities"] != self._expected.get(sha256):
                self.wrong.append(answer)
            else:
                self.by_model[sha256] = self.by_model.get(sha256, 0) + 1

    def wait_for_more(self, count: int) -> None:
        """Wait until so many more requests have been answered."""
        goal = self.answers + count
        self._server.wait_until(lambda: self.answers >= goal)

    @contextmanager
    def running(self) -> Iterator[Load]:
        for thread in self._threads:
            thread.start()
        try:
            yield self
        finally:
            self._done.set()
            for thread in self._threads:
                thread.join(SECONDS)


def expected_of(fitted: Any, *paths: Path) -> dict[str, list[float]]:
    """The right answer by the hash of the model that gives it."""
    return {ModelSlot(path).current.sha256: fitted.expected(path)[:3] for path in paths}


def test_a_worker_that_is_killed_is_replaced_and_no_answer_is_wrong(fitted):
    with RunningServer(fitted.path, workers=2) as server:
        load = Load(server, fitted.request(), expected_of(fitted, fitted.path))
        with load.running():
            load.wait_for_more(50)
            killed, place = server.workers[0], len(server.events)
            os.kill(killed, signal.SIGKILL)
            server.wait_for("worker died", worker=0, pid=killed, code=-signal.SIGKILL)
            assert server.wait_for("worker started", after=place, worker=0)["pid"] != killed
            load.wait_for_more(50)
        assert load.wrong == []
        assert len(load.broken) <= 4  # what it was at, one a connection at most
        assert server.metric("trueup_worker_restarts_total") == 1
        # The dead worker's counts are kept; what it counted and could not send is the difference.
        counted = server.metric("trueup_rows_total") / 3
        assert load.answers <= counted <= load.answers + len(load.broken)


def test_a_corrupt_file_never_replaces_a_model_even_for_a_worker_that_starts_anew(fitted, tmp_path):
    path = tmp_path / "model.trueup"
    shutil.copy(fitted.path, path)
    with RunningServer(path, workers=2) as server:
        load = Load(server, fitted.request(), expected_of(fitted, fitted.path, fitted.other))
        with load.running():
            load.wait_for_more(20)
            replace(path, fitted.path.read_bytes()[:-100])
            for worker in (0, 1):
                assert "can't be used" in server.wait_for("reload", worker=worker, outcome="refused")["error"]
            place = len(server.events)
            os.kill(server.workers[1], signal.SIGKILL)
            server.wait_for("worker started", after=place, worker=1)
            load.wait_for_more(20)
            assert list(load.by_model) == [ModelSlot(fitted.path).current.sha256]
            assert "can't be used" in server.ask("/readyz").json["models"]["clicks"]["error"]
            assert server.metric("trueup_model_file_bad") == 1
            replace(path, fitted.other.read_bytes())
            server.wait_until(lambda: len(load.by_model) == 2)
            server.wait_until(lambda: server.ask("/readyz").json["models"]["clicks"]["error"] is None)
        assert load.wrong == []  # each answer is of one model and not of a mixture


def test_sighup_reads_the_files_again(fitted, tmp_path):
    path = tmp_path / "model.trueup"
    shutil.copy(fitted.path, path)
    with RunningServer(path, reload_seconds=0) as server:
        before = server.ask("/v1/model").json["sha256"]
        replace(path, fitted.other.read_bytes())
        server.signal(signal.SIGHUP)
        server.wait_for("reload", outcome="swapped")
        assert server.ask("/v1/model").json["sha256"] != before
        assert server.calibrate(fitted.request()).json["probabilities"] == fitted.expected(fitted.other)[:3]


def replace(path: Path, content: bytes) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(content)
    os.replace(beside, path)


def test_sigterm_under_load_drops_no_request(fitted):
    with RunningServer(fitted.path, workers=2, drain_seconds=1.0) as server:
        load = Load(server, fitted.request(), expected_of(fitted, fitted.path))
        with load.running(), server.socket() as slow:
            body = json.dumps(fitted.request()).encode()
            slow.sendall(head(len(body)) + body[:10])  # in flight when the signal comes
            load.wait_for_more(40)
            server.signal(signal.SIGTERM)
            server.wait_for("stopping")
            slow.sendall(body[10:])
            assert received(slow).startswith(b"HTTP/1.1 200")
            assert server.ended() == 0
        assert load.wrong == []
        assert load.broken == []


def head(length: int, extra: str = "") -> bytes:
    return (
        f"POST /v1/calibrate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        f"content-length: {length}\r\n{extra}\r\n"
    ).encode()


def received(client: socket.socket) -> bytes:
    """All that comes until the other end closes, or an answer is there."""
    collected = b""
    while part := client.recv(65536):
        collected += part
        before, found, body = collected.partition(b"\r\n\r\n")
        if found and b"content-length: %d" % len(body) in before.lower():
            break
    return collected


@pytest.mark.parametrize("sent", [b"", b"POST /v1/calibrate HT", b"GET /healthz HTTP/1.1\r\nhost: x\r\n"])
def test_a_client_that_hangs_in_its_headers_is_let_go(server, fitted, sent):
    with server.socket() as client:
        client.sendall(sent)
        assert ended_by_server(client)
    assert server.calibrate(fitted.request(1)).status == 200


def ended_by_server(client: socket.socket) -> bool:
    try:
        return client.recv(65536) == b""
    except ConnectionResetError:
        return True


def test_half_a_body_is_answered_with_408_and_holds_nothing(server, fitted):
    with server.socket() as client:
        client.sendall(head(1000) + b'{"rows": [')
        answer = received(client)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"/docs#slow-body" in answer
    assert server.calibrate(fitted.request(1)).status == 200


def test_a_client_that_leaves_in_the_middle_harms_nobody(server, fitted):
    with server.socket() as client:
        client.sendall(head(1000) + b'{"rows": [')
    assert server.calibrate(fitted.request(1)).status == 200


def test_what_is_not_http_is_refused(server, fitted):
    with server.socket() as client:
        client.sendall(b"\x16\x03\x01\x02\x00\x01\x00 noise\r\n\r\n")
        answer = received(client)
    assert answer.startswith(b"HTTP/1.1 400")
    assert server.calibrate(fitted.request(1)).status == 200


def test_endless_headers_are_refused(server, fitted):
    with server.socket() as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n")
        line = b"x-more: " + b"a" * 4000 + b"\r\n"
        try:
            for _ in range(40):
                client.sendall(line)
            answer = received(client)
        except (ConnectionResetError, BrokenPipeError):  # it had heard enough before the last line was sent
            answer = b"HTTP/1.1 431"
    assert answer.startswith(b"HTTP/1.1 431")
    assert server.calibrate(fitted.request(1)).status == 200


def resident_mb(pids: list[int]) -> float:
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


GIGABYTE = 2**30
needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")


@needs_proc
def test_a_gigabyte_is_refused_while_it_comes_and_never_held(server, fitted):
    before = resident_mb(server.workers)
    block = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    with server.socket() as client:
        client.sendall(head(0).replace(b"content-length: 0", b"transfer-encoding: chunked"))
        client.setblocking(False)
        sent, answer, deadline = 0, b"", time.monotonic() + SECONDS
        while not answer and sent < GIGABYTE and time.monotonic() < deadline:
            with suppress(BlockingIOError):
                sent += client.send(block[sent % len(block) :])
            with suppress(BlockingIOError):
                answer = client.recv(65536)
    assert answer.startswith(b"HTTP/1.1 413")
    assert sent < GIGABYTE / 20  # 4 MiB are taken, and some more are in the buffers between us
    assert resident_mb(server.workers) - before < 64
    assert server.calibrate(fitted.request(1)).status == 200


def test_a_body_that_says_itself_that_it_is_too_large_is_refused_before_it_comes(server):
    with server.socket() as client:
        client.sendall(head(GIGABYTE, "expect: 100-continue\r\n"))
        answer = received(client)
    assert answer.startswith(b"HTTP/1.1 413")  # and not 100


def test_a_refused_body_that_is_sent_to_its_end_leaves_the_connection_fit_for_more(server, fitted):
    connection = server.connection()
    connection.request("POST", "/v1/calibrate", b" " * (2**22 + 2**20), {"content-type": "application/json"})
    response = connection.getresponse()
    assert (response.status, json.loads(response.read())["max_bytes"]) == (413, 2**22)
    connection.request("POST", "/v1/calibrate", json.dumps(fitted.request(1)), {"content-type": "application/json"})
    assert json.loads(connection.getresponse().read())["probabilities"] == fitted.expected()[:1]
    connection.close()


def test_seventy_clients_that_stop_after_a_byte_keep_nobody_out(fitted):
    with RunningServer(fitted.path, max_requests=2) as server, ExitStack() as clients:
        body = json.dumps(fitted.request(1)).encode()
        slow = [clients.enter_context(server.socket()) for _ in range(70)]
        for client in slow:
            client.sendall(head(len(body)) + body[:1])
        assert {server.calibrate(fitted.request(1)).status for _ in range(20)} == {200}
        slow[-1].sendall(body[1:])
        assert received(slow[-1]).startswith(b"HTTP/1.1 200")


def test_more_bytes_than_are_held_get_503_but_small_bodies_are_still_taken(fitted):
    with RunningServer(fitted.path, max_body_bytes=100_000, max_bytes_in_work=100_000) as server:
        with server.socket() as first:
            first.sendall(head(100_000) + b" " * 90_000)  # and no more
            server.wait_until(lambda: server.metric("trueup_body_bytes") == 90_000)
            refused = server.calibrate(b" " * 90_000)
            assert (refused.status, refused.json["type"]) == (503, "/docs#overloaded")
            assert refused.headers["retry-after"] == "1"
            assert server.calibrate(fitted.request(1)).status == 200
        server.wait_until(lambda: server.calibrate(b" " * 90_000).status == 400)  # no JSON, but taken


def test_more_connections_than_are_held_wait_for_their_turn(fitted):
    with RunningServer(fitted.path, max_connections=2) as server, server.socket() as one, server.socket() as two:
        for client in (one, two):
            client.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            assert received(client).startswith(b"HTTP/1.1 200")
        with server.socket() as three:
            three.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            three.settimeout(0.2)
            with pytest.raises(TimeoutError):
                three.recv(100)
            one.close()
            three.settimeout(SECONDS)
            assert received(three).startswith(b"HTTP/1.1 200")


def test_a_worker_whose_loop_hangs_is_replaced(fitted):
    with RunningServer(fitted.path, worker_seconds=1.0) as server:
        stopped, place = server.workers[0], len(server.events)
        os.kill(stopped, signal.SIGSTOP)
        server.wait_for("worker hangs", pid=stopped)
        assert server.wait_for("worker started", after=place)["pid"] != stopped
        assert server.calibrate(fitted.request(1)).status == 200


def test_workers_end_when_their_parent_is_killed(fitted):
    server = RunningServer(fitted.path, workers=2)
    os.kill(server.process.pid, signal.SIGKILL)
    assert server.ended() == -signal.SIGKILL  # which waits for the log to end, and so for the last who could write
    assert [line["event"] for line in server.events].count("parent gone") == 2
