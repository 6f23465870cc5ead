"""What the audit of a sketch says, and how far it can be trusted."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.stats import binom

from simulated import scores_wrong_in, true_scores
from sketch_cases import rows_of
from trueup.auditing import SketchSpec, make_sketch
from trueup.errors import ParameterError, TableError
from trueup.metrics import brownian_range_survival
from trueup.segments import Segment, evidence


def test_the_numbers_of_all_rows_are_right() -> None:
    # Two bins of a score each: 60 rows of 0.25 with 30 positives, 40 of 0.75 with 20. The sum of errors goes to 15
    # and back to 5, so that the range is 15; the variance is 100 · 3/16.
    y, p = np.repeat([1, 0, 1, 0], [30, 30, 20, 20]), np.repeat([0.25, 0.75], [60, 40])
    found = make_sketch(None, y, p, SketchSpec.learn(scores=p)).audit()
    sigma = math.sqrt(100 * 3 / 16) / 100
    assert (found.n, found.n_segments) == (100, 1)
    assert (found.prevalence, found.mean_score, found.ecce) == (0.5, 0.45, 0.15)
    assert found.sigma == pytest.approx(sigma)
    assert found.ecce_sigma == found.mce == pytest.approx(0.15 / sigma)
    assert found.mce_absolute == pytest.approx(0.15)
    assert found.alpha == pytest.approx(0.15 / sigma / 10)
    assert found.p_value == pytest.approx(brownian_range_survival(0.15 / sigma), rel=1e-4)
    (row,) = found.segments.to_pylist()
    assert (row["segment"], row["rows"], row["weight"], row["share"]) == ("all rows", 100, 100.0, 1.0)


def test_weights_are_told_in_their_own_unit() -> None:
    weights = np.repeat([100.0, 300.0], 50)
    y, p = np.tile([0, 1], 50), np.full(100, 0.5)
    spec = SketchSpec.learn({"half": np.repeat(["a", "b"], 50)}, p, sample_weight=weights)
    assert spec.weight_exponent == 8  # 256 is nearest to the mean of 200, by ratio
    found = make_sketch({"half": np.repeat(["a", "b"], 50)}, y, p, spec, sample_weight=weights).audit()
    rows = {row["segment"]: row for row in found.segments.to_pylist()}
    assert [rows[name]["weight"] for name in ("all rows", "half = a", "half = b")] == [20_000, 5_000, 15_000]
    # sqrt(Σ w² / 4) / Σ w
    assert found.sigma == pytest.approx(math.sqrt((50 * 100**2 + 50 * 300**2) / 4) / 20_000, rel=1e-6)


def test_p_values_are_adjusted_as_holm_says() -> None:
    rows = rows_of(1, 5_000)
    found = rows.sketch(rows.spec(max_depth=2)).audit().segments.to_pylist()
    ranges = np.array([row["ecce_low"] * row["weight"] for row in found])
    variances = np.array([(row["sigma"] * row["weight"]) ** 2 for row in found])
    own = [brownian_range_survival(one) for one in evidence(ranges, variances, np.ones(len(found))).tolist()]
    running = 0.0
    for rank, (row, p_value) in enumerate(zip(found, own, strict=True)):
        running = max(running, min(1.0, p_value * (len(found) - rank)))
        assert row["adjusted_p_value"] == pytest.approx(running, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "rare", "ties"])
def test_true_scores_raise_no_more_alarms_than_the_level_allows(kind: str) -> None:
    n_audits, level = 100, 0.2
    alarms = 0
    for seed in range(n_audits):
        y, p, X = true_scores(seed, 2_000, kind)  # type: ignore[arg-type]
        spec = SketchSpec.learn(X, p, max_depth=2, score_bins=100)
        alarms += make_sketch(X, y, p, spec).audit(significance=level).significant
    # If the chance of an alarm were above the level, so few would come about in at least 999 of 1,000 tries.
    assert alarms <= binom.ppf(0.999, n_audits, level)


def test_a_wrong_segment_is_found_and_named() -> None:
    words = "device = desktop and plan = pro"
    y, p, X = scores_wrong_in(words, 0.25, seed=0)
    found = make_sketch(X, y, p, SketchSpec.learn(X, p)).audit()
    assert found.significant
    assert found.mce_p_value < 1e-6
    first = found.segments.slice(0, 1).to_pylist()[0]
    assert (first["segment"], first["direction"]) == (words, "under-estimates")
    assert found.n_significant == sum(row["significant"] for row in found.segments.to_pylist())


def test_an_error_of_the_size_that_can_be_detected_is_detected() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 4_000)
    spec = SketchSpec.learn(scores=p)
    limit = make_sketch(None, (rng.random(4_000) < p).astype(int), p, spec).audit().minimum_detectable
    hits = [
        make_sketch(None, (rng.random(4_000) < p + limit).astype(int), p, spec).audit().significant for _ in range(60)
    ]
    assert sum(hits) >= binom.ppf(0.001, 60, 0.8)


def test_segments_can_be_used_as_segments() -> None:
    rows = rows_of(2, 2_000)
    result = rows.sketch(rows.spec(max_depth=2)).audit()
    told = result.to_dict(n_segments=5)
    assert json.loads(json.dumps(told)) == told
    assert len(told["segments"]) == 5
    assert told["ecce_high"] == result.ecce_high
    place = int(result._listing.order[0])
    segment = result._listing.segment(place)
    assert isinstance(segment, Segment)
    assert str(segment) == told["segments"][0]["segment"]
    assert np.count_nonzero(segment.mask(rows.X)) == told["segments"][0]["rows"]
    with pytest.raises(ParameterError, match="n_segments must be"):
        result.to_dict(n_segments=-1)


def test_right_scores_of_0_and_1_have_an_error_of_0_and_wrong_ones_are_significant() -> None:
    spec = SketchSpec.learn(scores=[0.0, 1.0])
    right = make_sketch(None, [0, 1] * 10, [0.0, 1.0] * 10, spec).audit()
    assert (right.ecce, right.ecce_sigma, right.mce, right.p_value, right.significant) == (0, 0, 0, 1, False)
    wrong = make_sketch(None, [1, 1] * 10, [0.0, 1.0] * 10, spec).audit()
    assert (wrong.ecce, wrong.ecce_sigma, wrong.mce, wrong.significant) == (0.5, 10, 10, True)


def test_a_segment_of_little_variance_that_is_all_wrong_is_found_in_a_sketch() -> None:
    # 200 rows promise 0.2 positives and have 200; the others are right.
    flag = np.repeat(["yes", "no"], [200, 10_000])
    y, p = np.concatenate([np.ones(200), np.tile([0, 1], 5_000)]), np.repeat([0.001, 0.5], [200, 10_000])
    found = make_sketch({"flag": flag}, y, p, SketchSpec.learn({"flag": flag}, p)).audit()
    assert found.significant
    assert found.segments.to_pylist()[0]["segment"] == "flag = yes"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_rows": 0}, "min_rows must be"),
        ({"significance": 1.5}, "significance must lie between 0 and 1"),
        ({"power": 0}, "power must lie between 0 and 1"),
        ({"min_variance": -1.0}, "min_variance must be"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, float], message: str) -> None:
    sketch = make_sketch(None, [0, 1] * 10, [0.5] * 20, SketchSpec.learn())
    with pytest.raises(ParameterError, match=message):
        sketch.audit(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth must be"),
        ({"score_bins": 0}, "score_bins must be"),
        ({"score_bins": []}, "score_bins is empty"),
        ({"max_bytes": 1_000}, r"segments with at least 8 bins .* raise max_bytes"),
        ({"classes": (0, 1, 2)}, "classes must be two labels"),
        ({"fraction_bits": 50}, "fraction_bits must be"),
        ({"max_values": 254}, "max_values must be"),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    rows = rows_of(3, 200)
    with pytest.raises(ParameterError, match=message):
        rows.spec(**options)


def test_a_spec_needs_rows_to_learn_from() -> None:
    with pytest.raises(TableError, match="no rows to learn from"):
        SketchSpec.learn({"x": []}, [])
    with pytest.raises(ParameterError, match="pass X"):
        SketchSpec.learn(features=["x"])


def test_a_sketch_is_not_larger_than_asked_for() -> None:
    rows = rows_of(4, 20_000)
    for max_bytes in (200_000, 2_000_000):
        spec = rows.spec(max_bytes=max_bytes)
        bins_only = rows.sketch(spec).sums
        assert bins_only.bin.nbytes + bins_only.rises.nbytes + bins_only.falls.nbytes <= max_bytes
        assert spec.most_bytes >= bins_only.bin.nbytes * 9
