"""Answering `POST /v1/calibrate`: read, check, score, answer."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from trueup._scoring import Observed
from trueup.serving._gateway import ClientGoneError, Exchange, Receive, Reply, Scope, TimeLimit
from trueup.serving._json_body import read_json, write_json
from trueup.serving._metrics import Counted, Metrics, digest_of
from trueup.serving._models import Served, ServedModels
from trueup.serving._problems import Problem
from trueup.serving._rows import RowBatch
from trueup.serving._serve import ServerOptions
from trueup.serving._shadow import Shadow

__all__ = ["ARROW", "JSON", "CalibrateEndpoint"]

JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
_AT_ONCE = 32 * 1024  # bytes of JSON that are worked on in the event loop: less than a millisecond
_SMALL = 64 * 1024  # bytes of a body that always find room
_THREADS = 2  # one reads while the other, without the interpreter's lock, scores


class Admission:
    """Counts the requests and the bytes of bodies that one event loop holds.

    A request is counted once its body is there: clients that send slowly, or not at all, take nobody's place. Bytes
    are counted as they come. When they are too many, large bodies are refused and small ones still taken, so that a
    few clients that stop in the middle of large bodies can't keep the others out.
    """

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self.bytes_held = 0
        self.in_work = 0

    def add(self, body: bytearray, more: bytes) -> None:
        """Add bytes to a body that is held; a `Problem` if that is too much."""
        if self.bytes_held + len(more) > self._max_bytes and len(body) + len(more) > _SMALL:
            raise Problem("overloaded", f"The server already holds bodies of {self.bytes_held:,} bytes.")
        self.bytes_held += len(more)
        body += more

    def free(self, body: bytearray) -> None:
        """Give a body's memory back: now, and not when the traceback of an error that refers to it is collected."""
        self.bytes_held -= len(body)
        body.clear()

    def begin(self) -> None:
        """Take a place for a request whose body is there; a `Problem` if there is none."""
        if self.in_work >= self._max_requests:
            raise Problem("overloaded", f"The server is working on {self.in_work:,} requests, the most it takes.")
        self.in_work += 1


class CalibrateEndpoint:
    """Reads rows, scores them, and replies with the probabilities."""

    def __init__(self, models: ServedModels, options: ServerOptions, metrics: Metrics) -> None:
        self._models, self._options, self._metrics = models, options, metrics
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="trueup-scoring")
        self.admission = Admission(options.max_requests, options.max_bytes_in_work)
        self.shadow: Shadow | None = None

    async def __call__(self, name: str, exchange: Exchange, scope: Scope, receive: Receive) -> Reply:
        """Answer a request about the model of a name."""
        served = self._models.served(name)  # once: a reload in the middle changes nothing for this request
        exchange.model = name
        headers = dict(scope["headers"])
        media_type = _media_type(headers)
        self._check_length(headers)
        score_column = _score_column(scope.get("query_string", b""))
        held = bytearray()  # one piece of memory, which goes back when it is freed; thousands of small ones would not
        try:
            body = await self._read_body(exchange, receive, held)
            answer, batch, observed, digest = await self._in_turn(body, media_type, name, served, score_column)
        finally:
            self.admission.free(held)
        exchange.rows = len(batch.scores)
        self._metrics.record(digest)
        sha256 = (b"x-model-sha256", served.loaded.sha256.encode())
        offer = None
        if self.shadow is not None:
            offer = partial(self.shadow.offer, name, exchange.id, batch, observed.probabilities)
        return Reply(answer, media_type, headers=(sha256,), after=offer)

    def close(self) -> None:
        """End the threads; those of scoring begin anew when an application is started a second time."""
        self._threads.shutdown()
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="trueup-scoring")
        if self.shadow is not None:
            self.shadow.close()

    async def _in_turn(
        self, body: bytes, media_type: str, *more: Any
    ) -> tuple[bytes, RowBatch, Observed, list[Counted]]:
        """Do the work at once if it is little, in a thread if not."""
        self.admission.begin()
        try:
            if media_type == JSON and len(body) <= _AT_ONCE:
                return self._work(body, media_type, *more)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._work, body, media_type, *more)
        finally:
            self.admission.in_work -= 1

    def _work(
        self, body: bytes, media_type: str, name: str, served: Served, score_column: str | None
    ) -> tuple[bytes, RowBatch, Observed, list[Counted]]:
        """All that needs a processor, in whatever thread."""
        read: Any = read_json
        if media_type == ARROW:
            from trueup.serving._arrow import read_arrow, write_arrow

            read = read_arrow
        batch: RowBatch = read(body, served.plan, max_rows=self._options.max_rows, score_column=score_column)
        observed = batch.score(served.loaded.calibrator, served.plan)
        if media_type == ARROW:
            answer = write_arrow(observed.probabilities)
        else:
            answer = write_json(observed.probabilities, name, served.loaded.sha256)
        return answer, batch, observed, digest_of(name, batch.scores, observed)

    async def _read_body(self, exchange: Exchange, receive: Receive, held: bytearray) -> bytes:
        """The whole body, counted as it comes."""
        seconds = self._options.request_seconds
        with TimeLimit(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGoneError
                more: bytes = message.get("body", b"")
                if len(held) + len(more) > self._options.max_body_bytes:
                    raise _too_large(self._options.max_body_bytes)
                self.admission.add(held, more)
                if not message.get("more_body", False):
                    exchange.body_read = True
                    return bytes(held)
        exchange.body_read = True  # as far as it will be: nobody waits for the rest
        raise Problem("slow-body", f"The body was not complete after {seconds:g} s.")

    def _check_length(self, headers: dict[bytes, bytes]) -> None:
        """Refuse a body that says itself that it is too large, before a byte of it is read."""
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length[:20]) > self._options.max_body_bytes:
            raise _too_large(self._options.max_body_bytes)


def _media_type(headers: dict[bytes, bytes]) -> str:
    given = headers.get(b"content-type", b"").decode("latin-1")
    media_type = given.partition(";")[0].strip().lower()
    if media_type not in (JSON, ARROW):
        said = f"The content type is {media_type[:100]!r}." if media_type else "There is no content type."
        raise Problem("unsupported-media-type", said)
    if headers.get(b"content-encoding", b"identity").strip().lower() != b"identity":
        raise Problem("unsupported-media-type", "The body has a content encoding.")
    return media_type


def _score_column(query: bytes) -> str | None:
    if not query:
        return None
    try:
        given = parse_qs(query.decode("ascii"), keep_blank_values=True, strict_parsing=True, max_num_fields=10)
    except ValueError:
        raise Problem("wrong-shape", "The query can't be read. Only ?score_column=NAME is known.") from None
    columns = given.pop("score_column", [])
    if given or len(columns) > 1 or columns == [""]:
        raise Problem("wrong-shape", "Only ?score_column=NAME is known in the query.")
    return columns[0] if columns else None


def _too_large(max_bytes: int) -> Problem:
    return Problem("body-too-large", f"The body has more than {max_bytes:,} bytes.", max_bytes=max_bytes)
