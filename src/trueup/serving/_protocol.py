"""Connections that end: uvicorn's protocol with a limit on the time and size of what clients send.

uvicorn bounds how long a connection may be idle after an answer, and nothing else: one that never sends its headers,
sends them for ever, or never takes its answer would be held for good. Bodies have their own limits where they are
read.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from trueup.serving._problems import MEDIA_TYPE, Problem

__all__ = ["MAX_HEADER_BYTES", "limited_protocol", "raw_problem"]

MAX_HEADER_BYTES = 64 * 1024


class _LimitedProtocol(HttpToolsProtocol):
    """A connection whose client must send headers, and take answers, in time."""

    request_seconds = 10.0

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._expects_headers = True  # the parser is between two requests, or in the headers of one
        self._header_bytes = 0
        self._patience: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for headers."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take bytes, and count them until the headers are there."""
        if self._expects_headers:
            self._header_bytes += len(data)
        super().data_received(data)
        if self._header_bytes and not self.transport.is_closing():
            if self._header_bytes > MAX_HEADER_BYTES:
                self._refuse("headers-too-large", f"The headers have more than {MAX_HEADER_BYTES:,} bytes.")
            elif self._patience is None:
                self._wait()

    def on_headers_complete(self) -> None:
        """Stop to wait: the body has a limit of its own."""
        self._expects_headers = False
        self._header_bytes = 0
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is whole; what comes now is the next one."""
        super().on_message_complete()
        self._expects_headers = True
        self._stop_waiting()

    def on_response_complete(self) -> None:
        """If the request was refused before it was whole, throw the rest away, but not for ever.

        To close at once would reset the connection, and the client would lose the answer that says why.
        """
        super().on_response_complete()
        if not self._expects_headers and not self.transport.is_closing():
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers."""
        self._stop_waiting()
        self._stop_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Limit how long a client may leave its answer lying."""
        super().pause_writing()
        self._stop_writing()
        self._writing = self.loop.call_later(self.request_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads again."""
        self._stop_writing()
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """What is not HTTP gets a problem as well."""
        self._refuse("bad-request", msg)

    def _refuse(self, kind: str, detail: str) -> None:
        self.transport.write(raw_problem(Problem(kind, detail)))
        self.transport.close()

    def _wait(self) -> None:
        self._stop_waiting()
        self._patience = self.loop.call_later(self.request_seconds, self._give_up)

    def _give_up(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.abort()

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _stop_writing(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None


def limited_protocol(seconds: float) -> type[HttpToolsProtocol]:
    """The protocol with a limit in seconds."""
    return type("LimitedProtocol", (_LimitedProtocol,), {"request_seconds": seconds})


def raw_problem(problem: Problem) -> bytes:
    """A whole answer, for where no application can give one."""
    body = problem.body()
    retry = b"retry-after: 1\r\n" if problem.status == 503 else b""
    head = b"content-type: %b\r\ncontent-length: %d\r\n%bconnection: close\r\n\r\n"
    return STATUS_LINE[problem.status] + head % (MEDIA_TYPE.encode(), len(body), retry) + body
