"""The process that tries inputs, with atheris or from a seed, until one of them ends it."""

from __future__ import annotations

import mmap
import os
import random
import resource
import signal
import struct
import sys
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["FINDING", "OWN_FAULT", "Logbook", "try_inputs"]

EXTRA_MEMORY = 512 * 2**20
SLOW_SECONDS = 5.0  # of the processor, for one input
HANG_SECONDS = int(os.environ.get("TRUEUP_FUZZ_HANG_SECONDS", "30"))  # on the clock: more if the process may be paused
MAX_INPUT = 2**16
FINDING, OWN_FAULT = 77, 78  # exit codes; the first is also that of atheris
_HEAD = struct.Struct("<QQ")
Run = Callable[[bytes], None]
Mutate = Callable[[bytes, random.Random], bytes]


class Logbook:
    """How many inputs have been tried, and the last of them, in a file that outlives a crash."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_HEAD.size + 4 * MAX_INPUT))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)

    def begin(self, data: bytes) -> None:
        count, _ = _HEAD.unpack_from(self._memory)
        kept = data[: 4 * MAX_INPUT]
        self._memory[_HEAD.size : _HEAD.size + len(kept)] = kept
        _HEAD.pack_into(self._memory, 0, count + 1, len(kept))

    @property
    def count(self) -> int:
        return int(_HEAD.unpack_from(self._memory)[0])

    @property
    def last(self) -> bytes:
        return self._memory[_HEAD.size : _HEAD.size + _HEAD.unpack_from(self._memory)[1]]


def try_inputs(name: str, runs: int, seconds: float, engine: str, seed: int, out: Path) -> None:
    """Try inputs in this process; an exception ends it."""
    from fuzz_targets import TARGETS

    target = TARGETS[name]()
    book = Logbook(out / f"logbook-{name}")
    seeds = target.seeds()
    for data in seeds:  # also to import all there is, before memory is counted
        target.run(data)
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which reserves terabytes, and has a limit of its own
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + EXTRA_MEMORY,) * 2)

    def run(data: bytes) -> None:
        book.begin(data)
        started = time.process_time()
        target.run(data)
        took = time.process_time() - started
        if took > SLOW_SECONDS:
            raise AssertionError(f"it took {took:.1f} s")

    def mutate(data: bytes, rng: random.Random) -> bytes:
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            try:
                changed = target.mutate(data, rng)
            except Exception:
                traceback.print_exc()
                os._exit(OWN_FAULT)
            data = changed if len(changed) <= MAX_INPUT else data[: len(data) // 2]
        return data

    if engine == "seeded":
        _from_seeds(run, mutate, seeds, runs, seconds, seed)
        return
    corpus = out / f"corpus-{name}"
    for number, data in enumerate(seeds):
        (corpus / f"seed-{number}").write_bytes(data)
    _with_atheris(run, mutate, target.modules, runs, seconds, seed, corpus)


def _from_seeds(run: Run, mutate: Mutate, seeds: list[bytes], runs: int, seconds: float, seed: int) -> None:
    rng = random.Random(seed)
    end = time.monotonic() + seconds
    for _ in range(runs):
        data = mutate(rng.choice(seeds), rng)
        signal.alarm(HANG_SECONDS)  # nobody handles it: it ends this process
        run(data)
        if time.monotonic() > end:
            break
    signal.alarm(0)


def _with_atheris(
    run: Run, mutate: Mutate, modules: tuple[str, ...], runs: int, seconds: float, seed: int, corpus: Path
) -> None:
    import atheris

    def custom_mutator(data: bytes, max_size: int, chosen: int) -> bytes:
        rng = random.Random(chosen)
        if rng.random() < 0.05:
            return bytes(atheris.Mutate(data, max_size))
        return mutate(data, rng)[:max_size]

    _instrument(atheris.instrument_func, modules)
    options = {
        "runs": runs,
        "max_total_time": max(1, int(seconds)),
        "timeout": HANG_SECONDS,
        "seed": seed + 1,
        "max_len": MAX_INPUT,
        "rss_limit_mb": 2048,
        "artifact_prefix": f"{corpus.parent}/",
        "print_final_stats": 1,
        "reload": 0,
    }
    arguments = [f"-{name}={value}" for name, value in options.items()]
    atheris.Setup([sys.argv[0], *arguments, str(corpus)], run, custom_mutator=custom_mutator)
    atheris.Fuzz()


def _instrument(instrument: Callable[[Any], Any], prefixes: tuple[str, ...]) -> None:
    """Watch which lines of our modules run. Not by watching imports: an editable install has a loader of its own."""
    for name, module in list(sys.modules.items()):
        if name.startswith(prefixes):
            for owner in [module, *(found for found in vars(module).values() if isinstance(found, type))]:
                for found in vars(owner).values():
                    function = getattr(found, "fget", None) or getattr(found, "__func__", found)
                    if isinstance(function, types.FunctionType) and function.__module__ == name:
                        instrument(function)
