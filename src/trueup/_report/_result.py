"""What the results of audit, compare, evaluate and diagnose have in common: values, a page, and a list of segments."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from trueup._data import build_table, json_values
from trueup._report._render import page_out, render_summary
from trueup._report._values import Page
from trueup.errors import ParameterError
from trueup.segments import Segment, SegmentGrid

SCHEMA_VERSION = 1
MOST_LISTED = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """A frozen dataclass: its fields without an underscore are what `to_dict` gives."""

    # The page's default title.
    _title: ClassVar[str] = "Result"

    def _page(self, title: str, *, in_full: bool) -> Page:
        """The page, or a brief one for a notebook, which must not take long."""
        raise NotImplementedError

    def _facts(self) -> dict[str, Any]:
        """The values for `to_dict`, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold.

        Returns
        -------
        dict
            The attributes by name, and the number of their schema. What is not a finite number is None.

        Examples
        --------
        >>> import trueup
        >>> result = trueup.audit(None, [0, 1] * 50, [0.5] * 100)
        >>> result.to_dict()["schema_version"], result.to_dict()["ecce"]
        (1, 0.0)
        """
        values: dict[str, Any] = json_values(_plain({"schema_version": SCHEMA_VERSION, **self._facts()}))
        return values

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> str | None:
        """Make a page that opens in any browser, without a network.

        Parameters
        ----------
        path : path-like, optional
            The file to write, whole or not at all. Without it the page is returned.
        title : str, optional
            What the page is about, such as the name of the model.

        Returns
        -------
        str or None
            The page as HTML; None if it was written.

        Examples
        --------
        >>> import trueup
        >>> result = trueup.audit(None, [0, 1] * 50, [0.5] * 100)
        >>> result.to_html(title="A fair coin").startswith("<!doctype html>")
        True
        """
        return page_out(self._page(self._title if title is None else title, in_full=True), path)

    def _repr_html_(self) -> str:
        """Summarise the result for a notebook."""
        return render_summary(self._page(self._title, in_full=False))


class SegmentListing:
    """Segments in the order in which they are listed. A place is an index into `sums`."""

    grid: SegmentGrid
    sums: Any  # with arrays `combination` and `cell`

    @property
    def order(self) -> npt.NDArray[np.int64]:
        """The places of the segments that are listed, first to last."""
        raise NotImplementedError

    def columns_of(self, places: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The columns of the table for the segments at these places."""
        raise NotImplementedError

    def columns(self, n: int | None = None) -> dict[str, Any]:
        """The columns of the first `n` rows of the table."""
        return self.columns_of(self.order[:n])

    def segment(self, place: int) -> Segment:
        """The segment at a place."""
        return self.grid.segment(int(self.sums.combination[place]), int(self.sums.cell[place]))

    def rows(self, n: int | None = None) -> list[dict[str, Any]]:
        """The first `n` segments, one dict each, with the conditions one by one."""
        columns, places = self.columns(n), self.order[:n].tolist()
        return [
            dict(zip(columns, values, strict=True)) | {"conditions": self.segment(place).to_dict()["conditions"]}
            for place, values in zip(places, zip(*columns.values(), strict=True), strict=True)
        ]


class SegmentResult(Result):
    """A result that also lists segments."""

    _listing: SegmentListing
    _library: Any  # that of the caller's table

    @cached_property
    def segments(self) -> Any:
        """The segments as a table, one row each, in the library of the caller's table; at most 100,000 of them."""
        return build_table(self._listing.columns(), self._library)

    def to_dict(self, n_segments: int | None = 100) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold.

        Parameters
        ----------
        n_segments : int or None, default=100
            How many segments to include; None for all that are listed.

        Returns
        -------
        dict
            The attributes by name, and ``segments``: one dict per segment, with the columns of the table and the
            conditions. What is not a finite number is None.

        Examples
        --------
        >>> import trueup
        >>> result = trueup.audit(None, [0, 1] * 50, [0.5] * 100)
        >>> result.to_dict()["segments"][0]["segment"]
        'all rows'
        """
        if n_segments is not None and (not isinstance(n_segments, int) or n_segments < 0):
            raise ParameterError(f"n_segments must be a whole number of at least 0, or None; got {n_segments!r}.")
        rows: list[Any] = json_values(self._listing.rows(n_segments))
        return {**super().to_dict(), "segments": rows}


def _plain(value: Any) -> Any:
    """Results and dataclasses as what is in them."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value
