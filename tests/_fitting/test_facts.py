"""What pieces of a table hold is merged to one plan, in whatever pieces and order the rows come."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._data import hash_column
from trueup._fitting import PackedRows, PackingPlan, StreamRoles, TableFacts
from trueup._fitting._packing import PackedStore
from trueup.errors import ColumnError, DataError, LabelError, ScoreError, WeightError

ROLES = StreamRoles("y", "p", "w", None, ("site", "x", "z"))
ROW = st.tuples(
    st.sampled_from(["a", "b", "c", None]),
    st.floats(-4, 4) | st.none() | st.sampled_from([0.0, 1.0]),
    st.integers(0, 9),
    st.integers(0, 1),
    st.floats(0.01, 0.99),
    st.sampled_from([0.0, 0.5, 1.0]),
)
ROWS = st.lists(ROW, min_size=2, max_size=30)
TYPES = {
    "site": pa.string(),
    "x": pa.float64(),
    "z": pa.int32(),
    "y": pa.int64(),
    "p": pa.float64(),
    "w": pa.float64(),
}


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    """The rows, and two more, so that both classes count."""
    rows = [*rows, ("a", 1.0, 1, 0, 0.5, 1.0), ("b", 2.0, 2, 1, 0.5, 1.0)]
    columns = zip(TYPES.items(), zip(*rows, strict=True), strict=True)
    return pa.table({name: pa.array(values, arrow_type) for (name, arrow_type), values in columns})


def pieces_of(table: pa.Table, cuts: list[int]) -> list[tuple[pa.Table, int]]:
    """Partitions of the table with the number of their first row; some of them may be empty."""
    ends = [0, *sorted(cut % (table.num_rows + 1) for cut in cuts), table.num_rows]
    return [(table.slice(first, last - first), first) for first, last in itertools.pairwise(ends)]


def plan_of(pieces: list[tuple[pa.Table, int]], roles: StreamRoles = ROLES, *, sample: int = 10) -> PackingPlan:
    facts = TableFacts(roles, sample)
    for piece, first_row in pieces:
        facts.add(piece, first_row)
    return facts.plan(5)


def packed(pieces: list[tuple[pa.Table, int]], plan: PackingPlan) -> PackedRows:
    store = PackedStore(plan)
    for piece, _ in pieces:
        store.add(plan.pack(piece))
    return store.rows()


def check_equal(ours: PackingPlan, theirs: PackingPlan) -> None:
    assert (ours.spec, ours.n_rows, ours.roles) == (theirs.spec, theirs.n_rows, theirs.roles)
    assert (ours.labels.classes, ours.labels.soft) == (theirs.labels.classes, theirs.labels.soft)
    for mine, other in zip(ours.columns, theirs.columns, strict=True):
        assert mine.categorical == other.categorical
        np.testing.assert_array_equal(mine.upper, other.upper)


CUTS = st.lists(st.integers(0, 40), max_size=5)


@settings(max_examples=60)
@given(ROWS, CUTS, st.randoms())
def test_any_pieces_in_any_order_give_the_plan_of_the_whole(
    rows: list[Any], cuts: list[int], order: random.Random
) -> None:
    table = table_of(rows)
    whole = plan_of([(table, 0)])
    pieces = pieces_of(table, cuts)
    order.shuffle(pieces)
    check_equal(plan_of(pieces), whole)


@settings(max_examples=60)
@given(ROWS, CUTS, st.randoms())
def test_facts_of_other_processes_are_merged_to_the_plan_of_the_whole(
    rows: list[Any], cuts: list[int], order: random.Random
) -> None:
    table = table_of(rows)
    all_facts = []
    for piece, first_row in pieces_of(table, cuts):
        facts = TableFacts(ROLES, 10)
        facts.add(piece, first_row)
        all_facts.append(facts)
    order.shuffle(all_facts)
    merged = all_facts.pop()
    for facts in all_facts:
        merged.merge(facts)
    check_equal(merged.plan(5), plan_of([(table, 0)]))


@settings(max_examples=40)
@given(ROWS, CUTS)
def test_rows_are_packed_alike_in_whatever_pieces_they_come(rows: list[Any], cuts: list[int]) -> None:
    table = table_of(rows)
    plan = plan_of([(table, 0)])
    whole, in_pieces = packed([(table, 0)], plan), packed(pieces_of(table, cuts), plan)
    for mine, other in zip(whole.matrix.codes, in_pieces.matrix.codes, strict=True):
        np.testing.assert_array_equal(mine, other)
    for name in ("labels", "base_logits", "weights", "groups"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(in_pieces, name))


@settings(max_examples=40)
@given(ROWS)
def test_rows_without_weight_are_rows_that_are_not_there(rows: list[Any]) -> None:
    table = table_of(rows)
    weights = table["w"].to_numpy()
    there = table.filter(weights > 0)
    plan, of_those = plan_of([(table, 0)], sample=100), plan_of([(there, 0)], sample=100)
    check_equal(plan, of_those)
    ours, theirs = packed([(table, 0)], plan), packed([(there, 0)], of_those)
    np.testing.assert_array_equal(ours.labels, theirs.labels)
    np.testing.assert_array_equal(ours.weights, weights[weights > 0])
    for mine, other in zip(ours.matrix.codes, theirs.matrix.codes, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_row_has_the_hash_of_its_group_and_none_without_groups() -> None:
    table = table_of([("a", 0.5, n % 3, 1, 0.2, 1.0) for n in range(20)])
    plan = plan_of([(table, 0)], StreamRoles("y", "p", "w", "z", ("site", "x")))
    assert plan.spec.names == ("site", "x")
    hashes = plan.pack(table).groups
    assert hashes is not None
    np.testing.assert_array_equal(hashes, hash_column(table["z"]))
    assert len(set(hashes.tolist())) == 3
    assert plan_of([(table, 0)]).pack(table).groups is None


def test_labels_scores_and_weights_of_a_piece_are_what_the_table_says() -> None:
    table = pa.table({"y": ["no", "?", "yes"], "p": [0.25, 0.5, 0.75], "w": [1.0, 0.0, 3.0], "x": [1, 2, None]})
    plan = plan_of([(table, 0)], StreamRoles("y", "p", "w", None, ("x",)))
    assert plan.n_rows == 2
    piece = plan.pack(table)
    assert piece.labels.tolist() == [0.0, 1.0]
    np.testing.assert_allclose(piece.base_logits, [-np.log(3), np.log(3)])  # type: ignore[arg-type]
    assert piece.weights is not None
    assert piece.weights.tolist() == [1.0, 3.0]
    assert np.isnan(piece.matrix.numbers_of(slice(None))[:, 0]).tolist() == [False, True]


@pytest.mark.parametrize(
    ("first", "second", "classes", "values"),
    [
        (["no"], ["yes", "no"], ("no", "yes"), [0, 1, 0]),
        ([True], [False, True], (False, True), [1, 0, 1]),
        ([0], [1, 1], (0, 1), [0, 1, 1]),
        ([0.0], [1.0, 0.5], (0, 1), [0, 1, 0.5]),
    ],
    ids=["strings", "booleans", "integers", "probabilities"],
)
def test_a_piece_may_hold_one_class_only(first: Any, second: Any, classes: Any, values: list[float]) -> None:
    pieces = [(pa.table({"y": first, "x": [1.0]}), 0), (pa.table({"y": second, "x": [2.0, 3.0]}), 1)]
    roles = StreamRoles("y", None, None, None, ("x",))
    plan = plan_of(pieces, roles)
    assert plan.labels.classes == classes
    assert plan.labels.soft == (0.5 in values)
    rows = packed(pieces, plan)
    assert rows.labels.tolist() == values
    assert rows.base_logits is None
    assert rows.weights is None
    data = rows.training_data(plan.labels.soft, base_rate=0.2)
    assert data.base_logits == pytest.approx([np.log(0.25)] * 3)


def test_a_column_without_values_in_a_piece_is_learned_from_the_others() -> None:
    pieces = [
        (pa.table({"y": [0, 1], "x": pa.nulls(2), "s": pa.nulls(2)}), 0),
        (pa.table({"y": [0, 1], "x": [1.0, 2.0], "s": ["a", "b"]}), 2),
    ]
    plan = plan_of(pieces, StreamRoles("y", None, None, None, ("x", "s")))
    assert plan.spec.features[1].categories == ("a", "b")
    numbers = packed(pieces, plan).matrix.numbers_of(slice(None))
    np.testing.assert_array_equal(np.isnan(numbers), [[True, True], [True, True], [False, False], [False, False]])


def test_intervals_come_from_a_sample_of_all_rows_and_not_from_the_first() -> None:
    # 4,000 rows in ascending order, in four pieces, of which 400 are drawn: quarters end near 1,000, 2,000 and 3,000.
    table = pa.table({"y": np.arange(4_000) % 2, "x": np.arange(4_000.0)})
    facts = TableFacts(StreamRoles("y", None, None, None, ("x",)), 400)
    for first in range(0, 4_000, 1_000):
        facts.add(table.slice(first, 1_000), first)
    edges = facts.plan(4).columns[0].upper[:-1]
    # The place of a quarter among 400 drawn rows varies by 4,000 · sqrt(0.25 · 0.75 / 400), about 87 rows.
    np.testing.assert_allclose(edges, [1_000, 2_000, 3_000], atol=5 * 100)


def test_a_table_that_is_longer_or_shorter_when_it_is_read_again_is_told_of() -> None:
    table = table_of([("a", 0.5, 1, 1, 0.2, 1.0)] * 5)
    plan = plan_of([(table, 0)])
    for again in ([(table, 0), (table, 7)], [(table.slice(0, 3), 0)]):
        with pytest.raises(DataError, match="another number of rows when it was read again"):
            packed(again, plan)


@pytest.mark.parametrize(
    ("column", "values", "error", "message"),
    [
        ("y", [None, 1], LabelError, "The labels, column 'y': .*1 of 2 labels are missing"),
        ("p", [0.5, None], ScoreError, "Column 'p': 1 of 2"),
        ("p", [0.5, 1.5], ScoreError, "Column 'p': 1 of 2"),
        ("w", [1.0, None], WeightError, "The weights, column 'w': .*1 of 2"),
        ("w", [1.0, -2.0], WeightError, "The weights, column 'w': .*1 of 2 weights are negative"),
        ("site", [1.0, 2.0], ColumnError, "Column 'site' holds numbers, but in rows before it held strings"),
    ],
)
def test_what_is_wrong_in_a_later_piece_is_told_by_the_names_of_columns(
    column: str, values: list[Any], error: type[Exception], message: str
) -> None:
    table = table_of([])
    bad = table.set_column(table.schema.get_field_index(column), column, pa.array(values))
    facts = TableFacts(ROLES)
    facts.add(table, 0)
    with pytest.raises(error, match=message):
        facts.add(bad, 2)


def test_weights_of_two_pieces_must_fit_each_other() -> None:
    tables = [pa.table({"y": [0, 1], "x": [1.0, 2.0], "w": weights}) for weights in ([1e-12, 1e-12], [1e10, 1e10])]
    facts = TableFacts(StreamRoles("y", None, "w", None, ("x",)))
    for table in tables:
        facts.add(table, 0)
    with pytest.raises(WeightError, match=r"column 'w': .*less than 1e-20 of the largest"):
        facts.plan(5)


def test_no_rows_or_none_that_counts_is_told_of() -> None:
    nothing = table_of([])
    weightless = nothing.set_column(5, "w", pa.array([0.0, 0.0]))
    for pieces in ([], [(nothing.slice(0, 0), 0)], [(weightless, 0)]):
        with pytest.raises(DataError, match="no rows, or none of a positive weight"):
            plan_of(pieces)
