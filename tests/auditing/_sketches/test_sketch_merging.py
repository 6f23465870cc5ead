"""However rows are parted and sketches merged, the result is the same to the last byte."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketch_cases import KINDS, Rows, rows_of
from trueup.auditing import Sketch, SketchBuilder, SketchSpec, make_sketch, merge_sketches
from trueup.auditing._sketches._spec import LIMIT
from trueup.errors import ColumnError, DataError, LabelError, ParameterError, ScoreError, TableError, WeightError
from trueup.segments import ColumnCut, OneOf


def bytes_of(sketch: Sketch, folder: Path) -> bytes:
    sketch.save(folder / "sketch.arrow")
    return (folder / "sketch.arrow").read_bytes()


@settings(max_examples=30)
@pytest.mark.parametrize("cells_a_merge", [3, 4_096])
@given(seed=st.integers(0, 2**32), kind=st.sampled_from(KINDS), n_parts=st.integers(1, 6), data=st.data())
def test_rows_in_any_parts_merged_in_any_order_and_grouping_are_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory,
    cells_a_merge: int,
    seed: int,
    kind: str,
    n_parts: int,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("merging")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("trueup.auditing._sketches._sums._CELLS_PER_MERGE", cells_a_merge)
        rows = rows_of(seed, 300, kind)
        spec = rows.spec(max_depth=2, score_bins=[40, 10, 3])
        whole = bytes_of(rows.sketch(spec), folder)
        part = np.random.default_rng(seed).integers(0, n_parts, rows.n)  # some may be empty
        waiting = [rows.of(part == i).sketch(spec) for i in range(n_parts)]
        while len(waiting) > 1:
            chosen = data.draw(st.permutations(range(len(waiting))))[: data.draw(st.integers(2, len(waiting)))]
            first, *others = [waiting[i] for i in chosen]
            waiting = [sketch for i, sketch in enumerate(waiting) if i not in chosen] + [first.merge(*others)]
        assert bytes_of(waiting[0], folder) == whole
        assert (
            bytes_of(merge_sketches(rows.of(slice(i, i + 25)).sketch(spec) for i in range(0, 300, 25)), folder) == whole
        )


@pytest.mark.parametrize("kind", ["plain", "weights"])
def test_batches_of_any_size_and_any_number_of_threads_give_the_same_bytes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueup.auditing._sketches._stream._BLOCK_ROWS", 500)
    rows = rows_of(1, 3_000, kind)
    spec = rows.spec(max_depth=3, score_bins=50)
    builder = SketchBuilder(spec, n_jobs=3)
    for begin in range(0, 3_000, 170):
        some = rows.of(slice(begin, begin + 170))
        builder.add(some.X, some.y, some.p, sample_weight=some.weights)
    expected = bytes_of(rows.sketch(spec, n_jobs=1), tmp_path)
    assert bytes_of(builder.sketch(), tmp_path) == expected


def test_rows_with_and_without_weights_merge() -> None:
    rows = rows_of(2, 400)
    spec = replace(rows.spec(max_depth=1), weight_exponent=2)
    ones = make_sketch(rows.X, rows.y, rows.p, spec, sample_weight=np.ones(400))
    builder = SketchBuilder(spec)
    for begin in range(0, 400, 100):
        some = rows.of(slice(begin, begin + 100))
        builder.add(some.X, some.y, some.p, sample_weight=np.ones(100) if begin % 200 else None)
    assert builder.sketch() == ones == rows.sketch(spec)


def test_a_merge_leaves_its_parts_as_they_were() -> None:
    rows = rows_of(3, 200)
    spec = rows.spec(max_depth=1)
    one, other = (rows.of(slice(begin, begin + 100)).sketch(spec) for begin in (0, 100))
    before = one.sums.lanes.copy()
    assert one.merge(other).n == 200
    assert one.n == 100
    np.testing.assert_array_equal(one.sums.lanes, before)
    with pytest.raises(ValueError, match="read-only"):
        one.sums.lanes[0] = 1


def test_an_empty_part_adds_nothing() -> None:
    rows = rows_of(4, 200)
    spec = rows.spec(max_depth=2)
    nothing = rows.of(slice(0, 0)).sketch(spec)
    assert (nothing.n, len(nothing.sums.cell)) == (0, 0)
    assert rows.sketch(spec).merge(nothing) == nothing.merge(rows.sketch(spec)) == rows.sketch(spec)
    assert nothing.merge(nothing) == nothing
    with pytest.raises(TableError, match="no rows to audit: the sketch is empty"):
        nothing.audit()


def test_rows_of_weight_zero_count_for_nothing() -> None:
    rows = rows_of(5, 200)
    spec = rows.spec(max_depth=2)
    assert make_sketch(rows.X, rows.y, rows.p, spec, sample_weight=np.zeros(200)).n == 0
    half = np.repeat([1.0, 0.0], 100)
    assert make_sketch(rows.X, rows.y, rows.p, spec, sample_weight=half) == rows.of(slice(0, 100)).sketch(spec)


def test_parts_of_one_class_are_fine() -> None:
    rows = rows_of(6, 400)
    spec = rows.spec(max_depth=1)
    parts = [rows.of(rows.y == label).sketch(spec) for label in (0, 1)]
    assert parts[0].audit().prevalence == 0.0
    assert parts[0].merge(parts[1]) == rows.sketch(spec)


def test_labels_may_be_of_any_two_classes_that_the_spec_names() -> None:
    rows = rows_of(7, 300)
    words = np.where(rows.y == 1, "yes", "no")
    spec = rows.spec(max_depth=1, classes=("no", "yes"))
    numbers = rows.sketch(rows.spec(max_depth=1))
    np.testing.assert_array_equal(make_sketch(rows.X, words, rows.p, spec).sums.lanes, numbers.sums.lanes)
    np.testing.assert_array_equal(
        rows.sketch(rows.spec(max_depth=1, classes=(False, True))).sums.rises, numbers.sums.rises
    )
    with pytest.raises(LabelError, match=r"1 of 300 labels are neither 'no' nor 'yes' .*perhaps"):
        make_sketch(rows.X, np.where(np.arange(300) == 5, "perhaps", words), rows.p, spec)
    with pytest.raises(LabelError, match="neither 0 nor 1"):
        make_sketch(rows.X, rows.y + 1, rows.p, rows.spec(max_depth=1))


def test_what_was_never_seen_has_its_place() -> None:
    spec = SketchSpec.learn({"site": ["a"] * 5 + ["b"] * 5, "age": range(10)}, np.linspace(0.1, 0.9, 10), max_depth=1)
    later = {"site": ["a", "new", None], "age": [-5.0, 1e9, np.nan]}
    found = make_sketch(later, [0, 1, 1], [0.2, 0.3, 0.4], spec).audit(min_rows=1, min_variance=0)
    rows = {row["segment"]: row["rows"] for row in found.segments.to_pylist()}
    assert rows == {
        "all rows": 3,
        "site = a": 1,
        "site not in {a, b}": 1,
        "site is missing": 1,
        "age ≤ 3": 1,
        "age > 6": 1,
        "age is missing": 1,
    }


def large_weights(n: int, **options: Any) -> tuple[SketchSpec, Sketch]:
    spec = SketchSpec.learn(**options)
    return spec, make_sketch(None, [0, 1] * n, [0.5] * 2 * n, spec, sample_weight=[2.0**16] * 2 * n)


def test_sums_that_no_longer_fit_are_refused_and_never_run_over() -> None:
    # The variance of a row is (2^16)² / 4 = 2^30, in units of 2^-28: 2^58, of which 16 are the limit, 2^62.
    _, seven = large_weights(7)
    assert int(seven.sums.lane("variance")[0]) == 14 * 2**58 < LIMIT
    with pytest.raises(DataError, match=r"sums don't fit: with fraction_bits=28, at most 17,179,869,184 rows .* fewer"):
        seven.merge(seven)
    with pytest.raises(DataError, match="sums don't fit"):
        merge_sketches([seven] * 3)
    with pytest.raises(DataError, match="sums don't fit"):
        large_weights(8)
    _, coarse = large_weights(8, fraction_bits=24)
    assert coarse.merge(coarse).n == 32


def test_batches_that_fit_alone_and_not_together_are_refused() -> None:
    spec, _ = large_weights(1)
    builder = SketchBuilder(spec)
    for _ in range(2):
        builder.add(None, [0, 1] * 7, [0.5] * 14, sample_weight=[2.0**16] * 14)
    with pytest.raises(DataError, match="sums don't fit"):
        builder.sketch()


def test_weights_far_beyond_the_spec_are_refused() -> None:
    spec = SketchSpec.learn()
    with pytest.raises(WeightError, match=r"1 of 2 weights are more than 65,536 times .* \(first: 1e\+06\)"):
        make_sketch(None, [0, 1], [0.5, 0.5], spec, sample_weight=[1.0, 1e6])


def other_specs(rows: Rows) -> list[tuple[SketchSpec, str]]:
    spec = rows.spec(max_depth=2, score_bins=5)
    moved = ColumnCut("site", spec.cuts[0].kind, True, (OneOf("site", ("q",), excluded=True),), 1)
    return [
        (replace(spec, max_depth=1, score_edges=spec.score_edges[:2]), "max_depth is 2 and 1"),
        (replace(spec, cuts=(moved, *spec.cuts[1:])), "column 'site' is split differently"),
        (replace(spec, cuts=spec.cuts[1:]), "only one has the column 'site'"),
        (replace(spec, cuts=spec.cuts[::-1]), "the columns are in a different order"),
        (replace(spec, fraction_bits=20), "fraction_bits is 28 and 20"),
        (replace(spec, weight_exponent=3), "weight_exponent is 0 and 3"),
        (replace(spec, classes=("no", "yes")), r"classes is \(0, 1\) and \('no', 'yes'\)"),
        (replace(spec, score_edges=((0.5,), *spec.score_edges[1:])), "the bins of scores differ"),
    ]


@pytest.mark.parametrize("place", range(8))
def test_sketches_of_different_specs_are_refused_with_the_difference(place: int) -> None:
    rows = rows_of(8, 200)
    spec = rows.spec(max_depth=2, score_bins=5)
    other, difference = other_specs(rows)[place]
    one, another = (SketchBuilder(some).sketch() for some in (spec, other))
    with pytest.raises(ParameterError, match=f"can't be merged: {difference}"):
        one.merge(another)


def test_what_is_no_sketch_is_refused() -> None:
    sketch = SketchBuilder(SketchSpec.learn()).sketch()
    with pytest.raises(ParameterError, match="not with a dict"):
        sketch.merge({})  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no sketches to merge"):
        merge_sketches([])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            {"X": {"site": ["u"] * 200}},
            ColumnError,
            "X has no column 'member', 'income', 'visits', of which",
        ),
        ({"X": None}, TableError, "so X must be passed too"),
        ({"y": None}, LabelError, "y is None"),
        ({"y": [0, 1]}, LabelError, "y has 2 rows, but X has 200"),
        ({"scores": [2.0] * 200}, ScoreError, "200 of 200 scores are outside"),
        ({"sample_weight": [-1.0] * 200}, WeightError, "200 of 200 weights are negative"),
    ],
)
def test_bad_rows_are_refused_and_add_nothing(change: dict[str, Any], error: type[Exception], message: str) -> None:
    rows = rows_of(9, 200)
    builder = SketchBuilder(rows.spec(max_depth=1))
    given_rows = {"y": rows.y, "scores": rows.p, "X": rows.X, "sample_weight": None} | change
    with pytest.raises(error, match=message):
        builder.add(**given_rows)
    assert builder.sketch().n == 0


def test_a_column_of_another_kind_is_refused() -> None:
    rows = rows_of(10, 200)
    spec = rows.spec(max_depth=1)
    with pytest.raises(ColumnError, match="Column 'income' holds strings, but was cut as numbers"):
        make_sketch({**rows.X, "income": ["high"] * 200}, rows.y, rows.p, spec)
    with pytest.raises(ColumnError, match="Column 'site' holds numbers"):
        make_sketch({**rows.X, "site": np.arange(200)}, rows.y, rows.p, spec)


def test_specs_and_sketches_travel_between_processes() -> None:
    rows = rows_of(11, 300)
    sketch = rows.sketch(rows.spec(max_depth=2))
    found = pickle.loads(pickle.dumps(sketch))
    assert found == sketch
    assert rows.sketch(pickle.loads(pickle.dumps(sketch.spec))) == sketch


def test_labels_without_a_length_are_refused() -> None:
    with pytest.raises(LabelError, match="y is a int; pass a one-dimensional array"):
        make_sketch(None, 3, [0.5], SketchSpec.learn())
