"""A table for what does not fit into memory: made file by file, the same each time, with scores wrong in segments."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from trueup._runtime import atomic_path

__all__ = ["CATEGORIES", "COLUMNS", "HOLD_OUT", "NUMBERS", "N_FILES", "huge_table", "in_memory", "piece_of"]

N_FILES = 40
CATEGORIES = {f"c{count}": count for count in (2, 3, 5, 8, 20, 50, 120, 250, 2_000, 30_000)}  # names and how many
NUMBERS = [f"x{place}" for place in range(10)]
COLUMNS = {"label": "y", "score": "p", "group": "user"}
HOLD_OUT = 0.2  # as by default above a million rows
_SEED = 20_260_101
_VERSION = 2  # of what the files hold: those of another are not used
_PIECE = 250_000  # rows that are made at a time

Floats: TypeAlias = npt.NDArray[np.float64]


def huge_table(folder: Path, n_rows: int) -> Path:
    """The folder inside of `folder` that has so many rows in 40 Parquet files; made if it is not there."""
    place = folder / f"huge-{_VERSION}-{n_rows}"
    place.mkdir(parents=True, exist_ok=True)
    ends = np.linspace(0, n_rows, N_FILES + 1).astype(int)
    for number in range(N_FILES):
        path = place / f"part-{number:02d}.parquet"
        if not path.exists():
            with atomic_path(path) as temporary:
                _write(temporary, number, int(ends[number + 1] - ends[number]))
    return place


def in_memory(place: Path) -> dict[str, Any]:
    """The arguments of a fit in memory that holds out the rows which a fit of the files holds out, with its options."""
    from trueup._data import hash_column
    from trueup._fitting import dealing_for, seeds_from

    table = pq.read_table(place)
    folds = dealing_for(HOLD_OUT, table.num_rows, seeds_from(0)[0]).by_hash(hash_column(table["user"]))
    split = (np.flatnonzero(folds != 0), np.flatnonzero(folds == 0))
    X = table.drop_columns(["y", "user"])
    return {"options": {"score_column": "p", "validation": [split]}, "rows": {"X": X, "y": table["y"]}}


def piece_of(n_rows: int, *seed: int) -> pa.Table:
    """Rows with label "y", score "p", twenty features, and "user", a group of four rows each."""
    rng = np.random.default_rng([_SEED, *seed])
    numbers = rng.normal(size=(n_rows, len(NUMBERS)))
    codes = {name: np.minimum(rng.zipf(1.4, n_rows) - 1, count - 1) for name, count in CATEGORIES.items()}
    known = 0.7 * numbers[:, 0] - 0.5 * numbers[:, 1] + 0.4 * (codes["c5"] - 1) - 1.2
    unknown = (
        0.8 * ((codes["c8"] == 1) & (numbers[:, 2] > 0))
        - 0.9 * ((codes["c120"] % 7 == 2) & (numbers[:, 3] < 0.5))
        + 0.6 * ((codes["c2000"] % 5 == 1) & (codes["c3"] == 0))
        + 0.5 * (numbers[:, 4] > 1.2)
    )
    happened = rng.random(n_rows) < _sigmoid(known + unknown)
    columns: dict[str, Any] = {name: _strings(name, codes[name]) for name in CATEGORIES}
    for place, name in enumerate(NUMBERS):
        columns[name] = _numbers(numbers[:, place], place, rng)
    columns["y"] = happened.astype(np.int8)
    columns["p"] = _sigmoid(known).astype(np.float32)
    columns["user"] = (10**9 * seed[0] + sum(seed[1:]) + np.arange(n_rows)) // 4
    return pa.table(columns)


def _numbers(values: Floats, place: int, rng: np.random.Generator) -> Any:
    """Numbers as tables have them: amounts, counts, some of them missing."""
    if place % 3 == 1:
        values = np.exp(2 * values)
    elif place % 3 == 2:
        values = np.round(10 * values)
    missing = rng.random(len(values)) < 0.05 if place % 2 else None
    return pa.array(values.astype(np.float32), mask=missing)


def _strings(name: str, codes: npt.NDArray[np.int64]) -> Any:
    words = pa.array([f"{name}-{code}" for code in range(CATEGORIES[name])])
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), words).cast(pa.string())


def _write(path: Path, number: int, n_rows: int) -> None:
    writer = None
    for first in range(0, n_rows, _PIECE):
        piece = piece_of(min(_PIECE, n_rows - first), number, first)
        writer = writer or pq.ParquetWriter(path, piece.schema, compression="zstd")
        writer.write_table(piece)
    if writer is not None:
        writer.close()


def _sigmoid(logits: Floats) -> Floats:
    return 1 / (1 + np.exp(-logits))
