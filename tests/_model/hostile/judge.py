"""Loads thousands of damaged and hostile model files, one after the other.

A program of its own, because a crash would take pytest with it. It prints a report as JSON, and may use
little more memory than one good file needs. Its argument names the golden file that is damaged.
"""

import contextlib
import io
import itertools
import json
import random
import resource
import sys
import tempfile
import time
import traceback
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bombs import bombs
from hostile_arrays import wrong_arrays
from hostile_bytes import damaged_bytes
from hostile_file import HostileFile
from hostile_manifests import wrong_manifests
from hostile_zips import wrong_headers, zip_tricks

import trueup
from trueup._model._values import value_of
from trueup.errors import DataError, ModelFileError

GOLDEN = Path(__file__).parents[1] / "golden"
EXTRA_MEMORY = 200 * 2**20
EXTRA_SECONDS = 1.0


class Judge:
    """Loads file after file, and remembers what should not have happened."""

    def __init__(self, folder: str, path: Path) -> None:
        golden = json.loads(path.with_suffix(".json").read_text())
        rows = [{name: value_of(value) for name, value in row.items()} for row in golden["rows"]]
        self.table = {name: [row[name] for row in rows] for name in rows[0]}
        self.scores = np.array(golden["scores"])
        self.path = Path(folder) / "file.trueup"
        self.loads: list[Callable[[Path], Any]] = [trueup.load]
        if path.stem == "format_1":
            self.loads.append(trueup.MCGrad.load)
        for load in self.loads:  # what they import for the first time counts against no hostile file
            load(path).calibrate(self.table, self.scores)
        self.good = trueup.load(path).calibrate(self.table, self.scores)
        self.outcomes: Counter[str] = Counter()
        self.failures: list[str] = []
        self.slowest = (0.0, "")

    def judge(self, hostile: HostileFile) -> None:
        self.path.write_bytes(hostile.content)
        self.name = hostile.name
        try:
            outcome = self.outcome(hostile.recomputed)
        except BaseException:
            outcome = "another exception"
            self.failures.append(f"{hostile.name}: {traceback.format_exc(limit=-4)}")
        if outcome.startswith("wrong"):
            self.failures.append(f"{hostile.name}: {outcome}")
        self.outcomes[outcome] += 1

    def timed(self, load: Callable[[Path], Any]) -> Any:
        started = time.process_time()
        try:
            return load(self.path)
        finally:
            seconds = time.process_time() - started
            if seconds > EXTRA_SECONDS:  # other work on the machine slows a processor down too, but not three times
                seconds = min(seconds, *(self.seconds_of(load) for _ in range(2)))
            self.slowest = max(self.slowest, (seconds, self.name))
            if seconds > EXTRA_SECONDS:
                self.failures.append(f"{self.name}: {load} took {seconds:.1f} s")

    def seconds_of(self, load: Callable[[Path], Any]) -> float:
        started = time.process_time()
        with contextlib.suppress(ModelFileError):
            load(self.path)
        return time.process_time() - started

    def outcome(self, recomputed: bool) -> str:
        try:
            calibrator = self.timed(trueup.load)
            if recomputed:
                for load in self.loads[1:]:
                    self.timed(load)
        except ModelFileError as error:
            return "refused" if len(str(error)) < 1000 else "wrong: the message is too long"
        try:
            found = calibrator.calibrate(self.table, self.scores)
            ones = [
                calibrator.calibrate_one({name: values[i] for name, values in self.table.items()}, self.scores[i])
                for i in (0, 1)
            ]
        except DataError:
            return "another table" if recomputed else "wrong: the table is not that of the model"
        if np.array_equal(found, self.good):
            return "the same scores"
        if not recomputed:
            return "wrong: other scores"
        is_sane = ((found >= 0) & (found <= 1)).all() and all(0 <= p <= 1 for p in ones)
        return "another model" if is_sane else "wrong: no probabilities"


def virtual_memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def main(folder: str, golden: str) -> None:
    rng = random.Random(0)
    path = GOLDEN / f"{golden}.trueup"
    good = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    judge = Judge(folder, path)
    generators: list[Iterator[HostileFile]]
    if golden == "format_1":
        generators = [damaged_bytes(good, rng), wrong_headers(good), zip_tricks(entries), bombs(entries)]
        generators += [wrong_arrays(entries, rng), wrong_manifests(entries, rng)]
    else:  # a sample, for zips are read by the same code
        several = [damaged_bytes(good, rng), wrong_arrays(entries, rng), wrong_manifests(entries, rng)]
        generators = [itertools.islice(files, None, None, 6) for files in several]
    files = (file for generator in generators for file in generator)
    resource.setrlimit(resource.RLIMIT_AS, (virtual_memory() + EXTRA_MEMORY,) * 2)
    for file in files:
        print(file.name.encode("ascii", "replace").decode(), file=sys.stderr)  # the last line names what crashed
        judge.judge(file)
    report = {"outcomes": judge.outcomes, "failures": judge.failures[:20], "slowest": judge.slowest}
    print(json.dumps(report))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(folder, sys.argv[1])
