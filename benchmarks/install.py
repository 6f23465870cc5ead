"""What it costs to have the package: megabytes on disk with all that it needs, and seconds to import.

python benchmarks/install.py
"""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import time

from machine import MB, describe, has_peer
from measured import Measurements

REPEATS = 7
IMPORTS = {"trueup": "import trueup", "mcgrad": "import mcgrad.methods"}


def needed_by(package: str) -> set[str]:
    """The package and all that installing it installs, by their normalised names; extras are left out."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    waiting = [package]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system
        found.add(name)
        for text in requirements:
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return found


def megabytes(packages: set[str]) -> float:
    """What the files of some packages take."""
    total = 0
    for name in packages:
        for file in importlib.metadata.files(name) or []:
            path = file.locate()
            total += path.stat().st_size if path.is_file() else 0
    return total / MB


def seconds_to(code: str) -> float:
    """What a new interpreter takes for some code, less the bare interpreter's."""
    seconds = []
    for program in ("pass", code):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        seconds.append(time.perf_counter() - started)
    return seconds[1] - seconds[0]


def main() -> None:
    """Measure and print."""
    who = ["trueup"] + (["mcgrad"] if has_peer() else [])
    print(describe() + "\n")
    with Measurements("install") as measurements:
        packages = {name: needed_by(name) for name in who}
        counts = ", ".join(f"{name} {len(found)}" for name, found in packages.items())
        sizes = {name: [megabytes(found)] for name, found in packages.items()}
        measurements.add("installed, with all that it needs", "MB", sizes, note=f"packages: {counts}")
        times: dict[str, list[float]] = {name: [] for name in who}
        for _ in range(REPEATS):
            for name in who:
                times[name].append(seconds_to(IMPORTS[name]))
        measurements.add("import in a fresh process", "s", times)


if __name__ == "__main__":
    main()
