"""The description of the service that programs read. It tells nothing of the models."""

from __future__ import annotations

from typing import Any

from trueup.serving._arrow_body import CALIBRATED
from trueup.serving._options import ServerOptions
from trueup.serving._problems import KINDS, MEDIA_TYPE

__all__ = ["openapi"]

_JSON, _ARROW = "application/json", "application/vnd.apache.arrow.stream"
_NAME = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}, "description": "The model."}
_SCORE_COLUMN = {
    "name": "score_column",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "minLength": 1},
    "description": "The column of the rows that holds the base scores, if it is not the one of fit.",
}
_PROBABILITY = {"type": ["number", "null"], "minimum": 0, "maximum": 1}


def openapi(options: ServerOptions) -> dict[str, Any]:
    """The OpenAPI 3.1 document of a server."""
    secured: dict[str, Any] = {} if options.token is None else {"security": [{"token": []}]}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "trueup",
            "version": "1",
            "summary": "Probabilities that are true in every segment.",
            "description": (
                f"A request holds at most {options.max_rows:,} rows and {options.max_body_bytes:,} bytes. Every error "
                "is a JSON problem (RFC 9457) whose `advice` says what to do."
            ),
        },
        "paths": _paths(),
        "components": {
            "schemas": _schemas(options),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        **secured,
    }
    if options.token is not None:
        for path in ("/healthz", "/readyz"):
            document["paths"][path]["get"]["security"] = []
    return document


def _paths() -> dict[str, Any]:
    refusals = (400, 401, 404, 408, 413, 415, 422, 500, 503)
    return {
        "/v1/calibrate": {"post": _calibrate("Calibrate scores with the default model", [], refusals)},
        "/v1/models/{name}/calibrate": {"post": _calibrate("Calibrate scores with a model", [_NAME], refusals)},
        "/v1/model": {"get": _read("The default model", "Model")},
        "/v1/models": {"get": _read("All models", "Models")},
        "/v1/models/{name}": {"get": _read("A model", "Model", parameters=[_NAME], refusals=(401, 404, 500))},
        "/healthz": {"get": _read("Whether the process runs", "Status", refusals=(500,))},
        "/readyz": {"get": _read("Whether traffic may come", "Status", refusals=(500, 503))},
        "/metrics": {"get": _page("Counters for Prometheus", "text/plain")},
        "/openapi.json": {"get": _page("This document", _JSON)},
        "/docs": {"get": _page("This document for people", "text/html")},
    }


def _calibrate(summary: str, parameters: list[Any], refusals: tuple[int, ...]) -> dict[str, Any]:
    stream = {"schema": {"type": "string", "format": "binary"}}
    return {
        "summary": summary,
        "parameters": [*parameters, _SCORE_COLUMN],
        "requestBody": {
            "required": True,
            "description": (
                "JSON, or an uncompressed Arrow IPC stream whose columns are the features and the base scores."
            ),
            "content": {_JSON: {"schema": _reference("Rows")}, _ARROW: stream},
        },
        "responses": {
            "200": {
                "description": (
                    "The calibrated probabilities, in the order of the rows; null where the score is missing. A stream "
                    f"is answered with a stream of one column, '{CALIBRATED}'."
                ),
                "headers": {"X-Model-SHA256": {"schema": {"type": "string"}, "description": "Which model answered."}},
                "content": {_JSON: {"schema": _reference("Probabilities")}, _ARROW: stream},
            },
            **_refusals(refusals),
        },
    }


def _read(
    summary: str, schema: str, *, parameters: list[Any] | None = None, refusals: tuple[int, ...] = (401, 500)
) -> dict[str, Any]:
    answer = {"description": summary, "content": {_JSON: {"schema": _reference(schema)}}}
    return {"summary": summary, "parameters": parameters or [], "responses": {"200": answer, **_refusals(refusals)}}


def _page(summary: str, media_type: str) -> dict[str, Any]:
    answer = {"description": summary, "content": {media_type: {}}}
    return {"summary": summary, "responses": {"200": answer, **_refusals((401, 500))}}


def _refusals(statuses: tuple[int, ...]) -> dict[str, Any]:
    refusals = {}
    for status in statuses:
        titles = [f"{kind.title} (`{name}`)" for name, kind in KINDS.items() if kind.status == status]
        content = {MEDIA_TYPE: {"schema": _reference("Problem")}}
        refusals[str(status)] = {"description": "; ".join(titles) + ".", "content": content}
    return refusals


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _schemas(options: ServerOptions) -> dict[str, Any]:
    model = _object(
        name={"type": "string"},
        default={"type": "boolean"},
        rounds={"type": "integer"},
        score_map={"type": ["object", "null"], "description": "What is done to the score before the rounds."},
        features={
            "type": "array",
            "items": _object(
                name={"type": "string"},
                type={"type": "string"},
                json={"type": "string"},
                categories={"type": ["integer", "null"]},
            ),
        },
        scores={"type": "boolean", "description": "Whether rows need base scores."},
        score_column={"type": ["string", "null"]},
        base_rate={"type": ["number", "null"]},
        fitted_rows={"type": "integer"},
        versions={"type": "object"},
        sha256={"type": "string"},
        bytes={"type": "integer"},
        loaded_at={"type": "string"},
        shadowed={"type": "boolean"},
    )
    rows = _object(
        rows={
            "type": "array",
            "maxItems": options.max_rows,
            "items": {"type": "object", "description": "Values by column name; null is missing."},
        }
    )
    rows["properties"]["scores"] = {
        "type": "array",
        "items": _PROBABILITY,
        "description": "The base model's probabilities, unless a column of the rows holds them.",
    }
    return {
        "Rows": {**rows, "additionalProperties": False},
        "Probabilities": _object(
            probabilities={"type": "array", "items": _PROBABILITY},
            model={"type": "string"},
            sha256={"type": "string"},
        ),
        "Model": {**model, "properties": {**model["properties"], "example": _reference("Rows")}},
        "Models": _object(default={"type": "string"}, models={"type": "array", "items": _reference("Model")}),
        "Status": {**_object(status={"type": "string"}), "additionalProperties": True},
        "Problem": {
            **_object(
                type={"type": "string"},
                title={"type": "string"},
                status={"type": "integer"},
                detail={"type": "string"},
                advice={"type": "string"},
            ),
            "additionalProperties": True,
        },
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}
