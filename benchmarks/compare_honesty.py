"""How often comparisons of simulated models say what is not so: verdicts, segments and intervals.

Takes some minutes: ``python benchmarks/compare_honesty.py``.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np

import trueup
from simulated_pairs import Pair, better_model, blurred_model, equal_models
from trueup.comparison import Comparison


def compared(pair: Pair, seed: int) -> Comparison:
    """A comparison with the default search, and fewer draws of rows."""
    return trueup.compare(
        pair.X, pair.y, pair.base, pair.candidate, groups=pair.groups, n_bootstrap=200, random_state=seed, n_jobs=1
    )


def verdict_by_proof(result: Comparison) -> str:
    """The verdict if every guardrail had to be shown to be within its margin, of the same comparison."""
    is_unproven = any(reason.code == "guardrail_not_worse" for reason in result.reasons)
    return "inconclusive" if result.verdict == "ship" and is_unproven else result.verdict


def verdicts_of(results: Sequence[Comparison]) -> str:
    """How often each verdict came, and would come if guardrails had to be proven."""
    by_proof = dict(Counter(map(verdict_by_proof, results)))
    return f"{dict(Counter(result.verdict for result in results))}; if guardrails had to be proven: {by_proof}"


def of_equal_models(kind: str, runs: int, n: int) -> tuple[Counter[str], list[Comparison]]:
    """How often equal models ship, counting both directions, and any segment of them gains or is harmed."""
    found: Counter[str] = Counter()
    results = []
    for seed in range(runs):
        pair = equal_models(seed, n, kind)  # type: ignore[arg-type]
        result = compared(pair, seed)
        swapped = compared(pair._replace(base=pair.candidate, candidate=pair.base), seed)
        found["ship, either way"] += "ship" in (result.verdict, swapped.verdict)
        found["the same if guardrails had to be proven"] += "ship" in map(verdict_by_proof, (result, swapped))
        found["primary significant"] += result.metrics["outcome"].to_pylist()[0] != "unclear"
        found["a segment gains or is harmed"] += result.n_gaining + result.n_harmed > 0
        results.append(result)
    return found, results


def coverage(results: Sequence[Comparison]) -> str:
    """How often each metric's interval covers what these samples show on average."""
    told = []
    for rows in zip(*(result.metrics.to_pylist() for result in results), strict=True):
        average = np.mean([row["difference"] for row in rows])
        covered = np.mean([row["low"] <= average <= row["high"] for row in rows])
        told.append(f"{rows[0]['metric']} {covered:.1%}")
    return "  intervals cover: " + ", ".join(told)


def main() -> None:
    """Print how often, of how many runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rows", type=int, default=5_000)
    options = parser.parse_args()
    for kind in ("noisy", "rare", "skewed", "low", "grouped"):
        print(f"equal models, {kind}, {options.rows:,} rows:", flush=True)
        found, results = of_equal_models(kind, options.runs, options.rows)
        for what, count in found.items():
            print(f"  {what}: {count} of {options.runs} ({count / options.runs:.1%})")
        print(coverage(results), flush=True)
    for rows, runs in ((options.rows, options.runs), (50_000, options.runs // 4)):
        for harmed_by in (0.0, 0.8):
            results = [compared(better_model(seed, rows, harmed_by), seed) for seed in range(runs)]
            what = f"a better model, its logits off by {harmed_by:g} in 5 % of {rows:,} rows"
            print(f"{what}: {verdicts_of(results)}")
            print(coverage(results), flush=True)
    for rows, steep in ((500, 2.5), (1_000, 2.5), (2_000, 2.5), (options.rows, 1.6)):
        results = [compared(blurred_model(seed, rows, steep), seed) for seed in range(options.runs)]
        print(f"a model of better log loss, its PRAUC 3 % worse, {rows:,} rows: {verdicts_of(results)}", flush=True)


if __name__ == "__main__":
    main()
