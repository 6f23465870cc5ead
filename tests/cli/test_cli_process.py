"""The program as a process: what it loads, exit codes, pipes and Ctrl-C."""

import os
import select
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest

from trueup.datasets import make_traffic

ENTRY = "from trueup.cli import main; main()"
# Ctrl-C does nothing in a process that was started with SIGINT ignored, as `nohup make test &` and many CI systems do.
ENTRY_THAT_HEARS_CTRL_C = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {ENTRY}"
PRINT_MODULES = """
import sys
from trueup.cli import main
before = set(sys.modules)
try:
    main()
finally:
    heavy = {"lightgbm", "sklearn", "scipy", "pandas", "pyarrow", "narwhals", "matplotlib"}
    print(sorted(heavy & before), sorted(heavy & set(sys.modules)), file=sys.stderr)
"""


def test_help_loads_nothing_heavy(run_process):
    done = run_process("--help", code=PRINT_MODULES)
    assert done.returncode == 0
    assert done.stderr.split(b"\n")[-2] == b"[] []"
    for code in (b"0 fine", b"3 the data", b"4 the model", b"5 a limit", b"130 stopped"):
        assert code in b" ".join(done.stdout.split())


@pytest.mark.parametrize("command", ["apply", "inspect"])
def test_scoring_and_inspecting_load_no_lightgbm(run_process, shared, tmp_path, command):
    model = shared.model
    if command == "apply":
        arguments = ["apply", shared.table, "-m", model, "-o", tmp_path / "o.csv"]
    else:
        arguments = ["inspect", model]
    done = run_process(*arguments, code=PRINT_MODULES)
    assert done.returncode == 0
    loaded = done.stderr.decode().splitlines()[-1]
    assert not any(name in loaded for name in ("lightgbm", "sklearn", "scipy", "matplotlib"))


def test_exit_codes_reach_the_shell(run_process, shared, tmp_path):
    model = shared.model
    assert run_process("--version").returncode == 0
    assert run_process("--no-such-option").returncode == 2
    done = run_process("apply", tmp_path / "none.csv", "-m", model, "-o", tmp_path / "o.csv")
    assert done.returncode == 3
    assert done.stderr.startswith(b"error: ")
    assert run_process("inspect", shared.table).returncode == 4


def after_one_line(arguments):
    """The exit code and stderr if the reader closes the pipe after one line, as head does."""
    reader = "import sys; sys.stdin.buffer.readline(); sys.stdin.buffer.close()"
    with subprocess.Popen(
        [sys.executable, "-c", ENTRY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writer:
        subprocess.run([sys.executable, "-c", reader], stdin=writer.stdout, timeout=60, check=True)
        writer.stdout.close()  # ours was the last end
        complaint = writer.stderr.read()
        return writer.wait(timeout=60), complaint


def test_a_reader_that_has_seen_enough_is_no_error(shared):
    assert after_one_line(["apply", str(shared.table), "-m", str(shared.model), "-o", "-"]) == (0, b"")


def test_an_audit_fails_its_limit_even_if_the_reader_has_left(shared):
    arguments = ["audit", str(shared.table), "--label=y", "--score=p", "--jobs=1", "--null-samples=20", "--json"]
    assert after_one_line(arguments) == (0, b"")
    code, complaint = after_one_line([*arguments, "--fail-above=1"])
    assert code == 5
    assert complaint.startswith(b"failed: the MCE is ")
    assert complaint.count(b"\n") == 1


def test_nothing_but_the_table_goes_to_stdout(run_process, shared):
    done = run_process("apply", shared.table, "-m", shared.model, "-o", "-")
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith('"country","version"')
    assert len(lines) == 2000 + 1 + 1  # the header has a name with a line break


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("command", "options", "shown_first"),
    [
        # More trees, and more draws, than there is time for before the test is over.
        ("fit", ["--lightgbm-param=n_estimators=5000", "-o", "model.trueup"], b"round"),
        ("audit", ["--null-samples=200000", "-o", "segments.csv"], b"auditing"),
    ],
)
def test_ctrl_c_stops_the_work_and_nothing_is_left(tmp_path, command, options, shown_first):
    pq.write_table(make_traffic(200_000).to_table(), tmp_path / "big.parquet")
    ours, theirs = os.openpty()
    arguments = [command, "big.parquet", "--label=label", "--score=score", "--drop=true_probability", *options]
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY_THAT_HEARS_CTRL_C, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    try:
        shown = read_until(ours, shown_first, b"")
        process.send_signal(signal.SIGINT)
        shown = read_until(ours, None, shown)
        code = process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert code == 130
    assert b"Stopped. Nothing was written." in shown
    assert b"Traceback" not in shown
    assert os.listdir(tmp_path) == ["big.parquet"]


# The arguments: how SIGHUP is handled at the start, and the signal that comes when half of a table is written.
SIGNAL_IN_THE_MIDDLE = """
import signal, sys
import pyarrow.csv
from trueup.cli import main
signal.signal(signal.SIGHUP, getattr(signal, sys.argv.pop(1)))
number, whole = getattr(signal, sys.argv.pop(1)), pyarrow.csv.write_csv
def write_half(table, sink, *options):
    sink.write(b"half")
    for _ in range(2):  # closing a terminal often sends it twice
        signal.raise_signal(number)
    whole(table, sink, *options)
pyarrow.csv.write_csv = write_half
main()
"""


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs the signals of POSIX")
@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_that_ends_the_process_leaves_no_temporary_file(run_process, shared, tmp_path, name, code):
    arguments = ["apply", shared.table, "-m", shared.model, "-o", tmp_path / "o.csv"]
    done = run_process("SIG_DFL", name, *arguments, code=SIGNAL_IN_THE_MIDDLE)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr == b"Stopped. Nothing was written.\n"
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="needs the signals of POSIX")
def test_nohup_is_respected(run_process, shared, tmp_path):
    arguments = ["apply", shared.table, "-m", shared.model, "-o", tmp_path / "o.csv"]
    assert run_process("SIG_IGN", "SIGHUP", *arguments, code=SIGNAL_IN_THE_MIDDLE).returncode == 0
    assert (tmp_path / "o.csv").exists()


def with_closed(streams, arguments):
    """Run the program from a shell that has closed some streams, as ``>&-`` does."""
    command = ["sh", "-c", f'exec "$@" {streams}', "sh", sys.executable, "-c", ENTRY, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("streams", [">&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_bug(shared, quick, tmp_path, streams):
    model = tmp_path / "m.trueup"
    done = with_closed(streams, ["fit", shared.table, "--label=y", "--score=p", "--drop=w", "-o", model, *quick])
    assert (done.returncode, done.stderr) == (0, b"")
    assert model.read_bytes() == shared.model.read_bytes()  # and nothing that was printed is in it


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
def test_a_result_for_a_program_is_not_written_to_a_stdout_that_is_closed(shared):
    for arguments in (["apply", shared.table, "-m", shared.model, "-o", "-"], ["inspect", shared.model, "--json"]):
        done = with_closed(">&-", arguments)
        assert (done.returncode, done.stdout) == (3, b"")
        assert done.stderr.startswith(b"error: stdout is closed")


def read_until(terminal: int, word: bytes | None, shown: bytes, seconds: float = 45.0) -> bytes:
    """What a terminal has shown when a word appears, or with None when the program has ended."""
    deadline = time.monotonic() + seconds
    while word is None or word not in shown:
        ready, _, _ = select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError(f"{word!r} has not appeared; so far: {shown[-2000:]!r}")
        try:
            part = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other end is closed
            part = b""
        if not part:
            if word is None:
                return shown
            raise EOFError(f"the program has ended: {shown[-2000:]!r}")
        shown += part
    return shown
