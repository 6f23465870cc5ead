"""`trueup serve`: what it refuses at its start, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("granian")

ENTRY = "from trueup.cli import main; main()"


def test_a_model_that_is_missing_or_broken_is_an_error_before_anything_listens(run, shared, tmp_path):
    assert run("serve", tmp_path / "none.trueup", "--port=0").code == 3
    ended = run("serve", shared.table, "--port=0")
    assert ended.code == 4
    assert "can't be used as a trueup model" in ended.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["a=x", "a=y"], "Two models have the same name"),
        (["a b=x"], "can't be the name of a model"),
        (["{model}", "--shadow=other={model}"], "no model 'other'"),
        (["{model}", "--certfile=cert.pem"], "give both files"),
        (["{model}", "--shadow-log=x"], "A shadow log needs a candidate"),
        (["{model}", "--host="], "The host is empty"),
    ],
)
def test_options_that_make_no_sense_are_refused(run, shared, options, words):
    ended = run("serve", *[option.format(model=shared.model) for option in options])
    assert ended.code == 2
    assert words in " ".join(ended.err.replace("│", " ").split())


def test_a_missing_extra_names_what_installs_it(run, shared, monkeypatch):
    monkeypatch.setitem(sys.modules, "trueup.serving._server", None)
    ended = run("serve", shared.model)
    assert ended.code == 2
    assert 'pip install "trueup[serve]"' in ended.err


def test_an_address_that_is_taken_is_an_error_in_one_line(run, shared):
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run("serve", shared.model, f"--port={taken.getsockname()[1]}")
    assert ended.code == 3
    assert ended.err.startswith("error: Can't listen on 127.0.0.1 port ")
    assert ended.err.count("\n") == 1


def test_it_answers_without_lightgbm_and_ctrl_c_ends_it_in_peace(shared):
    command = [sys.executable, "-c", ENTRY, "serve", f"clicks={shared.model}", "--port=0", "--workers=1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    lines = []
    try:
        for line in process.stderr:
            lines.append(json.loads(line))
            if lines[-1]["event"] == "worker started":
                break
        worker, port = lines[-1]["pid"], int(lines[0]["address"].rpartition(":")[2])
        rows = shared.scored.drop_columns(["y", "w"]).slice(0, 100).to_pylist()
        assert calibrated(port, rows) == pytest.approx(shared.expected[:100].tolist(), rel=1e-12)
        maps = Path(f"/proc/{worker}/maps")
        loaded = maps.read_text() if maps.exists() else "pyarrow"
        assert [name for name in ("lightgbm", "sklearn", "scipy", "pandas", "pyarrow") if f"/{name}/" in loaded] in (
            ["pyarrow"],
            [],
        )
        for pid in (process.pid, worker):  # as a terminal does, to all of a group
            subprocess.run(["kill", "-INT", str(pid)], check=True)
        rest = [json.loads(line) for line in process.stderr]
        assert process.wait(30) == 0
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        process.stderr.close()
    assert [line["event"] for line in rest if line["event"] != "request"] == ["stopping", "stopped"]


def calibrated(port: int, rows: list[dict[str, object]]) -> list[float]:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    body = json.dumps({"rows": rows})
    connection.request("POST", "/v1/calibrate", body, {"content-type": "application/json"})
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return list(answer["probabilities"])
