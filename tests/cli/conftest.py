"""A small table with everything odd in it, a model fitted on it, and ways to run the program."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.cli import main

ENTRY = "from trueup.cli import main; main()"
ODD_NAMES = ['say "hi", or\nnot', " spaced ", "größe→[red]x[/red]"]


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run the program in this process."""

    def call(*arguments: object) -> Outcome:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Outcome(int(end.value.code or 0), out, err)

    return call


@pytest.fixture
def run_process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run the program in a process of its own."""

    def call(*arguments: object, stdin: bytes = b"", code: str = ENTRY) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        return subprocess.run(command, input=stdin, capture_output=True, timeout=60, check=False)

    return call


@pytest.fixture(scope="session")
def scored() -> pa.Table:
    """2,000 rows: the scores are 0.3 everywhere, and the truth is 0.5 in Namibia and 0.2 elsewhere."""
    rng = np.random.default_rng(7)
    n = 2000
    country = rng.choice(["NA", "NO", "US"], n, p=[0.3, 0.3, 0.4])
    label = (rng.random(n) < np.where(country == "NA", 0.5, 0.2)).astype(np.int64)
    missing = rng.random(n) < 0.1
    return pa.table(
        {
            "country": pa.array(country, mask=missing),
            "version": pa.array(rng.choice(["8.1", "8.10", "9.0"], n)),
            "hour": pa.array(rng.integers(0, 24, n)),
            "amount": pa.array(rng.lognormal(0, 3, n), mask=rng.random(n) < 0.1),
            "flag": pa.array(rng.random(n) < 0.5),
            **{name: pa.array(rng.normal(size=n)) for name in ODD_NAMES},
            "y": pa.array(label),
            "p": pa.array(np.clip(rng.normal(0.3, 0.05, n), 0.01, 0.99)),
            "w": pa.array(rng.uniform(0.5, 1.5, n)),
        }
    )


@dataclass(frozen=True, eq=False)
class Shared:
    """A table and a model fitted on it, in a folder that is not to be written to."""

    folder: Path
    scored: pa.Table

    @property
    def table(self) -> Path:
        return self.folder / "scored.parquet"

    @property
    def model(self) -> Path:
        return self.folder / "model.trueup"

    @cached_property
    def expected(self) -> np.ndarray[Any, Any]:
        """What the model gives from Python."""
        return trueup.load(self.model).calibrate(self.scored, self.scored["p"].to_numpy())

    @property
    def rate(self) -> float:
        return float(self.scored["y"].to_numpy().mean())


@pytest.fixture(scope="session")
def quick() -> list[str]:
    """Options for small trees that grow on few rows, in one thread, which is the faster on a busy machine."""
    options = ["--max-rounds=2", "--validation=0.3", "--min-sum-hessian=1", "--jobs=1"]
    small = ("n_estimators=15", "min_child_samples=20", "learning_rate=0.03")  # two rounds, of few trees
    return [*options, *(f"--lightgbm-param={setting}" for setting in small)]


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, scored: pa.Table, quick: list[str]) -> Shared:
    shared = Shared(tmp_path_factory.mktemp("shared"), scored)
    pq.write_table(scored, shared.table)
    options = ["--label=y", "--score=p", "--drop=w", "--quiet", *quick]
    with pytest.raises(SystemExit) as end:
        main(["fit", str(shared.table), "-o", str(shared.model), *options])
    assert end.value.code == 0
    return shared
