"""`trueup audit`."""

import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.datasets import make_traffic

ROLES = ("--label=y", "--score=p", "--weight=w")
QUICK = ("--features=country,version,hour,flag", "--null-samples=40", "--jobs=1")


@pytest.fixture
def audit(run, shared, monkeypatch):
    """Audit the shared table, of which Namibia is wrong, on a screen of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *options: run("audit", shared.table, *ROLES, *options)


def shown_rows(out):
    """The first line of each segment in the table."""
    lines = out.splitlines()
    return [line for line in lines if re.search(r"too (low|high) |both ", line)]


def test_the_screen_says_what_a_person_asks(audit):
    outcome = audit(*QUICK)
    assert (outcome.code, outcome.err) == (0, "")
    for part in ("scored.parquet: 'p' against 'y'", "2,000", "predicted 30.", "observed 2", "ECCE", "MCE", "Alpha"):
        assert part in outcome.out
    assert re.search(r"MCE +\d+\.\d σ \(p ≤ 0\.025\), the worst segment; 0\.\d{4} of all rows", outcome.out)
    assert re.search(r"an error of \d0 points in \d+(\.\d)? % of the rows, in 80 % of cases", outcome.out)
    assert re.search(
        r"^\d+ segments are significantly wrong \(5 % significance\), in \d different patterns\.", outcome.out, re.M
    )
    worst = shown_rows(outcome.out)[0]
    assert worst.startswith("country = NA ")
    assert "too low" in worst
    assert worst.rstrip().endswith("≤ 0.025 *")


def test_the_numbers_are_those_of_python(audit, shared):
    found = audit(*QUICK, "--json").json
    scored = shared.scored
    result = trueup.audit(
        scored.select(["country", "version", "hour", "flag"]),
        scored["y"],
        scored["p"],
        sample_weight=scored["w"],
        null_samples=40,
        n_jobs=1,
    )
    assert {name: found[name] for name in result.to_dict()} == json.loads(json.dumps(result.to_dict()))


def test_json_is_one_object_that_says_what_was_audited(audit, shared):
    outcome = audit(*QUICK, "--json")
    found = json.loads(outcome.out, parse_constant=pytest.fail)  # neither NaN nor Infinity
    assert found["schema_version"] == 1
    assert (found["table"], found["label"], found["score"]) == (str(shared.table), "y", "p")
    assert found["n_significant"] >= found["n_patterns"] >= 1
    assert found["verdict"].startswith(f"{found['n_significant']} segments are significantly wrong")
    assert found["segments"][0]["conditions"] == [
        {"column": "country", "values": ["NA"], "excluded": False, "or_missing": False}
    ]


def test_without_draws_p_values_are_shared_among_the_segments(audit):
    found = audit(*QUICK, "--null-samples=0", "--json").json
    assert found["mce_p_value"] < 1e-6
    assert found["n_significant"] >= 1
    assert "Holm" in audit(*QUICK, "--null-samples=0").out


def test_json_is_json_even_if_nothing_could_be_tested(audit):
    found = json.loads(audit(*QUICK, "--min-rows=9999", "--json").out, parse_constant=pytest.fail)
    assert (found["n_segments"], found["mce"], found["mce_p_value"]) == (0, None, None)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_numbers_stay_on_the_screen(audit, monkeypatch, width):
    wide = audit(*QUICK)
    monkeypatch.setenv("COLUMNS", str(width))
    outcome = audit(*QUICK)
    lines = outcome.out.splitlines()
    assert max(len(line) for line in lines[1:]) <= min(width, 100)  # the first has a path in it
    assert re.findall(r"[≤<] 0\.\d+ \*", wide.out) == re.findall(r"[≤<] 0\.\d+ \*", outcome.out)
    assert "country = NA" in outcome.out


def test_long_words_wrap_and_push_nothing_off_the_screen(run, shared, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    name, scored = "a_name_that_goes_on_and_on_" * 4, shared.scored
    scored = scored.rename_columns([name if column == "country" else column for column in scored.column_names])
    pq.write_table(scored, tmp_path / "t.parquet")
    outcome = run("audit", tmp_path / "t.parquet", *ROLES, "--by", name, "--null-samples=40", "--jobs=1")
    assert max(len(line) for line in outcome.out.splitlines()[1:]) <= 80
    assert shown_rows(outcome.out)[0].rstrip().endswith("≤ 0.025 *")


def test_names_that_look_like_markup_are_printed_as_they_are(run, shared, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    options = ["--by", "größe→[red]x[/red]", "--null-samples=40", "--jobs=1"]
    assert "größe→[red]x[/red]" in run("audit", shared.table, *ROLES, *options).out


def test_what_is_significant_shows_without_colour(run_process, shared):
    setting = "import os; os.environ |= {'NO_COLOR': '1', 'FORCE_COLOR': '1', 'COLUMNS': '90', 'TERM': 'xterm'}"
    code = f"{setting}; from trueup.cli import main; main()"
    shown = run_process("audit", shared.table, *ROLES, *QUICK, code=code).stdout.decode()
    assert "\x1b[1m" in shown  # bold is not a colour
    assert "\x1b[31m" not in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", shown)
    assert "≤ 0.025 *" in shown


def test_segments_that_repeat_others_are_only_counted(audit):
    outcome = audit(*QUICK, "--top=1")
    assert len(shown_rows(outcome.out)) == 1
    assert re.search(r"^and .*\d+ more segments that repeat these\.", outcome.out, re.M)
    assert shown_rows(audit(*QUICK, "--top=0").out) == []


def test_by_takes_every_value_and_every_combination(audit, shared):
    found = audit("--by", "country,version", "--null-samples=40", "--json").json
    # 3 countries and none, 3 versions: 4 + 3 single ones, 12 pairs, and all rows.
    assert found["n_segments"] == 4 + 3 + 12 + 1
    names = {segment["segment"] for segment in found["segments"]}
    assert {"country = US", "version = 8.10", "country is missing and version = 9.0"} <= names
    assert "all rows" in names


def test_by_takes_each_day_of_a_column_of_dates(run, shared, tmp_path):
    days = np.datetime64("2024-01-01") + np.arange(2000) % 3
    pq.write_table(shared.scored.append_column("day", pa.array(days)), tmp_path / "t.parquet")
    found = run("audit", tmp_path / "t.parquet", *ROLES, "--by=day", "--null-samples=40", "--json").json
    assert "day = 2024-01-02" in {segment["segment"] for segment in found["segments"]}
    assert found["n_segments"] == 1 + 3


def test_a_column_that_makes_no_segments_is_named(run, shared, tmp_path):
    pq.write_table(shared.scored.append_column("tags", pa.array([["a"]] * 2000)), tmp_path / "t.parquet")
    outcome = run("audit", tmp_path / "t.parquet", *ROLES, "--by=tags")
    assert outcome.code == 3
    assert "'tags'" in outcome.err


def test_by_may_combine_fewer_columns(audit):
    found = audit("--by", "country,version,flag", "--max-depth=1", "--null-samples=40", "--json").json
    assert found["n_segments"] == 1 + 4 + 3 + 2


def test_where_takes_segments_in_words_and_shows_all_of_them(audit):
    conditions = ["country = NA", "country = NA and flag = true", "hour < 6 and country != NA", "6 <= hour < 7"]
    outcome = audit(*(f"--where={condition}" for condition in conditions), "--top=1", "--null-samples=40")
    assert (outcome.code, outcome.err) == (0, "")
    words = ["country = NA ", "country = NA and flag = true", "hour < 6 and country ≠ NA", "6 ≤ hour < 7", "all rows"]
    for part in words:
        assert part in outcome.out
    assert "repeat" not in outcome.out


def test_a_condition_that_no_row_meets_is_told_of(audit):
    outcome = audit("--where=country = XX", "--where=hour < 12", "--null-samples=40")
    assert outcome.code == 0
    assert outcome.err == "warning: --where: 'country = XX' is not tested: no row meets it.\n"
    outcome = audit("--where=hour < 12 and amount > 5000", "--null-samples=40", "--min-rows=1900")
    assert "fewer than --min-rows 1900" in outcome.err


def test_trees_can_look_beyond_the_grid(audit):
    found = audit(*QUICK, "--discover", "--json").json
    assert found["n_segments"] > audit(*QUICK, "--json").json["n_segments"]


def test_numbers_can_be_categories(audit):
    options = ["--features=hour", "--categorical=hour", "--max-values=24", "--null-samples=40", "--json"]
    assert audit(*options).json["n_segments"] == 1 + 24


def test_a_table_without_features_is_audited_as_a_whole(run, shared, tmp_path):
    pq.write_table(shared.scored.select(["y", "p"]), tmp_path / "t.parquet")
    outcome = run("audit", tmp_path / "t.parquet", "--label=y", "--score=p", "--null-samples=40", "--json")
    assert [segment["segment"] for segment in outcome.json["segments"]] == ["all rows"]
    refused = run("audit", tmp_path / "t.parquet", "--label=y", "--score=p", "--discover")
    assert refused.code == 2
    assert "no columns left" in refused.err


def test_the_positive_class_is_named_if_it_does_not_go_without_saying(run, shared, tmp_path):
    scored = shared.scored
    words = np.where(scored["y"].to_numpy() == 1, "yes", "no")
    pq.write_table(scored.set_column(scored.column_names.index("y"), "y", pa.array(words)), tmp_path / "t.parquet")
    assert "Positive class  'yes'" in run("audit", tmp_path / "t.parquet", *ROLES, *QUICK).out


def test_a_csv_file_may_come_through_a_pipe(run_process, shared, audit):
    text = pa.BufferOutputStream()
    pa.csv.write_csv(shared.scored, text)
    # In a file of text, 8.1 and 8.10 are numbers, and one of them, unless it is said that they are not.
    options = ["audit", "-", *ROLES, "--by=country,version", "--categorical=version", "--null-samples=40", "--json"]
    done = run_process(*options, stdin=text.getvalue().to_pybytes())
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["table"] == "-"
    assert found["mce"] == pytest.approx(audit("--by=country,version", "--null-samples=40", "--json").json["mce"])


@pytest.mark.parametrize(
    ("options", "code", "reason"),
    [
        (["--fail-above=1000"], 0, ""),
        (["--fail-above=2"], 5, "above the 2 σ of --fail-above"),
        (["--fail-on-significant"], 5, "a segment is significantly wrong at significance 5 %"),
        (["--fail-above=2", "--fail-on-significant"], 5, "--fail-above; a segment is"),
        (["--fail-above=1000", "--min-rows=5000"], 5, "no segment could be tested"),
        (["--min-rows=5000"], 0, ""),
    ],
)
def test_a_limit_is_an_exit_code_and_one_line_after_the_answer(run, shared, options, code, reason):
    outcome = run("audit", shared.table, *ROLES, *QUICK, *options)
    failures = [line for line in outcome.err.splitlines() if line.startswith("failed: ")]
    assert outcome.code == code
    assert len(failures) == (1 if reason else 0)
    assert reason in outcome.err
    assert "scored.parquet" in outcome.out


def test_true_scores_pass(run, tmp_path):
    pq.write_table(make_traffic(4000, random_state=1).to_table(), tmp_path / "t.parquet")
    options = ["--label=label", "--score=true_probability", "--drop=score", "--max-depth=2", "--fail-on-significant"]
    outcome = run("audit", tmp_path / "t.parquet", *options, "--jobs=1")
    assert outcome.code == 0
    assert "No segment is wrong by more than noise explains. An error of 10 points in " in outcome.out


def test_quiet_says_nothing_but_why_it_failed(audit):
    outcome = audit(*QUICK, "--quiet")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    outcome = audit(*QUICK, "--quiet", "--fail-above=2")
    assert (outcome.code, outcome.out) == (5, "")
    assert outcome.err.startswith("failed: the MCE is ")


@pytest.mark.parametrize("name", ["segments.csv", "segments.parquet", "segments.arrow"])
def test_all_segments_can_be_written(audit, tmp_path, name):
    path = tmp_path / name
    outcome = audit(*QUICK, "-o", path, "--json")
    assert outcome.code == 0
    if name.endswith(".csv"):
        table = pa.csv.read_csv(path)
    else:
        table = pq.read_table(path) if name.endswith(".parquet") else pa.ipc.open_file(path).read_all()
    assert table.num_rows == outcome.json["n_segments"]
    assert table["segment"][0].as_py() == "country = NA"
    assert table["ecce_sigma"].to_pylist()[0] == pytest.approx(outcome.json["segments"][0]["ecce_sigma"])
    assert "All segments are in" in audit(*QUICK, "-o", path).out


def test_what_is_not_known_is_missing_in_a_file(audit, tmp_path):
    audit("--by=flag", "--null-samples=0", "-o", tmp_path / "segments.parquet")
    table = pq.read_table(tmp_path / "segments.parquet")
    assert table["explained_by"].to_pylist()[0] is None
    assert table.schema.field("explained_by").type == pa.string()


def test_the_segments_can_go_to_stdout_instead_of_the_screen(run_process, shared):
    done = run_process("audit", shared.table, *ROLES, *QUICK, "-o", "-")
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith('"segment","rows"')
    assert lines[1].startswith('"country = NA",')
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("options", "message", "code"),
    [
        (["--label=Y", "--score=p"], "has no column 'Y'. Did you mean 'y'?", 3),
        (["--label=y", "--score=q"], "--score: ", 3),
        (["--label=y", "--score=p", "--weight=u"], "--weight: ", 3),
        (["--label=y", "--score=p", "--features=contry"], "Did you mean 'country'?", 3),
        (["--label=y", "--score=p", "--by=contry,hour"], "--by: ", 3),
        (["--label=y", "--score=p", "--by=y"], "--by names 'y', which is the column of --label", 2),
        (["--label=y", "--score=p", "--by=hour", "--categorical=flag"], "not one of the features", 2),
        (["--label=country", "--score=p"], "The labels, column 'country'", 3),
        (["--label=y", "--score=hour"], "Column 'hour': ", 3),
        (["--label=y", "--score=amount"], "Column 'amount': ", 3),
        (["--label=y", "--score=p", "--weight=country"], "The weights, column 'country'", 3),
        (["--label=y", "--score=p", "--where=contry = NO"], "Did you mean 'country'?", 3),
        (["--label=y", "--score=p", "--where=country"], "The condition 'country' can't be read", 2),
        (["--label=y", "--score=p", "--where=country = NO or hour = 3"], "'or' can be followed by", 2),
        (["--label=y", "--score=p", "--where=hour = early"], "Column 'hour' holds numbers", 3),
        (["--label=y", "--score=p", "--where=y = 1"], "is about the labels", 2),
        (["--label=y", "--score=p", "--null-samples=3"], "at least 19", 2),
        (["--label=y", "--score=p", "--significance=7"], "significance must lie between 0 and 1", 2),
        (["--label=y", "--score=p", "--max-values=1000"], "max_values", 2),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, shared, tmp_path, options, message, code):
    outcome = run("audit", shared.table, "-o", tmp_path / "s.csv", *options)
    assert outcome.code == code
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "options",
    [
        ["--by=hour", "--where=hour < 3"],
        ["--by=hour", "--discover"],
        ["--where=hour < 3", "--discover"],
        ["--features=hour", "--drop=flag"],
        ["--features=hour", "--by=flag"],
        ["--drop=hour", "--where=hour < 3"],
        ["--top=-1"],
        ["--fail-above=-1"],
        ["--max-values=1"],
        ["--json", "-o", "-"],
        ["--pdf=x.pdf"],
    ],
)
def test_wrong_usage_is_exit_code_2(audit, options):
    outcome = audit(*options)
    assert outcome.code == 2
    assert "Usage: trueup audit" in outcome.err


def test_a_score_is_required(run, shared):
    outcome = run("audit", shared.table, "--label=y")
    assert outcome.code == 2
    assert "--score" in outcome.err


def test_the_place_of_the_table_is_checked_before_the_work(audit, shared, tmp_path, monkeypatch):
    monkeypatch.setattr("trueup.cli._files.TableSource.of", lambda *_: pytest.fail("the work has begun"))
    assert "there is no folder" in audit("-o", tmp_path / "no" / "s.csv").err
    assert "none of the known endings" in audit("-o", tmp_path / "s.txt").err
    assert "the table itself" in audit("-o", shared.table).err


def test_ctrl_c_while_the_segments_are_written_leaves_nothing(audit, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("trueup.cli._writing.TableWriter.write", stop)
    outcome = audit(*QUICK, "-o", tmp_path / "s.csv")
    assert (outcome.code, outcome.err) == (130, "Stopped. Nothing was written.\n")
    assert os.listdir(tmp_path) == []


def test_our_own_scored_rows_are_audited_without_the_calibrated_scores(run, tmp_path):
    visits = make_traffic(2_000, random_state=1)
    scored = visits.to_table().drop_columns(["true_probability"]).append_column("calibrated", pa.array(visits.scores))
    pq.write_table(scored, tmp_path / "scored.parquet")
    outcome = run("audit", tmp_path / "scored.parquet", "--label=label", "--score=score", "--max-depth=1")
    assert outcome.code == 0
    assert "Ignoring column 'calibrated': it holds calibrated scores. To use it, name it in --features." in outcome.err
    assert "looks like no feature" not in outcome.err


def test_rows_of_a_group_belong_together(audit, shared):
    options = ("--features=country,version,flag", "--null-samples=40", "--group=hour")
    outcome = audit(*options)
    hours = len(set(shared.scored["hour"].to_pylist()))
    assert outcome.code == 0
    assert outcome.err.startswith(f"warning: --group has only {hours} different values. With fewer than 50")
    assert f"2,000 in {hours} groups, audited in" in outcome.out
    alone = audit(*options, "--max-depth=1", "--json")
    assert alone.json["n_groups"] == hours
    refused = audit(*options[:1], "--group=hour", "--stream")
    assert refused.code != 0
    assert "--group needs all rows in memory" in refused.err
