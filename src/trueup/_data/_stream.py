"""A table that comes batch by batch, and can be read again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trueup._data._batch import Batch
from trueup._data._files import FilePart
from trueup._data._kinds import KindWatch
from trueup._data._parts import Part
from trueup._data._sample import sample_of
from trueup._data._table import listed
from trueup._data._types import common_schema
from trueup.errors import ColumnError, ParameterError, TableError

if TYPE_CHECKING:
    import pyarrow as pa

    from trueup._data._formats import Format
    from trueup._data._sniff import Dialect
    from trueup._model import ValueKind

__all__ = ["BATCH_ROWS", "Stream"]

BATCH_ROWS = 131_072


class Stream:
    """A table that comes batch by batch, so that it need not fit into memory. `open_stream` makes one.

    Parameters
    ----------
    name : str
        What messages call it.
    parts : sequence of parts
        What it is made of, in order.
    rereadable : bool, default=True
        Whether it can be read more than once.

    Attributes
    ----------
    name : str
        What messages call it.
    rereadable : bool
        Whether it can be read more than once.
    columns : tuple of str
        The columns that every part has, in the order of the first part. Parts without rows don't count.
    partial_columns : mapping of str to str
        Columns that some parts lack, and the name of a part that does.
    n_rows : int or None
        How many rows there are, if that is known without reading them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from trueup import open_stream
    >>> stream = open_stream([pa.table({"x": [1, 2], "y": [0, 1]}), pa.table({"x": [3]})])
    >>> stream.columns, dict(stream.partial_columns)
    (('x',), {'y': 'batch 1'})
    >>> [(batch.where, batch.table["x"].to_pylist()) for batch in stream.batches(["x"])]
    [('batch 0', [1, 2]), ('batch 1', [3])]
    """

    def __init__(self, name: str, parts: Sequence[Part], *, rereadable: bool = True) -> None:
        self.name = name
        self.rereadable = rereadable
        self._parts = tuple(parts)
        self._used = False
        telling = [part for part in parts if part.n_rows != 0] or list(parts)
        known = [part.types for part in telling]
        named = dict.fromkeys(column for types in known for column in types)
        lacking = {column: [p.name for p in telling if column not in p.types] for column in named}
        self.columns: tuple[str, ...] = tuple(column for column, parts in lacking.items() if not parts)
        self.partial_columns: Mapping[str, str] = {column: parts[0] for column, parts in lacking.items() if parts}
        counts = [part.n_rows for part in parts]
        self.n_rows: int | None = None if None in counts else sum(count or 0 for count in counts)
        self._differences = _differences(telling)

    def __repr__(self) -> str:
        rows = "" if self.n_rows is None else f", {self.n_rows:,} rows"
        return f"Stream({self.name}, {len(self.columns)} columns{rows})"

    def batches(self, columns: Sequence[str] | None = None, *, batch_rows: int = BATCH_ROWS) -> Iterator[Batch]:
        """Read all rows from the beginning, a batch at a time.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns to read, all that every part has by default. One that isn't there, that only some parts
            have, or that is of another kind in another part is refused at once.
        batch_rows : int, default=131_072
            The most rows of a batch.

        Returns
        -------
        iterator of Batch
            The rows in order. Each part keeps its own types: a column may be of 32-bit integers here and of floats
            there.
        """
        if batch_rows < 1:
            raise ParameterError(f"batch_rows must be at least 1, got {batch_rows!r}.")
        chosen = self.columns if columns is None else tuple(columns)
        self.check(chosen)
        if self._used and not self.rereadable:
            raise TableError(
                f"{self._capitalized} can be read only once, and has been. Pass a path, a dataset or a list instead."
            )
        self._used = True
        return self._read(chosen, batch_rows)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that are not there, that only some parts have, or that change their kind between parts.

        Parameters
        ----------
        columns : sequence of str
            The columns.
        """
        for column in columns:
            if column in self.partial_columns:
                lacking = self.partial_columns[column]
                raise ColumnError(f"{lacking} has no column {column!r}, which other parts of {self.name} have.")
            if column not in self.columns:
                shown = listed(self.columns, 12)
                raise ColumnError(f"{self._capitalized} has no column {column!r}. The columns are {shown}.")
            if column in self._differences:
                raise ColumnError(self._differences[column])

    def with_kinds(self, kinds: Mapping[str, ValueKind]) -> Stream:
        """Return the same stream, in which CSV files have columns of these kinds instead of guessed ones.

        Parameters
        ----------
        kinds : mapping of str to ValueKind
            What columns are known to hold, such as strings where a model has categories.

        Returns
        -------
        Stream
            The stream; files of other formats have types of their own, and are read as they are.
        """
        parts = [part.with_kinds(kinds) if isinstance(part, FilePart) else part for part in self._parts]
        return Stream(self.name, parts, rereadable=self.rereadable)

    def split(self) -> list[Stream]:
        """Return the parts as streams of their own, such as one a file.

        Returns
        -------
        list of Stream
            The parts, in order.
        """
        return [Stream(part.name, [part], rereadable=self.rereadable) for part in self._parts]

    def schema(self, columns: Sequence[str] | None = None) -> pa.Schema:
        """Return one Arrow schema that the rows of all parts fit into.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns, all that every part has by default.

        Returns
        -------
        pyarrow.Schema
            Integers and floats become floats, missing values of no type whatever the others are. Of CSV files the
            types are known only when they are read, so they are.
        """
        chosen = self.columns if columns is None else tuple(columns)
        self.check(chosen)
        if not self.rereadable:
            raise TableError(f"{self._capitalized} can be read only once, so its types can't be known before.")
        watch, schemas = KindWatch(), []
        for part in self._parts:
            if part.schema is None:
                found = [batch.table.schema for batch in part.read(chosen, BATCH_ROWS)]
            else:
                found = [part.schema] if part.n_rows != 0 or len(self._parts) == 1 else []
            for schema in found:
                watch.see_all((schema.field(column) for column in chosen), part.name)
            schemas += found
        return common_schema(schemas, chosen)

    def sample(self, n_rows: int, columns: Sequence[str] | None = None, *, seed: int = 0) -> pa.Table:
        """Return some of the rows, each with the same chance, in one pass over all.

        Parameters
        ----------
        n_rows : int
            How many rows; all if there are not more.
        columns : sequence of str, optional
            The columns, all that every part has by default.
        seed : int, default=0
            Another number chooses other rows.

        Returns
        -------
        pyarrow.Table
            The rows, in order. Which they are depends on the number of rows and the seed alone: not on how the rows
            are cut into files and batches.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from trueup import open_stream
        >>> stream = open_stream([pa.table({"n": range(500)}), pa.table({"n": range(500, 1_000)})])
        >>> stream.sample(5)["n"].to_pylist()
        [254, 366, 410, 503, 821]
        """
        return sample_of(self.batches(columns), n_rows, seed)

    def shape(self) -> pa.Table:
        """Return a table without rows that has the columns of all parts, with types as the first part has them.

        Returns
        -------
        pyarrow.Table
            Of a CSV file, types are what its first rows suggest, so that nothing is read in full; types that are not
            known are ``null``. What the first part says of the table as a whole, as pandas does, is kept.
        """
        import pyarrow as pa

        first = self._parts[0] if self._parts else None
        schema = first.likely_schema if isinstance(first, FilePart) else first.schema if first is not None else None
        known = {} if schema is None else {field.name: field.type for field in schema}
        columns = [(column, known.get(column, pa.null())) for column in self.columns]
        return pa.schema(columns, metadata=None if schema is None else schema.metadata).empty_table()

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files that are read."""
        return tuple(part.path for part in self._parts if isinstance(part, FilePart))

    @property
    def formats(self) -> tuple[Format, ...]:
        """How the files are written that are read, one by one."""
        return tuple(part.format for part in self._parts if isinstance(part, FilePart))

    def dialect_of(self, path: str) -> Dialect:
        """Return how one of its CSV files is written.

        Parameters
        ----------
        path : str
            The file, as in `files`.

        Returns
        -------
        Dialect
            Its delimiter, and how it is packed.
        """
        return next(part.dialect for part in self._parts if isinstance(part, FilePart) and part.path == path)

    @property
    def _capitalized(self) -> str:
        return f"{self.name[0].upper()}{self.name[1:]}"

    def _read(self, columns: tuple[str, ...], batch_rows: int) -> Iterator[Batch]:
        watch = KindWatch()  # types that were not known before
        for part in self._parts:
            if part.n_rows == 0:
                continue
            for batch in part.read(columns, batch_rows):
                watch.see_all(batch.table.schema, batch.part)
                yield batch


def _differences(parts: Sequence[Part]) -> dict[str, str]:
    """Columns that are of one kind here and of another there, and what differs."""
    watch = KindWatch()
    found: dict[str, str] = {}
    for part in parts:
        for column, arrow_type in part.types.items():
            different = None if arrow_type is None else watch.difference(column, arrow_type, part.name)
            if different:
                found.setdefault(column, different)
    return found
