"""A candidate on the same traffic."""

from __future__ import annotations

import json

import pytest

from running_server import RunningServer


def test_a_candidate_scores_the_same_rows_and_changes_no_answer(fitted, tmp_path):
    log = tmp_path / "shadow.jsonl"
    options = {"shadows": {"clicks": str(fitted.other)}, "shadow_log": str(log)}
    with RunningServer(fitted.path, **options) as server:
        answers = [server.calibrate(fitted.request(count)) for count in (3, 100)]
        assert answers[1].json["probabilities"] == fitted.expected()[:100]
        server.wait_until(lambda: server.metric("trueup_shadow_score_count") == 103)
        assert server.metric("trueup_shadow_difference_count") == 103
        ours, theirs = fitted.expected(), fitted.expected(fitted.other)
        gaps = [abs(a - b) for count in (3, 100) for a, b in zip(ours[:count], theirs[:count], strict=True)]
        assert server.metric("trueup_shadow_difference_sum") == pytest.approx(sum(gaps))
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) == 103
    assert {name for line in lines for name in line} == {
        "model", "request", "row", "base", "answer", "candidate", "candidate_sha256",
    }  # fmt: skip
    of_first = [line for line in lines if line["request"] == answers[0].headers["x-request-id"]]
    assert [line["answer"] for line in of_first] == ours[:3]
    assert [line["candidate"] for line in of_first] == theirs[:3]
    assert [line["base"] for line in of_first] == fitted.scores[:3]


def test_a_candidate_that_needs_more_columns_fails_by_itself(fitted, tmp_path):
    from small_fits import quick

    wider = tmp_path / "wider.trueup"
    columns = {"hour": [row["hour"] for row in fitted.rows], "colour": ["red", "blue"] * 200}
    quick().fit(columns, [place % 3 == 0 for place in range(400)], scores=fitted.scores).save(wider)
    with RunningServer(fitted.path, shadows={"clicks": str(wider)}) as server:
        assert server.calibrate(fitted.request(3)).json["probabilities"] == fitted.expected()[:3]
        server.wait_until(lambda: server.metric("trueup_shadow_errors_total") == 1)
        assert server.calibrate(fitted.request(3)).status == 200
