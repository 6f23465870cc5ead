"""Run every benchmark in turn, each in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PROGRAMS = [
    "scoring.py",
    "fit_memory.py",
    "segments.py",
    "honesty.py",
    "bank_marketing.py",
    "baselines.py",
    "quality.py",
]


def main() -> None:
    """Run them all, and tell whether each one ran through."""
    python = os.environ.get("BENCH_PYTHON", sys.executable)
    failed = []
    for program in PROGRAMS:
        print(f"\n== {program}", flush=True)
        if subprocess.run([python, str(HERE / program)], check=False).returncode:
            failed.append(program)
    if failed:
        sys.exit(f"did not run through: {', '.join(failed)}")


if __name__ == "__main__":
    main()
