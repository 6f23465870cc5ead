"""`trueup fit`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.cli._fit import parse_lightgbm_params, parse_validation


def test_the_summary_says_what_a_person_asks(run, quick, shared, tmp_path):
    outcome = run("fit", shared.table, "--label", "y", "--score", "p", "-o", tmp_path / "m.trueup", *quick)
    assert outcome.code == 0
    assert outcome.err == ""
    for part in ("2 rounds, 30 trees", "2,000 rows", "→", "validation rows", "'p'", "country", "m.trueup"):
        assert part in outcome.out


def test_the_model_is_the_one_that_python_fits(run, quick, shared, tmp_path):
    run("fit", shared.table, "--label=y", "--score=p", "--drop=w", "-o", tmp_path / "m.trueup", "-q", *quick)
    X = shared.scored.drop_columns(["y", "w"])
    estimator = trueup.MCGrad(
        score_column="p",
        max_rounds=2,
        validation=0.3,
        min_sum_hessian_in_leaf=1,
        lightgbm_params={"n_estimators": 15, "min_child_samples": 20, "learning_rate": 0.03},
        n_jobs=1,
    ).fit(X, shared.scored["y"])
    np.testing.assert_array_equal(trueup.load(tmp_path / "m.trueup").calibrate(X), estimator.calibrate(X), strict=True)


def test_json_is_one_object_with_the_losses_and_the_features(run, quick, shared, tmp_path):
    path = tmp_path / "m.trueup"
    found = run("fit", shared.table, "--label=y", "--score=p", "--weight=w", "--json", "-o", path, *quick).json
    assert found["model"] == str(path)
    assert found["rounds"] == len(found["thetas"]) == 2
    assert found["loss"]["rows"] == "validation"
    assert found["loss"]["after"] < found["loss"]["before"]
    assert found["bytes"] == path.stat().st_size
    names = {feature["name"] for feature in found["features"]}
    assert "country" in names
    assert not names & {"y", "p", "w"}
    total = found["score_importance"] + sum(feature["importance"] for feature in found["features"])
    assert total == pytest.approx(1)


def test_without_a_score_the_base_rate_is_the_base_model(run, quick, shared, tmp_path):
    outcome = run("fit", shared.table, "--label=y", "--drop=p,w", "-o", tmp_path / "m.trueup", *quick)
    assert "the base rate" in outcome.out
    assert trueup.load(tmp_path / "m.trueup").model.base_rate == pytest.approx(shared.rate)


@pytest.mark.parametrize(
    "options",
    [
        ["--features", "hour,country", "--features", 'say "hi", or\nnot'],
        ["--features", "hour, country", "--features", 'say "hi", or\nnot'],
        ["--drop", "w,amount, version,flag", "--drop", " spaced ", "--drop", "größe→[red]x[/red]"],
    ],
)
def test_columns_are_chosen_by_name_even_if_there_is_a_comma_in_it(run, quick, shared, tmp_path, options):
    outcome = run(
        "fit", shared.table, "--label=y", "--score=p", "--json", "-o", tmp_path / "m.trueup", *options, *quick
    )
    found = {feature["name"] for feature in outcome.json["features"]}
    assert found == {"hour", "country", 'say "hi", or\nnot'}


def test_numbers_can_be_categories(run, quick, shared, tmp_path):
    options = ["--features=hour", "--categorical=hour", "--json", *quick]
    found = run("fit", shared.table, "--label=y", "--score=p", "-o", tmp_path / "m.trueup", *options).json
    assert found["features"][0]["categories"] == 24


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: pa.array(y.astype(bool)),
        lambda y: pa.array(np.where(y == 1, "yes", "no")),
        lambda y: pa.array(y.astype(float)),
    ],
    ids=["booleans", "strings", "floats"],
)
def test_labels_are_two_classes_of_any_type(run, quick, shared, tmp_path, labels):
    scored = shared.scored
    y = scored["y"].to_numpy()
    scored = scored.set_column(scored.column_names.index("y"), "y", labels(y))
    pq.write_table(scored, tmp_path / "t.parquet")
    outcome = run("fit", tmp_path / "t.parquet", "--label=y", "--score=p", "-o", tmp_path / "m.trueup", *quick)
    assert outcome.code == 0
    is_named = scored.schema.field("y").type == pa.string()  # it goes without saying for the others
    assert ("Positive class  'yes'" in outcome.out) == is_named


def test_the_index_of_a_pandas_frame_is_no_feature_and_that_is_said(run, quick, shared, tmp_path):
    frame = shared.scored.to_pandas().query("hour > 3")  # the index has gaps now, so it is stored
    frame.to_parquet(tmp_path / "t.parquet")
    outcome = run("fit", tmp_path / "t.parquet", "--label=y", "--score=p", "--json", "-o", tmp_path / "m", *quick)
    assert outcome.err.startswith("warning: Ignoring column '__index_level_0__': it is the index")
    assert "__index_level_0__" not in {feature["name"] for feature in outcome.json["features"]}


def test_too_few_rows_give_a_model_without_rounds_and_a_warning(run, shared, tmp_path):
    pq.write_table(shared.scored.slice(0, 50), tmp_path / "t.parquet")
    outcome = run("fit", tmp_path / "t.parquet", "--label=y", "--score=p", "-o", tmp_path / "m.trueup")
    assert outcome.code == 0
    assert outcome.err.startswith("warning: Too few rows")
    assert outcome.err.count("\n") == 1
    assert "gives the base scores back" in outcome.out


def test_quiet_says_nothing(run, quick, shared, tmp_path):
    outcome = run("fit", shared.table, "--label=y", "--score=p", "-q", "-o", tmp_path / "m.trueup", *quick)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--label=Y", "--score=p"], "has no column 'Y'. Did you mean 'y'? Its columns are 'country', ", 3),
        (["--label=y", "--score=zzzz"], "--score: ", 3),
        (["--label=y", "--score=p", "--features=hour,contry"], "Did you mean 'country'?", 3),
        (["--label=y", "--score=p", "--drop=nothing"], "--drop: ", 3),
        (["--label=y", "--score=y"], "--label and --score both name the column 'y'", 2),
        (["--label=y", "--score=p", "--features=hour,p"], "which is the column of --score", 2),
        (["--label=y", "--score=p", "--features=hour", "--categorical=flag"], "not one of the features", 2),
        (["--label=country", "--score=p"], "The labels, column 'country'", 3),
        (["--label=y", "--score=p", "--weight=country"], "The weights, column 'country'", 3),
        (["--label=y", "--score=hour"], "Column 'hour': ", 3),
        (["--label=y", "--score=p", "--jobs=0"], "n_jobs must not be 0", 2),
        (["--label=y", "--score=p", "--validation=1"], "from 2 to 100 folds", 2),
        (["--label=y", "--score=p", "--lightgbm-param", "objective=l2"], "objective", 2),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, shared, tmp_path, options, message, code):
    outcome = run("fit", shared.table, "-o", tmp_path / "m.trueup", *options)
    assert outcome.code == code
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert not (tmp_path / "m.trueup").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--validation=often"],
        ["--lightgbm-param", "num_leaves"],
        ["--rescale=maybe"],
        ["--max-rounds=-1"],
        ["--features=hour", "--drop=w"],
        ["--no-such-option"],
    ],
)
def test_wrong_usage_is_exit_code_2(run, shared, tmp_path, options):
    outcome = run("fit", shared.table, "--label=y", "-o", tmp_path / "m.trueup", *options)
    assert outcome.code == 2
    assert "Usage: trueup fit" in outcome.err


def test_the_place_of_the_model_is_checked_before_the_work(run, shared, tmp_path, monkeypatch):
    monkeypatch.setattr("trueup.cli._fit.TableSource.of", lambda *_: pytest.fail("the work has begun"))
    missing = run("fit", shared.table, "--label=y", "-o", tmp_path / "no" / "m.trueup")
    assert missing.code == 3
    assert "there is no folder" in missing.err
    assert run("fit", shared.table, "--label=y", "-o", tmp_path).code == 3
    assert run("fit", shared.table, "--label=y", "-o", "/dev/null").code == 3
    assert run("fit", shared.table, "--label=y", "-o", "-").code == 2
    assert "the table itself" in run("fit", shared.table, "--label=y", "-o", shared.table).err


def test_values_of_options_are_read_as_what_they_look_like():
    assert [parse_validation(text) for text in ("auto", "none", "5", "0.2")] == ["auto", None, 5, 0.2]
    found = parse_lightgbm_params(["a=1", "b=0.5", "c=true", "d=gbdt=x", " e = 1e-3 "])
    assert found == {"a": 1, "b": 0.5, "c": True, "d": "gbdt=x", "e": 0.001}
    for malformed in ("a", "=1", "a="):
        with pytest.raises(ValueError):
            parse_lightgbm_params([malformed])
