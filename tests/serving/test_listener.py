"""Closing a socket that listens without losing who is in its queue."""

from __future__ import annotations

import socket
import sys

import pytest

pytest.importorskip("granian")

from trueup.serving._server import listen, refuse_new_connections


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the filter is Linux's")
def test_who_is_in_the_queue_is_still_taken_and_who_comes_later_is_not_answered():
    with listen("127.0.0.1", 0, 10.0) as listener, socket.create_connection(listener.getsockname()) as early:
        early.sendall(b"before")
        assert refuse_new_connections(listener)
        with pytest.raises(TimeoutError), socket.create_connection(listener.getsockname(), timeout=0.2):
            pass
        early.sendall(b" and after")
        accepted, _ = listener.accept()
        with accepted:
            accepted.settimeout(10)
            assert accepted.recv(100).startswith(b"before")
        with pytest.raises(BlockingIOError):
            listener.accept()


def test_an_address_that_is_taken_says_which():
    with listen("127.0.0.1", 0, 10.0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(OSError, match=f"Can't listen on 127.0.0.1 port {port}"):
            listen("127.0.0.1", port, 10.0)


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux alone can")
def test_the_kernel_ends_connections_whose_client_takes_no_answer():
    with listen("127.0.0.1", 0, 1.5) as listener, socket.create_connection(listener.getsockname()):
        listener.setblocking(True)
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1500  # milliseconds
