"""A connection whose client does not take its answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")

from uvicorn.server import ServerState  # noqa: E402

from trueup.serving._protocol import limited_protocol  # noqa: E402


class Transport:
    """A transport that notes what is done to it."""

    def __init__(self) -> None:
        self.aborted = asyncio.Event()
        self.written = b""
        self.protocol: Any = None

    def get_extra_info(self, name: str) -> None:
        return None

    def is_closing(self) -> bool:
        return self.aborted.is_set()

    def abort(self) -> None:
        self.aborted.set()
        self.protocol.connection_lost(ConnectionError())

    def write(self, data: bytes) -> None:
        self.written += data

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


async def application(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def connected(seconds: float) -> tuple[Any, Transport]:
    config = uvicorn.Config(application, lifespan="off", log_config=None)
    protocol = limited_protocol(seconds)(config=config, server_state=ServerState(), app_state={})
    transport = Transport()
    transport.protocol = protocol
    protocol.connection_made(transport)
    return protocol, transport


def test_a_client_that_does_not_read_is_let_go():
    async def play() -> None:
        protocol, transport = connected(0.01)
        protocol.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        protocol.pause_writing()
        await asyncio.wait_for(transport.aborted.wait(), 10)

    asyncio.run(play())


def test_a_client_that_reads_again_is_kept():
    async def play() -> None:
        protocol, transport = connected(30.0)
        protocol.data_received(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        protocol.pause_writing()
        assert protocol._writing is not None
        protocol.resume_writing()
        assert protocol._writing is None
        await asyncio.gather(*protocol.tasks)
        assert transport.written.startswith(b"HTTP/1.1 200")
        assert not transport.is_closing()
        protocol.connection_lost(ConnectionError())

    asyncio.run(play())
