"""One pass over the columns: what each holds, a sample of rows, and the prints of all rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import FEWEST_FOR_AN_ID, ID_NAME, SHARE_OF_AN_ID, listed
from trueup._features import chosen_columns
from trueup.errors import ColumnError
from trueup.evaluation._diagnosis._joined import JoinedColumn, KindsDifferError, Measure, join_columns
from trueup.evaluation._diagnosis._prints import Coincidence, Prints, coincidence, mixed, no_prints
from trueup.evaluation._diagnosis._row_set import Floats, RowSet, Sample
from trueup.evaluation._diagnosis._separation import separation

__all__ = ["ColumnFacts", "Survey", "survey_columns"]

Rows: TypeAlias = npt.NDArray[np.int64]

_SHARE_OF_A_MEASUREMENT = 0.9
_DENSE = 10  # numbers that all differ, and lie within so many times as many, were counted, not measured
_HUGE = 1e9
_FEWEST_TO_SEPARATE = 20
_SEPARATING_AUC = 0.995
_SEPARATING_SHARE = 0.005


@dataclass(frozen=True, eq=False)
class ColumnFacts:
    """What a column holds."""

    sampled: JoinedColumn  # its values in the sample
    missing: tuple[int, int]  # how many values are missing in train and in test
    is_constant: bool  # whether all values that are there are equal
    is_id: bool  # whether it numbers or names rows, so that its values say nothing about other rows
    is_measured: bool  # whether it holds fractions of which hardly two are equal, so that equal ones are no coincidence
    separates: bool  # whether it tells train from test on its own
    unseen: Coincidence | None = None  # of a categorical column: test rows whose category train lacks
    unseen_values: tuple[object, ...] = ()  # the most frequent of those categories
    # The least and the greatest value in train and in test, unless it is categorical.
    ranges: tuple[tuple[object, object], tuple[object, object]] | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.sampled.name


@dataclass(frozen=True, eq=False)
class Survey:
    """What was seen of all columns."""

    columns: tuple[ColumnFacts, ...]  # those that are in both tables and hold the same kind of values
    clashing: dict[str, KindsDifferError]  # those that hold something else in test
    absent: tuple[str, ...]  # those of train that test lacks
    prints: Prints | None  # equal for rows with the same features; ids and what separates train from test don't count

    @property
    def is_specific(self) -> bool:
        """Whether equal rows are no coincidence."""
        return any(facts.is_measured and not facts.separates for facts in self.columns)


def survey_columns(
    train: RowSet,
    test: RowSet | None,
    sample: Sample,
    *,
    features: Sequence[str] | None,
    categorical_features: str | Iterable[str | int],
    ignore: Sequence[str],
) -> Survey:
    """Look at every column once; no more than one is held in full."""
    if train.table is None:
        return Survey((), {}, (), None)
    unknown = [name for name in ignore if name not in train.table]
    if unknown:
        columns = listed(train.table.names, 12)
        raise ColumnError(f"ignore: X has no column {listed(unknown)}. Its columns are {columns}.")
    prints = no_prints(train.n + (0 if test is None else test.n))
    seen, clashing, absent = [], {}, []
    for name, named in chosen_columns(train.table, features, categorical_features):
        if name in ignore:
            continue
        if test is not None and test.table is not None and name not in test.table:
            absent.append(name)
            continue
        other = None if test is None or test.table is None else test.table.column(name)
        try:
            column = join_columns(train.table.column(name), other, named)
        except KindsDifferError as differ:
            clashing[name] = differ
            continue
        facts = _facts_of(column, sample)
        seen.append(facts)
        if not facts.is_id and not facts.separates:
            prints = mixed(prints, column.values)
    any_printed = any(not facts.is_id and not facts.separates for facts in seen)
    return Survey(tuple(seen), clashing, tuple(absent), prints if any_printed else None)


def _facts_of(column: JoinedColumn, sample: Sample) -> ColumnFacts:
    sampled = column.of_rows(sample.rows, sample.n_train)
    missing = int(np.isnan(column.train).sum()), int(np.isnan(column.test).sum())
    present = column.n_train - missing[0], len(column.test) - missing[1]
    both_there = min(present) >= _FEWEST_TO_SEPARATE
    if column.measure is Measure.CATEGORY:
        counts = [
            np.bincount(some[~np.isnan(some)].astype(np.int64), minlength=len(column.categories))
            for some in (column.train, column.test)
        ]
        is_id = _names_rows(counts[0] + counts[1])
        unseen = coincidence(counts[0], counts[1], shared=False) if min(present) > 0 and not is_id else None
        new = np.where(counts[0] == 0, counts[1], 0)
        return ColumnFacts(
            sampled,
            missing,
            is_constant=int((counts[0] + counts[1] > 0).sum()) == 1,
            is_id=is_id,
            is_measured=False,
            separates=both_there and not is_id and _no_overlap(*counts),
            unseen=unseen,
            unseen_values=tuple(column.value(code) for code in np.argsort(-new, kind="stable")[:3] if new[code]),
        )
    ends = tuple(_ends(some) for some in (column.train, column.test))
    known = [end for end in ends if end is not None]
    constant = len({value for end in known for value in end}) == 1
    ranges = None
    if len(known) == 2:
        ranges = tuple((column.value(low), column.value(high)) for low, high in known)
    return ColumnFacts(
        sampled,
        missing,
        is_constant=constant,
        is_id=_counts_rows(column, sampled),
        is_measured=_measures(sampled),
        separates=both_there and not constant and _separates(known, sampled, sample),
        ranges=ranges,  # type: ignore[arg-type]
    )


def _ends(values: Floats) -> tuple[float, float] | None:
    present = values[~np.isnan(values)]
    return (float(present.min()), float(present.max())) if len(present) else None


def _separates(ends: list[tuple[float, float]], sampled: JoinedColumn, sample: Sample) -> bool:
    """Whether the ranges in train and in test lie apart, or all but a few rows do."""
    (low, high), (other_low, other_high) = ends
    if high < other_low or other_high < low:
        return True
    there = ~np.isnan(sampled.values)
    first, second = sample.of_train[there], sample.of_test[there]
    if not first.any() or not second.any():
        return False
    auc = separation(sampled.values[there], first, second).auc
    return max(auc, 1 - auc) >= _SEPARATING_AUC


def _no_overlap(of_train: Rows, of_test: Rows) -> bool:
    shared = (of_train > 0) & (of_test > 0)
    return bool(
        of_train[shared].sum() <= _SEPARATING_SHARE * of_train.sum()
        and of_test[shared].sum() <= _SEPARATING_SHARE * of_test.sum()
    )


def _names_rows(counts: Rows) -> bool:
    """Whether there are about as many categories as rows."""
    total = int(counts.sum())
    return total >= FEWEST_FOR_AN_ID and int((counts > 0).sum()) >= SHARE_OF_AN_ID * total


def _measures(sampled: JoinedColumn) -> bool:
    values = sampled.train[~np.isnan(sampled.train)]
    if len(values) < FEWEST_FOR_AN_ID or np.array_equal(values, np.floor(values)):
        return False
    return len(np.unique(values)) >= _SHARE_OF_A_MEASUREMENT * len(sampled.train)


def _counts_rows(column: JoinedColumn, sampled: JoinedColumn) -> bool:
    """Whether numbers are those of rows: whole, different in every row, and counted or called so.

    Amounts in cents differ in every row too if they are spread widely enough; so different is not enough.
    """
    if column.measure is not Measure.AMOUNT or len(column.train) < FEWEST_FOR_AN_ID:
        return False
    values = column.train[~np.isnan(column.train)]
    if len(values) < SHARE_OF_AN_ID * column.n_train or not np.array_equal(values, np.floor(values)):
        return False
    few = sampled.train[~np.isnan(sampled.train)]
    if len(np.unique(few)) < SHARE_OF_AN_ID * len(few) or len(np.unique(values)) < SHARE_OF_AN_ID * len(values):
        return False
    steps = np.diff(values)
    counted = values.max() - values.min() < _DENSE * len(values) or bool((steps > 0).all() or (steps < 0).all())
    return bool(counted or np.median(np.abs(values)) > _HUGE or ID_NAME.search(column.name))
