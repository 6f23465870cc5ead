"""What a sketch counts: the same cells and bins for every part of the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from trueup import _native
from trueup._data import listed, read_scores, read_table, read_weights
from trueup._model import plain_value
from trueup._runtime import check_whole
from trueup.auditing._sketches._edges import (
    BYTES_PER_BIN,
    FEWEST_BINS,
    Edges,
    FloatArray,
    bins_that_fit,
    even_edges,
    logit_edges,
)
from trueup.errors import ParameterError, TableError
from trueup.segments import ColumnCut, Partition, SegmentGrid, grid_of, learn_cuts

FRACTION_BITS = 28  # room for 17 billion rows, and an ECCE that is right to 5e-9
SQUARE_BITS = 20  # of squared weights, which are needed less exactly and grow faster
LIMIT = 2**62  # sums stay below it, so that adding two can't overflow
LARGEST_WEIGHT = 2.0**16  # in the spec's unit
MAX_BYTES = 100_000_000
_MOST_COMBINATIONS = 2_000_000
_MOST_DEPTH = 16
_MOST_EXPONENT = 200


@dataclass(frozen=True)
class SketchSpec:
    """What a sketch counts: segments, bins of scores and the unit of weights, the same for all parts of the data.

    Learn one with `SketchSpec.learn` from a sample, and use it wherever the data is. Only sketches of the same spec
    can be merged.

    Attributes
    ----------
    cuts : tuple of ColumnCut
        How each column is split. Every later value has a place: larger or smaller numbers than were seen belong to the
        outermost intervals, unseen categories to the rest, and missing values are on their own.
    max_depth : int
        The most columns that a segment combines.
    score_edges : tuple of tuple of float
        Where bins of scores end, for segments of no column, of one, and so on.
    classes : tuple
        The two labels, negative first.
    weight_exponent : int
        Weights are counted in units of 2 to this power.
    fraction_bits : int
        Sums are whole numbers of units of 2 to minus this power.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.auditing import SketchSpec
    >>> sample = make_traffic(20_000)
    >>> spec = SketchSpec.learn(sample.X, sample.scores, max_depth=2)
    >>> spec
    SketchSpec(11 columns, segments of up to 2 of them, 4,096 / 4,096 / 4,096 bins of scores)
    """

    cuts: tuple[ColumnCut, ...]
    max_depth: int
    score_edges: tuple[Edges, ...]
    classes: tuple[Any, ...] = (0, 1)
    weight_exponent: int = 0
    fraction_bits: int = FRACTION_BITS

    def __post_init__(self) -> None:
        check_whole("max_depth", self.max_depth, 0, _MOST_DEPTH)
        check_whole("fraction_bits", self.fraction_bits, 8, 40)
        check_whole("weight_exponent", self.weight_exponent, -_MOST_EXPONENT, _MOST_EXPONENT)
        _check_classes(self.classes)
        if tuple(self.classes) == (0, 1):  # also (False, True), because equal specs must give equal files
            object.__setattr__(self, "classes", (0, 1))
        names = [cut.column for cut in self.cuts]
        if len(set(names)) < len(names):
            raise ParameterError("A spec can split each column only once.")
        if len(self.score_edges) != self.depth + 1:
            raise ParameterError(f"There must be {self.depth + 1} lists of score edges, got {len(self.score_edges)}.")
        for depth, edges in enumerate(self.score_edges):
            _check_edges(edges, depth)
        n_combinations = sum(math.comb(len(self.cuts), depth) for depth in range(self.depth + 1))
        if n_combinations > _MOST_COMBINATIONS:
            raise ParameterError(
                f"{len(self.cuts):,} columns have {n_combinations:,} combinations of at most {self.max_depth}; "
                f"the limit is {_MOST_COMBINATIONS:,}. Lower max_depth, or name fewer features."
            )
        for depth, cells in enumerate(_largest_cells(self.cuts, self.depth)):
            if cells * self.n_bins[depth] > _native.MAX_BINS_OF_COMBINATION:
                raise ParameterError(
                    f"{cells:,} cells of one combination with {self.n_bins[depth]:,} bins each are more than the "
                    f"{_native.MAX_BINS_OF_COMBINATION:,} that fit. Lower max_values, max_depth or score_bins."
                )

    @classmethod
    def learn(
        cls,
        X: Any = None,
        scores: Any = None,
        *,
        sample_weight: Any = None,
        features: Sequence[str] | None = None,
        categorical_features: str | Iterable[str | int] = "from_dtype",
        classes: Sequence[Any] = (0, 1),
        max_depth: int = 3,
        max_values: int | Mapping[str, int] = 3,
        score_bins: int | Sequence[int] | None = None,
        max_bytes: int = MAX_BYTES,
        fraction_bits: int = FRACTION_BITS,
    ) -> SketchSpec:
        """Return the spec that fits a sample of the data.

        Parameters
        ----------
        X : table, optional
            Features of the sample. Without it, all rows are the only segment.
        scores : array-like of shape (n,) or (n, 2), optional
            Scores of the sample. Each bin gets an equal share of their noise; without scores, bins are equally wide
            in logits.
        sample_weight : array-like of shape (n,), optional
            Weights of the sample, if the data has weights. Their mean sets the unit in which weights are counted.
        features : sequence of str, optional
            The columns of `X` that segments are made of; all by default.
        categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
            Columns that are categorical besides those of strings, categoricals and booleans.
        classes : sequence of two labels, default=(0, 1)
            The negative and the positive label. With 0 and 1, labels may be booleans or probabilities too.
        max_depth : int, default=3
            The most columns that a segment combines.
        max_values : int or dict of str to int, default=3
            How many values each column is split into, as in `trueup.audit`; a dict sets it per column.
        score_bins : int or sequence of int, optional
            How many bins of scores a segment has: one number for all, or one each for segments of no column, one
            column, and so on; the last holds for all deeper ones. By default as many as `max_bytes` allows.
        max_bytes : int, default=100_000_000
            Roughly how large a sketch may become, if the data is like the sample.
        fraction_bits : int, default=28
            Sums are whole numbers of units of 2 to minus this power. With 28, 17 billion rows fit, and rounding moves
            an ECCE by less than 5e-9. With four bits less, both are 16 times as large.

        Returns
        -------
        SketchSpec
            The spec.

        Examples
        --------
        >>> from trueup.auditing import SketchSpec
        >>> SketchSpec.learn({"device": ["phone", "desktop"]}, [0.2, 0.8]).cuts[0].parts[1].to_dict()["words"]
        'device = desktop'
        """
        check_whole("max_depth", max_depth, 0, _MOST_DEPTH)
        check_whole("max_bytes", max_bytes, 1, 2**40)
        table = None if X is None else read_table(X)
        n = _length(table, scores, sample_weight)
        weights = read_weights(sample_weight, n)
        probabilities = None if scores is None else read_scores(scores, n)
        rows = None if weights is None else weights > 0
        cuts: tuple[ColumnCut, ...] = ()
        if table is not None:
            cuts = learn_cuts(
                table, features=features, categorical_features=categorical_features, max_values=max_values, rows=rows
            )
        elif features is not None:
            raise ParameterError("Segments are made of the columns of X: pass X.")
        n_bins = _numbers_of_bins(cuts, min(max_depth, len(cuts)), score_bins, max_bytes)
        return cls(
            cuts=cuts,
            max_depth=int(max_depth),
            score_edges=tuple(_edges(probabilities, weights, bins) for bins in n_bins),
            classes=tuple(plain_value(label) for label in classes),
            weight_exponent=_exponent(weights),
            fraction_bits=int(fraction_bits),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that segments are made of."""
        return tuple(cut.column for cut in self.cuts)

    @property
    def depth(self) -> int:
        """The most columns that a segment combines: `max_depth`, or fewer if there are fewer columns."""
        return min(self.max_depth, len(self.cuts))

    @cached_property
    def n_bins(self) -> tuple[int, ...]:
        """How many bins of scores a segment has, by the number of its columns."""
        return tuple(len(edges) + 1 for edges in self.score_edges)

    @cached_property
    def most_bytes(self) -> int:
        """The largest possible file of this spec, with every bin of every cell in use."""
        cells = _cells_by_depth([len(cut.parts) for cut in self.cuts], self.depth)
        return sum(n * bins for n, bins in zip(cells, self.n_bins, strict=True)) * BYTES_PER_BIN

    @cached_property
    def grid(self) -> SegmentGrid:
        """All segments, in order."""
        no_rows = np.zeros(0, dtype=np.uint8)
        return grid_of([Partition(no_rows, cut.parts) for cut in self.cuts], max_depth=self.max_depth)

    def __repr__(self) -> str:
        bins = " / ".join(f"{n:,}" for n in self.n_bins)
        return f"SketchSpec({len(self.cuts):,} columns, segments of up to {self.depth} of them, {bins} bins of scores)"

    def differences(self, other: SketchSpec) -> list[str]:
        """Return how another spec differs, in words.

        Parameters
        ----------
        other : SketchSpec
            The spec to compare with.

        Returns
        -------
        list of str
            One phrase per difference; empty if the specs are equal, so that their sketches can be merged.

        Examples
        --------
        >>> from trueup.auditing import SketchSpec
        >>> SketchSpec.learn(score_bins=10).differences(SketchSpec.learn(score_bins=20))
        ['the bins of scores differ']
        """
        if self == other:
            return []
        found = []
        ours, theirs = ({cut.column: cut for cut in spec.cuts} for spec in (self, other))
        alone = [name for name in ours if name not in theirs] + [name for name in theirs if name not in ours]
        if alone:
            found.append(f"only one has the column {listed(alone)}")
        moved = [name for name in ours if name in theirs and ours[name] != theirs[name]]
        if moved:
            found.append(f"column {listed(moved)} is split differently")
        if not alone and not moved and self.columns != other.columns:
            found.append("the columns are in a different order")
        for name in ("max_depth", "classes", "weight_exponent", "fraction_bits"):
            one, another = getattr(self, name), getattr(other, name)
            found += [f"{name} is {one!r} and {another!r}"] if one != another else []
        if self.score_edges != other.score_edges and self.depth == other.depth:
            found.append("the bins of scores differ")
        return found


def _length(table: Any, scores: Any, sample_weight: Any) -> int:
    if table is not None:
        n = int(table.n_rows)
    else:
        given = scores if scores is not None else sample_weight
        if given is None:
            return 0
        n = len(given)
    if n == 0:
        raise TableError("There are no rows to learn from. Pass at least one.")
    return n


def _numbers_of_bins(
    cuts: Sequence[ColumnCut], depth: int, score_bins: int | Sequence[int] | None, max_bytes: int
) -> list[int]:
    largest = _largest_cells(cuts, depth)
    if score_bins is None:
        seen = _cells_by_depth([cut.n_seen for cut in cuts], depth)
        found = bins_that_fit(seen, largest, max_bytes, _native.MAX_BINS_OF_COMBINATION)
        if min(found) < FEWEST_BINS:
            raise ParameterError(
                f"{sum(seen):,} segments with at least {FEWEST_BINS} bins of scores each take more than "
                f"max_bytes={max_bytes:,}. Name fewer features, lower max_depth or max_values, or raise max_bytes."
            )
        return found
    given = [score_bins] if isinstance(score_bins, (int, np.integer)) else list(score_bins)
    for bins in given:
        check_whole("score_bins", bins, 1, _native.MAX_SCORE_BINS)
    if not given:
        raise ParameterError("score_bins is empty. Pass a number, or one per depth.")
    return [given[min(d, len(given) - 1)] for d in range(depth + 1)]


def _edges(scores: FloatArray | None, weights: FloatArray | None, n_bins: int) -> Edges:
    return logit_edges(n_bins) if scores is None else even_edges(scores, weights, n_bins)


def _exponent(weights: FloatArray | None) -> int:
    """The power of two that is nearest to the typical weight."""
    return 0 if weights is None else round(math.log2(weights[weights > 0].mean()))


def _cells_by_depth(sizes: Sequence[int], depth: int) -> list[int]:
    """How many cells the combinations of each depth have in total."""
    sums = [1] + [0] * depth  # elementary symmetric polynomials of the sizes
    for size in sizes:
        for d in range(depth, 0, -1):
            sums[d] += size * sums[d - 1]
    return sums


def _largest_cells(cuts: Sequence[ColumnCut], depth: int) -> list[int]:
    """The most cells that one combination of each depth has."""
    sizes = sorted((len(cut.parts) for cut in cuts), reverse=True)
    return [math.prod(sizes[:d]) for d in range(depth + 1)]


def _check_classes(classes: tuple[Any, ...]) -> None:
    if len(classes) != 2 or classes[0] == classes[1]:
        raise ParameterError(f"classes must be two labels, the negative one first, got {classes!r}.")


def _check_edges(edges: Edges, depth: int) -> None:
    if len(edges) >= _native.MAX_SCORE_BINS:
        raise ParameterError(f"Segments of {depth} columns have more than {_native.MAX_SCORE_BINS:,} bins of scores.")
    array = np.array(edges, dtype=np.float64)
    if not ((array >= 0) & (array < 1)).all() or not (np.diff(array) > 0).all():
        raise ParameterError(f"The score edges of segments of {depth} columns must increase, within [0, 1).")
