"""Measurements, written down as they are made, so that one table can show all of them."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from machine import OtherWork, machine_facts
from trueup._runtime import atomic_path

__all__ = ["FOLDER", "Measurement", "Measurements", "read_all"]

FOLDER = Path(__file__).parent / "results" / ("quick" if "--quick" in sys.argv else "full")


@dataclass(frozen=True)
class Measurement:
    """What was measured, in which unit, how often, of us and of the peer.

    Attributes
    ----------
    what, unit : str
        In words.
    ours, theirs : list of float
        All repeats; `theirs` is empty where the peer was not there or can't do it.
    goal : float or None
        How many times less ours should be.
    note : str
        What else to know.
    """

    what: str
    unit: str
    ours: list[float]
    theirs: list[float] = field(default_factory=list)
    goal: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times the peer's median is ours."""
        return median(self.theirs) / median(self.ours) if self.theirs else None


class Measurements:
    """What one program measured, kept as a file of JSON when its `with` block is left.

    Parameters
    ----------
    program : str
        Whose measurements they are.
    partial : bool
        Whether only some things are measured again; what else the file has then stays.
    """

    def __init__(self, program: str, *, partial: bool = False) -> None:
        self.program, self._partial = program, partial
        self.made: list[Measurement] = []
        self.shares: dict[str, float] = {}
        self.rows: list[dict[str, Any]] = []
        self._others = OtherWork()

    def __enter__(self) -> Measurements:
        self._others.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._others.__exit__()
        print(f"\n{self._others}")
        if kind is None:
            self._write()

    def add(
        self, what: str, unit: str, values: dict[str, list[float]], *, goal: float | None = None, note: str = ""
    ) -> None:
        """Keep the values of "trueup" and, if there are any, of "mcgrad", and print them."""
        made = Measurement(what, unit, values["trueup"], values.get("mcgrad", []), goal, note)
        self.made.append(made)
        print(f"{what}, {unit}")
        for name, found in (("trueup", made.ours), ("mcgrad", made.theirs)):
            if found:
                low, high = np.percentile(found, [25, 75])
                print(f"  {name:<10}{median(found):>12,.3f}   ({low:,.3f} – {high:,.3f}; {len(found)} times)")
        if made.ratio is not None:
            print(f"  ratio     {made.ratio:>12,.1f}" + (f"   goal {goal:g}" if goal else ""))
        if note:
            print(f"  {note}")
        sys.stdout.flush()

    def add_share(self, what: str, share: float) -> None:
        """Keep a part of a whole."""
        self.shares[what] = share

    def add_row(self, **values: Any) -> None:
        """Keep a row of a table."""
        self.rows.append(values)

    def _write(self) -> None:
        FOLDER.mkdir(parents=True, exist_ok=True)
        path = FOLDER / f"{self.program}.json"
        before = json.loads(path.read_text("utf-8"))["measurements"] if self._partial and path.exists() else []
        entries = {entry["what"]: entry for entry in before} | {made.what: asdict(made) for made in self.made}
        content = {
            "program": self.program,
            "machine": machine_facts(),
            "cores busy with other work": round(self._others.cores, 2),
            "measurements": list(entries.values()),
            "shares": self.shares,
            "rows": self.rows,
        }
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_all() -> dict[str, dict[str, Any]]:
    """The measurements of all programs that have been run, by program."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))}
