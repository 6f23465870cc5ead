"""The numbers on SECURITY.md are those of the code."""

from pathlib import Path

import pytest

from trueup._model import _file, _manifest

PAGE = Path(__file__).parents[1] / "SECURITY.md"
MIB = 2**20


def page() -> str:
    if not PAGE.exists():
        pytest.skip("only a source tree has the page")
    return " ".join(PAGE.read_text().split())


def test_the_limits_of_model_files_are_as_told() -> None:
    text = page()
    assert _file.MAX_FILE_BYTES == 2**30
    assert "| file | 1 GiB" in text
    assert f"| manifest (columns, categories) | {_file.MAX_MANIFEST_BYTES // MIB} MiB" in text
    assert f"| rounds | {_manifest.MAX_ROUNDS:,} |" in text
    assert f"| parity rows | {_manifest.MAX_PARITY_ROWS} |" in text
    assert f"| nesting of the stored parameters | {_manifest._MAX_DEPTH} levels |" in text


def test_the_limits_of_requests_are_as_told() -> None:
    pytest.importorskip("granian")
    from trueup.serving import ServerOptions, _arrow

    text, options = page(), ServerOptions(models={"m": "m"})
    assert f"({options.max_body_bytes // MIB} MiB, {options.max_rows:,} rows)" in text
    in_work = f"{options.max_requests}, {options.max_bytes_in_work // MIB} MiB, {options.max_connections:,} a worker"
    assert in_work in text
    assert f"let go after {options.request_seconds:g} s" in text
    assert f"at most {_arrow._MAX_MESSAGES:,} messages" in text
    assert f"views of at most {_arrow._MAX_VIEWED_BYTES // MIB} MiB" in text
    assert f"listens on {options.host}" in text
