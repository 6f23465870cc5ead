"""`trueup audit` of several files, folders and patterns, and of sketches."""

import re

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from trueup.auditing import SketchSpec, load_sketch, make_sketch

ROLES = ("--label=y", "--score=p", "--weight=w")
FEATURES = ["country", "version", "hour", "flag"]
QUICK = (f"--features={','.join(FEATURES)}", "--jobs=1")


@pytest.fixture
def parts(shared, tmp_path, monkeypatch):
    """The shared table in two files."""
    monkeypatch.setenv("COLUMNS", "100")
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, begin, length in (("a", 0, 700), ("b", 700, 1_300)):
        pq.write_table(shared.scored.slice(begin, length), folder / f"{name}.parquet")
    return folder


def expected_audit(table, features=FEATURES, **options):
    X, weights = table.select(features), table["w"]
    spec = SketchSpec.learn(X, table["p"], sample_weight=weights, **options)
    return make_sketch(X, table["y"], table["p"], spec, sample_weight=weights).audit()


@pytest.mark.parametrize("source", ["folder", "pattern", "files", "one file"])
def test_the_numbers_are_those_of_a_sketch_in_python(run, shared, parts, source):
    files = sorted(parts.iterdir())
    arguments = {
        "folder": [parts],
        "pattern": [parts / "*.parquet"],
        "files": files,
        "one file": [shared.table, "--stream"],
    }[source]
    outcome = run("audit", *arguments, *ROLES, *QUICK, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    expected = expected_audit(shared.scored).to_dict()
    assert {name: outcome.json[name] for name in expected} == expected
    assert outcome.json["verdict"].startswith(f"{outcome.json['n_significant']} segments are significantly wrong")


def test_the_screen_says_ranges_and_by_whose_rule(run, parts):
    outcome = run("audit", parts, *ROLES, *QUICK)
    assert (outcome.code, outcome.err) == (0, "")
    for part in (
        "parts: 'p' against 'y'",
        "2,000",
        "predicted 30.",
        "ECCE",
        "MCE",
        "corrected for their number (Holm)",
    ):
        assert part in outcome.out
    assert re.search(r"^country = NA +\d+ .* too low .* \*$", outcome.out, re.M)


def test_the_report_of_a_sketch_has_no_curves_but_all_numbers(run, parts, tmp_path):
    outcome = run("audit", parts, *ROLES, *QUICK, "--html", tmp_path / "page.html")
    assert outcome.code == 0
    html = (tmp_path / "page.html").read_text("utf-8")
    assert "country = NA" in html
    assert "Open a segment to see its curves" not in html


def test_own_columns_are_audited_in_full(run, shared, parts):
    found = run("audit", parts, *ROLES, "--by=hour,country", "--json").json
    assert found["n_segments"] == 1 + 5 + 4 + 5 * 4  # so many numbers become five ranges; a country may be missing
    refused = run("audit", parts, *ROLES, "--by=planet")
    assert refused.code == 3
    assert "--by: " in refused.err


@pytest.mark.parametrize("option", ["--discover", "--where=hour = 3", "--max-segments=5", "--null-samples=10"])
def test_what_needs_all_rows_is_refused(run, parts, option):
    outcome = run("audit", parts, *ROLES, option)
    assert outcome.code == 2
    assert f"{option.partition('=')[0]} needs all rows in memory" in outcome.err


def test_limits_are_kept_to(run, parts):
    assert run("audit", parts, *ROLES, *QUICK, "-q", "--fail-above=100").code == 0
    failed = run("audit", parts, *ROLES, *QUICK, "-q", "--fail-above=1", "--fail-on-significant")
    assert failed.code == 5
    assert "above the 1 σ of --fail-above; a segment is significantly wrong" in failed.err


def test_all_segments_are_written_with_their_bounds(run, parts, tmp_path):
    assert run("audit", parts, *ROLES, *QUICK, "-q", "-o", tmp_path / "segments.csv").code == 0
    written = pa.csv.read_csv(tmp_path / "segments.csv")
    assert {"segment", "ecce_sigma_low", "ecce_sigma_high", "adjusted_p_value"} <= set(written.column_names)
    refused = run("audit", parts, *ROLES, "-o", parts / "segments.parquet")
    assert refused.code == 2
    assert "would read as a table the next time" in refused.err


def test_sketches_are_kept_and_audited_together(run, shared, parts, tmp_path):
    days = tmp_path / "days"
    days.mkdir()
    whole = run("audit", parts, *ROLES, *QUICK, "--json", "--save-sketch", days / "all.arrow").json
    again = run("audit", "--sketches", days / "all.arrow", "--json").json
    assert again["segments"] == whole["segments"]
    load_sketch(days / "all.arrow").save(days / "again.arrow")
    both = run("audit", "--sketches", days / "*.arrow", "--json").json
    assert both["n"] == 2 * whole["n"]
    text = run("audit", "--sketches", days)
    assert text.code == 0
    assert "4,000, audited in" in text.out


@pytest.mark.parametrize("option", ["--label=y", "--features=hour", "--max-depth=2", "--stream"])
def test_what_a_sketch_has_in_it_is_not_given_with_it(run, tmp_path, option):
    outcome = run("audit", "--sketches", tmp_path, option)
    assert outcome.code == 2
    assert "can't be given with --sketches" in outcome.err


def test_a_file_that_is_no_sketch_is_an_error(run, parts):
    outcome = run("audit", "--sketches", parts)
    assert outcome.code == 3
    assert "a.parquet" in outcome.err


def test_labels_of_any_two_classes_are_found(run, shared, tmp_path):
    words = pa.array(["yes" if label else "no" for label in shared.scored["y"].to_pylist()])
    table = shared.scored.set_column(shared.scored.column_names.index("y"), "y", words)
    pq.write_table(table, tmp_path / "t.parquet")
    found = run("audit", tmp_path / "t.parquet", "--stream", *ROLES, *QUICK, "--json").json
    assert found["classes"] == ["no", "yes"]
    assert found["mce"] == pytest.approx(expected_audit(shared.scored).mce)


def test_errors_name_the_file(run, shared, parts):
    broken = shared.scored.set_column(shared.scored.column_names.index("p"), "p", pa.array([None] + [0.5] * 1_999))
    pq.write_table(broken, parts / "c.parquet")
    outcome = run("audit", parts, *ROLES, *QUICK)
    assert outcome.code == 3
    assert "c.parquet': Column 'p': 1 of 2,000 scores are missing" in outcome.err


def test_without_a_label_or_a_score_the_usage_is_wrong(run, parts):
    for given, missing in (("--label=y", "--score"), ("--score=p", "--label")):
        outcome = run("audit", parts, given)
        assert outcome.code == 2
        assert missing in outcome.err


def test_categories_of_csv_files_are_text_in_all_of_them(run, shared, tmp_path):
    for name, begin in (("a", 0), ("b", 1_000)):
        table = shared.scored.slice(begin, 1_000).select(["hour", "y", "p"])
        pa.csv.write_csv(table, tmp_path / f"{name}.csv")
    outcome = run("audit", tmp_path, "--label=y", "--score=p", "--categorical=hour", "--max-values=30", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.json["n_segments"] == 1 + 24
