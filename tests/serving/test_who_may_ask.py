"""The token: who may ask, and that nothing shows to who may not."""

from __future__ import annotations

import hmac
import json
import shutil
import ssl
import subprocess

import pytest

from running_server import RunningServer
from trueup.errors import ParameterError
from trueup.serving import read_token
from trueup.serving._gateway import TokenCheck

TOKEN = "correct horse battery staple"


@pytest.fixture(scope="module")
def guarded(fitted):
    with RunningServer(fitted.path, token=TOKEN) as server:
        yield server


def test_with_the_token_all_is_answered(guarded, fitted):
    given = {"authorization": f"Bearer {TOKEN}"}
    assert guarded.calibrate(fitted.request(1), **given).json["probabilities"] == fitted.expected()[:1]
    for path in ("/v1/model", "/v1/models", "/metrics", "/openapi.json", "/docs"):
        assert guarded.ask(path, **given).status == 200
    assert guarded.ask("/readyz", **given).json["models"]["clicks"]["error"] is None


@pytest.mark.parametrize("given", [None, "Bearer", "Bearer ", f"Basic {TOKEN}", "Bearer correct", f"Bearer {TOKEN}x"])
def test_without_it_nothing_is(guarded, fitted, given):
    headers = {} if given is None else {"authorization": given}
    paths = ["/v1/model", "/v1/models", "/v1/models/none", "/metrics", "/openapi.json", "/docs", "/nowhere"]
    answers = [guarded.ask(path, **headers) for path in paths]
    answers += [guarded.calibrate(body, **headers) for body in (fitted.request(1), "x", {"rows": [{"hour": "x"}]})]
    assert {answer.status for answer in answers} == {401}
    assert all(answer.headers["www-authenticate"].startswith("Bearer") for answer in answers)
    assert len({answer.body for answer in answers}) == 1  # whatever was asked, and whether it is there or not
    text = answers[0].body.decode() + json.dumps(dict(answers[0].headers))
    assert not any(word in text for word in ("clicks", "country", "sha256", "trueup_"))


def test_probes_need_no_token_and_learn_a_word(guarded):
    assert guarded.ask("/healthz").json == {"status": "alive"}
    assert guarded.ask("/readyz").json == {"status": "ready"}


def test_a_body_without_the_token_is_not_read(guarded):
    with guarded.socket() as client:
        client.sendall(b"POST /v1/calibrate HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("given", [b"", b"c", b"correct horse", TOKEN.encode(), b"x" * 5000, b"\xff\x00"])
def test_tokens_are_compared_by_digests_of_equal_length_in_constant_time(monkeypatch, given):
    compared = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return hmac_compare(one, other)

    hmac_compare = hmac.compare_digest
    monkeypatch.setattr("trueup.serving._gateway.hmac.compare_digest", compare)
    assert TokenCheck(TOKEN).allows([(b"authorization", b"Bearer " + given)]) == (given == TOKEN.encode())
    assert compared == [(32, 32)]


def test_a_token_comes_from_a_file_or_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("SOME_TOKEN", " from the environment \n")
    assert read_token("SOME_TOKEN", None) == "from the environment"
    file = tmp_path / "token"
    file.write_text("from a file\n")
    assert read_token("SOME_TOKEN", str(file)) == "from a file"
    file.write_text(" \n")
    with pytest.raises(ParameterError, match="holds no token"):
        read_token("SOME_TOKEN", str(file))
    monkeypatch.setenv("SOME_TOKEN", "")
    with pytest.raises(ParameterError, match="SOME_TOKEN is empty"):
        read_token("SOME_TOKEN", None)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_tls_by_files(fitted, tmp_path):
    import http.client

    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *name]
    subprocess.run([*make, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    with RunningServer(fitted.path, certfile=str(cert), keyfile=str(key)) as server:
        assert server.events[0]["address"].startswith("https://")
        trust = ssl.create_default_context(cafile=str(cert))
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=trust, timeout=30)
        body = json.dumps(fitted.request(2))
        connection.request("POST", "/v1/calibrate", body, {"content-type": "application/json"})
        assert json.loads(connection.getresponse().read())["probabilities"] == fitted.expected()[:2]
        connection.close()
        with server.socket() as plain:  # no TLS, no answer, and no harm
            plain.sendall(b"GET /healthz HTTP/1.1\r\n\r\n")
            assert b"200" not in plain.recv(100)
