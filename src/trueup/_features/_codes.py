"""One feature's way from values to numbers, and which rows of a column meet a condition."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._data import EXACT_IN_FLOATS, Column, arrow_to_numpy, kind_in_words, kind_of, plain
from trueup._model import LARGEST_NUMBER, Feature, ValueKind
from trueup.errors import ColumnError

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS_A_CATEGORY = 0.25  # with fewer rows, looking them up one by one beats hashing all categories

_PLAIN_TYPES = {ValueKind.STRING: str, ValueKind.NUMBER: int, ValueKind.BOOLEAN: bool}

Floats = npt.NDArray[np.float64]


class CodeOf(dict[Any, float]):
    """Codes by category; NaN for what is missing or unseen."""

    def __missing__(self, value: Any) -> float:
        return math.nan


class FeatureCodes:
    """Turns the values of one feature into numbers.

    `kinds` is what the values were at fit and must be again, as `kind_in_words` puts it, or None if there were none.
    `code_of` has the code of each category by its plain value; None for a numerical feature. A row's value of
    `plain_type` is plain as it stands, and can be looked up at once.
    """

    def __init__(self, feature: Feature) -> None:
        self.feature = feature
        self.kinds = _kinds(feature)
        self.code_of: CodeOf | None = None
        self.plain_type: type | None = float
        if feature.categories is not None:
            kinds = {kind_of(category_type) for category_type in set(map(type, feature.categories))}
            if feature.kind is not ValueKind.MIXED and not kinds <= {feature.kind}:
                raise ValueError(f"the categories of feature {feature.name!r} are not {feature.kind.value}")
            self.code_of = CodeOf((value, float(code)) for code, value in enumerate(feature.categories))
            self.plain_type = _PLAIN_TYPES.get(feature.kind)

    def encode(self, column: Column) -> Floats:
        """The numbers of a column; an error if it holds something of another kind than at fit."""
        self._check_kinds(column)
        if self.code_of is not None:
            return self._codes(column)
        if column.kind is ValueKind.NUMBER:
            return np.clip(column.floats(), -LARGEST_NUMBER, LARGEST_NUMBER)
        # Nothing but missing values and numbers is left, whatever the type of the column.
        return np.clip(np.array(column.objects(), dtype=np.float64), -LARGEST_NUMBER, LARGEST_NUMBER)

    def encode_some(self, column: Column) -> Floats:
        """The codes of a column where a condition names only some of its values: others may be of any mixed kind."""
        if self.feature.kind is not ValueKind.MIXED:
            self._check_kinds(column)
        return self._codes(column)

    def _codes(self, column: Column) -> Floats:
        return column.by_code(self._codes_of(column.dictionary), np.nan)

    @property
    def encode_one(self) -> Callable[[Any], float]:
        """What gives the number of a row's value, of any type."""
        return self._number if self.code_of is None else self._code

    def _number(self, value: Any) -> float:
        if type(value) is not int and value is not None:
            value = self._checked(value)
        try:
            return math.nan if value is None else float(value)
        except OverflowError as error:
            name = self.feature.name
            raise ColumnError(f"Column {name!r} holds an integer that is too large for a float.") from error

    def _code(self, value: Any) -> float:
        assert self.code_of is not None
        return math.nan if value is None else self.code_of[self._checked(value)]

    def _checked(self, value: Any) -> Any:
        """The plain value of a row's value, of a kind of fit."""
        value = plain(self.feature.name, value)
        if value is not None and self.kinds is not None:
            found = kind_in_words(value)
            if found not in self.kinds:
                raise self._wrong_kind(found)
        return value

    def _check_kinds(self, column: Column) -> None:
        """Refuse a column that holds something of another kind than at fit: it would be unseen, in silence."""
        if self.kinds is None or column.kind is ValueKind.EMPTY or column.kind.value in self.kinds:
            return
        strange = {kind_in_words(value) for value in column.distinct()} - self.kinds
        if not strange:
            return
        if column.kind is not ValueKind.MIXED:
            raise self._wrong_kind(column.kind.value)
        values = column.objects()
        wrong = np.fromiter((v is not None and kind_in_words(v) in strange for v in values), bool, len(values))
        where = f" in {int(wrong.sum()):,} of {len(wrong):,} rows (first at row {int(wrong.argmax()):,})"
        raise self._wrong_kind(" and ".join(sorted(strange)) + where)

    def _wrong_kind(self, found: str) -> ColumnError:
        feature = self.feature
        role = "categorical" if feature.is_categorical else "numerical"
        return ColumnError(
            f"Column {feature.name!r} holds {found}, but at fit it was a {role} column of "
            f"{' and '.join(sorted(self.kinds or ()))}. Convert it back, or fit again."
        )

    def _codes_of(self, column: Column) -> Floats:
        """The codes of a column that has no codes of its own."""
        values, n_categories = column.values, len(self.feature.categories or ())
        if not n_categories or not len(values):
            return np.full(len(values), np.nan)
        if column.kind is not self.feature.kind or len(values) < _ROWS_A_CATEGORY * n_categories:
            return self._by_lookup(column)
        if not isinstance(values, np.ndarray):
            return self._by_arrow(values)
        if values.dtype.kind == "M":
            values = values.astype(np.int64)  # what is missing is an integer that no date can be
        pair = None if values.dtype == object else _comparable(self._known_numbers, values)
        return self._by_lookup(column) if pair is None else _codes_by_value(*pair, self._order)

    def _by_lookup(self, column: Column) -> Floats:
        assert self.code_of is not None
        return np.fromiter(map(self.code_of.__getitem__, column.objects()), np.float64, len(column))

    def _by_arrow(self, values: pa.Array | pa.ChunkedArray) -> Floats:
        import pyarrow.compute as pc

        codes = pc.index_in(values, value_set=self._arrow_categories.cast(values.type))
        return arrow_to_numpy(codes).astype(np.float64, copy=False)

    @cached_property
    def _arrow_categories(self) -> pa.Array:
        """The categories as an Arrow array, made from bytes: pyarrow's own conversion would import pandas."""
        import pyarrow as pa

        # A lone surrogate becomes bytes that no Arrow string holds, and so it should: none is equal to it.
        encoded = [value.encode("utf-8", "surrogatepass") for value in self.feature.categories or ()]
        offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded])]).astype(np.int64)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
        return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)

    @cached_property
    def _order(self) -> npt.NDArray[np.int64]:
        """The codes of the categories from the least to the greatest."""
        return np.argsort(self._numbers, kind="stable")

    @cached_property
    def _known_numbers(self) -> npt.NDArray[Any]:
        return self._numbers[self._order]

    @cached_property
    def _numbers(self) -> npt.NDArray[Any]:
        """The categories as numbers, days or microseconds; as objects if int64 and floats can't hold them."""
        values = list(self.feature.categories or ())
        if any(isinstance(value, Decimal) for value in values):
            return np.array(values, dtype=object)
        if self.feature.kind in (ValueKind.DATE, ValueKind.DATETIME):
            unit = "D" if self.feature.kind is ValueKind.DATE else "us"
            return np.array(values, dtype=f"datetime64[{unit}]").astype(np.int64)
        whole = all(isinstance(value, int) for value in values)
        if any(abs(value) > EXACT_IN_FLOATS for value in values if isinstance(value, int)):
            fits = whole and min(values) >= -(2**63) and max(values) < 2**63
            return np.array(values, dtype=np.int64 if fits else object)
        return np.array(values, dtype=np.int64 if whole else np.float64)


def _kinds(feature: Feature) -> frozenset[str] | None:
    if feature.kind is ValueKind.EMPTY:
        return None
    if feature.kind is not ValueKind.MIXED:
        return frozenset({feature.kind.value})
    kinds = {kind_in_words(category) for category in feature.categories or ()}
    truth = {ValueKind.BOOLEAN.value, ValueKind.NUMBER.value}
    if not kinds:
        return None  # fit saw no value of it (in rows that count): any is unseen, none is of a wrong kind
    return frozenset(kinds | truth if kinds & truth else kinds)  # where types are mixed, True is 1


def _comparable(known: npt.NDArray[Any], values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]] | None:
    """Both arrays as one type that holds them exactly; None if there is none."""
    if known.dtype == object:
        return None
    if known.dtype.kind == "f" or values.dtype.kind == "f":
        exact = all(a.dtype.kind == "f" or max(-int(a.min()), int(a.max())) <= EXACT_IN_FLOATS for a in (known, values))
        return (known.astype(np.float64), values.astype(np.float64, copy=False)) if exact else None
    if values.dtype == np.uint64 and values.max() >= 2**63:
        return None
    return known, values.astype(np.int64, copy=False)


def _codes_by_value(known: npt.NDArray[Any], values: npt.NDArray[Any], codes: npt.NDArray[np.int64]) -> Floats:
    """The code of each value that is among the known ones, which are sorted; NaN for the others."""
    if known.dtype.kind == "i" and int(known[-1]) - int(known[0]) < len(values):
        first, last = int(known[0]), int(known[-1])
        table = np.full(last - first + 2, np.nan)
        table[known - first] = codes
        inside = (values >= first) & (values <= last)
        return table[np.where(inside, values - first, -1)]  # the last entry stays NaN
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[place] == values, codes[place], np.nan)


BoolArray = npt.NDArray[np.bool_]


def holds_one_of(column: Column, values: Feature, *, excluded: bool, or_missing: bool) -> BoolArray:
    """Which rows hold one of the categories of `values`, or, if excluded, something that is none of them."""
    if column.kind is ValueKind.EMPTY:
        return np.full(len(column), or_missing)
    inside: BoolArray = ~np.isnan(FeatureCodes(values).encode_some(column)) ^ excluded
    if or_missing == excluded:
        return inside  # what is missing is among the values that are not the named ones
    missing = holds_missing(column)
    return inside | missing if or_missing else inside & ~missing


def holds_between(
    column: Column,
    low: float | None,
    high: float | None,
    *,
    includes_low: bool,
    includes_high: bool,
    or_missing: bool,
) -> BoolArray:
    """Which rows hold a number between two bounds, of which one may be absent."""
    numbers = column.floats()
    missing: BoolArray = np.isnan(numbers)
    inside = ~missing
    if low is not None:
        inside &= numbers >= low if includes_low else numbers > low
    if high is not None:
        inside &= numbers <= high if includes_high else numbers < high
    return inside | missing if or_missing else inside


def holds_missing(column: Column, *, excluded: bool = False) -> BoolArray:
    """Which rows hold nothing, or, if excluded, anything."""
    if excluded:
        return ~holds_missing(column)
    if column.codes is not None:
        return column.by_code(holds_missing(column.dictionary), True).astype(bool)
    values = column.values
    if column.kind is ValueKind.EMPTY:
        return np.ones(len(column), dtype=bool)
    if not isinstance(values, np.ndarray):
        import pyarrow.compute as pc

        return arrow_to_numpy(pc.cast(pc.is_null(values), "uint8")).astype(bool)
    if values.dtype == object:
        return np.fromiter((value is None for value in values), bool, len(values))
    return np.not_equal(values, values)  # NaN and NaT are not even equal to themselves
