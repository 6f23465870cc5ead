"""Damaged and hostile files end in `ModelFileError`, or give the scores of the good file."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parent / "hostile" / "judge.py"


MAPS = ["format_1_knots", "format_1_logit"]


def judged(golden: str) -> dict[str, Any]:
    """What the program found, once it has been asserted that it found no failure."""
    # What the program checks of each file: load and MCGrad.load end within a second, with at most 200 MB more
    # memory, in ModelFileError or in the same scores; or, if its checksums were made anew, in probabilities.
    command = [sys.executable, "-W", "error", str(PROGRAM), golden]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, f"it crashed at the file named last: {done.stderr[-500:]}"
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["failures"] == []
    assert set(report["outcomes"]) <= {"refused", "the same scores", "another model", "another table"}
    return report


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
def test_thousands_of_hostile_files_are_refused_or_harmless() -> None:
    report = judged("format_1")
    assert sum(report["outcomes"].values()) >= 5000
    assert report["outcomes"]["refused"] >= 4000


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process as Linux does")
@pytest.mark.parametrize("golden", MAPS)
def test_so_are_hostile_files_of_maps_of_the_score(golden: str) -> None:
    report = judged(golden)
    assert sum(report["outcomes"].values()) >= 700
    assert report["outcomes"]["refused"] >= 500
