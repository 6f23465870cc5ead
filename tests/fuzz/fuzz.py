"""Fuzzes one target after the other, each in a process of its own with little memory.

    python tests/fuzz/fuzz.py --runs 1000000 --seconds 7200 [model_file json_body arrow_body condition]

With atheris, inputs that reach new code are kept and changed further; without it, or with ``--engine seeded``, inputs
are drawn from the seeds alone, the same ones each time. What fails is written to ``build/fuzz``, and this program ends
with 1.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from fuzz_engines import FINDING, OWN_FAULT, Logbook, try_inputs

HERE = Path(__file__).parent
OUT = HERE.parents[1] / "build" / "fuzz"
EXTRA_MEMORY = 512 * 2**20
SLOW_SECONDS = 5.0  # of the processor, for one input
HANG_SECONDS = int(
    os.environ.get("TRUEUP_FUZZ_HANG_SECONDS", "30")
)  # on the clock: more where the process may be paused
MAX_INPUT = 2**16
MAX_FINDINGS = 20
NAMES = ["model_file", "json_body", "arrow_body", "condition"]


@dataclass
class Tally:
    """What a target has come to."""

    name: str
    executions: int = 0
    crashes: int = 0
    hangs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.executions:,} executions in {self.seconds:,.0f} s, "
            f"{self.crashes} crashes, {self.hangs} hangs"
        )


def fuzz(name: str, *, runs: int, seconds: float, engine: str, seed: int, out: Path) -> Tally:
    """Try inputs until there have been enough, begin again after each that fails, and give up after many of those."""
    out.mkdir(parents=True, exist_ok=True)
    corpus = out / f"corpus-{name}"
    corpus.mkdir(exist_ok=True)
    tally, started = Tally(name), time.monotonic()
    book_path = out / f"logbook-{name}"
    book_path.unlink(missing_ok=True)
    book = Logbook(book_path)
    while tally.executions < runs and tally.crashes + tally.hangs < MAX_FINDINGS:
        left = seconds - (time.monotonic() - started)
        if left <= 0:
            break
        options = [name, str(runs - tally.executions), str(left), engine, str(seed + tally.executions), str(out)]
        environment = {**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system", "OMP_NUM_THREADS": "1"}
        child = subprocess.run([sys.executable, __file__, "--child", *options], env=environment, check=False)
        if child.returncode == OWN_FAULT or (child.returncode and book.count == tally.executions):
            raise RuntimeError(f"the fuzzer of {name} fails by itself (exit code {child.returncode})")
        tally.executions, tally.seconds = book.count, time.monotonic() - started
        if child.returncode == 0:
            break
        is_hang = child.returncode in (-signal.SIGALRM, 70)  # our own clock, and libFuzzer's
        tally.hangs += is_hang
        tally.crashes += not is_hang
        kept = out / f"{'hang' if is_hang else 'crash'}-{name}-{tally.crashes + tally.hangs}"
        kept.write_bytes(book.last)
        print(f"{name}: the input is in {kept} (exit code {child.returncode})", file=sys.stderr)
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=NAMES, help="which; by default all")
    parser.add_argument("--runs", type=int, default=1_000_000, help="inputs for each target")
    parser.add_argument("--seconds", type=float, default=4 * 3600.0, help="for all targets together")
    parser.add_argument("--engine", choices=["auto", "atheris", "seeded"], default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=OUT, help="a folder for what is found")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.targets if name not in NAMES]:
        parser.error(f"{unknown[0]} is no target; there are {', '.join(NAMES)}")
    engine = chosen.engine
    if engine == "auto":
        engine = "atheris" if importlib.util.find_spec("atheris") else "seeded"
    tallies, end = [], time.monotonic() + chosen.seconds
    for place, name in enumerate(chosen.targets):
        share = (end - time.monotonic()) / (len(chosen.targets) - place)
        tallies.append(
            fuzz(name, runs=chosen.runs, seconds=share, engine=engine, seed=chosen.seed, out=chosen.out.resolve())
        )
        print(tallies[-1], flush=True)
    failed = sum(tally.crashes + tally.hangs for tally in tallies)
    short = [tally.name for tally in tallies if tally.executions < chosen.runs]
    if short:
        print(f"Time ran out before {chosen.runs:,} executions of {', '.join(short)}.")
    print(f"fuzz ({engine}): {sum(t.executions for t in tallies):,} executions, {failed} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        try:
            name, runs, seconds, engine, seed, out = sys.argv[2:]
            try_inputs(name, int(runs), float(seconds), engine, int(seed), Path(out))
        except Exception:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(FINDING)  # at once: libFuzzer's clock may still tick
    else:
        sys.exit(main())
