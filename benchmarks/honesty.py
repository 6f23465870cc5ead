"""Whether a p-value means what it says, and whether the order of rows matters.

Labels are drawn from the scores, so the scores are true: 5 % of p-values may lie below 0.05, however many segments
are searched. And with few distinct scores, the same rows in another order must show the same error. Beside Meta's
mcgrad where it is installed; its documentation says that the p-value of its MCE is not adjusted for the number of
segments, and expects that to matter little.

    python benchmarks/honesty.py [runs]
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from scipy.stats import binomtest

import trueup
from machine import OtherWork, describe, has_peer
from trueup.metrics import ecce_sigma

N_ROWS = 5_000
N_VALUES = 3
LEVEL = 0.05


def true_scores(seed: int, n_features: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Features of three values that tell nothing, and labels drawn from the scores."""
    rng = np.random.default_rng(seed)
    values = np.array(["a", "b", "c"])
    X = pd.DataFrame({f"c{i}": values[rng.integers(0, N_VALUES, N_ROWS)] for i in range(n_features)})
    p = 1 / (1 + np.exp(1 - rng.normal(size=N_ROWS)))
    return X, (rng.random(N_ROWS) < p).astype(int), p


def peer_errors(X: pd.DataFrame, y: np.ndarray, p: np.ndarray) -> tuple[float, float, int]:
    """The peer's global ECCE in sigmas, the p-value of its MCE, and over how many segments."""
    from mcgrad.metrics import MulticalibrationError

    measured = MulticalibrationError(
        X.assign(p=p, y=y), "y", "p", categorical_segment_columns=list(X.columns), precision_dtype="float64"
    )
    p_value = float(measured.mce_pvalue)
    return float(measured.global_ecce_sigma), p_value, measured.total_number_segments


def share(alarms: int, runs: int) -> str:
    """A share, and its 95 % interval."""
    interval = binomtest(alarms, runs).proportion_ci(method="wilson")
    return f"{alarms / runs:6.1%}  ({interval.low:.1%} – {interval.high:.1%})"


def false_alarms(n_features: int, runs: int) -> None:
    """How often each says that true scores are wrong."""
    ours = adjusted = theirs = n_segments = 0
    for seed in range(runs):
        X, y, p = true_scores(seed, n_features)
        result = trueup.audit(X, y, p, significance=LEVEL, random_state=seed)
        n_segments = result.n_segments
        ours += result.mce_p_value < LEVEL
        adjusted += result.significant
        if has_peer():
            _, p_value, n_theirs = peer_errors(X, y, p)
            assert n_theirs == n_segments, "both search the same segments"
            theirs += p_value < LEVEL
    print(f"  {n_segments} segments")
    print(f"    trueup, p-value of the MCE        {share(ours, runs)}")
    print(f"    trueup, any adjusted p-value      {share(adjusted, runs)}")
    if has_peer():
        print(f"    mcgrad, p-value of the MCE        {share(theirs, runs)}")


def tied_scores() -> None:
    """The same rows in several orders, ten distinct scores."""
    rng = np.random.default_rng(0)
    p = rng.choice(np.linspace(0.05, 0.95, 10), N_ROWS)
    y = (rng.random(N_ROWS) < p).astype(int)
    X = pd.DataFrame({"c0": ["a"] * N_ROWS})
    orders = {
        "as drawn": np.arange(N_ROWS),
        "shuffled": rng.permutation(N_ROWS),
        "sorted by label": np.argsort(y, kind="stable"),
    }
    shown: dict[str, list[str]] = {"trueup": []}
    for order in orders.values():
        shown["trueup"].append(f"{ecce_sigma(y[order], p[order]):.4f}")
        if has_peer():
            sigmas, _, _ = peer_errors(X, y[order], p[order])
            shown.setdefault("mcgrad", []).append(f"{sigmas:.4f}")
    print(" " * 12 + "".join(f"{name:>18}" for name in orders))
    for name, values in shown.items():
        print(f"  {name:<10}" + "".join(f"{value:>18}" for value in values))


def main() -> None:
    """Draw, search and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(describe())
    with OtherWork() as others:
        print(f"\ntrue scores, {N_ROWS:,} rows: p-values below {LEVEL} in {runs} runs (should be {LEVEL:.0%})")
        for n_features in (3, 4):
            false_alarms(n_features, runs)
        print(f"\ntrue scores of ten values, {N_ROWS:,} rows: ECCE of all rows in σ, by the order of the rows")
        tied_scores()
    print(f"\n{others}")


if __name__ == "__main__":
    main()
