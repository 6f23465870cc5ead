"""Errors as the client sees them: JSON problems (RFC 9457) that say what, where, and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import orjson

__all__ = ["KINDS", "MEDIA_TYPE", "Problem", "template"]

MEDIA_TYPE = "application/problem+json"


@cache
def template(name: str) -> str:
    """A text that stands beside the code."""
    return resources.files("trueup.serving").joinpath("templates", name).read_text("utf-8")


class _Kind(NamedTuple):
    """A kind of error, which a program may branch on: the HTTP status, what went wrong, and what to do about it."""

    status: int
    title: str
    advice: str


KINDS: Mapping[str, _Kind] = {name: _Kind(**kind) for name, kind in json.loads(template("problems.json")).items()}


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
