"""What a pass over a stream holds does not grow with the number of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trueup import Calibrator, MCGrad
from trueup._data import open_stream
from trueup.auditing import SketchSpec, sketch_stream

BATCH = 2_000


def rows(number: int) -> pa.Table:
    rng = np.random.default_rng(number)
    p = rng.uniform(0.1, 0.9, BATCH)
    words = pa.array(["a", "b", "c"]).take(pa.array(rng.integers(0, 3, BATCH)))
    return pa.table({"x": rng.normal(size=BATCH), "word": words, "p": p, "y": (rng.random(BATCH) < p).astype(np.int64)})


class Batches:
    """So many batches, each made when it is asked for, while Arrow's memory is watched."""

    def __init__(self, n: int) -> None:
        self.n, self.most = n, 0

    def __iter__(self) -> Iterator[pa.Table]:
        for number in range(self.n):
            yield rows(number)
            self.most = max(self.most, pa.total_allocated_bytes())


def read(source: Any) -> None:
    for _ in open_stream(source).batches():
        pass


def sample(source: Any) -> None:
    open_stream(source).sample(500)


def score(source: Any) -> None:
    first = rows(0)
    fitted = MCGrad(max_rounds=0).fit(first.select(["x", "word"]), first["y"], scores=first["p"].to_numpy())
    for _ in Calibrator(fitted.model_).calibrate_stream(source, score="p"):
        pass


def audit(source: Any) -> None:
    first = rows(0)
    spec = SketchSpec.learn(first.select(["x", "word"]), first["p"])
    sketch_stream(source, label="y", score="p", spec=spec, n_jobs=1)


@pytest.mark.parametrize("work", [read, sample, score, audit])
def test_ten_times_the_batches_are_held_no_longer(work: Callable[[Any], None]) -> None:
    few, many = Batches(6), Batches(60)
    work(few)
    work(many)
    assert many.most < few.most + rows(0).nbytes


def test_a_file_of_many_row_groups_is_not_held(tmp_path: Path) -> None:
    def most_held(n: int) -> int:
        path = tmp_path / f"{n}.parquet"
        with pq.ParquetWriter(path, rows(0).schema) as writer:
            for number in range(n):
                writer.write_table(rows(number))
        before = pa.total_allocated_bytes()
        return max(pa.total_allocated_bytes() - before for _ in open_stream(path).batches(batch_rows=BATCH))

    assert most_held(60) < most_held(6) + rows(0).nbytes
