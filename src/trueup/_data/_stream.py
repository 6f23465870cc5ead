"""A table that comes batch by batch, and rows of it that are drawn in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data._files import FileSource
from trueup._data._schemas import KindWatch, common_schema, fitted, without_dictionaries
from trueup._data._sniff import Dialect, Format
from trueup._data._sources import Batch, IteratedSource, QuerySource
from trueup._data._table import listed
from trueup.errors import ColumnError, ParameterError, TableError

if TYPE_CHECKING:
    import pyarrow as pa

    from trueup._model import ValueKind

BATCH_ROWS = 131_072

Draws: TypeAlias = npt.NDArray[np.uint64]
Source: TypeAlias = FileSource | QuerySource | IteratedSource  # what a stream reads, one after the other


def sample_of(batches: Iterable[Batch], n_rows: int, seed: int) -> pa.Table:
    """A number of rows, each with the same chance, in order: those with the smallest of numbers that look random.

    These are computed from each row's place alone, and what is held never exceeds twice the sample.
    """
    if n_rows < 1:
        raise ParameterError(f"A sample needs at least 1 row, got {n_rows!r}.")
    chosen: list[tuple[pa.Table, Draws]] = []
    held, seen, limit = 0, 0, np.uint64(2**64 - 1)
    for batch in batches:
        draws = _draws(seen, batch.table.num_rows, seed)
        seen += batch.table.num_rows
        below = np.flatnonzero(draws <= limit)
        if not len(below):
            continue
        chosen.append((_taken(batch.table, below), draws[below]))
        held += len(below)
        if held > 2 * n_rows:
            chosen, limit = _smallest(chosen, n_rows)
            held = n_rows
    if not chosen:
        raise TableError("There are no rows to learn from: all batches are empty.")
    if held > n_rows:
        chosen, _ = _smallest(chosen, n_rows)
    return _together([table for table, _ in chosen])


def _draws(first: int, n: int, seed: int) -> Draws:
    """Numbers that look random, of rows by their numbers: the SplitMix64 generator."""
    x = np.arange(first + 1, first + n + 1, dtype=np.uint64)
    x += np.uint64((seed * 0x632BE59BD9B4E019) % 2**64)
    x *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    mixed: Draws = x ^ (x >> np.uint64(31))
    return mixed


def _smallest(chosen: list[tuple[pa.Table, Draws]], n_rows: int) -> tuple[list[tuple[pa.Table, Draws]], np.uint64]:
    """Those with the smallest draws, which all differ, and the largest draw among them."""
    every = np.concatenate([draws for _, draws in chosen])
    limit = np.partition(every, n_rows - 1)[n_rows - 1]
    kept = []
    for table, draws in chosen:
        below = np.flatnonzero(draws <= limit)
        if len(below):
            kept.append((_taken(table, below), draws[below]))
    return kept, limit


def _taken(table: pa.Table, rows: npt.NDArray[np.intp]) -> pa.Table:
    """Some rows, in memory of their own: a slice would hold all of the batch."""
    import pyarrow as pa

    return table.take(pa.array(rows))


def _together(tables: list[pa.Table]) -> pa.Table:
    import pyarrow as pa

    schemas = list({table.schema: None for table in tables})
    schema = common_schema(schemas, tables[0].column_names)
    if len(schemas) > 1:
        schema = without_dictionaries(schema)
    return pa.concat_tables([fitted(table, schema) for table in tables]).unify_dictionaries()


class Stream:
    """A table that comes batch by batch, so that it need not fit into memory. `open_stream` makes one.

    Parameters
    ----------
    name : str
        What messages call it.
    sources : sequence of sources
        What it is made of, in order.
    rereadable : bool, default=True
        Whether it can be read more than once.

    Attributes
    ----------
    columns : tuple of str
        The columns that every source has, in the order of the first source. Sources without rows don't count.
    partial_columns : mapping of str to str
        Columns that some sources lack, and the name of a source that does.
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

    def __init__(self, name: str, sources: Sequence[Source], *, rereadable: bool = True) -> None:
        self.name = name
        self.rereadable = rereadable
        self._sources = tuple(sources)
        self._used = False
        telling = [source for source in sources if source.n_rows != 0] or list(sources)
        known = [source.types for source in telling]
        named = dict.fromkeys(column for types in known for column in types)
        lacking = {column: [p.name for p in telling if column not in p.types] for column in named}
        self.columns: tuple[str, ...] = tuple(column for column, names in lacking.items() if not names)
        self.partial_columns: Mapping[str, str] = {column: names[0] for column, names in lacking.items() if names}
        counts = [source.n_rows for source in sources]
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
            The columns to read, all that every source has by default. One that isn't there, that only some sources
            have, or that is of another kind in another source is refused at once.
        batch_rows : int, default=131_072
            The most rows of a batch.

        Returns
        -------
        iterator of Batch
            The rows in order. Each source keeps its own types: a column may be of 32-bit integers here and of floats
            there.
        """
        if batch_rows < 1:
            raise ParameterError(f"batch_rows must be at least 1, got {batch_rows!r}.")
        chosen = self.columns if columns is None else tuple(columns)
        self.check(chosen)
        if self._used and not self.rereadable:
            raise TableError(
                f"{self._capitalized} has been read already, and can be read only once. Pass a path, a dataset or a "
                "list instead."
            )
        self._used = True
        return self._read(chosen, batch_rows)

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that are not there, that only some sources have, or that change their kind between sources.

        Parameters
        ----------
        columns : sequence of str
            The columns.
        """
        for column in columns:
            if column in self.partial_columns:
                lacking = self.partial_columns[column]
                raise ColumnError(f"{lacking} has no column {column!r}, but others in {self.name} do.")
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
        sources = [source.with_kinds(kinds) if isinstance(source, FileSource) else source for source in self._sources]
        return Stream(self.name, sources, rereadable=self.rereadable)

    def split(self) -> list[Stream]:
        """Return the sources as streams of their own, for example one per file.

        Returns
        -------
        list of Stream
            The sources, in order.
        """
        return [Stream(source.name, [source], rereadable=self.rereadable) for source in self._sources]

    def schema(self, columns: Sequence[str] | None = None) -> pa.Schema:
        """Return one Arrow schema that the rows of all sources fit into.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns, all that every source has by default.

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
        for source in self._sources:
            if source.schema is None:
                found = [batch.table.schema for batch in source.read(chosen, BATCH_ROWS)]
            else:
                found = [source.schema] if source.n_rows != 0 or len(self._sources) == 1 else []
            for schema in found:
                watch.see((schema.field(column) for column in chosen), source.name)
            schemas += found
        return common_schema(schemas, chosen)

    def sample(self, n_rows: int, columns: Sequence[str] | None = None, *, seed: int = 0) -> pa.Table:
        """Return some of the rows, each with the same chance, in one pass over all.

        Parameters
        ----------
        n_rows : int
            How many rows; all if there are not more.
        columns : sequence of str, optional
            The columns, all that every source has by default.
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
        """Return a table without rows that has the columns of all sources, with types as the first source has them.

        Returns
        -------
        pyarrow.Table
            Of a CSV file, types are what its first rows suggest, so that nothing is read in full; types that are not
            known are ``null``. What the first source says of the table as a whole, as pandas does, is kept.
        """
        import pyarrow as pa

        first = self._sources[0] if self._sources else None
        schema = first.likely_schema if isinstance(first, FileSource) else first.schema if first is not None else None
        known = {} if schema is None else {field.name: field.type for field in schema}
        columns = [(column, known.get(column, pa.null())) for column in self.columns]
        return pa.schema(columns, metadata=None if schema is None else schema.metadata).empty_table()

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of the files that are read."""
        return tuple(source.path for source in self._sources if isinstance(source, FileSource))

    @property
    def dialects(self) -> dict[str, Dialect | None]:
        """How each file is written: the delimiter and the like of a CSV file, None for another format."""
        files = (source for source in self._sources if isinstance(source, FileSource))
        return {file.path: file.dialect if file.format is Format.CSV else None for file in files}

    @property
    def _capitalized(self) -> str:
        return f"{self.name[0].upper()}{self.name[1:]}"

    def _read(self, columns: tuple[str, ...], batch_rows: int) -> Iterator[Batch]:
        watch = KindWatch()  # types that were not known before
        for source in self._sources:
            if source.n_rows == 0:
                continue
            for batch in source.read(columns, batch_rows):
                watch.see(batch.table.schema, batch.source)
                yield batch


def _differences(sources: Sequence[Source]) -> dict[str, str]:
    """Columns that are of one kind here and of another there, and what differs."""
    watch = KindWatch()
    found: dict[str, str] = {}
    for source in sources:
        for column, arrow_type in source.types.items():
            different = None if arrow_type is None else watch.difference(column, arrow_type, source.name)
            if different:
                found.setdefault(column, different)
    return found
