"""The exact error of every segment lies between the bounds that a sketch gives."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sketch_cases import KINDS, assert_within_bounds, rows_of
from trueup.auditing import SketchSpec, make_sketch
from trueup.errors import InsufficientDataWarning
from trueup.metrics import ecce


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([300, 2_000]),
    kind=st.sampled_from(KINDS),
    bins=st.sampled_from([1, 2, 7, 60, None]),
)
@example(seed=1, n=300, kind="weights", bins=1)  # a segment of so little variance that its weights' squares decide
def test_the_exact_error_of_every_segment_is_within_its_bounds(seed: int, n: int, kind: str, bins: int | None) -> None:
    rows = rows_of(seed, n, kind)
    sketch = rows.sketch(rows.spec(max_depth=2, score_bins=bins))
    assert_within_bounds(rows, sketch, max_depth=2)


@settings(max_examples=60)
@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.0, 0.25, 1.0]), st.sampled_from([0.0, 0.1, 0.2, 0.5, 0.9, 1.0])),
        min_size=1,
        max_size=12,
    ),
    edges=st.lists(st.sampled_from([0.0, 0.1, 0.15, 0.2, 0.5, 0.7]), unique=True, max_size=4),
)
def test_a_few_rows_in_any_bins_are_within_bounds(rows: list[tuple[float, float]], edges: list[float]) -> None:
    y, p = (np.array(values) for values in zip(*rows, strict=True))
    spec = SketchSpec((), 0, (tuple(sorted(edges)),))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InsufficientDataWarning)  # that scores are all 0 or 1
        found = make_sketch(None, y, p, spec).audit(min_rows=1, min_variance=0)
    assert found.ecce_low - 1e-12 <= ecce(y, p) <= found.ecce_high + 1e-12


def test_one_bin_knows_no_more_than_the_sums() -> None:
    # Rises 0.9 + 0.5 = 1.4 and falls 0.2 + 0.4 = 0.6 in one bin: the sum ends at 0.8, and between two moments it
    # can't rise by more than 1.4. In order of score it goes 0.9, 0.7, 0.3, 0.8: the exact range is 0.9.
    y, p = [1, 0, 0, 1], [0.1, 0.2, 0.4, 0.5]
    found = make_sketch(None, y, p, SketchSpec((), 0, ((),))).audit(min_rows=1, min_variance=0)
    assert [found.ecce, found.ecce_low, found.ecce_high] == pytest.approx([0.2, 0.2, 0.35], abs=1e-8)
    assert ecce(y, p) == pytest.approx(0.9 / 4)


def test_two_bins_bound_each_other() -> None:
    # An edge at 0.2. The first bin rises by 0.9 and falls by 0.2, the second by 0.5 and 0.4: at the ends the sum is
    # 0.7 and 0.8. Inside, it stays within [-0.2, 0.9] and within [0.3, 1.2]: two moments differ by at most 1.4.
    y, p = [1, 0, 0, 1], [0.1, 0.2, 0.4, 0.5]
    found = make_sketch(None, y, p, SketchSpec((), 0, ((0.2,),))).audit(min_rows=1, min_variance=0)
    assert [found.ecce, found.ecce_high] == pytest.approx([0.8 / 4, 1.4 / 4], abs=1e-8)


def test_scores_that_have_a_bin_each_leave_nothing_open() -> None:
    rows = rows_of(1, kind="ties")
    spec = rows.spec(max_depth=1)
    found = rows.sketch(spec).audit()
    rounding = 2 * (1.25 + 0.5) * 2.0**-28  # of errors and of weights, on either side
    assert found.ecce_high - found.ecce_low <= rounding
    assert all(row["ecce_high"] - row["ecce_low"] <= rounding for row in found.segments.to_pylist())


def test_more_bins_make_bounds_tighter() -> None:
    rows = rows_of(2, 20_000)
    widths = []
    for bins in (8, 64, 512):
        found = rows.sketch(rows.spec(max_depth=0, score_bins=bins)).audit()
        widths.append(found.ecce_high - found.ecce_low)
    # An eighth of the noise in a bin is an eighth of the width, but for where the extremes happen to be.
    assert widths[1] < widths[0] / 4
    assert widths[2] < widths[1] / 4


def test_bins_of_a_sample_serve_for_other_scores_too() -> None:
    sample, later = rows_of(3, 5_000, "rare"), rows_of(4, 5_000)
    assert_within_bounds(later, later.sketch(later.spec(score_bins=20, max_depth=1)), max_depth=1)
    spec = sample.spec(max_depth=0)
    found = make_sketch(later.X, later.y, later.p, spec).audit()
    assert found.ecce_low <= ecce(later.y, later.p) <= found.ecce_high


def test_without_a_sample_bins_are_equally_wide_in_logits() -> None:
    rows = rows_of(5, 5_000)
    spec = SketchSpec.learn(score_bins=101)
    (edges,) = spec.score_edges
    steps = np.diff(np.log(edges) - np.log1p(-np.array(edges)))
    np.testing.assert_allclose(steps, 28 / 99, rtol=1e-6)
    found = make_sketch(None, rows.y, rows.p, spec).audit()
    assert found.ecce_low <= ecce(rows.y, rows.p) <= found.ecce_high


def test_rounding_is_counted_into_the_bounds() -> None:
    # With units of 2^-8, each of 1,000 scores of 0.001 is rounded to 0. So the sum of errors seems to be 0 at the end
    # of them, and is -1; and the rows of 0.5 bring what they promise.
    y, p = np.repeat([0, 0, 1], [1_000, 50, 50]), np.repeat([0.001, 0.5], [1_000, 100])
    found = make_sketch(None, y, p, SketchSpec((), 0, ((0.4,),), fraction_bits=8)).audit()
    assert ecce(y, p) == pytest.approx(1 / 1_100)
    assert found.ecce == 0.0
    assert found.ecce_low == 0.0
    assert 1 / 1_100 < found.ecce_high < 1.5 / 256 + 50 / 1_100
