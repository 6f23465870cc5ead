"""Percentiles and shares of many models, by hand."""

from __future__ import annotations

import math

import pytest

from trueup.errors import ParameterError
from trueup.evaluation import Outcome, summarize

BEFORE = {"log_loss": 0.5, "prauc": 0.4, "auroc": 0.8, "ece": 0.02}


def outcome(name: str, verdict: str = "ship", **after: float) -> Outcome:
    return Outcome(name, verdict, 1000, 0, BEFORE, BEFORE | after, f"{name}/report.html")


def test_percentiles_run_from_the_models_that_gain_most() -> None:
    # Log loss changes by -20 %, -10 %, 0, +10 %, +20 %, and so does PRAUC.
    changes = (-0.2, -0.1, 0.0, 0.1, 0.2)
    models = [
        outcome(str(i), log_loss=0.5 * (1 + change), prauc=0.4 * (1 + change)) for i, change in enumerate(changes)
    ]
    summary = summarize(models)
    # Of 5 values, the 10th percentile lies 0.4 of the way from the first to the second: -20 % + 0.4 · 10 % = -16 %.
    assert summary.percentiles["log_loss"] == pytest.approx((-0.16, -0.1, 0.0, 0.1, 0.16))
    assert summary.percentiles["prauc"] == pytest.approx((0.16, 0.1, 0.0, -0.1, -0.16))
    assert summary.percentiles["auroc"] == (0.0,) * 5
    assert (summary.improved["log_loss"], summary.not_worse["log_loss"]) == (0.4, 0.6)
    assert (summary.improved["prauc"], summary.not_worse["prauc"]) == (0.4, 0.6)
    assert (summary.improved["auroc"], summary.not_worse["auroc"]) == (0.0, 1.0)


def test_a_metric_that_was_zero_has_no_relative_change() -> None:
    grown = Outcome("grown", "keep", 10, 0, BEFORE | {"ece": 0.0}, BEFORE | {"ece": 0.1})
    still = Outcome("still", "keep", 10, 0, BEFORE | {"ece": 0.0}, BEFORE | {"ece": 0.0})
    assert math.isnan(grown.change("ece"))
    assert still.change("ece") == 0
    summary = summarize([grown, still, outcome("halved", ece=0.01)])
    # Only 0 and -50 % count: the median is half-way.
    assert summary.percentiles["ece"][2] == pytest.approx(-0.25)
    assert summary.improved["ece"] == pytest.approx(1 / 3)
    assert summary.not_worse["ece"] == pytest.approx(2 / 3)


def test_verdicts_and_failures_are_counted() -> None:
    summary = summarize([outcome("a"), outcome("b", "keep"), outcome("c")], failures={"d": "no such file"})
    assert summary.verdicts == {"ship": 2, "inconclusive": 0, "keep": 1}
    assert repr(summary) == "Summary(3 models: 2 ship, 0 inconclusive, 1 keep, 1 failed)"
    facts = summary.to_dict()
    assert facts["failures"] == {"d": "no such file"}
    assert [row["percentile"] for row in facts["percentiles"]] == [10, 25, 50, 75, 90]
    assert facts["models"][1]["verdict"] == "keep"


def test_no_models_at_all_give_no_numbers() -> None:
    facts = summarize([], failures={"a": "broken"}).to_dict()
    assert facts["percentiles"][0]["log_loss"] is None
    assert facts["improved"]["log_loss"] is None


def test_the_table_has_a_line_a_model_and_leaves_out_what_is_no_number() -> None:
    grown = Outcome("gr,own", "keep", 10, 2, BEFORE | {"ece": 0.0}, BEFORE)
    header, line = summarize([grown]).to_csv().splitlines()
    assert header.startswith("model,verdict,rows,warnings,trusted,log_loss_before,log_loss_after,log_loss_change,")
    assert line.startswith('"gr,own",keep,10,2,True,0.5,0.5,0.0,')
    assert line.endswith(",0.0,0.02,,")  # no change of the ECE, no report


def test_the_page_links_the_reports_and_escapes_names() -> None:
    page = summarize([outcome("a <b>", log_loss=0.45)], failures={"<c>": "<script>"}).to_html()
    assert '<a href="a%20%3Cb%3E/report.html">a &lt;b&gt;</a>' in page
    assert "−10.00 %" in page
    assert "<script>" not in page
    assert "://" not in page


def test_a_model_whose_data_cannot_be_trusted_moves_no_percentile_and_is_named() -> None:
    leaked = Outcome(
        "leaked", "inconclusive", 1000, 1, BEFORE | {"auroc": 0.09}, BEFORE | {"auroc": 0.96}, trusted=False
    )
    summary = summarize([outcome("clicks", auroc=0.88), leaked])
    assert summary.percentiles["auroc"] == pytest.approx((0.1,) * 5)
    assert (summary.improved["auroc"], summary.untrusted) == (1.0, ("leaked",))
    assert summary.to_dict()["untrusted"] == ["leaked"]
    page = summary.to_html()
    assert "+966" not in page
    assert "1 model is left out of these figures because the data can&#39;t be trusted: leaked." in page


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1"])
def test_no_cell_of_the_table_is_a_formula_to_a_spreadsheet(name: str) -> None:
    import csv

    table = list(csv.reader(summarize([outcome(name, log_loss=0.45)]).to_csv().splitlines()))
    row = dict(zip(*table, strict=True))
    assert (row["model"], row["report"]) == (f"'{name}", f"'{name}/report.html")
    assert float(row["log_loss_change"]) == pytest.approx(-0.1)  # numbers stay numbers


def test_what_is_no_evaluation_is_an_error() -> None:
    with pytest.raises(ParameterError, match="Pass evaluations by name"):
        summarize(["a"])
