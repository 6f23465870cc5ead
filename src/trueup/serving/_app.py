"""The ASGI application: the addresses, what answers them, and what goes on beside the requests."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import time
from collections.abc import Callable
from typing import Any

import orjson

from trueup.serving._calibrate import JSON, CalibrateEndpoint
from trueup.serving._docs import docs_page, example_of, openapi
from trueup.serving._gateway import Exchange, Gateway, Receive, Reply, Scope, Send
from trueup.serving._logs import Log
from trueup.serving._metrics import HEARTBEAT, Metrics
from trueup.serving._models import ServedModels
from trueup.serving._problems import Problem
from trueup.serving._serve import ServerOptions
from trueup.serving._shadow import Shadow

__all__ = ["Application"]

_PAGES = frozenset({
    "/v1/model", "/v1/example", "/v1/models", "/v1/models/{name}", "/healthz", "/readyz", "/metrics", "/openapi.json",
    "/docs",
})  # fmt: skip
_NAMED = re.compile(r"/v1/models/([^/]+)(/calibrate)?")
_HEARTBEAT_SECONDS = 0.5


class Application:
    """Answers for some models, in one event loop, whatever server calls it.

    Besides answering it looks at the model files every now and then, and scores the candidates' shadow traffic.
    """

    def __init__(
        self,
        options: ServerOptions,
        models: ServedModels,
        metrics: Metrics,
        log: Log,
        *,
        worker: int = 0,
        stopping: Callable[[], bool] = lambda: False,
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        self._options, self._models, self._metrics, self._log = options, models, metrics, log
        self._worker, self._stopping, self._on_start = worker, stopping, on_start
        self._calibrate = CalibrateEndpoint(models, options, metrics)
        self._gateway = Gateway(self._answer, options, metrics, log, stopping)
        self._pulse: asyncio.Task[None] | None = None
        self._reloads: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or begin and end with the server."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            self._start()  # where the application is mounted in another one, nobody has told it to
            await self._gateway(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        for phase in (self._start, self._stop):
            message = await receive()
            phase()
            await send({"type": f"{message['type']}.complete"})

    def _start(self) -> None:
        if self._pulse is not None:
            return
        loop = asyncio.get_running_loop()
        self._pulse = loop.create_task(self._beat())
        options = self._options
        if options.shadows:
            self._calibrate.shadow = Shadow(self._models, self._metrics, loop.call_soon_threadsafe, options.shadow_log)
        self._on_start()

    def _stop(self) -> None:
        if self._pulse is not None:
            self._pulse.cancel()
        self._calibrate.close()
        self._log.close()

    async def _beat(self) -> None:
        """Show signs of life, and look at the model files."""
        seconds = self._options.reload_seconds
        looked, dropped = time.monotonic(), 0
        while True:
            now = time.monotonic()
            self._metrics.own.marks[HEARTBEAT] = now
            self._metrics.set("trueup_requests_in_work", value=self._calibrate.admission.in_work)
            self._metrics.set("trueup_body_bytes", value=self._calibrate.admission.bytes_held)
            self._metrics.set("trueup_worker_resident_bytes", str(self._worker), value=_resident_bytes())
            self._metrics.count("trueup_log_lines_dropped", by=self._log.dropped - dropped)
            dropped = self._log.dropped
            if seconds and now - looked >= seconds:
                looked = now
                self.reload()
            await asyncio.sleep(min(_HEARTBEAT_SECONDS, seconds or _HEARTBEAT_SECONDS))

    def reload(self, *, force: bool = False) -> None:
        """Look at the model files in a thread: the loop goes on answering with what it has."""
        task = asyncio.get_running_loop().create_task(self._reload(force))
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    async def _reload(self, force: bool) -> None:
        loop = asyncio.get_running_loop()
        for name, swapped, error in await loop.run_in_executor(None, lambda: list(self._models.reload(force=force))):
            outcome = "swapped" if swapped else "refused" if error else "unchanged"
            self._metrics.count("trueup_model_reloads", name, outcome)
            self._log.write("reload", "error" if error else "info", model=name, outcome=outcome, error=error)

    async def _answer(self, exchange: Exchange, scope: Scope, receive: Receive) -> Reply:
        """Find what answers at a path, and let it."""
        named = _NAMED.fullmatch(exchange.path)
        route, name = exchange.path, self._models.default
        if named is not None:
            route, name = f"/v1/models/{{name}}{named[2] or ''}", named[1]
        is_calibrate = route in ("/v1/calibrate", "/v1/models/{name}/calibrate")
        if not is_calibrate and route not in _PAGES:
            raise Problem("not-found", "Nothing answers at this path.")
        exchange.route = route
        allowed = ("POST", "OPTIONS") if is_calibrate else ("GET", "HEAD", "OPTIONS")
        if scope["method"] == "OPTIONS":
            return Reply(b"", JSON, headers=((b"allow", ", ".join(allowed).encode()),))
        if scope["method"] not in allowed:
            allow = ", ".join(allowed)
            raise Problem("method-not-allowed", f"{scope['method'][:20]} is not supported here.", allow=allow)
        if is_calibrate:
            return await self._calibrate(name, exchange, scope, receive)
        if route == "/metrics":
            return Reply(*self._metrics.exposition(self._models.gauges()))
        if route == "/docs":
            page = docs_page(openapi(self._options), example_of(self._models.served(name)), scope)
            return Reply(page.encode(), "text/html; charset=utf-8")
        return Reply(orjson.dumps(self._page(route, name, exchange), default=str), JSON)

    def _page(self, route: str, name: str, exchange: Exchange) -> Any:
        """What an address that only reports tells."""
        if route == "/healthz":
            return {"status": "alive"}
        if route == "/readyz":  # without the token only whether traffic may come
            if self._stopping():
                raise Problem("not-ready", "The server is stopping.")
            return {"status": "ready", **({"models": self._models.state()} if exchange.authorized else {})}
        if route == "/openapi.json":
            return openapi(self._options)
        if route == "/v1/models":
            return self._models.describe_all()
        example = example_of(self._models.served(name))
        return example if route == "/v1/example" else {**self._models.describe(name), "example": example}


def _resident_bytes() -> float:
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * float(os.sysconf("SC_PAGE_SIZE"))
    except OSError:  # not Linux: the most that it ever was
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
