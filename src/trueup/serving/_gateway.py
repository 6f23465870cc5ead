"""What every request passes through: identity, the token, the clock, the log, and errors as problems."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from trueup.serving._logs import Log
from trueup.serving._metrics import Metrics
from trueup.serving._problems import MEDIA_TYPE, Problem
from trueup.serving._serve import ServerOptions

__all__ = ["ClientGoneError", "Exchange", "Gateway", "Receive", "Reply", "Scope", "Send", "TimeLimit", "TokenCheck"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

MAX_HEADER_BYTES = 64 * 1024
_OPEN = frozenset({"/healthz", "/readyz"})  # a probe can't hold a secret; what they say without a token is a word
_SCHEME = b"bearer "
_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class ClientGoneError(Exception):
    """The client has left before the end of its request."""


@dataclass(slots=True)
class Exchange:
    """A request on its way through the server."""

    id: str
    path: str
    route: str = "other"
    model: str | None = None
    rows: int | None = None
    kind: str | None = None  # of problem
    status: int = 0
    authorized: bool = False
    body_read: bool = False
    started: float = field(default_factory=time.perf_counter)


class TimeLimit:
    """A block that is left, in silence, if it takes longer than some seconds.

    It is `asyncio.timeout` of Python 3.11 without an error. `asyncio.wait_for` would start a task for every body.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._task, self._passed = asyncio.current_task(), False
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)

    def _end(self) -> None:
        if self._task is not None:
            self._passed = self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *more: object) -> bool:
        self._timer.cancel()
        if self._passed:  # from Python 3.11 on, a task counts who wants it to end
            getattr(self._task, "uncancel", int)()
        return self._passed and kind is asyncio.CancelledError


class TokenCheck:
    """Compares what a client sends with the token; without a token it lets everybody in.

    Hashes of equal length are compared, in constant time, so neither a common beginning nor the length shows.
    """

    def __init__(self, token: str | None) -> None:
        self._digest = None if token is None else hashlib.sha256(token.encode()).digest()

    def allows(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether the headers of a request carry the token."""
        if self._digest is None:
            return True
        given = b""
        for name, value in headers:
            if name == b"authorization" and value[: len(_SCHEME)].lower() == _SCHEME:
                given = value[len(_SCHEME) :].strip()
        return hmac.compare_digest(hashlib.sha256(given).digest(), self._digest)


@dataclass(frozen=True)
class Reply:
    """An answer, and what is done once it is sent."""

    body: bytes
    media_type: str
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    after: Callable[[], None] | None = None


Handler: TypeAlias = Callable[[Exchange, Scope, Receive], Awaitable[Reply]]


class Gateway:
    """Lets requests through to a handler, and their answers out.

    While `stopping` is true, every answer closes its connection.
    """

    def __init__(
        self, handler: Handler, options: ServerOptions, metrics: Metrics, log: Log, stopping: Callable[[], bool]
    ) -> None:
        self._handler, self._options, self._metrics, self._log = handler, options, metrics, log
        self._token = TokenCheck(options.token)
        self._stopping = stopping
        self._prefix = secrets.token_hex(4)
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        exchange = Exchange(self._id_of(scope["headers"]), path)
        try:
            reply = await self._reply(exchange, scope, receive)
            await self._send(exchange, reply, send)
        except (ClientGoneError, ConnectionError, asyncio.CancelledError) as error:
            self._metrics.count("trueup_disconnects")
            if isinstance(error, asyncio.CancelledError):
                raise
            return
        finally:
            self._finish(exchange)
        if reply.after is not None:
            reply.after()
        if reply.status >= 400 and not exchange.body_read:
            await self._discard_body(receive)

    async def _reply(self, exchange: Exchange, scope: Scope, receive: Receive) -> Reply:
        try:
            if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
                raise Problem("headers-too-large", f"The headers have more than {MAX_HEADER_BYTES:,} bytes.")
            exchange.authorized = self._token.allows(scope["headers"])
            if not exchange.authorized and exchange.path not in _OPEN:
                raise Problem("unauthorized", "This address needs a token.")
            return await self._handler(exchange, scope, receive)
        except Problem as problem:
            return _problem_reply(exchange, problem)
        except ClientGoneError:
            raise
        except Exception as error:
            self._log.failure(error, request=exchange.id, route=exchange.route)
            return _problem_reply(exchange, Problem("internal", f"Request {exchange.id} failed."))

    async def _send(self, exchange: Exchange, reply: Reply, send: Send) -> None:
        headers = [
            (b"content-type", reply.media_type.encode()),
            (b"content-length", str(len(reply.body)).encode()),
            *reply.headers,
            (b"x-request-id", exchange.id.encode()),
            (b"cache-control", b"no-store"),
        ]
        if self._stopping():
            headers.append((b"connection", b"close"))
        exchange.status = reply.status
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        await send({"type": "http.response.body", "body": reply.body})

    async def _discard_body(self, receive: Receive) -> None:
        """Throw away what is left of a refused body, but not for ever.

        To leave it unread would reset the connection, and the client would lose the answer that says why.
        """

        left = 4 * self._options.max_body_bytes
        with TimeLimit(self._options.request_seconds):
            while left > 0 and (message := await receive()).get("more_body", False):
                left -= len(message.get("body", b""))

    def _finish(self, exchange: Exchange) -> None:
        seconds = time.perf_counter() - exchange.started
        if exchange.status:
            self._metrics.record_request(exchange.route, exchange.status, seconds)
        if exchange.kind is not None:
            self._metrics.count("trueup_errors", exchange.kind)
        if self._options.access_log:
            self._log.write(
                "request",
                request=exchange.id,
                route=exchange.route,
                status=exchange.status or None,
                model=exchange.model,
                rows=exchange.rows,
                problem=exchange.kind,
                ms=round(seconds * 1e3, 3),
            )

    def _id_of(self, headers: list[tuple[bytes, bytes]]) -> str:
        for name, value in headers:
            if name == b"x-request-id" and _GIVEN_ID.fullmatch(value):
                return value.decode()
        return f"{self._prefix}-{next(self._numbers)}"


def _problem_reply(exchange: Exchange, problem: Problem) -> Reply:
    exchange.kind = problem.kind
    more = {503: (b"retry-after", b"1"), 401: (b"www-authenticate", b'Bearer realm="trueup"')}
    if "allow" in problem.where:
        more[405] = (b"allow", problem.where["allow"].encode())
    return Reply(problem.body(), MEDIA_TYPE, problem.status, (more[problem.status],) if problem.status in more else ())
