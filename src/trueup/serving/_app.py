"""The addresses and what answers them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from trueup.serving._admission import Admission
from trueup.serving._auth import TokenCheck
from trueup.serving._calibrate import JSON, CalibrateEndpoint
from trueup.serving._docs_page import docs_page
from trueup.serving._gateway import EXCHANGE, Exchange, Gateway
from trueup.serving._logs import Log
from trueup.serving._metrics import Metrics
from trueup.serving._models import ServedModels
from trueup.serving._openapi import openapi
from trueup.serving._options import ServerOptions
from trueup.serving._problems import MEDIA_TYPE, Problem

__all__ = ["Application", "make_application"]

Endpoint = Callable[[Request], Awaitable[Response]]


class Application:
    """The ASGI application with the parts that a worker needs to reach.

    Attributes
    ----------
    gateway : Gateway
        The application itself.
    calibrate : CalibrateEndpoint
        What scores.
    admission : Admission
        What is in work.
    """

    def __init__(self, gateway: Gateway, calibrate: CalibrateEndpoint, admission: Admission) -> None:
        self.gateway = gateway
        self.calibrate = calibrate
        self.admission = admission


def make_application(options: ServerOptions, models: ServedModels, metrics: Metrics, log: Log) -> Application:
    """The application for some models."""
    admission = Admission(options.max_requests, options.max_bytes_in_work)
    calibrate = CalibrateEndpoint(models, options, metrics, admission)
    pages = _Pages(options, models, metrics)
    routes = [
        Route("/v1/calibrate", calibrate, methods=["POST"]),
        Route("/v1/models/{name}/calibrate", calibrate, methods=["POST"]),
        *(Route(path, _named(path, page)) for path, page in pages.routes().items()),
    ]
    inner = Starlette(
        routes=routes,
        exception_handlers={HTTPException: _refuse, Problem: _answer_problem, Exception: _fail},  # type: ignore[dict-item]
    )
    inner.router.redirect_slashes = False
    gateway = Gateway(inner, TokenCheck(options.token), metrics, log, access_log=options.access_log)
    pages.gateway = gateway
    return Application(gateway, calibrate, admission)


class _Pages:
    """All that is read and not computed."""

    def __init__(self, options: ServerOptions, models: ServedModels, metrics: Metrics) -> None:
        self._options, self._models, self._metrics = options, models, metrics
        self.gateway: Gateway | None = None

    def routes(self) -> dict[str, Endpoint]:
        """The pages by path."""
        return {
            "/v1/model": self.model,
            "/v1/models": self.models,
            "/v1/models/{name}": self.model,
            "/healthz": self.healthz,
            "/readyz": self.readyz,
            "/metrics": self.metrics,
            "/openapi.json": self.openapi,
            "/docs": self.docs,
        }

    async def model(self, request: Request) -> Response:
        """What a client needs to know of a model."""
        return _json(self._models.describe(request.path_params.get("name", self._models.default)))

    async def models(self, request: Request) -> Response:
        """The same of all models."""
        described = [self._models.describe(name) for name in self._models.names]
        return _json({"default": self._models.default, "models": described})

    async def healthz(self, request: Request) -> Response:
        """Whether the process runs."""
        return _json({"status": "alive"})

    async def readyz(self, request: Request) -> Response:
        """Whether traffic may come; with the token also which models are in use, and which files are bad."""
        if self.gateway is not None and self.gateway.draining:
            raise Problem("not-ready", "The server is stopping.")
        exchange: Exchange = request.scope[EXCHANGE]
        return _json({"status": "ready", **({"models": self._models.state()} if exchange.authorized else {})})

    async def metrics(self, request: Request) -> Response:
        """The counters of all workers together."""
        body, media_type = self._metrics.exposition(self._models.gauges)
        return Response(body, media_type=media_type)

    async def openapi(self, request: Request) -> Response:
        """The description of the service for programs."""
        return _json(openapi(self._options))

    async def docs(self, request: Request) -> Response:
        """The description of the service for people."""
        return HTMLResponse(docs_page(openapi(self._options)))


def _named(path: str, page: Endpoint) -> Endpoint:
    """The page, which tells the log and the metrics by which path it was reached."""

    async def named(request: Request) -> Response:
        """The page."""
        request.scope[EXCHANGE].route = path
        return await page(request)

    return named


def _json(content: Any) -> Response:
    return Response(orjson.dumps(content, default=str), media_type=JSON)


async def _refuse(request: Request, error: HTTPException) -> Response:
    """Starlette's own errors as problems."""
    kind = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "bad-request")
    details = {
        "not-found": "Nothing answers at this path.",
        "method-not-allowed": f"{request.method} is not taken here.",
    }
    return _problem_response(request, Problem(kind, details.get(kind, "See the title.")), dict(error.headers or {}))


async def _answer_problem(request: Request, problem: Problem) -> Response:
    return _problem_response(request, problem, {"retry-after": "1"} if problem.status == 503 else {})


async def _fail(request: Request, error: Exception) -> Response:
    """A failure of ours; the gateway, which sees the error too, writes it down."""
    exchange: Exchange = request.scope[EXCHANGE]
    return _problem_response(request, Problem("internal", f"Request {exchange.id} failed."), {})


def _problem_response(request: Request, problem: Problem, headers: dict[str, str]) -> Response:
    exchange: Exchange = request.scope[EXCHANGE]
    exchange.kind = problem.kind
    return Response(problem.body(), problem.status, headers, MEDIA_TYPE)
