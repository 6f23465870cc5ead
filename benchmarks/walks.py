"""Which borders between packages two walks cross: from CSV through `trueup fit` to a file, and an audit to its page.

    python benchmarks/walks.py

A border is a pair of packages of which one calls the other; it counts once, however often it is crossed, in the order
of the first crossing. Reading a property of a value is no call, whatever the property does. Calls into `_runtime`
(threads, memory, progress, atomic files) are not part of the walk: everything may make them.
`docs/architecture.md` shows what this prints.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import pkgutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pyarrow as pa
import pyarrow.csv

import trueup
from trueup.cli import main as run_cli
from trueup.datasets import make_traffic
from trueup.errors import MissingExtraError

HOME = Path(trueup.__file__).parent
BESIDE_THE_WAY = ("_runtime",)

Border = tuple[str, str]


class Walk:
    """The borders that calls cross, in order, with the first call across each."""

    def __init__(self) -> None:
        self.borders: dict[Border, str] = {}
        self._packages: dict[CodeType, str | None] = {}
        self._properties = frozenset(_property_codes())

    def follow(self, work: Callable[[], Any]) -> Walk:
        """Do the work and watch every call, in all threads."""
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            work()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return self

    def _called(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or frame.f_code in self._properties:
            return
        package = self._package_of(frame.f_code)
        if package is None or package in BESIDE_THE_WAY:
            return
        caller = frame.f_back
        while caller is not None and self._package_of(caller.f_code) in (None, *BESIDE_THE_WAY):
            caller = caller.f_back
        if caller is None or caller.f_code in self._properties:
            return
        before = self._package_of(caller.f_code)
        assert before is not None
        if before != package:
            self.borders.setdefault((before, package), frame.f_code.co_name)

    def _package_of(self, code: CodeType) -> str | None:
        """The package of ours that a function is in; None for others' code, and for what runs when it is imported."""
        if code not in self._packages:
            file = Path(code.co_filename)
            inside = file.is_relative_to(HOME) and file.parent != HOME and code.co_flags & inspect.CO_OPTIMIZED
            self._packages[code] = file.relative_to(HOME).parts[0] if inside else None
        return self._packages[code]


def _property_codes() -> Iterator[CodeType]:
    """The code of every property of our classes."""
    for found in pkgutil.walk_packages(trueup.__path__, "trueup.", onerror=lambda name: None):
        with contextlib.suppress(ImportError, MissingExtraError):
            module = importlib.import_module(found.name)
            classes = [value for value in vars(module).values() if isinstance(value, type)]
            members = [member for one in classes for member in vars(one).values()]
            getters = [one.fget if isinstance(one, property) else getattr(one, "func", None) for one in members]
            yield from (one.__code__ for one in getters if isinstance(one, FunctionType))


def cli(*arguments: str) -> Callable[[], None]:
    """The program with these arguments, in this process."""

    def run() -> None:
        with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
            run_cli(list(arguments))

    return run


def walks(folder: Path) -> dict[str, Walk]:
    """Both walks, over a small table."""
    rows = make_traffic(4_000, random_state=0)
    table = rows.X.append_column("y", pa.array(rows.y)).append_column("p", pa.array(rows.scores))
    csv, model, page = folder / "rows.csv", folder / "model.trueup", folder / "page.html"
    pyarrow.csv.write_csv(table, csv)
    columns = ("--label=y", "--score=p", "--quiet")
    fit = cli("fit", str(csv), *columns, "--validation=0.3", "--max-rounds=2", "--jobs=1", "-o", str(model))
    work = {
        "trueup fit": (fit, model),
        "trueup.audit(...).to_html()": (
            lambda: page.write_text(trueup.audit(rows.X, rows.y, rows.scores, null_samples=20, n_jobs=1).to_html()),
            page,
        ),
    }
    found = {}
    for name, (do, result) in work.items():
        found[name] = Walk().follow(do)
        assert result.exists(), f"{name} has written nothing"
    return found


def main() -> None:
    """Print each walk, a line per border."""
    with tempfile.TemporaryDirectory() as folder:
        for name, walk in walks(Path(folder)).items():
            print(f"{name}: {len(walk.borders)} borders")
            for (before, after), call in walk.borders.items():
                print(f"  {before:12} -> {after:12} {call}")


if __name__ == "__main__":
    main()
