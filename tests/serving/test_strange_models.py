"""Models that can be loaded but not served, and what the log does with texts that are not Unicode."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import trueup
from small_fits import quick
from trueup._model import TrainingSummary
from trueup.errors import ModelFileError
from trueup.serving import ModelSlot
from trueup.serving._logs import Log
from trueup.serving._rows import check_servable

HALF_A_PAIR = "\ud800"


def model_with_column(name: str) -> trueup.Calibrator:
    table = {name: ["a", "b"] * 20}
    return trueup.Calibrator(quick().fit(table, [0, 1] * 20, scores=[0.5] * 40).model_)


def test_a_model_whose_column_no_answer_could_name_is_not_served(tmp_path):
    model_with_column(HALF_A_PAIR).save(tmp_path / "model.trueup")
    assert trueup.load(tmp_path / "model.trueup").calibrate_one({HALF_A_PAIR: "a"}, 0.5) >= 0
    with pytest.raises(ModelFileError, match=r"can't be served: '\\ud800' is not Unicode text"):
        ModelSlot(tmp_path / "model.trueup", accept=check_servable)


def test_nor_is_one_with_such_a_version(tmp_path):
    good = model_with_column("naïve").model
    check_servable(trueup.Calibrator(good))
    summary = TrainingSummary(versions={"trueup": HALF_A_PAIR})
    with pytest.raises(ModelFileError, match="is not Unicode text"):
        check_servable(trueup.Calibrator(replace(good, summary=summary)))


def test_a_line_of_the_log_is_written_whatever_its_texts_are(capfdbinary):
    log = Log(worker=1)
    log.write("loaded", path=f"model-{HALF_A_PAIR}.trueup")
    log.close()
    line = json.loads(capfdbinary.readouterr().err)
    assert line["path"] == f"model-{HALF_A_PAIR}.trueup"
