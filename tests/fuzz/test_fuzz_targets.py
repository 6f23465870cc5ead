"""A short run of every fuzzer, of the same inputs each time; the long one is ``make fuzz``."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "fuzz.py"
sys.path.append(str(PROGRAM.parent))  # as the program itself finds its modules

pytest.importorskip("granian")
pytest.importorskip("orjson")


def fuzzed(out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(PROGRAM), "--engine", "seeded", "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.parametrize(
    ("target", "runs"), [("model_file", 1000), ("json_body", 2000), ("arrow_body", 2000), ("condition", 3000)]
)
def test_thousands_of_inputs_give_right_answers_or_refusals(target: str, runs: int, tmp_path: Path) -> None:
    done = fuzzed(tmp_path, target, "--runs", str(runs))
    assert done.returncode == 0, done.stderr[-3000:]
    assert f"{target}: {runs:,} executions in" in done.stdout
    assert "0 crashes, 0 hangs" in done.stdout


def run_with(folder: Path, mutate: str, run: str) -> subprocess.CompletedProcess[str]:
    """The fuzzer, with a target of these statements."""
    (folder / "fuzz_targets.py").write_text(
        "class Target:\n"
        "    modules = ()\n"
        "    tried = 0\n"
        "    def seeds(self): return [b'seed']\n"
        "    def mutate(self, data, rng):\n"
        f"        {mutate}\n"
        "    def run(self, data):\n"
        "        self.tried += 1\n"
        f"        {run}\n"
        "TARGETS = {'condition': Target}\n"
    )
    for name in ("fuzz.py", "fuzz_engines.py"):
        (folder / name).write_text((PROGRAM.parent / name).read_text())
    command = [sys.executable, str(folder / "fuzz.py"), "condition", "--runs", "6", "--engine", "seeded"]
    command += ["--out", str(folder)]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        ("raise KeyError(1)", "3 crashes, 0 hangs"),
        ("import os; os.abort()", "3 crashes, 0 hangs"),
        ("bytearray(2**30)", "3 crashes, 0 hangs"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGALRM)", "0 crashes, 3 hangs"),
    ],
)
def test_a_fuzzer_counts_what_it_finds_and_keeps_the_input(fault: str, counted: str, tmp_path: Path) -> None:
    # A fuzzer that can't fail proves nothing: here the target fails at its second input, three times over.
    done = run_with(tmp_path, mutate="return rng.randbytes(5)", run=f"if self.tried == 3: {fault}")
    assert done.returncode == 1
    assert re.search(rf"condition: 6 executions in \d+ s, {counted}", done.stdout)
    assert len([path for path in tmp_path.iterdir() if path.name.startswith(("crash-", "hang-"))]) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_a_mutator_that_fails_is_no_finding(tmp_path: Path) -> None:
    done = run_with(tmp_path, mutate="raise KeyError(1)", run="pass")
    assert done.returncode == 1
    assert "the fuzzer of condition fails by itself" in done.stderr


@pytest.mark.parametrize("name", ["model_file", "json_body", "arrow_body", "condition"])
def test_the_same_seed_gives_the_same_inputs(name: str) -> None:
    from fuzz_targets import TARGETS

    target = TARGETS[name]()
    drawn = [[target.mutate(seed, random.Random(7)) for seed in target.seeds()] for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert drawn[0] != target.seeds()


@pytest.mark.parametrize("name", ["json_body", "arrow_body"])
def test_fuzzing_begins_with_bodies_that_are_answered(name: str) -> None:
    # From bodies that are refused at once, a fuzzer learns nothing of what comes after.
    import fuzz_targets

    target = fuzz_targets.TARGETS[name]()
    for seed in fuzz_targets.BODIES[name]():
        batch, calibrator, plan = target.run.read(seed)
        assert len(batch.score(calibrator, plan).probabilities) == len(batch.scores)


def test_the_corpus_is_small() -> None:
    kept = [path for path in (PROGRAM.parent / "corpus").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in kept) < 100_000
