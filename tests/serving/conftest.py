"""A model of every kind of column, another one, and a server that most tests share."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup
from running_server import RunningServer
from small_fits import quick

pytest.importorskip("granian")
N = 400


@dataclass(frozen=True)
class Fitted:
    """Model files, and rows to ask them about."""

    path: Path
    other: Path
    rows: list[dict[str, Any]]
    scores: list[float]

    def expected(self, path: Path | None = None) -> list[float]:
        """What a model gives in this process."""
        calibrator = trueup.load(path or self.path)
        return [calibrator.calibrate_one(as_python(row), s) for row, s in zip(self.rows, self.scores, strict=True)]

    def request(self, count: int = 3) -> dict[str, Any]:
        return {"rows": self.rows[:count], "scores": self.scores[:count]}


def as_python(row: dict[str, Any]) -> dict[str, Any]:
    """A row of JSON with its date as one."""
    day = row["day"]
    return {**row, "day": None if day is None else dt.date.fromisoformat(day)}


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    rng = np.random.default_rng(3)
    country = rng.choice(["NO", "US", "IN"], N).tolist()
    rows = [
        {
            "country": None if place % 11 == 0 else country[place],
            "hour": int(rng.integers(0, 24)),
            "amount": None if place % 7 == 0 else round(float(rng.normal()), 3),
            "member": bool(rng.random() < 0.5),
            "day": None if place % 13 == 0 else f"2026-01-{1 + place % 5:02d}",
        }
        for place in range(N)
    ]
    scores = np.clip(rng.normal(0.3, 0.1, N), 0.01, 0.99).round(4)
    rate = np.where(np.array(country) == "NO", 0.7, 0.2)
    labels = (rng.random(N) < rate).astype(int)
    columns = {name: [as_python(row)[name] for row in rows] for name in rows[0]}
    folder = tmp_path_factory.mktemp("models")
    path, other = folder / "model.trueup", folder / "other.trueup"
    quick(categorical_features=["day"]).fit(columns, labels, scores=scores).save(path)
    quick(categorical_features=["day"]).fit(columns, 1 - labels, scores=scores).save(other)
    return Fitted(path, other, rows, scores.tolist())


@pytest.fixture(scope="session")
def server(fitted: Fitted) -> Iterator[RunningServer]:
    """A server that no test ends or changes."""
    models = {"clicks": str(fitted.path), "other": str(fitted.other)}
    with RunningServer(
        models, workers=2, request_seconds=1.0, keep_alive_seconds=1.0, max_rows=5000, max_body_bytes=2**22
    ) as running:
        yield running
