"""What a diagnosis is made of, and what it takes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueup
from planted import clean_rows, codes, diagnosed
from trueup import Diagnosis, Finding
from trueup._data import with_columns
from trueup.errors import ColumnError, LabelError, ParameterError, WeightError

TRAIN, TEST = clean_rows(1500, 1), clean_rows(1200, 2)
LATER = TEST.with_column("income", TEST.X["income"] + 2)


def findings(*severities: Any) -> tuple[Finding, ...]:
    return tuple(Finding("code", severity, "What is so.", "What to do.") for severity in severities)


def test_it_is_ok_with_notes_alone() -> None:
    assert Diagnosis((), 10, 0).ok
    assert Diagnosis(findings("note"), 10, 0).ok
    assert not Diagnosis(findings("warning", "note"), 10, 0).ok
    assert not Diagnosis(findings("error"), 10, 0).ok


def test_its_text_counts_by_severity_and_lists_everything() -> None:
    diagnosis = Diagnosis(findings("error", "warning", "warning", "note"), 1000, 500)
    assert repr(diagnosis) == "Diagnosis(1,000 training rows and 500 test rows: 1 error, 2 warnings, 1 note)"
    assert len(diagnosis.warnings) == 3
    assert str(diagnosis).splitlines()[1] == "error: What is so. What to do."
    assert repr(Diagnosis((), 7, 0)) == "Diagnosis(7 training rows: nothing found)"


def test_it_is_a_page_and_a_summary_for_notebooks() -> None:
    page = str(Diagnosis(findings("error", "note"), 1000, 500).to_html(title="Clicks"))
    assert "Clicks" in page
    assert "The data look wrong" in page
    assert "What is so." in page
    assert "Nothing looks wrong" in Diagnosis((), 7, 0)._repr_html_()


def test_errors_come_first() -> None:
    odd = LATER.with_column("constant", np.zeros(1200))
    less = {name: values for name, values in odd.X.items() if name != "hour"}
    diagnosis = trueup.diagnose(
        TRAIN.X | {"constant": np.zeros(1500)}, TRAIN.y, TRAIN.scores, test=(less, odd.y, odd.scores)
    )
    ranks = [["error", "warning", "note"].index(finding.severity) for finding in diagnosis.findings]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == 3


def test_it_is_plain_values_for_json() -> None:
    found = diagnosed(TRAIN, LATER).to_dict()
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    assert (found["ok"], found["n_train"], found["n_test"]) == (False, 1500, 1200)
    assert found["findings"][0]["values"]["giveaways"][0]["column"] == "income"


def test_every_library_gives_the_same() -> None:
    def of(make: Any) -> dict[str, Any]:
        parts = ((make(rows.X), rows.y, rows.scores) for rows in (TRAIN, LATER))
        train, test = parts
        return trueup.diagnose(*train, test=test, n_jobs=1).to_dict()

    expected = of(lambda X: X)
    for make in (
        pd.DataFrame,
        pl.DataFrame,
        lambda X: pa.table({name: pa.array(values, from_pandas=True) for name, values in X.items()}),
    ):
        found = of(make)
        assert [one["code"] for one in found["findings"]] == [one["code"] for one in expected["findings"]]
        # Codes of categories may come in another order, and with them the trees.
        assert found["facts"]["population_auc"] == pytest.approx(expected["facts"]["population_auc"], abs=0.01)


def test_categoricals_booleans_and_times_are_looked_at() -> None:
    def rows(n: int, seed: int) -> pd.DataFrame:
        rng = np.random.default_rng(seed)
        return pd.DataFrame(
            {
                "plan": pd.Categorical(rng.choice(["free", "pro"], n)),
                "level": pd.Categorical(rng.integers(0, 4, n)),
                "flag": rng.random(n) < 0.5,
                "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, n), unit="s"),
                "none": [None] * n,
                "mixed": np.where(rng.random(n) < 0.5, np.array("a", dtype=object), 1),
            }
        )

    diagnosis = trueup.diagnose(
        rows(1500, 1), TRAIN.y, TRAIN.scores, test=(rows(1200, 2), TEST.y, TEST.scores), categorical_features=["level"]
    )
    assert codes(diagnosis).keys() - {"too_few_to_see"} == {"empty_column"}
    moved = rows(1200, 2)
    moved["flag"] = np.random.default_rng(0).random(1200) < 0.95
    diagnosis = trueup.diagnose(rows(1500, 1), TRAIN.y, TRAIN.scores, test=(moved, TEST.y, TEST.scores))
    (finding,) = [one for one in diagnosis.findings if one.code == "different_populations"]
    assert "'flag'" in finding.text


def test_soft_labels_and_no_features_are_fine() -> None:
    soft = 0.9 * TRAIN.scores + 0.05
    assert "unusable_labels" not in codes(trueup.diagnose(TRAIN.X, soft, TRAIN.scores))
    assert codes(trueup.diagnose(None, TRAIN.y, np.full(1500, 0.3)))["constant_scores"] == "warning"


def test_rows_of_weight_zero_don_t_count() -> None:
    # Half of test comes from elsewhere, and has no weight.
    rng = np.random.default_rng(0)
    elsewhere = rng.random(1200) < 0.5
    test = TEST.with_column("income", np.where(elsewhere, TEST.X["income"] + 3, TEST.X["income"]))
    weights = np.ones(1500), np.where(elsewhere, 0.0, 1.0)
    parts = (test.X, test.y, test.scores)
    assert "different_populations" in codes(trueup.diagnose(TRAIN.X, TRAIN.y, TRAIN.scores, test=parts))
    weighted = trueup.diagnose(TRAIN.X, TRAIN.y, TRAIN.scores, sample_weight=weights[0], test=(*parts, weights[1]))
    assert "different_populations" not in codes(weighted)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"test": TEST.X}, ParameterError, r"test must be \(X, y, scores\).*got a dict"),
        ({"test": (TEST.X,)}, ParameterError, "got 1 values"),
        ({"test": (None, TEST.y)}, ParameterError, "both train and test"),
        ({"test": (TEST.X, TEST.y[:5])}, LabelError, "The test rows: y has 5 rows, but X has 1,200"),
        ({"ignore": "hour"}, ParameterError, r"Use \['hour'\]"),
        ({"ignore": ["hours"]}, ColumnError, "ignore: X has no column 'hours'. Its columns are 'site'"),
        ({"features": ["hours"]}, ColumnError, "Did you mean 'hour'"),
        ({"max_rows": 5}, ParameterError, "max_rows must be a whole number of at least 100"),
        ({"random_state": -1}, ParameterError, "random_state"),
        ({"n_jobs": 0}, ParameterError, "n_jobs"),
        ({"sample_weight": np.ones(3)}, WeightError, "The training rows: sample_weight has 3 rows"),
    ],
)
def test_wrong_use_says_what_and_where(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        trueup.diagnose(TRAIN.X, TRAIN.y, TRAIN.scores, **options)


def test_names_of_columns_say_the_same_as_arrays() -> None:
    table, other = (
        with_columns(some.X, {"label": some.y, "score": some.scores, "weight": np.ones(len(some.y))})
        for some in (TRAIN, TEST)
    )
    names = "label", "score", "weight"
    named = trueup.diagnose(table, *names[:2], sample_weight="weight", test=(other, *names), n_jobs=1)
    arrays = [(some.X, some.y, some.scores, np.ones(len(some.y))) for some in (TRAIN, TEST)]
    beside = trueup.diagnose(*arrays[0][:3], sample_weight=arrays[0][3], test=arrays[1], n_jobs=1)
    assert named.to_dict() == beside.to_dict()
