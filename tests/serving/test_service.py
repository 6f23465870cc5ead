"""The service as its clients see it: addresses, answers, and problems that say what to do."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import trueup
from running_server import ARROW, RunningServer


def stream_of(fitted: Any, **changed: Any) -> bytes:
    columns = {name: [row[name] for row in fitted.rows] for name in fitted.rows[0]}
    columns["day"] = pa.array(columns["day"]).cast(pa.date32())
    table = pa.table({**columns, "score": fitted.scores, **changed})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=150)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("count", [0, 1, 64, 65, 400])
def test_rows_in_json_get_what_the_model_gives_in_process(server, fitted, count):
    answer = server.calibrate(fitted.request(count))
    assert answer.status == 200
    assert answer.json["probabilities"] == fitted.expected()[:count]
    assert answer.json["model"] == "clicks"
    assert answer.headers["x-model-sha256"] == answer.json["sha256"]


def test_scores_may_be_a_column_of_the_rows(server, fitted):
    rows = [{**row, "score": score} for row, score in zip(fitted.rows[:3], fitted.scores, strict=False)]
    named = [{**row, "p": score} for row, score in zip(fitted.rows[:3], fitted.scores, strict=False)]
    expected = fitted.expected()[:3]
    assert server.calibrate({"rows": rows}).json["probabilities"] == expected
    assert server.calibrate({"rows": named}, "/v1/calibrate?score_column=p").json["probabilities"] == expected


def test_a_stream_is_answered_with_a_stream(server, fitted):
    answer = server.ask("/v1/calibrate", stream_of(fitted), ARROW)
    assert (answer.status, answer.headers["content-type"]) == (200, ARROW)
    table = pa.ipc.open_stream(answer.body).read_all()
    assert table.column_names == ["calibrated"]
    np.testing.assert_allclose(table["calibrated"].to_numpy(), fitted.expected(), rtol=1e-12)


def test_a_missing_score_gives_null_and_the_other_rows_their_probability(server, fitted):
    request = {"rows": fitted.rows[:2], "scores": [None, fitted.scores[1]]}
    assert server.calibrate(request).json["probabilities"] == [None, fitted.expected()[1]]
    scores = pa.array([None, *fitted.scores[1:]])
    answer = server.ask("/v1/calibrate", stream_of(fitted, score=scores), ARROW)
    assert pa.ipc.open_stream(answer.body).read_all()["calibrated"].to_pylist()[0] is None


def test_models_are_asked_by_name(server, fitted):
    answer = server.calibrate(fitted.request(5), "/v1/models/other/calibrate")
    assert answer.json["probabilities"] == fitted.expected(fitted.other)[:5]
    assert answer.json["probabilities"] != fitted.expected()[:5]


def test_a_model_tells_what_it_needs(server, fitted):
    model = server.ask("/v1/model").json
    assert [feature["name"] for feature in model["features"]] == list(fitted.rows[0])
    assert [feature["json"] for feature in model["features"]] == [
        "a string", "a number", "a number", "true or false", "a date as YYYY-MM-DD",
    ]  # fmt: skip
    assert (model["rounds"], model["name"], model["score_column"]) == (2, "clicks", "score")
    listed = server.ask("/v1/models").json
    assert [entry["name"] for entry in listed["models"]] == ["clicks", "other"]
    assert server.ask("/v1/models/other").json["sha256"] == listed["models"][1]["sha256"] != model["sha256"]


ROW = {"country": "NO", "hour": 3, "amount": 0.5, "member": True, "day": "2026-01-02"}
DEEP = "[" * 10_000 + "]" * 10_000
BAD_BODIES: dict[str, tuple[Any, int, str]] = {
    "binary noise": (bytes(range(256)) * 40, 400, "bad-json"),
    "nothing": ("", 400, "bad-json"),
    "NaN": (json.dumps({"rows": [{**ROW, "amount": float("nan")}], "scores": [0.5]}), 400, "bad-json"),
    "Infinity": (json.dumps({"rows": [{**ROW, "amount": float("inf")}], "scores": [0.5]}), 400, "bad-json"),
    "a number beyond all floats": ('{"rows": [], "scores": [1e999]}', 400, "bad-json"),
    "deep JSON": (DEEP, 400, "bad-json"),
    "deep JSON in a row": ('{"rows": [{"country": ' + DEEP + "}]}", 400, "bad-json"),
    "half of JSON": ('{"rows": [', 400, "bad-json"),
    "a million rows": ('{"rows": [' + "{}," * 999_999 + "{}]}", 413, "too-many-rows"),
    "millions of lists": ("[" + "[]," * 1_000_000 + "[]]", 413, "too-many-rows"),
    "no object": ("[1]", 422, "wrong-shape"),
    "no rows": ("{}", 422, "wrong-shape"),
    "rows that are none": ('{"rows": [3]}', 422, "wrong-shape"),
    "a strange member": ('{"rows": [], "mode": 1}', 422, "wrong-shape"),
    "too few scores": ({"rows": [ROW, ROW], "scores": [0.5]}, 422, "wrong-shape"),
    "no scores": ({"rows": [ROW]}, 422, "bad-score"),
    "a score above 1": ({"rows": [ROW, ROW], "scores": [0.5, 1.5]}, 422, "bad-score"),
    "a score that is true": ({"rows": [ROW], "scores": [True]}, 422, "bad-score"),
    "a text for a number": ({"rows": [ROW, {**ROW, "hour": "3"}], "scores": [0.1, 0.1]}, 422, "wrong-type"),
    "a number for a text": ({"rows": [{**ROW, "country": 3}], "scores": [0.1]}, 422, "wrong-type"),
    "a boolean for a number": ({"rows": [{**ROW, "hour": True}], "scores": [0.1]}, 422, "wrong-type"),
    "a list": ({"rows": [{**ROW, "country": ["NO"]}], "scores": [0.1]}, 422, "wrong-type"),
    "no date": ({"rows": [{**ROW, "day": "yesterday"}], "scores": [0.1]}, 422, "wrong-type"),
    "an unknown column": ({"rows": [{**ROW, "colour": "red"}], "scores": [0.1]}, 422, "unknown-columns"),
    "a missing column": ({"rows": [{"country": "NO"}], "scores": [0.1]}, 422, "missing-columns"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_is_a_problem_that_says_what_to_do_and_the_next_request_is_fine(server, fitted, name):
    body, status, kind = BAD_BODIES[name]
    answer = server.calibrate(body)
    problem = answer.json
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["type"]) == (status, f"/docs#{kind}")
    assert all(problem[member] for member in ("title", "detail", "advice"))
    assert server.calibrate(fitted.request(1)).json["probabilities"] == fitted.expected()[:1]


@pytest.mark.parametrize("count", [2, 100])
def test_a_wrong_type_is_named_by_row_and_column_in_small_requests_and_large(server, count):
    rows = [ROW] * (count - 1) + [{**ROW, "amount": "much, and secret"}]
    answer = server.calibrate({"rows": rows, "scores": [0.5] * count})
    assert (answer.json["row"], answer.json["column"]) == (count - 1, "amount")
    assert "secret" not in answer.body.decode()


def test_missing_and_unknown_columns_are_named(server):
    answer = server.calibrate({"rows": [ROW, {"country": "NO", "hour": 1}], "scores": [0.1, 0.1]})
    assert (answer.json["columns"], answer.json["row"]) == (["amount", "member", "day"], 1)
    answer = server.calibrate({"rows": [{**ROW, "colour": 1, "size": 2}], "scores": [0.1]})
    assert answer.json["columns"] == ["colour", "size"]


@pytest.mark.parametrize(
    ("path", "method", "status", "kind"),
    [
        ("/nowhere", "GET", 404, "not-found"),
        ("/v1/models/none", "GET", 404, "unknown-model"),
        ("/v1/models/none/calibrate", "POST", 404, "unknown-model"),
        ("/v1/calibrate", "GET", 405, "method-not-allowed"),
        ("/v1/model", "DELETE", 405, "method-not-allowed"),
        ("/v1/calibrate?colour=red", "POST", 422, "wrong-shape"),
    ],
)
def test_a_wrong_address_is_a_problem_too(server, path, method, status, kind):
    answer = server.ask(path, "{}" if method == "POST" else None, method=method)
    assert (answer.status, answer.json["type"]) == (status, f"/docs#{kind}")
    assert ("allow" in answer.headers) == (status == 405)


@pytest.mark.parametrize("headers", [{"content_type": "text/csv"}, {"content_encoding": "gzip"}])
def test_other_types_and_encodings_are_not_taken(server, headers):
    answer = server.calibrate({"rows": []}, **headers)
    assert (answer.status, answer.json["type"]) == (415, "/docs#unsupported-media-type")


def test_the_documents_need_nothing_from_elsewhere(server):
    described = server.ask("/openapi.json").json
    assert described["openapi"] == "3.1.0"
    assert {"/v1/calibrate", "/metrics", "/v1/models/{name}"} <= set(described["paths"])
    page = server.ask("/docs").body.decode()
    assert "<h2>Problems</h2>" in page
    assert not re.search(r"(src|href)=.(https?:)?//", page)
    assert server.calibrate("x").json["type"].removeprefix("/docs#") in re.findall(r'<tr id="([a-z-]+)"', page)


def test_a_request_has_the_id_that_its_client_gave_it(server):
    assert server.ask("/healthz", x_request_id="mine-17").headers["x-request-id"] == "mine-17"
    assert server.ask("/healthz", x_request_id="no spaces allowed").headers["x-request-id"] != "no spaces allowed"


def test_metrics_are_the_sums_of_all_workers(fitted):
    # Ten rows without a country, ten whose country is new, ten without a score; as many requests go to each worker as
    # the kernel likes, so only sums over both are known.
    rows = [{**ROW, "country": None}] * 10 + [{**ROW, "country": "SE"}] * 10 + [ROW] * 10
    scores = [0.3] * 20 + [None] * 10
    with RunningServer(fitted.path, workers=2) as server:
        answers = [server.calibrate({"rows": rows, "scores": scores}) for _ in range(8)]
        assert {answer.status for answer in answers} == {200}
        server.calibrate("x")
        metric = server.metric
        assert metric("trueup_rows_total", model="clicks") == 8 * 30
        assert metric("trueup_missing_values_total", feature="country") == 8 * 10
        assert metric("trueup_unseen_categories_total", feature="country") == 8 * 10
        assert metric("trueup_missing_scores_total") == 8 * 10
        assert metric("trueup_base_score_count") == metric("trueup_calibrated_score_count") == 8 * 20
        assert metric("trueup_base_score_sum") == pytest.approx(8 * 20 * 0.3)
        assert metric("trueup_base_score_bucket", le="0.2") == 0
        assert metric("trueup_base_score_bucket", le="0.3") == 8 * 20
        summed = sum(p for answer in answers for p in answer.json["probabilities"] if p is not None)
        assert metric("trueup_calibrated_score_sum") == pytest.approx(summed)
        assert metric("trueup_requests_total", route="/v1/calibrate", status="200") == 8
        assert metric("trueup_errors_total", kind="bad-json") == 1
        assert metric("trueup_request_seconds_count", route="/v1/calibrate") == 9
        assert metric("trueup_model_info", sha256=answers[0].json["sha256"]) == 1


def test_the_log_is_json_and_holds_no_values_of_features(fitted):
    with RunningServer(fitted.path) as server:
        row = {**ROW, "country": "Atlantis", "amount": 987.654}
        server.calibrate({"rows": [row], "scores": [0.5]}, x_request_id="known")
        server.calibrate({"rows": [{**row, "hour": "Atlantis"}], "scores": [0.5]})
        line = server.wait_for("request", request="known")
        assert (line["rows"], line["status"], line["route"]) == (1, 200, "/v1/calibrate")
        server.wait_for("request", problem="wrong-type")
    text = json.dumps(server.events)
    assert "not JSON" not in text
    assert "Atlantis" not in text
    assert "987" not in text


def test_unknown_columns_are_ignored_if_the_server_is_told_so(fitted):
    with RunningServer(fitted.path, allow_unknown_columns=True) as server:
        rows = [{**row, "colour": "red"} for row in fitted.rows[:3]]
        answer = server.calibrate({"rows": rows, "scores": fitted.scores[:3]})
        assert answer.json["probabilities"] == fitted.expected()[:3]


def test_a_model_without_scores_takes_none(tmp_path, fitted):
    from small_fits import quick

    columns = {"hour": [row["hour"] for row in fitted.rows]}
    path = tmp_path / "rate.trueup"
    quick().fit(columns, [place % 3 == 0 for place in range(len(fitted.rows))]).save(path)
    with RunningServer(path) as server:
        expected = trueup.load(path).calibrate_one({"hour": 3})
        assert server.calibrate({"rows": [{"hour": 3}]}).json["probabilities"] == [expected]
        assert server.calibrate({"rows": [{"hour": 3}], "scores": [0.5]}).json["type"] == "/docs#bad-score"


def test_a_map_of_the_score_is_served_like_any_model(tmp_path, fitted):
    from trueup.baselines import IsotonicCalibrator

    path = tmp_path / "isotonic.trueup"
    IsotonicCalibrator().fit({"x": [0, 0, 0]}, [0, 1, 1], scores=[0.1, 0.3, 0.5]).save(path)
    with RunningServer(path) as server:
        answer = server.calibrate({"rows": [{}, {"x": 1}], "scores": [0.2, None]})
        assert answer.json["probabilities"] == [0.5, None]
