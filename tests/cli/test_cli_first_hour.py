"""The first hour of somebody with a file of their own: every stop names its fix, and the end is a right model.

The file is as people have them: columns between semicolons, the index of a pandas DataFrame, an id, dates, labels in
words, and scores in percent. Norwegians with the plan "plus" leave twice as often as their scores say.
"""

import csv
import datetime
import json
import random
import subprocess
import sys
import urllib.request

import numpy as np
import pyarrow.csv
import pytest

ENTRY = "from trueup.cli import main; main()"
COLUMNS = ["", "customer_id", "signup", "country", "plan", "age", "score", "outcome"]
SEGMENT = "country = NO and plan = plus"


@pytest.fixture(scope="module")
def customers():
    draw = random.Random(5)
    rows = []
    for i in range(6000):
        country, plan, age = draw.choice(["NO", "SE", "DK"]), draw.choice(["basic", "plus"]), draw.randint(18, 80)
        percent = min(max(draw.gauss(25, 8), 2), 45)
        rate = percent / 100 * (2 if (country, plan) == ("NO", "plus") else 1)
        signup = datetime.date(2024, 1, 1) + datetime.timedelta(days=i // 40)
        outcome = "churn" if draw.random() < rate else "stay"
        rows.append([i, f"C{100_000 + i}", signup.isoformat(), country, plan, age, f"{percent:.1f}", outcome])
    return rows


def write(path, rows, unit=1):
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(COLUMNS)
        writer.writerows([*row[:6], float(row[6]) / unit, row[7]] for row in rows)


def mean_of(path, column, rows):
    return float(np.mean(np.array(column_of(path, column))[rows]))


def column_of(path, column):
    options = pyarrow.csv.ParseOptions(delimiter=";")
    return pyarrow.csv.read_csv(path, parse_options=options)[column].to_pylist()


def test_every_stop_names_its_fix_and_the_end_is_a_right_model(run, quick, customers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "percent.csv", customers[:4500])
    write(tmp_path / "scored.csv", customers[:4500], unit=100)
    write(tmp_path / "new.csv", customers[4500:], unit=100)
    draws = ["--null-samples=40", "--jobs=1"]

    # The delimiter is found, and the index is known; a name that is not there is looked up.
    stop = run("audit", "percent.csv", "--label=churn", "--score=scor", *draws)
    assert stop.code == 3
    assert "Reading 'percent.csv' with ';' between columns" in stop.err
    stop = run("audit", "percent.csv", "--label=outcome", "--score=scor", *draws)
    assert "--score: 'percent.csv' has no column 'scor'. Did you mean 'score'?" in stop.err
    (tmp_path / "tabs.tsv").write_text((tmp_path / "percent.csv").read_text())
    stop = run("audit", "tabs.tsv", "--label=outcome", "--score=score", *draws)
    assert stop.err.endswith("It looks like several joined: name what separates them with --delimiter.\n")
    # Dates, then percentages.
    stop = run("audit", "percent.csv", "--label=outcome", "--score=score", *draws)
    assert "Ignoring the column without a name: it is the index of a pandas DataFrame." in stop.err
    assert '--drop "signup"' in stop.err
    given = ["--label=outcome", "--score=score", "--drop=signup,customer_id"]
    stop = run("audit", "percent.csv", *given, *draws)
    assert stop.code == 3
    assert "They look like percentages: divide them by 100." in stop.err
    # Which label the scores are about.
    stop = run("audit", "scored.csv", *given, "--positive=chrun", *draws)
    assert "--positive is 'chrun', but the labels are 'churn' and 'stay'" in stop.err
    given.append("--positive=churn")
    found = run("audit", "scored.csv", *given, *draws, "--json").json
    assert found["segments"][0]["segment"] == SEGMENT
    assert {"customer_id", "signup", ""}.isdisjoint(" ".join(row["segment"] for row in found["segments"]).split())

    # Segments of one's own, for which dates are in nobody's way.
    of_file = ["scored.csv", "--label=outcome", "--score=score", "--positive=churn"]
    assert "brackets stand around sets only" in run("audit", *of_file, "--where=(country = NO)", *draws).err
    assert run("audit", *of_file, f"--where={SEGMENT}", "--fail-on-significant", *draws).code == 5

    # Results are not replaced unasked.
    options = ["scored.csv", *given, "--time=signup", "--quiet", "--jobs=1", "-o", "results"]
    options[options.index("--drop=signup,customer_id")] = "--drop=customer_id"
    assert run("evaluate", *options).code == 0
    stop = run("evaluate", *options)
    assert (stop.code, stop.out) == (2, "")
    assert "Name another folder, or add --force." in stop.err

    assert run("fit", "scored.csv", *given, *quick, "--quiet", "-o", "churn.trueup").out == ""
    assert "Name another file, or add --force." in run("apply", "new.csv", "-m", "churn.trueup", "-o", "new.csv").err
    assert run("apply", "new.csv", "-m", "chrun.trueup", "-o", "out.csv").err.endswith("no file 'chrun.trueup'.\n")
    assert run("apply", "new.csv", "-m", "churn.trueup", "-o", "out.csv").code == 0
    inside = [i for i, row in enumerate(customers[4500:]) if (row[3], row[4]) == ("NO", "plus")]
    churned = np.array([row[7] == "churn" for row in customers[4500:]])
    observed, error = churned[inside].mean(), churned[inside].std() / len(inside) ** 0.5
    assert observed - mean_of("out.csv", "score", inside) > 6 * error
    assert abs(observed - mean_of("out.csv", "calibrated", inside)) < 3 * error
    outside = np.setdiff1d(np.arange(len(churned)), inside)
    assert mean_of("out.csv", "calibrated", outside) == pytest.approx(mean_of("out.csv", "score", outside), abs=0.02)

    shown = run("inspect", "churn.trueup").out
    assert "'churn' is positive, 'stay' is negative" in shown
    assert "customer_id" not in shown


def test_the_model_is_exported_and_served(run, quick, customers, tmp_path, monkeypatch):
    pytest.importorskip("granian")
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "scored.csv", customers[:3000], unit=100)
    given = ["--label=outcome", "--score=score", "--drop=signup,customer_id", "--positive=churn"]
    assert run("fit", "scored.csv", *given, *quick, "--quiet", "-o", "churn.trueup").code == 0
    assert run("apply", "scored.csv", "-m", "churn.trueup", "-o", "out.csv").code == 0
    exported = run("export", "churn.trueup", "--onnx", "churn.onnx", "--json")
    assert exported.code == 0 or 'pip install "trueup[onnx]"' in exported.err
    command = [sys.executable, "-c", ENTRY, "serve", "churn.trueup", "--port=0", "--workers=1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        address = json.loads(process.stderr.readline())["address"]
        for line in process.stderr:
            if json.loads(line)["event"] == "worker started":
                break
        row = dict(zip(COLUMNS[3:7], [*customers[0][3:6], float(customers[0][6]) / 100], strict=True))
        request = urllib.request.Request(
            f"{address}/v1/calibrate",
            json.dumps({"rows": [row]}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answered:
            answer = json.load(answered)
    finally:
        process.kill()
        process.communicate()
    assert answer["probabilities"] == pytest.approx([column_of("out.csv", "calibrated")[0]], rel=1e-9)
