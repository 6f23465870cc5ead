"""Which rows train and which ones test: at random, by group, or in time; and what the two are like."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Rows
from trueup._runtime import check_fraction
from trueup.errors import DataError
from trueup.evaluation._times import Times, read_times, time_in_words

__all__ = [
    "BoolArray",
    "RowFacts",
    "SplitFacts",
    "SplitKind",
    "SplitRows",
    "drawn_at_random",
    "drawn_by_group",
    "latest_rows",
    "split_rows",
]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.int64]
SplitKind: TypeAlias = Literal["random", "group", "time"]


@dataclass(frozen=True)
class RowFacts:
    """What the training rows, or the test rows, are like.

    Attributes
    ----------
    rows : int
        How many have a weight above 0.
    positive_rate : float
        The observed rate of the positive class, weighted.
    mean_score : float
        What the base model predicted on average, weighted.
    first, last : str or None
        The earliest and the latest time, if rows have one.
    n_groups : int or None
        How many groups there are, if rows have one.

    Examples
    --------
    >>> from trueup.evaluation import RowFacts
    >>> RowFacts(rows=100, positive_rate=0.12, mean_score=0.1, first="2023", last="2024").last
    '2024'
    """

    rows: int
    positive_rate: float
    mean_score: float
    first: str | None = None
    last: str | None = None
    n_groups: int | None = None

    @property
    def span(self) -> str:
        """From when to when."""
        return f"{self.first}" if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True)
class SplitFacts:
    """How rows were split, and what came of it.

    Attributes
    ----------
    kind : "random", "group" or "time"
        How.
    by : str or None
        The column of times or groups, or "time" or "groups" if they came as an array.
    train, test : RowFacts
        The training rows and the test rows.
    not_features : tuple of str
        Columns that the model does not use because they say when a row is from or what it belongs to.

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
    train: RowFacts
    test: RowFacts
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
            return f"{trained} of {self.train.span}, {tested} of {self.test.span}"
        if self.kind == "group":
            groups = f"{self.train.n_groups:,} groups by {self.by!r}"
            return f"{trained} in {groups}, {tested} in {self.test.n_groups:,} others"
        return f"{trained}, {tested}, drawn at random"


@dataclass(frozen=True, eq=False)
class SplitRows:
    """The split itself, and which rows the training's own folds keep together."""

    test: BoolArray
    facts: SplitFacts
    together: Codes | None  # the groups if there are any, else the times: a number per row
    times: Codes | None

    @property
    def train(self) -> BoolArray:
        """The rows that train."""
        return ~self.test


def split_rows(rows: Rows, test_size: Any, seed: int) -> SplitRows:
    """Split rows in time if they have one; else keep groups whole if there are any; else draw rows at random."""
    check_fraction("test_size", test_size)
    counts = np.ones(rows.n, dtype=bool) if rows.counted is None else rows.counted
    column, codes = rows.given.column("time"), None
    times: Times | None = None
    kind: SplitKind
    if column is not None:
        what = rows.given.what("time")
        times = read_times(column, what)
        kind, test = "time", latest_rows(times, counts, test_size=test_size, what=what)
        codes = np.unique(times, return_inverse=True)[1].reshape(-1)
    elif rows.groups is not None:
        what = rows.given.what("groups")
        kind, test = "group", drawn_by_group(rows.groups, counts, test_size=test_size, seed=seed, what=what)
    else:
        labels = rows.labels
        kind, test = "random", drawn_at_random(labels.values, soft=labels.soft, test_size=test_size, seed=seed)
    train_facts, test_facts = (_facts(rows, some & counts, times) for some in (~test, test))
    role = {"time": "time", "group": "groups"}.get(kind)
    facts = SplitFacts(
        kind=kind,
        by=None if role is None else rows.given.names.get(role, role),
        train=train_facts,
        test=test_facts,
        not_features=tuple(
            name for role, name in rows.given.names.items() if role in ("time", "groups") and name not in rows.features
        ),
    )
    _check_both(rows, facts)
    return SplitRows(test, facts, codes if rows.groups is None else rows.groups, codes)


def _facts(rows: Rows, counted: BoolArray, times: Times | None) -> RowFacts:
    if not counted.any():
        return RowFacts(0, float("nan"), float("nan"))
    weights = None if rows.weights is None else rows.weights[counted]
    span = (None, None) if times is None else (time_in_words(times[counted].min()), time_in_words(times[counted].max()))
    return RowFacts(
        rows=int(counted.sum()),
        positive_rate=float(np.average(rows.labels.values[counted], weights=weights)),
        mean_score=float(np.average(rows.scores["scores"][counted], weights=weights)),
        first=span[0],
        last=span[1],
        n_groups=None if rows.groups is None else len(np.unique(rows.groups[counted])),
    )


def _check_both(rows: Rows, facts: SplitFacts) -> None:
    """Refuse training rows from which nothing can be learned, and test rows on which nothing can be measured."""
    for name, some in (("train", facts.train), ("test", facts.test)):
        if some.rows == 0:
            raise DataError(f"No row with a weight is left to {name} on: there are {rows.n:,} rows in all.")
        if not rows.labels.soft and some.positive_rate in (0, 1):
            label = rows.labels.classes[int(some.positive_rate)]
            raise DataError(
                f"All {some.rows:,} rows to {name} on have the label {label!r}. Pass more rows, or split them another "
                "way: with another test_size, in time, by group or at random."
            )


def drawn_at_random(labels: npt.NDArray[np.float64], *, soft: bool, test_size: float, seed: int) -> BoolArray:
    """Draw the rows that test; both classes in the same proportion, if there are classes."""
    generator = np.random.default_rng(seed)
    test = np.zeros(len(labels), dtype=bool)
    for members in [np.arange(len(labels))] if soft else [np.flatnonzero(labels == value) for value in (0, 1)]:
        drawn = generator.permutation(members)
        test[drawn[: round(test_size * len(drawn))]] = True
    return test


def drawn_by_group(groups: Codes, counts: BoolArray, *, test_size: float, seed: int, what: str) -> BoolArray:
    """Draw whole groups until they have about as many of the rows that count as are to test."""
    sizes = np.bincount(groups[counts], minlength=int(groups.max()) + 1)
    there = np.flatnonzero(sizes)
    if len(there) < 2:
        raise DataError(f"{what} has the same value in all rows, so they can't be split by it. Name another column.")
    drawn = np.random.default_rng(seed).permutation(there)
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[drawn[: _nearest(np.cumsum(sizes[drawn]), test_size)]] = True
    return chosen[groups]


def latest_rows(times: Times, counts: BoolArray, *, test_size: float, what: str) -> BoolArray:
    """Test on the latest rows, about as many as are to test; no moment both trains and tests.

    Where there are few distinct times, such as years, those are whole years.
    """
    moments, sizes = np.unique(times[counts], return_counts=True)
    if len(moments) < 2:
        raise DataError(
            f"{what} is {time_in_words(moments[0])} in all rows, so none is later than another. Name another column, "
            "or leave it out: then rows are drawn at random."
        )
    n_latest = _nearest(np.cumsum(sizes[::-1]), test_size)
    return np.asarray(times >= moments[len(moments) - n_latest])


def _nearest(cumulated: npt.NDArray[Any], share: float) -> int:
    """How many parts come nearest to a share of all; at least one, and not all."""
    distance = np.abs(cumulated[:-1] - share * cumulated[-1])
    return int(np.argmin(distance)) + 1
