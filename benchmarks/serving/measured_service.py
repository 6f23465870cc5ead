"""What a run gives: a small table on the screen, and JSON with the machine that it was measured on."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from machine import machine_facts
from trueup._runtime import atomic_path

__all__ = ["finish", "quantiles"]


def quantiles(latencies: list[float]) -> dict[str, float]:
    """The median and the upper end, in milliseconds."""
    values = np.quantile(latencies, [0.5, 0.9, 0.99, 0.999, 1.0]) * 1e3
    return {
        f"{name} ms": float(value) for name, value in zip(("p50", "p90", "p99", "p99.9", "max"), values, strict=True)
    }


def finish(result: dict[str, Any], path: str | None) -> None:
    """Show a result, and keep it if a path is given."""
    shown = {name: value for name, value in result.items() if not isinstance(value, list)}
    width = max(map(len, shown))
    for name, value in shown.items():
        print(f"{name:<{width}}  {f'{value:,.2f}' if isinstance(value, float) else value}")
    if path is not None:
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps({**result, "machine": machine_facts()}, indent=1), encoding="utf-8")
