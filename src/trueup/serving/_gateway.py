"""What every request passes through: identity, the token, time, the log, and errors as problems."""

from __future__ import annotations

import asyncio
import itertools
import re
import secrets
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from trueup.serving._auth import TokenCheck
from trueup.serving._logs import Log
from trueup.serving._metrics import Metrics
from trueup.serving._problems import MEDIA_TYPE, Problem

__all__ = ["ClientGoneError", "Exchange", "Gateway", "send_problem"]

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

EXCHANGE = "trueup.exchange"
_OPEN = frozenset({"/healthz", "/readyz"})  # a probe can't hold a secret; what they say without a token is a word
_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_RETRY_AFTER = (b"retry-after", b"1")


class ClientGoneError(Exception):
    """The client has left before the end of its request."""


class Exchange:
    """A request on its way through the server."""

    __slots__ = ("authorized", "id", "kind", "model", "route", "rows", "started", "status")

    def __init__(self, request_id: str) -> None:
        self.id = request_id
        self.started = time.perf_counter()
        self.route = "other"
        self.model: str | None = None
        self.rows: int | None = None
        self.kind: str | None = None
        self.status = 0
        self.authorized = False


class Gateway:
    """The outermost application.

    Parameters
    ----------
    application : ASGI application
        What answers.
    token : TokenCheck
        Who may ask.
    metrics : Metrics
        Where requests are counted.
    log : Log
        Where they are written down.
    access_log : bool
        Whether each is.

    Attributes
    ----------
    draining : bool
        Whether the server is about to stop: connections are closed after their next answer.
    """

    def __init__(
        self, application: Application, token: TokenCheck, metrics: Metrics, log: Log, *, access_log: bool = True
    ) -> None:
        self._application, self._token, self._metrics, self._log = application, token, metrics, log
        self._access_log = access_log
        self._prefix = secrets.token_hex(4)
        self._numbers = itertools.count(1)
        self.draining = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        exchange = Exchange(self._id_of(scope["headers"]))
        scope[EXCHANGE] = exchange
        more_headers = [(b"x-request-id", exchange.id.encode()), (b"cache-control", b"no-store")]

        async def send_on(message: Message) -> None:
            """Send a message, with what every answer carries."""
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                closing = [(b"connection", b"close")] if self.draining else []
                message["headers"] = [*message.get("headers", ()), *more_headers, *closing]
            await send(message)

        try:
            exchange.authorized = self._token.allows(scope["headers"])
            if not exchange.authorized and scope["path"] not in _OPEN:
                raise Problem("unauthorized", "This address needs a token.")
            await self._application(scope, receive, send_on)
        except Problem as problem:
            await send_problem(send_on, problem, exchange)
        except (ClientGoneError, asyncio.CancelledError):
            self._metrics.count("trueup_disconnects")
        except Exception as error:
            self._log.failure(error, request=exchange.id, route=exchange.route)
            if not exchange.status:
                await send_problem(send_on, Problem("internal", f"Request {exchange.id} failed."), exchange)
        finally:
            self._finish(exchange)

    def _finish(self, exchange: Exchange) -> None:
        seconds = time.perf_counter() - exchange.started
        if exchange.status:
            self._metrics.record_request(exchange.route, exchange.status, seconds)
        if exchange.kind is not None:
            self._metrics.count("trueup_errors", exchange.kind)
        if self._access_log:
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


async def send_problem(send: Send, problem: Problem, exchange: Exchange | None = None) -> None:
    """Answer with a problem."""
    body = problem.body()
    if exchange is not None:
        exchange.kind = problem.kind
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    if problem.status == 503:
        headers.append(_RETRY_AFTER)
    if problem.status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="trueup"'))
    if "allow" in problem.where:
        headers.append((b"allow", problem.where["allow"].encode()))
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
