"""`trueup evaluate` on many tables: a folder, or a manifest."""

from __future__ import annotations

import json
import os
import sys

import pyarrow.parquet as pq
import pytest

from trueup.cli import _evaluate
from trueup.cli._models import ModelSpec, models_in_folder, models_in_manifest
from trueup.datasets import make_traffic
from trueup.errors import ParameterError
from trueup.evaluation import Evaluation

COLUMNS = ["--label=label", "--score=score"]
OPTIONS = [*COLUMNS, "--max-rounds=0", "--jobs=1"]


@pytest.fixture
def tables(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    for name, seed in (("ads", 1), ("feed", 2)):
        table = make_traffic(800, random_state=seed).to_table().drop_columns(["true_probability"])
        pq.write_table(table, folder / f"{name}.parquet")
    return folder


@pytest.fixture(autouse=True)
def quick_pages(monkeypatch):
    monkeypatch.setattr(Evaluation, "to_html", lambda *_, **__: "a page")


@pytest.fixture
def evaluated_names(monkeypatch):
    """The names of the models that were evaluated, and not taken from an earlier run."""
    names = []
    real = _evaluate._evaluated

    def listening(spec, *rest, **options):
        names.append(spec.name)
        return real(spec, *rest, **options)

    monkeypatch.setattr(_evaluate, "_evaluated", listening)
    return names


def test_every_table_gets_a_folder_and_all_of_them_a_summary(run, tables, tmp_path):
    outcome = run("evaluate", tables, *OPTIONS, "-o", tmp_path / "out")
    assert outcome.code == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["ads", "feed", "index.html", "summary.csv", "summary.json"]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert summary["verdicts"] == {"ship": 0, "inconclusive": 0, "keep": 2}
    # With no rounds nothing changes: all percentiles are 0, none improves, and none gets worse.
    assert summary["percentiles"][0] == {"percentile": 10, "log_loss": 0, "prauc": 0, "auroc": 0, "ece": 0}
    assert (summary["improved"]["log_loss"], summary["not_worse"]["log_loss"]) == (0, 1)
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert 'href="ads/report.html"' in page
    assert "2 models evaluated: 0 ship, 0 inconclusive, 2 keep." in outcome.out
    assert "10th" in outcome.out
    assert outcome.out.splitlines()[-1] == f"The reports: {tmp_path / 'out' / 'index.html'}"


def test_a_finished_model_is_not_run_again_unless_something_changed(run, tables, tmp_path, evaluated_names):
    arguments = ["evaluate", tables, *OPTIONS, "-q", "-o", tmp_path / "out"]
    assert run(*arguments).code == 0
    first = (tmp_path / "out" / "summary.json").read_text(encoding="utf-8")
    assert evaluated_names == ["ads", "feed"]
    evaluated_names.clear()
    assert run(*arguments).code == 0
    assert evaluated_names == []
    assert (tmp_path / "out" / "summary.json").read_text(encoding="utf-8") == first
    table = make_traffic(800, random_state=9).to_table().drop_columns(["true_probability"])
    pq.write_table(table, tables / "ads.parquet")
    run(*arguments)
    assert evaluated_names == ["ads"]
    evaluated_names.clear()
    run(*arguments, "--test-size=0.4")
    assert evaluated_names == ["ads", "feed"]
    evaluated_names.clear()
    (tmp_path / "out" / "feed" / "model.trueup").unlink()
    run(*arguments, "--test-size=0.4")
    assert evaluated_names == ["feed"]


def test_one_bad_table_does_not_stop_the_others(run, tables, tmp_path):
    (tables / "bad.parquet").write_text("no table")
    outcome = run("evaluate", tables, *OPTIONS, "-q", "-o", tmp_path / "out")
    assert outcome.code == 3
    assert "failed: bad: " in outcome.err
    assert "can't be read as parquet" in outcome.err
    assert sorted(os.listdir(tmp_path / "out")) == ["ads", "feed", "index.html", "summary.csv", "summary.json"]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert list(summary["failures"]) == ["bad"]
    assert summary["n_models"] == 2


def test_ctrl_c_keeps_what_is_finished_and_the_same_command_goes_on(run, tables, tmp_path, monkeypatch):
    real = _evaluate._evaluated

    def stop_at_the_second(spec, *rest, **options):
        if spec.name == "feed":
            raise KeyboardInterrupt
        return real(spec, *rest, **options)

    arguments = ["evaluate", tables, *OPTIONS, "-q", "-o", tmp_path / "out"]
    with monkeypatch.context() as patch:
        patch.setattr(_evaluate, "_evaluated", stop_at_the_second)
        outcome = run(*arguments)
    assert outcome.code == 130
    assert "the same command goes on from there" in outcome.err
    assert os.listdir(tmp_path / "out") == ["ads"]
    assert run(*arguments).code == 0
    assert sorted(os.listdir(tmp_path / "out"))[:2] == ["ads", "feed"]


def test_limits_hold_for_each_model(run, tables, tmp_path):
    outcome = run("evaluate", tables, *OPTIONS, "-q", "--fail-on=keep", "-o", tmp_path / "out")
    assert outcome.code == 5
    assert "failed: ads is keep; feed is keep (--fail-on keep)." in outcome.err


def test_a_manifest_says_more_than_the_options(run, tables, tmp_path):
    lines = "name,table,score,test_size\nthe ads,ads.parquet,,0.5\nfeed,feed.parquet,scroe,\n"
    (tables / "models.csv").write_text(lines)
    outcome = run("evaluate", "--manifest", tables / "models.csv", *OPTIONS, "--json", "-o", tmp_path / "out")
    assert outcome.code == 3
    (model,) = outcome.json["models"]
    assert (model["model"], model["rows"]) == ("the ads", 400)
    assert "Did you mean 'score'?" in outcome.json["failures"]["feed"]


def test_manifests_are_json_toml_and_csv(tmp_path):
    entries = {
        "name": "ads",
        "table": "ads.parquet",
        "label": "y",
        "time": "year",
        "drop": ["a", "b"],
        "test_size": 0.2,
    }
    defaults = ModelSpec("", score="p", group="user")
    expected = ModelSpec(
        table=str(tmp_path / "ads.parquet"),
        label="y",
        score="p",
        time="year",
        group="user",
        test_size=0.2,
        drop=("a", "b"),
        name="ads",
    )
    (tmp_path / "list.json").write_text(json.dumps([entries]))
    (tmp_path / "whole.json").write_text(json.dumps({"defaults": {"score": "q"}, "models": [entries]}))
    (tmp_path / "table.csv").write_text('name,table,label,time,drop,test_size\nads,ads.parquet,y,year,"a,b",0.2\n')
    assert models_in_manifest(str(tmp_path / "list.json"), defaults) == [expected]
    assert models_in_manifest(str(tmp_path / "whole.json"), defaults)[0].score == "q"
    (from_csv,) = models_in_manifest(str(tmp_path / "table.csv"), defaults)
    assert (from_csv.drop, from_csv.test_size) == (("a,b",), 0.2)  # as --drop a,b gives it
    lines = ["[[models]]", *(f"{key} = {json.dumps(value)}" for key, value in entries.items())]
    (tmp_path / "models.toml").write_text("\n".join(lines))
    if sys.version_info >= (3, 11):
        assert models_in_manifest(str(tmp_path / "models.toml"), defaults) == [expected]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "can't be read as a manifest"),
        ("[]", "lists no models"),
        ('[{"name": "a"}]', "model a: it has no table"),
        ('[{"table": "a.csv", "lable": "y"}]', "there is nothing called 'lable'. Known are table, label"),
        ('[{"table": "a.csv", "label": 3}]', "label must be text, got 3"),
        ('[{"table": "a.csv", "drop": 3}]', "drop must be a list of columns"),
        ('[{"table": "a.csv", "test_size": "much"}]', "test_size must be a share between 0 and 1"),
        ('[{"table": "a.csv"}]', "model 1: which column is the label"),
        ('[{"table": "a.csv", "label": "y", "score": "p", "name": "../a"}]', "'../a' can't be one"),
        (
            '[{"table": "a.csv", "label": "y", "score": "p"}, {"table": "b/a.csv", "label": "y", "score": "p"}]',
            "called 'a'",
        ),
        (
            '[{"table": "a.csv", "label": "y", "score": "p", "features": ["t"], "drop": ["g"]}]',
            "use features or drop, not both",
        ),
    ],
)
def test_a_manifest_that_makes_no_sense_is_an_error(run, tmp_path, content, message):
    (tmp_path / "models.json").write_text(content)
    outcome = run("evaluate", "--manifest", tmp_path / "models.json", "-o", tmp_path / "out")
    assert outcome.code in (2, 3)
    assert message in outcome.err
    assert not (tmp_path / "out").exists()


def test_tables_of_one_name_are_told_apart_by_their_endings(tmp_path):
    for name in ("a.csv", "a.parquet", "b.csv.gz", "notes.txt"):
        (tmp_path / name).write_text("")
    models = models_in_folder(str(tmp_path), ModelSpec("", label="y", score="p"))
    assert [model.name for model in models] == ["a.csv", "a.parquet", "b"]
    with pytest.raises(ParameterError, match=r"'a.csv': which column is the label\? Name it with --label"):
        models_in_folder(str(tmp_path), ModelSpec("", score="p"))


def test_a_hidden_table_is_none_and_nothing_is_written_beside_the_folder(tmp_path):
    for name in ("a.csv", "...parquet", ".parquet"):
        (tmp_path / name).write_text("")
    models = models_in_folder(str(tmp_path), ModelSpec("", label="y", score="p"))
    assert [model.name for model in models] == ["a"]


def test_a_folder_without_tables_is_an_error(run, tmp_path):
    outcome = run("evaluate", tmp_path, *COLUMNS, "-o", tmp_path / "out")
    assert outcome.code == 3
    assert "has no tables" in outcome.err
