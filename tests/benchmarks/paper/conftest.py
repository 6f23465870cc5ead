"""Small cells, made by hand, and a task small enough to fit in a moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from bench_cells import make_cell
from paper._cells import Cell
from paper._paper import paper_figures


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUEUP_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TRUEUP_DATA", raising=False)


@pytest.fixture
def cells_of_the_paper() -> Callable[..., list[Cell]]:
    """Cells whose figures are the paper's own, changed where asked for."""

    def make(changes: Mapping[tuple[str, str], Mapping[str, float]] | None = None) -> list[Cell]:
        return [
            make_cell(task, method, **{**metrics, "mce_all": 1.0, **(changes or {}).get((task, method), {})})
            for (task, method), metrics in paper_figures().items()
        ]

    return make
