"""Clients that we did not write: curl, old HTTP, Java's, and the commands of our own pages, pasted into a shell."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from running_server import RunningServer

ROOT = Path(__file__).parents[2]
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
needs_java = pytest.mark.skipif(shutil.which("javac") is None, reason="needs a Java compiler")
# Without a version, Java asks for an upgrade to HTTP/2 in each request that it sends in the clear.
JAVA = """
import java.net.URI;
import java.net.http.*;

public class Ask {
    public static void main(String[] given) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(given[0])).header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(given[1])).build();
        HttpClient client = HttpClient.newHttpClient();
        for (int time = 0; time < 3; time++) {
            System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
        }
    }
}
"""


def run(command: str, folder: Path, **environment: str) -> str:
    given = {**os.environ, **environment, "no_proxy": "127.0.0.1"}
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True, cwd=folder, env=given).stdout


@needs_curl
@pytest.mark.parametrize("option", ["--http2", "--http1.1", "--http1.0", "--http1.1 -H 'expect: 100-continue'"])
def test_curl_gets_the_right_answer_however_it_asks(
    server: RunningServer, fitted: Any, tmp_path: Path, option: str
) -> None:
    (tmp_path / "request.json").write_text(json.dumps(fitted.request(5)))
    address = f"http://127.0.0.1:{server.port}/v1/calibrate"
    answer = run(f"curl -s {option} {address} -H 'content-type: application/json' -d @request.json", tmp_path)
    assert json.loads(answer)["probabilities"] == fitted.expected()[:5]


@needs_java
def test_java_with_its_defaults_gets_the_right_answer(server: RunningServer, fitted: Any, tmp_path: Path) -> None:
    (tmp_path / "Ask.java").write_text(JAVA)
    address = f"http://127.0.0.1:{server.port}/v1/calibrate"
    command = ["java", "Ask.java", address, json.dumps(fitted.request(5))]
    answers = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path).stdout.splitlines()
    assert [json.loads(answer)["probabilities"] for answer in answers] == [fitted.expected()[:5]] * 3


@pytest.mark.parametrize(
    ("path", "method", "status", "allow"),
    [
        ("/healthz", "HEAD", 200, None),
        ("/v1/model", "HEAD", 200, None),
        ("/v1/calibrate", "HEAD", 405, "POST, OPTIONS"),
        ("/v1/calibrate", "OPTIONS", 200, "POST, OPTIONS"),
        ("/v1/models/clicks/calibrate", "OPTIONS", 200, "POST, OPTIONS"),
        ("/metrics", "OPTIONS", 200, "GET, HEAD, OPTIONS"),
        ("/nowhere", "OPTIONS", 404, None),
    ],
)
def test_rare_methods_get_right_answers(
    server: RunningServer, path: str, method: str, status: int, allow: str | None
) -> None:
    answer = server.ask(path, method=method)
    assert (answer.status, answer.headers.get("allow")) == (status, allow)
    assert method != "HEAD" or answer.body == b""


@needs_curl
@pytest.mark.parametrize("page", ["README.md", "docs/serving.md"])
def test_the_commands_of_our_pages_work_when_they_are_pasted(server: RunningServer, tmp_path: Path, page: str) -> None:
    if not (ROOT / page).exists():
        pytest.skip("only a source tree has the pages")
    pasted = [line for line in (ROOT / page).read_text().splitlines() if line.startswith("curl ")]
    assert any("/v1/calibrate" in line for line in pasted)
    commands = "\n".join(pasted).replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    answer = json.loads(run(commands, tmp_path))
    assert len(answer["probabilities"]) == 1
    assert 0 < answer["probabilities"][0] < 1


def command_of(page: str) -> str:
    found = re.search("<pre>(.*?)</pre>", page, re.DOTALL)
    assert found is not None
    return html.unescape(found[1])


@needs_curl
def test_the_command_of_the_page_works_when_it_is_pasted(fitted: Any, tmp_path: Path) -> None:
    with RunningServer(fitted.path, token="secret") as server:
        page = server.ask("/docs", authorization="Bearer secret").body.decode()
        assert f"http://127.0.0.1:{server.port}/v1/calibrate" in command_of(page)
        answer = json.loads(run(command_of(page), tmp_path, TRUEUP_TOKEN="secret"))
    assert answer["model"] == "clicks"
    assert len(answer["probabilities"]) == 1


def test_a_host_that_is_a_command_is_not_put_into_the_page(server: RunningServer) -> None:
    page = server.ask("/docs", host="x;rm -rf $HOME").body.decode()
    assert "rm -rf" not in page
    assert f"http://127.0.0.1:{server.port}/v1/calibrate" in command_of(page)
