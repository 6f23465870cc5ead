"""The two sides of a split, in facts: what a reader must know to believe a test."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from trueup.errors import DataError
from trueup.evaluation._input import BoolArray, EvaluationInput
from trueup.evaluation._split import (
    Split,
    SplitKind,
    check_share,
    group_codes,
    split_at_random,
    split_by_group,
    split_in_time,
)
from trueup.evaluation._times import Times, read_times, time_in_words

__all__ = ["Side", "SplitFacts", "SplitRows", "split_rows"]


@dataclass(frozen=True)
class Side:
    """The rows of one side.

    Attributes
    ----------
    rows : int
        How many have a weight above 0.
    positive_rate : float
        The observed rate of the positive class, weighted.
    mean_score : float
        What the base model promised, weighted.
    first, last : str or None
        The earliest and the latest time, where rows have one.
    n_groups : int or None
        How many groups, where rows have one.

    Examples
    --------
    >>> from trueup.evaluation import Side
    >>> Side(rows=100, positive_rate=0.12, mean_score=0.1, first="2023", last="2024").last
    '2024'
    """

    rows: int
    positive_rate: float
    mean_score: float
    first: str | None = None
    last: str | None = None
    n_groups: int | None = None


@dataclass(frozen=True)
class SplitFacts:
    """How rows were split, and what came of it.

    Attributes
    ----------
    kind : "random", "group" or "time"
        How.
    by : str or None
        The column of times or groups, or "time" or "group" if they came as an array.
    train, test : Side
        The two sides.
    not_features : tuple of str
        Columns that the model does not use because they say when a row is from or to whom it belongs.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(1_000)
    >>> quick = {"estimator": trueup.MCGrad(max_rounds=0), "comparison": {"max_depth": 1}}
    >>> year = [2023] * 700 + [2024] * 300
    >>> split = trueup.evaluate(traffic.X, traffic.y, traffic.scores, time=year, **quick).split
    >>> split.kind, split.train.rows, split.test.first
    ('time', 700, '2024')
    """

    kind: SplitKind
    by: str | None
    train: Side
    test: Side
    not_features: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of the rows that test."""
        return self.test.rows / (self.train.rows + self.test.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as plain values that JSON can hold.

        Returns
        -------
        dict
            The attributes by name, and ``share``.
        """
        return {**asdict(self), "not_features": list(self.not_features), "share": self.share}

    def __str__(self) -> str:
        tested = f"tested on {self.test.rows:,} ({100 * self.share:.0f} %)"
        trained = f"trained on {self.train.rows:,} rows"
        if self.kind == "time":
            return f"{trained} of {_span(self.train)}, {tested} of {_span(self.test)}"
        if self.kind == "group":
            return (
                f"{trained} of {self.train.n_groups:,} values of {self.by!r}, {tested} of {self.test.n_groups:,} others"
            )
        return f"{trained}, {tested}, drawn at random"


@dataclass(frozen=True, eq=False)
class SplitRows:
    """The split itself, and which rows must not be torn apart in the training's own folds either."""

    train: BoolArray
    test: BoolArray
    facts: SplitFacts
    together: Any  # an array of codes, a row each, or None


def split_rows(given: EvaluationInput, test_size: Any, seed: int) -> SplitRows:
    """Split the rows as was asked for: in time, by group, or at random."""
    share = check_share(test_size)
    times: Times | None = None
    together = None
    if given.time is not None:
        what = given.what("time")
        times = read_times(given.time, what)
        split = split_in_time(times, given.counts, test_size=share, what=what)
        together = np.unique(times, return_inverse=True)[1]
    elif given.group is not None:
        what = given.what("group")
        together = group_codes(given.group, what)
        split = split_by_group(together, given.counts, test_size=share, seed=seed, what=what)
    else:
        split = split_at_random(given.labels.values, soft=given.labels.soft, test_size=share, seed=seed)
    sides = [_side(given, rows, split, times, together) for rows in (~split.test, split.test)]
    role = split.kind
    facts = SplitFacts(
        kind=split.kind,
        by=None if role == "random" else given.names.get(role, role),
        train=sides[0],
        test=sides[1],
        not_features=tuple(
            name
            for role, name in given.names.items()
            if role in ("time", "group", "cluster") and name not in given.features
        ),
    )
    _check_sides(given, split, facts)
    return SplitRows(~split.test, split.test, facts, together)


def _side(given: EvaluationInput, rows: BoolArray, split: Split, times: Times | None, together: Any) -> Side:
    counted = rows & given.counts
    weights = given.weights_of(counted)
    if not counted.any():
        return Side(0, float("nan"), float("nan"))
    span = (None, None) if times is None else (time_in_words(times[counted].min()), time_in_words(times[counted].max()))
    return Side(
        rows=int(counted.sum()),
        positive_rate=float(np.average(given.labels.values[counted], weights=weights)),
        mean_score=float(np.average(given.scores[counted], weights=weights)),
        first=span[0],
        last=span[1],
        n_groups=len(np.unique(together[counted])) if split.kind == "group" else None,
    )


def _check_sides(given: EvaluationInput, split: Split, facts: SplitFacts) -> None:
    """Refuse a side on which nothing can be learned or measured."""
    for name, side in (("train", facts.train), ("test", facts.test)):
        if side.rows == 0:
            raise DataError(f"No row with a weight is left to {name} on: there are {len(split.test):,} rows in all.")
        if not given.labels.soft and side.positive_rate in (0, 1):
            label = given.labels.classes[int(side.positive_rate)]
            raise DataError(
                f"All {side.rows:,} rows to {name} on have the label {label!r}. Pass more rows, or split them another "
                "way: with another test_size, in time, by group or at random."
            )


def _span(side: Side) -> str:
    return f"{side.first}" if side.first == side.last else f"{side.first} to {side.last}"
