"""Segments as masks, tables and conditions, at fit and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from trueup import MCGrad
from trueup.baselines import DFMC, HKRR, SegmentMCGrad
from trueup.errors import ColumnError, ParameterError, TableError
from trueup.segments import Interval, OneOf, Segment

N = 800
RNG = np.random.default_rng(8)
X: dict[str, Any] = {
    "country": [
        None if i % 11 == 0 else country for i, country in enumerate(RNG.choice(["NO", "SE", "DK"], N).tolist())
    ],
    "age": [None if i % 13 == 0 else float(age) for i, age in enumerate(RNG.integers(18, 80, N))],
    "vip": (RNG.random(N) < 0.4).tolist(),
    "plan": RNG.integers(1, 4, N).tolist(),
}
SCORES = RNG.uniform(0.05, 0.95, N)
LABELS = (RNG.random(N) < np.clip(SCORES + 0.2 * np.array(X["vip"]), 0, 1)).astype(int)
COUNTRY = np.array(X["country"], dtype=object)
AGE = np.array([np.nan if age is None else age for age in X["age"]])
CONDITIONS = {
    "country = NO": COUNTRY == "NO",
    "country in {NO, SE}": (COUNTRY == "NO") | (COUNTRY == "SE"),
    "country ≠ NO": (COUNTRY == "SE") | (COUNTRY == "DK"),
    "country ≠ NO or missing": COUNTRY != "NO",
    "country is missing": COUNTRY == None,  # noqa: E711 - of every element
    "country is not missing": COUNTRY != None,  # noqa: E711
    "age < 25": AGE < 25,
    "30 ≤ age < 50 or missing": ((AGE >= 30) & (AGE < 50)) | np.isnan(AGE),
    "vip = true": np.array(X["vip"]),
    "plan = 2 and age > 40": (np.array(X["plan"]) == 2) & (AGE > 40),
    "all rows": np.ones(N, dtype=bool),
}
METHODS = [HKRR(alpha=0.05), DFMC(n_estimators=10), SegmentMCGrad(estimator=MCGrad(validation=0.3, max_rounds=2))]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_conditions_select_the_rows_that_their_masks_select(method: Any) -> None:
    by_mask = method.fit(X, LABELS, scores=SCORES, segments=CONDITIONS).calibrate(X, SCORES, CONDITIONS)
    model = method.fit(X, LABELS, scores=SCORES, segments=list(CONDITIONS))
    assert np.array_equal(model.calibrate(X, SCORES), by_mask)
    first = {name: values[:40] for name, values in X.items()}
    np.testing.assert_allclose(model.calibrate(first, SCORES[:40]), by_mask[:40], rtol=1e-14)


def test_a_condition_may_be_met_by_rows_of_any_library_and_order() -> None:
    model = HKRR(alpha=0.05).fit(pd.DataFrame(X), LABELS, scores=SCORES, segments=["country = NO", "age < 25"])
    expected = model.calibrate(X, SCORES)
    assert np.array_equal(model.calibrate(pl.DataFrame(X).select("plan", "age", "country"), SCORES), expected)
    assert np.array_equal(model.calibrate(pd.DataFrame(X)[["age", "country"]], SCORES), expected)


def test_a_value_that_was_not_there_at_fit_is_another_value_and_not_a_missing_one() -> None:
    # "country ≠ NO" holds for a country that nobody had seen, and not for one that is missing.
    segments = ["country ≠ NO"]
    model = HKRR(alpha=0.01, average_bins=False).fit(X, LABELS, scores=SCORES, segments=segments)
    rows = {"country": ["SE", "FI", "NO", None]}
    seen, unseen, norway, missing = model.calibrate(rows, [0.33] * 4)
    assert seen == unseen != 0.33
    assert norway == missing == 0.33


def test_segments_and_names_of_ones_own_are_taken() -> None:
    young = Segment((Interval("age", high=25),), name="young")
    model = HKRR().fit(X, LABELS, scores=SCORES, segments={"north": OneOfNorth, "young": young})
    assert model._segments.names == ["north", "young"]


OneOfNorth = Segment((OneOf("country", ("NO", "SE")),))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: type(method).__name__)
def test_an_array_or_a_table_of_masks_is_taken_by_position_or_name(method: Any) -> None:
    masks = np.column_stack([X["vip"], AGE < 25])
    named = {"segment 0": masks[:, 0], "segment 1": masks[:, 1]}
    model = method.fit(X, LABELS, scores=SCORES, segments=masks)
    expected = model.calibrate(X, SCORES, masks)
    assert np.array_equal(model.calibrate(X, SCORES, named), expected)
    backwards = pd.DataFrame({"segment 1": masks[:, 1], "more": 0, "segment 0": masks[:, 0]})
    assert np.array_equal(model.calibrate(X, SCORES, backwards), expected)


def test_masks_and_conditions_may_stand_together_and_masks_are_asked_for_again() -> None:
    vip = np.array(X["vip"])
    model = HKRR(alpha=0.05).fit(X, LABELS, scores=SCORES, segments={"vip": vip, "young": "age < 25"})
    both = HKRR(alpha=0.05).fit(X, LABELS, scores=SCORES, segments={"vip": vip, "young": AGE < 25})
    together = both.calibrate(X, SCORES, {"vip": vip, "young": AGE < 25})
    assert np.array_equal(model.calibrate(X, SCORES, {"vip": vip}), together)
    with pytest.raises(
        ColumnError, match=r"1 of 1 segments are missing that were given as masks at fit: 'vip'\. Pass seg"
    ):
        model.calibrate(X, SCORES)
    with pytest.raises(ColumnError, match=r"'vip'\. Present: 'vips'\."):
        model.calibrate(X, SCORES, {"vips": vip})


def test_segments_that_are_wrong_are_refused_by_name() -> None:
    def fit(segments: Any) -> HKRR:
        return HKRR().fit(X, LABELS, scores=SCORES, segments=segments)

    for segments, error, message in (
        (None, ParameterError, r"HKRR needs the segments to calibrate: pass segments="),
        ([], ParameterError, "There are no segments"),
        (["county = NO"], ColumnError, "county = NO: X has no column 'county'"),
        (["age < 25", "age < 25"], ParameterError, "2 segments are called 'age < 25'"),
        ({"a": [True] * 5}, TableError, "Segment 'a' has 5 rows, but y has 800"),
        ({"a": ["x"] * N}, ColumnError, "Segment 'a' holds strings"),
    ):
        with pytest.raises(error, match=message):
            fit(segments)
    with pytest.raises(ParameterError, match="DFMC needs the segments"):
        DFMC().fit(X, LABELS, scores=SCORES)


def test_masks_at_scoring_are_checked_as_those_of_the_fit_are() -> None:
    vip = np.array(X["vip"])
    model = HKRR().fit(X, LABELS, scores=SCORES, segments={"vip": vip})
    with pytest.raises(TableError, match="Segment 'vip' has 5 rows, but X has 800"):
        model.calibrate(X, SCORES, {"vip": vip[:5]})
    with pytest.raises(
        ColumnError, match=r"Segment 'vip': 1 of 800 rows are neither true nor false \(first at row 3: 0\.5"
    ):
        model.calibrate(X, SCORES, {"vip": np.where(np.arange(N) == 3, 0.5, vip)})


def test_a_model_of_conditions_takes_no_masks_and_needs_its_columns() -> None:
    model = HKRR().fit(X, LABELS, scores=SCORES, segments=["age < 25", "country = NO"])
    with pytest.raises(ParameterError, match="The model takes no masks: its segments are conditions on X"):
        model.calibrate(X, SCORES, {"age < 25": AGE < 25})
    with pytest.raises(ColumnError, match="country = NO: X has no column 'country'"):
        model.calibrate({"age": X["age"]}, SCORES)
    with pytest.raises(ColumnError, match="Column 'country' holds numbers, but at fit it held strings"):
        model.calibrate({"age": X["age"], "country": [1] * N}, SCORES)


def test_a_condition_on_a_column_without_values_means_nothing() -> None:
    with pytest.raises(ColumnError, match="Column 'x' holds missing values only, so 'x = 1' means nothing"):
        HKRR().fit({"x": [None] * N}, LABELS, scores=SCORES, segments=["x = 1"])


def test_rows_without_weight_are_in_no_segment() -> None:
    weights = np.where(np.arange(N) < 500, 1.0, 0.0)
    first = {name: values[:500] for name, values in X.items()}
    for segments in (["vip = true", "age < 25"], {"vip": np.array(X["vip"]), "young": AGE < 25}):
        weighted = HKRR().fit(X, LABELS, scores=SCORES, sample_weight=weights, segments=segments)
        fewer = {k: mask[:500] for k, mask in segments.items()} if isinstance(segments, dict) else segments
        alone = HKRR().fit(first, LABELS[:500], scores=SCORES[:500], segments=fewer)
        assert weighted.updates_.delta.tolist() == alone.updates_.delta.tolist()
