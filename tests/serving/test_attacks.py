"""Attacks with a few kilobytes, some without a token: nothing grows, nobody is kept out, no body is lost."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from running_server import SECONDS, RunningServer
from trueup.errors import ParameterError
from trueup.serving import ServerOptions

needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")


def post(headers: str, body: bytes) -> bytes:
    return f"POST /v1/calibrate HTTP/1.1\r\nhost: x\r\n{headers}\r\n".encode() + body


def status_of(server: RunningServer, request: bytes) -> int:
    with server.socket() as client:
        client.sendall(request)
        response = http.client.HTTPResponse(client)
        response.begin()
        return response.status


def resident_mb(server: RunningServer) -> float:
    pids = [server.process.pid, *server.workers]
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def send_as_long_as_it_is_taken(server: RunningServer, start: bytes, more: bytes, megabytes: int) -> int:
    """Send without reading an answer, until the other end takes no more; how many bytes went out."""
    with server.socket() as client:
        client.settimeout(0.5)
        client.sendall(start)
        sent = 0
        with suppress(OSError):
            while sent < megabytes * 2**20:
                sent += client.send(more)
    return sent


@needs_proc
def test_pipelined_requests_whose_answers_nobody_takes_do_not_grow(server):
    before = resident_mb(server)
    sent = send_as_long_as_it_is_taken(server, b"", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 3600, 60)
    assert sent < 50 * 2**20  # the server stops reading
    assert resident_mb(server) - before < 50
    assert server.ask("/healthz").status == 200


@needs_proc
def test_endless_trailers_are_refused_and_never_held(server, fitted):
    before = resident_mb(server)
    start = post("content-type: application/json\r\ntransfer-encoding: chunked\r\n", b"1\r\n{\r\n0\r\n")
    assert send_as_long_as_it_is_taken(server, start, b"a:b\r\n" * 13000, 60) < 50 * 2**20
    assert resident_mb(server) - before < 50
    assert server.calibrate(fitted.request(1)).status == 200


@needs_proc
def test_bodies_that_were_refused_in_the_middle_give_their_memory_back(server):
    before = resident_mb(server)
    start = post("content-type: application/json\r\ntransfer-encoding: chunked\r\n", b"")
    for _ in range(30):  # of 4 MiB each before they are refused
        send_as_long_as_it_is_taken(server, start, b"10000\r\n" + b" " * 0x10000 + b"\r\n", 5)
    assert resident_mb(server) - before < 60


def test_a_hundred_kilobytes_of_headers_are_refused(server):
    request = b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: " + b"a" * 100_000 + b"\r\n\r\n"
    assert status_of(server, request) == 431


def test_an_upgrade_that_is_not_taken_does_not_lose_the_body(server, fitted):
    body = json.dumps(fitted.request(1)).encode()
    upgrade = "connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"
    length = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
    assert status_of(server, post(upgrade + length, body)) == 200


def test_trailers_are_not_taken_for_headers(fitted):
    body = json.dumps(fitted.request(1)).encode()
    chunk = b"%x\r\n%b\r\n0\r\n" % (len(body), body)
    with RunningServer(fitted.path, token="secret") as server:
        late_token = chunk + b"authorization: Bearer secret\r\n\r\n"
        headers = "content-type: application/json\r\ntransfer-encoding: chunked\r\n"
        assert status_of(server, post(headers, late_token)) == 401
        late_type = chunk + b"content-type: application/json\r\n\r\n"
        headers = "authorization: Bearer secret\r\ntransfer-encoding: chunked\r\n"
        assert status_of(server, post(headers, late_type)) == 415


@pytest.mark.parametrize(
    ("request_line", "status"),
    [("GET /healthz HTTP/1.0", 200), ("HEAD /healthz HTTP/1.1", 200), ("OPTIONS /v1/calibrate HTTP/1.1", 200)],
)
def test_old_and_rare_requests_get_right_answers(server, request_line, status):
    assert status_of(server, f"{request_line}\r\nhost: x\r\n\r\n".encode()) == status


def test_a_body_that_ends_early_is_never_scored(server, fitted):
    before = server.metric("trueup_rows_total", model="clicks")
    body = json.dumps({"rows": [], "scores": []}).encode()
    with server.socket() as client:
        client.sendall(post(f"content-type: application/json\r\ncontent-length: {len(body) + 9}\r\n", body))
    assert server.calibrate(fitted.request(1)).status == 200
    assert server.metric("trueup_rows_total", model="clicks") == before + 1


def test_a_reader_of_the_log_that_stalls_stops_no_answer(fitted):
    program = "import json, sys\nfrom trueup.serving import *\nserve(ServerOptions(**json.loads(sys.argv[1])))"
    reader, writer = os.pipe()
    port = free_port()
    options = json.dumps({"models": {"clicks": str(fitted.path)}, "port": port, "drain_seconds": 0.1})
    process = subprocess.Popen([sys.executable, "-c", program, options], stderr=writer)
    os.close(writer)
    try:
        connection = connected(port, process)
        for _ in range(3000):  # ten times what fits the pipe
            connection.request("GET", "/healthz", headers={"x-request-id": "a" * 60})
            response = connection.getresponse()
            response.read()
            assert response.status == 200
        connection.request("GET", "/metrics")
        assert b"trueup_log_lines_dropped_total" in connection.getresponse().read()
        connection.close()
        process.terminate()
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait()
        os.close(reader)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_are_no_crash(fitted, closed):
    program = "import json, sys; from trueup.serving import *; serve(ServerOptions(**json.loads(sys.argv[1])))"
    port = free_port()
    options = json.dumps({"models": {"clicks": str(fitted.path)}, "port": port, "drain_seconds": 0.1})
    shell = f'exec "$0" "$@" {closed}'
    process = subprocess.Popen(
        ["sh", "-c", shell, sys.executable, "-c", program, options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        connection = connected(port, process)
        for _ in range(5):
            connection.request(
                "POST", "/v1/calibrate", json.dumps(fitted.request(1)), {"content-type": "application/json"}
            )
            response = connection.getresponse()
            assert json.loads(response.read())["probabilities"] == fitted.expected()[:1]
        connection.close()
        process.terminate()
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def connected(port: int, process: subprocess.Popen[bytes]) -> http.client.HTTPConnection:
    """A connection, once the server listens: its log can't be asked."""
    end = time.monotonic() + SECONDS
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        try:
            connection.connect()
            return connection
        except ConnectionRefusedError:
            assert process.poll() is None
            assert time.monotonic() < end


@pytest.mark.parametrize("token", ["a\nb", "naïve", "snow ☃", " padded", "tab\tbed", "x" * 5000])
def test_a_token_that_no_client_can_send_is_refused_at_the_start(token):
    with pytest.raises(ParameterError, match="token") as refused:
        ServerOptions(models={"m": "m.trueup"}, token=token)
    assert token not in str(refused.value)


def test_an_empty_host_is_refused():
    with pytest.raises(ParameterError, match="The host is empty"):
        ServerOptions(models={"m": "m.trueup"}, host="")


def test_the_example_of_the_page_is_answered_by_the_model_that_is_loaded(server, fitted):
    example = server.ask("/v1/model").json["example"]
    assert list(example["rows"][0]) == list(fitted.rows[0])
    assert server.calibrate(example).status == 200
    page = server.ask("/docs").body.decode()
    assert f"http://127.0.0.1:{server.port}/v1/calibrate" in page
    assert "&quot;country&quot;: &quot;" in page
