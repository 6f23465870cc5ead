"""Where the time of a fit goes: processor time by what it is spent on, one thread, from a pandas frame.

python benchmarks/fit_profile.py [rows] [paper]      "paper" for the paper's way instead of the defaults
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

import lightgbm as lgb

from machine import describe
from measured import Measurements
from scoring import traffic
from trueup import MCGrad, _native
from trueup._fitting import _data, _folds, _growing, _lightgbm, _loop
from trueup._fitting import _in_memory as _fitting

WAYS = {"the paper's way": MCGrad.paper(validation=5, n_jobs=1), "defaults": MCGrad(validation=5, n_jobs=1)}
SPENT_ON: list[tuple[str, Any, str]] = [
    ("LightGBM growing trees", lgb.Booster, "update"),
    ("derivatives of the log loss", _native, "logistic_gradients"),
    ("LightGBM binning the features, once", _lightgbm._Bins, "_make"),
    ("LightGBM copying bins, binning the logit", _lightgbm._BinnedRows, "_training_set"),
    ("LightGBM setting up a booster", lgb.Booster, "__init__"),
    ("reading trees", _growing, "trees_and_gains"),
    ("walking trees for all rows", _data, "correction"),
    ("rescaling", _folds, "fit_rescaling"),
    ("rescaling", _folds, "fit_theta"),
    ("losses and history", _loop, "record_of_round"),
    ("splitting rows", _fitting, "make_splits"),
    ("reading the table, learning categories", _fitting, "learn_features"),
    ("strings to codes", _fitting.FeatureEncoder, "encode"),
]


class Profile:
    """Seconds of processor time by what they were spent on; time in a nested call counts there alone."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._nested = [0.0]

    def watched(self, label: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with its time counted."""

        @functools.wraps(function)
        def run(*args: Any, **options: Any) -> Any:
            self._nested.append(0.0)
            started = time.thread_time()
            try:
                return function(*args, **options)
            finally:
                spent = time.thread_time() - started
                self.seconds[label] = self.seconds.get(label, 0.0) + spent - self._nested.pop()
                self._nested[-1] += spent

        return run


@contextmanager
def profiled() -> Iterator[Profile]:
    """Count the time of everything that is listed above."""
    profile = Profile()
    with ExitStack() as patches:
        for label, owner, name in SPENT_ON:
            patches.enter_context(mock.patch.object(owner, name, profile.watched(label, getattr(owner, name))))
        yield profile


def main() -> None:
    """Fit by the paper's way and with the defaults, and print a line for each thing."""
    n_rows = 100_000 if "--quick" in sys.argv else 1_000_000
    X, y, p = traffic(n_rows)
    print(describe())
    with Measurements("fit_profile") as measurements:
        for way, model in WAYS.items():
            model.fit(X[:5000], y[:5000], scores=p[:5000])  # what imports cost is not the fit's
            with profiled() as profile:
                started = time.process_time()
                model.fit(X, y, scores=p)
                total = time.process_time() - started
            profile.seconds["all else"] = total - sum(profile.seconds.values())
            print(f"\n{n_rows:,} rows × {X.shape[1]} features, 5 folds, {way}: {total:.1f} s of one thread")
            for label, seconds in sorted(profile.seconds.items(), key=lambda entry: -entry[1]):
                print(f"  {label:<42}{seconds:>8.2f} s{seconds / total:>8.1%}")
                measurements.add_row(way=way, what=label, seconds=seconds, share=seconds / total)


if __name__ == "__main__":
    main()
