"""How often comparisons of simulated models say what is not so: verdicts and segments.

Takes some minutes: ``python benchmarks/compare_honesty.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import trueup
from simulated_pairs import Pair, better_model, equal_models
from trueup.comparison import Comparison


def compared(pair: Pair, seed: int) -> Comparison:
    """A comparison with the default search, and fewer draws of rows."""
    return trueup.compare(
        pair.y, pair.base, pair.candidate, pair.X, cluster=pair.cluster, n_bootstrap=200, random_state=seed, n_jobs=1
    )


def of_equal_models(kind: str, runs: int, n: int) -> Counter[str]:
    """How often equal models ship, counting both directions, and any segment of them gains or is harmed."""
    found: Counter[str] = Counter()
    for seed in range(runs):
        pair = equal_models(seed, n, kind)  # type: ignore[arg-type]
        result = compared(pair, seed)
        swapped = compared(pair._replace(base=pair.candidate, candidate=pair.base), seed)
        found["ship, either way"] += "ship" in (result.verdict, swapped.verdict)
        found["primary significant"] += result.metrics["outcome"].to_pylist()[0] != "unclear"
        found["a segment gains or is harmed"] += result.n_gaining + result.n_harmed > 0
    return found


def of_better_models(harmed_by: float, runs: int) -> Counter[str]:
    """How often a better model of 50,000 rows gets each verdict."""
    return Counter(compared(better_model(seed, harmed_by=harmed_by), seed).verdict for seed in range(runs))


def main() -> None:
    """Print how often, of how many runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=5_000)
    options = parser.parse_args()
    for kind in ("noisy", "rare", "skewed", "low", "clustered"):
        print(f"equal models, {kind}, {options.rows:,} rows:", flush=True)
        for what, count in of_equal_models(kind, options.runs, options.rows).items():
            print(f"  {what}: {count} of {options.runs} ({count / options.runs:.1%})")
    for harmed_by in (0.0, 0.8):
        verdicts = of_better_models(harmed_by, options.runs // 4)
        print(f"a better model, its logits off by {harmed_by:g} in 5 % of 50,000 rows: {dict(verdicts)}", flush=True)


if __name__ == "__main__":
    main()
