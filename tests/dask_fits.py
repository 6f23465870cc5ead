"""Tables, frames of them and small fits for tests on Dask workers.

What is sent to workers is here too: they can import this file, and can't import a test.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask import delayed

from trueup import MCGrad
from trueup._data import hash_column
from trueup._fitting import dealing_for
from trueup._scoring import Calibrator
from trueup.datasets import make_traffic

__all__ = [
    "COLUMNS",
    "content_of",
    "folds_here",
    "frame_of",
    "kill_itself_at",
    "left_behind",
    "quick_estimator",
    "rows_made_there",
    "rows_of_traffic",
    "sum_of_rows",
    "without_other",
]

COLUMNS = {"label": "clicked", "score": "p"}
_GROWTH = {"min_child_samples": 5, "min_data_per_group": 5, "cat_smooth": 1, "n_estimators": 6, "num_leaves": 5}
_FEW = {"max_rounds": 2, "patience": 5, "validation": None, "rescale": "train", "min_sum_hessian_in_leaf": 0.0}


def quick_estimator(**more: Any) -> MCGrad:
    """An estimator whose two rounds take a second."""
    return MCGrad(**{**_FEW, "lightgbm_params": _GROWTH, **more})


def rows_of_traffic(n: int, seed: int = 5) -> pd.DataFrame:
    """Traffic with users, weights and probabilities as labels; its scores are half of what they should be."""
    traffic, rng = make_traffic(n, random_state=seed), np.random.default_rng(seed)
    rows = traffic.X.to_pandas()
    rows["clicked"], rows["p"] = traffic.y, traffic.scores / 2
    rows["user"], rows["w"] = rng.integers(0, n // 10, n), rng.integers(1, 5, n) / 2
    rows["chance"] = np.clip(traffic.true_probability, 0.001, 0.999)
    return rows


def frame_of(*partitions: pd.DataFrame, like: pd.DataFrame | None = None) -> dd.DataFrame:
    """A frame of these partitions, whatever they hold; it promises what the first does, or another."""
    meta = (partitions[0] if like is None else like).head(0)
    return dd.from_delayed([delayed(partition) for partition in partitions], meta=meta, verify_meta=False)


def content_of(model: MCGrad) -> bytes:
    """The model file, without the seconds that rounds took."""
    summary = model.model_.summary
    timeless = replace(summary, history=tuple(replace(record, seconds=0.0) for record in summary.history))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.trueup"
        Calibrator(replace(model.model_, summary=timeless)).save(path)
        return path.read_bytes()


def rows_made_there(n: int, number: int) -> pd.DataFrame:
    """A partition that no message has to carry: three columns of numbers, and scores that are wrong by one of them."""
    rng = np.random.default_rng(number)
    x, p = rng.normal(size=(n, 3)), rng.uniform(0.1, 0.5, n)
    rows = pd.DataFrame(x, columns=["x0", "x1", "x2"])
    return rows.assign(clicked=(rng.random(n) < p + 0.3 * (x[:, 0] > 0)).astype(int), p=p)


def folds_here(groups: list[Any]) -> tuple[int, list[int]]:
    """The process that is asked, and which of the groups it holds out."""
    return os.getpid(), dealing_for(0.3, 2_000, 42).by_hash(hash_column(groups)).tolist()


def sum_of_rows(rows: pd.DataFrame, more: float, number: int) -> float:
    """The sum of a column and two numbers."""
    return float(rows["x"].sum()) + more + number


def without_other(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, without a column that the frame promises."""
    return rows.drop(columns="other", errors="ignore")


def left_behind() -> tuple[int, int, int]:
    """How many growths, bins and sets of rows a process still holds."""
    from trueup.distributed import _shard

    return len(_shard._running), len(_shard._bins), len(_shard._ready)


def kill_itself_at(module: str, name: str, call: int) -> None:
    """Let this process end itself, as if by its machine's failure, when a function of ours is called that often."""
    import importlib

    where = importlib.import_module(module)
    function: Callable[..., Any] = getattr(where, name)
    left = [call]

    def counted(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **options)

    setattr(where, name, counted)
