"""Nothing is guessed in silence, and nothing crashes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trueup
from trueup.errors import ColumnError, CostWarning, LabelError, ParameterError, ScoreError, TableError, WeightError

Y, P = [0, 1] * 20, [0.5] * 40
X = {"a": ["u", "v"] * 20}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"y": None}, LabelError, "y is None"),
        ({"y": 3}, LabelError, "y is a int"),
        ({"y": [0, 1] * 10}, LabelError, "y has 20 rows, but X has 40"),
        ({"y": [0] * 40}, LabelError, "one class only"),
        ({"y": [0, 1, 2, 3] * 10}, LabelError, "4 classes"),
        ({"y": [0, None] * 20}, LabelError, "labels are missing"),
        ({"scores": [0.5] * 39}, ScoreError, "scores has 39 rows, but X has 40"),
        (
            {"scores": [1.7] + [0.5] * 39},
            ScoreError,
            r"scores: 1 of 40 scores are outside \[0, 1\] \(first at row 0: 1.7\)",
        ),
        ({"scores": [np.nan] + [0.5] * 39}, ScoreError, "1 of 40 scores are missing"),
        ({"sample_weight": [-1.0] * 40}, WeightError, "negative"),
        ({"sample_weight": [0.0] * 40}, WeightError, "all 40 weights are zero"),
        ({"X": {"a": [1, 2]}}, LabelError, "y has 40 rows, but X has 2"),
        ({"X": 3}, TableError, "X is a int"),
        ({"X": None, "features": ["a"]}, ParameterError, "Pass X"),
        ({"X": None, "discover": "tree"}, ParameterError, "Pass X"),
        ({"features": ["b"]}, ColumnError, "no column 'b'"),
        ({"features": "a"}, ParameterError, "features must be a list"),
        ({"discover": "forest"}, ParameterError, "None or \"tree\", got 'forest'"),
        ({"discover": "tree", "segments": ["a = u"]}, ParameterError, "Pass either segments or discover, not both"),
        ({"by": ["a"], "segments": ["a = u"]}, ParameterError, "Pass either segments or by, not both"),
        ({"by": ["a"], "features": ["a"]}, ParameterError, "by and features both name the columns"),
        ({"by": "a"}, ParameterError, r"by must be a list of names, got the string 'a'. Use \['a'\]"),
        ({"by": []}, ParameterError, "by is empty"),
        ({"by": ["b"]}, ColumnError, "no column 'b'"),
        ({"X": None, "by": ["a"]}, ParameterError, "Pass X"),
        ({"segments": ["b = u"]}, ColumnError, "no column 'b'"),
        ({"segments": ["a is u"]}, ParameterError, "can't be read"),
        ({"segments": {"g": [True]}}, TableError, "Segment 'g' has 1 rows, but y has 40"),
        ({"segments": []}, ParameterError, "There are no segments"),
        ({"X": None, "segments": ["a = u"]}, ParameterError, "X must be passed too"),
        ({"max_depth": -1}, ParameterError, "max_depth must be a whole number from 0"),
        ({"max_values": 1}, ParameterError, "max_values must be a whole number from 2 to 255, got 1"),
        ({"max_values": 256}, ParameterError, "max_values"),
        ({"max_values": {"a": 1}}, ParameterError, "max_values of 'a' must be a whole number from 2"),
        ({"max_values": {"b": 5}}, ColumnError, "max_values: X has no column 'b'"),
        ({"min_rows": 0}, ParameterError, "min_rows must be a whole number of at least 1"),
        ({"min_variance": -1}, ParameterError, "min_variance"),
        ({"max_segments": 0}, ParameterError, "max_segments"),
        ({"null_samples": 18}, ParameterError, "pass at least 19"),
        ({"null_samples": 2.5}, ParameterError, "null_samples"),
        ({"significance": 0}, ParameterError, "significance must lie between 0 and 1"),
        ({"power": 1}, ParameterError, "power must lie between 0 and 1"),
        ({"random_state": -1}, ParameterError, "random_state"),
        ({"n_jobs": 0}, ParameterError, "n_jobs must not be 0"),
    ],
)
def test_a_wrong_argument_is_an_error_that_says_what_to_do(
    arguments: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        trueup.audit(**({"y": Y, "scores": P, "X": X} | arguments))


def test_no_rows_are_an_error() -> None:
    with pytest.raises(TableError, match="There are no rows"):
        trueup.audit(None, [], [])


def test_odd_tables_are_fine() -> None:
    odd = {
        "empty": [None] * 40,
        "constant": [1] * 40,
        "mixed": [1, "1", None, 2.5] * 10,
        "infinite": [np.inf, -np.inf, 1.0, 2.0, 3.0] * 8,
        "with `backticks` and spaces": ["a b", "{c}"] * 20,
        "": [True, False, None, True] * 10,
    }
    result = trueup.audit(odd, Y, P, min_rows=5, null_samples=20)
    assert result.n_segments > 20
    assert "constant" not in " ".join(result.segments["segment"].to_pylist())


def test_more_combinations_than_memory_holds_are_refused_before_any_work() -> None:
    wide = {f"x{i}": [0, 1] * 20 for i in range(600)}
    with pytest.raises(ParameterError, match="combinations of at most 3"):
        trueup.audit(wide, Y, P)


@pytest.mark.filterwarnings("ignore::trueup.errors.SuspiciousDataWarning")  # no value is there twice
def test_more_cells_than_are_counted_are_refused() -> None:
    wide = {name: [f"{i}" for i in range(255)] for name in "abcd"}
    y = [0, 1] * 127 + [0]
    with pytest.raises(ParameterError, match="4,228,250,625 cells of one combination; the limit is 16,777,216"):
        trueup.audit(wide, y, [0.5] * 255, max_values=255, max_depth=4)


def test_what_takes_long_is_said_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueup.segments._grid._SECONDS_BEFORE_WARNING", 1e-9)
    with pytest.warns(CostWarning, match="This audit takes about 0 s on .* for 2 combinations of features on 40 rows"):
        trueup.audit(X, Y, P)
