"""Errors as the client sees them: JSON problems (RFC 9457) that say what, where, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

__all__ = ["KINDS", "MEDIA_TYPE", "Problem", "ProblemKind"]

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class ProblemKind:
    """A kind of error: what a program may branch on.

    Attributes
    ----------
    status : int
        The HTTP status.
    title : str
        What went wrong, whatever the details.
    advice : str
        What to do about it.
    """

    status: int
    title: str
    advice: str


KINDS: Mapping[str, ProblemKind] = {
    "bad-request": ProblemKind(400, "The request is not HTTP that can be read", "Use an HTTP client."),
    "bad-json": ProblemKind(
        400, "The body is not JSON", "Send UTF-8 JSON. It has no NaN and no Infinity: send null for a missing value."
    ),
    "bad-arrow": ProblemKind(
        400,
        "The body is not an Arrow stream that can be used",
        "Send one Arrow IPC stream, uncompressed, of columns of plain types.",
    ),
    "unauthorized": ProblemKind(401, "The token is missing or wrong", "Send the header Authorization: Bearer <token>."),
    "not-found": ProblemKind(404, "There is nothing at this address", "GET /openapi.json lists what there is."),
    "unknown-model": ProblemKind(404, "There is no model of this name", "GET /v1/models lists the names."),
    "method-not-allowed": ProblemKind(405, "The address takes another method", "See the header Allow."),
    "slow-body": ProblemKind(408, "The body did not come in time", "Send it faster, or in smaller parts."),
    "body-too-large": ProblemKind(413, "The body is too large", "Send fewer rows a request."),
    "too-many-rows": ProblemKind(413, "There are too many rows", "Send fewer rows a request."),
    "unsupported-media-type": ProblemKind(
        415,
        "The body is of a type that is not served",
        "Send application/json or application/vnd.apache.arrow.stream, without a content encoding.",
    ),
    "wrong-shape": ProblemKind(
        422, "The body has not the form of a request", 'Send {"rows": [{column: value, ...}, ...], "scores": [...]}.'
    ),
    "unknown-columns": ProblemKind(
        422,
        "The rows have columns that the model does not know",
        "Leave them out, or let the server ignore them with --allow-unknown-columns.",
    ),
    "missing-columns": ProblemKind(
        422, "The rows lack columns of the model", "Add them; a value that is not known may be null."
    ),
    "wrong-type": ProblemKind(422, "A value is of the wrong type", "Send what the column held at fit, or null."),
    "bad-score": ProblemKind(
        422, "A base score is missing or wrong", "Send the base model's probability of each row, in [0, 1], or null."
    ),
    "headers-too-large": ProblemKind(431, "The headers are too large", "Send fewer or shorter headers."),
    "internal": ProblemKind(500, "The server failed", "Tell whoever runs it; the log has the request's id."),
    "overloaded": ProblemKind(503, "Too much work at once", "Try again after the seconds that Retry-After says."),
    "not-ready": ProblemKind(503, "Not ready for traffic", "Try again later, or another server."),
}


class Problem(Exception):  # noqa: N818 - the word of RFC 9457
    """A request that gets no probabilities, and why.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    detail : str
        What is wrong with this request, and where; no values of features.
    **where
        More members of the problem, such as the row and the column.
    """

    def __init__(self, kind: str, detail: str, **where: Any) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.where = where

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.kind].status

    def body(self) -> bytes:
        """The problem as JSON."""
        kind = KINDS[self.kind]
        members = {
            "type": f"/docs#{self.kind}",
            "title": kind.title,
            "status": kind.status,
            "detail": self.detail,
            "advice": kind.advice,
            **self.where,
        }
        return orjson.dumps(members, default=str)
