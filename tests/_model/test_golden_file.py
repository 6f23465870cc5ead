"""Files of every released format load for ever, and give the scores that they gave when they were written."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueup
from trueup._model import encode_value
from trueup._model._values import value_of
from trueup.baselines import IsotonicCalibrator, PlattCalibrator
from trueup.errors import ModelFileError

GOLDEN = Path(__file__).parent / "golden"


def make_golden(folder: Path) -> None:
    """Write the golden files of the current format, and their rows and scores as JSON beside them.

    Run once for each format, when it is released, by ``python tests/_model/test_golden_file.py``; the files of
    older formats are never written again. Some of the trees have more than 8 leaves, and some have not.
    """
    generator = np.random.default_rng(1)
    n = 3000
    days = [dt.date(2024, 2, 29), dt.date(2025, 1, 1), dt.date(2025, 12, 31)]
    times = [dt.datetime(2025, 1, 1, 12), dt.datetime(2025, 1, 1, 12, 0, 0, 1)]
    mixed = ["seven", 7, 7.5, b"7", dt.timedelta(days=7), dt.time(7), dt.date(2007, 7, 7), True]
    choices: dict[str, list[Any]] = {
        "country": ["Österreich", "中国", "a \" \\ 'b", "", None],
        "plan": [1, 2, 2.5, 40, None],
        "member": [True, False, None],
        "since": [*days, None],
        "seen": [*times, None],
        "mixed": [*mixed, None],
    }
    table: dict[str, Any] = {
        name: [values[i] for i in generator.integers(len(values), size=n)] for name, values in choices.items()
    }
    table["age"] = [None if age > 80 else age for age in generator.uniform(18, 90, n).tolist()]
    table["visits"] = generator.poisson(3, n).tolist()
    table["all_missing"] = [None] * n
    scores = generator.uniform(0.05, 0.95, n)
    shift = sum(
        np.array([0.6 * (values.index(value) % 2) for value in table[name]]) for name, values in choices.items()
    )
    young = np.array([age is None or age < 40 for age in table["age"]])
    logits = np.log(scores / (1 - scores)) + shift - 1.5 + 0.8 * young
    labels = np.where(generator.uniform(size=n) < 1 / (1 + np.exp(-logits)), "yes", "no")
    model = trueup.MCGrad(
        categorical_features=["plan", "since", "seen"],
        validation=None,
        rescale="train",
        max_rounds=3,
        lightgbm_params={"n_estimators": 6, "learning_rate": 0.2, "num_leaves": 9, "min_child_samples": 270},
    ).fit(table, labels, scores=scores)
    models = {
        "format_1": model,
        "format_1_knots": IsotonicCalibrator().fit(table, labels, scores=scores),
        "format_1_logit": PlattCalibrator().fit(table, labels, scores=scores),
    }
    rows = [{name: encode_value(table[name][i]) for name in table} for i in range(60)]
    for name, fitted in models.items():
        fitted.save(folder / f"{name}.trueup")
        after = fitted.calibrate({name: values[:60] for name, values in table.items()}, scores[:60])
        golden = {"rows": rows, "scores": scores[:60].tolist(), "calibrated": after.tolist()}
        (folder / f"{name}.json").write_text(json.dumps(golden, indent=1) + "\n")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.trueup")), ids=lambda path: path.stem)
def test_a_golden_file_loads_for_ever_and_gives_the_same_scores(path: Path) -> None:
    golden = json.loads(path.with_suffix(".json").read_text())
    rows = [{name: value_of(value) for name, value in row.items()} for row in golden["rows"]]
    table = {name: [row[name] for row in rows] for name in rows[0]}
    calibrator = trueup.load(path)
    # Not bit for bit: another machine's exp and log may differ in the last digit.
    found = calibrator.calibrate(table, golden["scores"])
    np.testing.assert_allclose(found, golden["calibrated"], rtol=1e-12)
    one_by_one = [calibrator.calibrate_one(row, p) for row, p in zip(rows, golden["scores"], strict=True)]
    np.testing.assert_allclose(one_by_one, golden["calibrated"], rtol=1e-12)
    assert list(calibrator.model.classes) == ["no", "yes"]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.trueup")), ids=lambda path: path.stem)
def test_a_golden_file_that_is_saved_again_is_the_same_bytes(path: Path, tmp_path: Path) -> None:
    trueup.load(path).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_a_file_of_rounds_is_an_mcgrad_and_one_of_a_map_is_not() -> None:
    assert trueup.MCGrad.load(GOLDEN / "format_1.trueup").classes_.tolist() == ["no", "yes"]
    with pytest.raises(ModelFileError, match=r"holds a map of the score, not an MCGrad\. Use trueup\.load"):
        trueup.MCGrad.load(GOLDEN / "format_1_knots.trueup")


def test_rounds_and_both_forms_of_a_map_have_golden_files() -> None:
    assert [path.stem for path in sorted(GOLDEN.glob("*.trueup"))] == ["format_1", "format_1_knots", "format_1_logit"]


if __name__ == "__main__":
    make_golden(GOLDEN)
