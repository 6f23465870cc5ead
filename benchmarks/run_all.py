"""Run every benchmark in turn, each in a process of its own, and show all that was measured in one table.

python benchmarks/run_all.py            everything: an hour or two on two cores
python benchmarks/run_all.py --quick    the most important, in about five minutes; the README stays as it is
python benchmarks/run_all.py --table    only the table, of what was measured before
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from measured import read_all
from report import as_text, write_readme

HERE = Path(__file__).parent
QUICK = ["install.py", "fit.py", "scoring.py", "segments.py", "fit_memory.py"]
ALL = [*QUICK, "fit_profile.py", "fit_growth.py", "baselines.py", "quality.py", "honesty.py", "bank_marketing.py"]


def main() -> None:
    """Run them, print the table, and tell which did not run through."""
    quick = "--quick" in sys.argv
    failed = []
    for program in [] if "--table" in sys.argv else QUICK if quick else ALL:
        print(f"\n== {program}", flush=True)
        command = [sys.executable, str(HERE / program), *(["--quick"] if quick else [])]
        if subprocess.run(command, check=False).returncode:
            failed.append(program)
    found = read_all()
    print("\n" + as_text(found))
    if not quick:
        print(f"Written to {write_readme(found).relative_to(HERE.parent)}")
    if failed:
        sys.exit(f"did not run through: {', '.join(failed)}")


if __name__ == "__main__":
    main()
