"""Damaged and hostile files end in `ModelFileError`, or give the scores of the good file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "hostile" / "judge.py"


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_thousands_of_hostile_files_are_refused_or_harmless() -> None:
    # What the program checks of each file: load and MCGrad.load end within a second, with at most 200 MB more
    # memory, in ModelFileError or in the same scores; or, if its checksums were made anew, in probabilities.
    done = subprocess.run(
        [sys.executable, "-W", "error", PROGRAM], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"it crashed at the file named last: {done.stderr[-500:]}"
    report = json.loads(done.stdout)
    assert report["failures"] == []
    assert set(report["outcomes"]) <= {"refused", "the same scores", "another model", "another table"}
    assert sum(report["outcomes"].values()) >= 5000
    assert report["outcomes"]["refused"] >= 4000
