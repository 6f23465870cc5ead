"""A small model in a file, and rows with scores to try it on."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from small_fits import quick
from trueup.datasets import make_traffic


@pytest.fixture(scope="session")
def table() -> pa.Table:
    """Simulated traffic with the scores in the column p, and a column that no model reads."""
    rows = make_traffic(2000, random_state=0)
    return rows.X.append_column("p", pa.array(rows.scores)).append_column("visit", pa.array(range(2000)))


@pytest.fixture(scope="session")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of that traffic, which does not know where its scores are."""
    rows = make_traffic(2000, random_state=0)
    path = tmp_path_factory.mktemp("model") / "model.trueup"
    quick().fit(rows.X, rows.y, scores=rows.scores).save(path)
    return path
