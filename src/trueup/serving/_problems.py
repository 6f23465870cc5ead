"""Errors as the client sees them: JSON problems (RFC 9457) that say what, where, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

__all__ = ["KINDS", "MEDIA_TYPE", "Problem"]

MEDIA_TYPE = "application/problem+json"


class _Kind(NamedTuple):
    """A kind of error, which a program may branch on: the HTTP status, what went wrong, and what to do about it."""

    status: int
    title: str
    advice: str


KINDS: Mapping[str, _Kind] = {
    "bad-json": _Kind(400, "The body is not JSON", "Send UTF-8 JSON, with null for a missing value: it has no NaN."),
    "bad-arrow": _Kind(
        400, "The Arrow stream can't be used", "Send one uncompressed Arrow IPC stream with columns of plain types."
    ),
    "unauthorized": _Kind(401, "The token is missing or wrong", "Send the header Authorization: Bearer <token>."),
    "not-found": _Kind(404, "There is nothing at this address", "GET /openapi.json lists all addresses."),
    "unknown-model": _Kind(404, "There is no model of this name", "GET /v1/models lists the names."),
    "method-not-allowed": _Kind(405, "This address needs another method", "See the header Allow."),
    "slow-body": _Kind(408, "The body did not arrive in time", "Send it faster, or send fewer rows per request."),
    "body-too-large": _Kind(413, "The body is too large", "Send fewer rows per request."),
    "too-many-rows": _Kind(413, "There are too many rows", "Send fewer rows per request."),
    "unsupported-media-type": _Kind(
        415,
        "The body is of a type that is not served",
        "Send application/json or application/vnd.apache.arrow.stream, without a content encoding.",
    ),
    "wrong-shape": _Kind(
        422, "The request has the wrong form", 'Send {"rows": [{column: value, ...}, ...], "scores": [...]}.'
    ),
    "unknown-columns": _Kind(
        422,
        "The rows have columns that the model does not know",
        "Leave them out, or start the server with --allow-unknown-columns to ignore them.",
    ),
    "missing-columns": _Kind(
        422, "The rows lack columns of the model", "Add them; send null where a value is not known."
    ),
    "wrong-type": _Kind(422, "A value is of the wrong type", "Send the type that the column held at fit, or null."),
    "bad-score": _Kind(
        422, "A base score is missing or wrong", "Send the base model's probability for each row, in [0, 1], or null."
    ),
    "headers-too-large": _Kind(431, "The headers are too large", "Send fewer or shorter headers."),
    "internal": _Kind(500, "The server failed", "Tell whoever runs the server; the log has the request's id."),
    "overloaded": _Kind(503, "The server has too much work", "Try again after the seconds given in Retry-After."),
    "not-ready": _Kind(503, "The server is not ready for traffic", "Try again later, or ask another server."),
}


class Problem(Exception):  # noqa: N818 - the word of RFC 9457
    """A request that gets no probabilities: the kind, a detail without values of features, and where it is."""

    def __init__(self, kind: str, detail: str, **where: Any) -> None:
        super().__init__(detail)
        self.kind, self.detail, self.where = kind, detail, where

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind].status

    def body(self) -> bytes:
        """The problem as JSON."""
        kind = KINDS[self.kind]
        members = {"title": kind.title, "status": kind.status, "detail": self.detail, "advice": kind.advice}
        return orjson.dumps({"type": f"/docs#{self.kind}", **members, **self.where}, default=str)
