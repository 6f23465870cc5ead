"""Whatever a client makes of our OpenAPI document, the answers are those that the document tells of."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

schemathesis = pytest.importorskip("schemathesis")

from schemathesis import GenerationMode  # noqa: E402
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi import checks as conformance  # noqa: E402

from trueup.serving import asgi_app  # noqa: E402

CHECKS = [
    not_a_server_error,
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]
OPERATIONS = [
    ("/v1/calibrate", "POST"),
    ("/v1/models/{name}/calibrate", "POST"),
    ("/v1/model", "GET"),
    ("/v1/example", "GET"),
    ("/v1/models", "GET"),
    ("/v1/models/{name}", "GET"),
    ("/healthz", "GET"),
    ("/readyz", "GET"),
    ("/metrics", "GET"),
    ("/openapi.json", "GET"),
    ("/docs", "GET"),
]


@schemathesis.serializer("application/vnd.apache.arrow.stream")
def as_it_is(context: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


@contextlib.contextmanager
def document_of(path: Any, token: str | None = None) -> Iterator[Any]:
    """The description of a server that runs in this process."""
    application = asgi_app({"clicks": path}, token=token, max_rows=50, access_log=False)
    headers = {"authorization": f"Bearer {token}"}
    yield schemathesis.openapi.from_asgi("/openapi.json", application, headers=headers)


@pytest.fixture(scope="module")
def document(fitted: Any) -> Iterator[Any]:
    with document_of(fitted.path) as described:
        yield described


def asked(document: Any, path: str, method: str, mode: Any, examples: int) -> set[int]:
    """The statuses of the answers to requests that are drawn from the document."""
    statuses: set[int] = set()

    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def ask(data: st.DataObject) -> None:
        case = data.draw(document[path][method].as_strategy(generation_mode=mode))
        response = case.call()
        statuses.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    ask()
    return statuses


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_requests_that_fit_the_document_get_the_answers_that_it_tells_of(document, path, method):
    statuses = asked(document, path, method, GenerationMode.POSITIVE, 25 if method == "POST" else 3)
    assert all(status < 500 for status in statuses)
    if path == "/v1/calibrate":
        assert 200 in statuses  # a request without rows, at the least


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method"), OPERATIONS[:2])
def test_requests_that_do_not_fit_are_refused_as_the_document_tells(document, path, method):
    statuses = asked(document, path, method, GenerationMode.NEGATIVE, 25)
    assert statuses
    assert all(status < 500 for status in statuses)


def test_without_the_token_every_operation_but_the_probes_is_refused(fitted):
    with document_of(fitted.path, "a token of the tests") as document:
        for path, method in OPERATIONS:
            statuses = asked(document, path, method, GenerationMode.POSITIVE, 2)
            assert statuses == ({200} if path in ("/healthz", "/readyz") else {401})


def test_the_document_tells_of_all_operations(document):
    found = {(path, method.upper()) for path in document for method in document[path]}
    assert found == set(OPERATIONS)
