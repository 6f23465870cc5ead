"""The application under servers that are not ours, and inside another application."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from typing import Any

import pytest

from trueup.errors import ParameterError
from trueup.serving import asgi_app


def ask(application: Any, *requests: tuple[str, Any], root: str = "", lifespan: bool = True) -> list[tuple[int, Any]]:
    """The statuses and JSON answers to requests, in the way of the ASGI specification."""

    async def all_of_them() -> list[tuple[int, Any]]:
        to_app: asyncio.Queue[Any] = asyncio.Queue()
        from_app: asyncio.Queue[Any] = asyncio.Queue()
        if not lifespan:
            return [await one(path, body) for path, body in requests]
        living = asyncio.create_task(application({"type": "lifespan"}, to_app.get, from_app.put))
        answers = []
        for phase in ("startup", "shutdown"):
            await to_app.put({"type": f"lifespan.{phase}"})
            assert await from_app.get() == {"type": f"lifespan.{phase}.complete"}
            if phase == "startup":
                answers = [await one(path, body) for path, body in requests]
        await living
        return answers

    async def one(path: str, body: Any) -> tuple[int, Any]:
        content = json.dumps(body).encode()
        halves = [content[: len(content) // 2], content[len(content) // 2 :]]
        received = [{"type": "http.request", "body": half, "more_body": half is halves[0]} for half in halves]
        sent: list[Any] = []

        async def receive() -> Any:
            return received.pop(0) if received else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "query_string": b"",
            "method": "GET" if body is None else "POST", "path": root + path, "raw_path": path.encode(),
            "root_path": root, "headers": [(b"content-type", b"application/json"), (b"host", b"example.org")],
        }  # fmt: skip
        await application(scope, receive, send)
        answer = b"".join(message.get("body", b"") for message in sent[1:])
        return sent[0]["status"], json.loads(answer) if path != "/docs" else answer.decode()

    return asyncio.run(all_of_them())


def test_it_answers_what_the_model_gives(fitted):
    (answer,) = ask(asgi_app(fitted.path, access_log=False), ("/v1/calibrate", fitted.request(400)))
    assert (answer[0], answer[1]["probabilities"]) == (200, fitted.expected())


def test_several_models_are_named_and_the_first_is_the_default(fitted):
    application = asgi_app({"a": fitted.path, "b": str(fitted.other)}, access_log=False)
    request = fitted.request()
    default, other = ask(application, ("/v1/calibrate", request), ("/v1/models/b/calibrate", request))
    assert default[1]["probabilities"] == fitted.expected()[:3]
    assert other[1]["probabilities"] == fitted.expected(fitted.other)[:3]


def test_mounted_in_another_application_it_needs_no_lifespan_and_knows_its_place(fitted):
    application = asgi_app(fitted.path, access_log=False)
    asked = [("/v1/calibrate", fitted.request()), ("/docs", None), ("/nowhere", None)]
    answer, page, lost = ask(application, *asked, root="/calibration", lifespan=False)
    assert answer[1]["probabilities"] == fitted.expected()[:3]
    assert "http://example.org/calibration/v1/calibrate" in page[1]
    assert lost[0] == 404


def test_limits_and_the_token_are_its_own(fitted):
    limited = asgi_app(fitted.path, access_log=False, max_rows=2)
    assert ask(limited, ("/v1/calibrate", fitted.request()))[0][0] == 413
    small = asgi_app(fitted.path, access_log=False, max_body_bytes=100, max_bytes_in_work=100)
    assert ask(small, ("/v1/calibrate", fitted.request()))[0][0] == 413
    assert ask(asgi_app(fitted.path, access_log=False, token="x"), ("/v1/model", None))[0][0] == 401
    with pytest.raises(ParameterError, match="max_rows"):
        asgi_app(fitted.path, max_rows=0)


def test_it_runs_under_another_server(fitted):
    uvicorn = pytest.importorskip("uvicorn")
    import http.client

    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(asgi_app(fitted.path, access_log=False), log_config=None, lifespan="on")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        connection = http.client.HTTPConnection("127.0.0.1", listener.getsockname()[1], timeout=30)
        for count in (1, 400):
            body = json.dumps(fitted.request(count))
            connection.request("POST", "/v1/calibrate", body, {"content-type": "application/json"})
            assert json.loads(connection.getresponse().read())["probabilities"] == fitted.expected()[:count]
        connection.close()
        server.should_exit = True
        thread.join(30)
    assert not thread.is_alive()
