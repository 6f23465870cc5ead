"""The recipes in docs/scoring-where-the-data-lives.md run as they stand, and give the calibrator's probabilities."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trueup

PAGE = Path(__file__).parents[2] / "docs" / "scoring-where-the-data-lives.md"
SECONDS = 150  # a recipe takes ten to twenty on two cores

# What a warning of ours, or one that we cause, would end; those of the engines themselves would not.
BEFORE = """
import warnings
warnings.simplefilter("error")
warnings.filterwarnings("ignore", module=r"(pyspark|py4j|ray)\\b")
"""
# Small, on the loopback alone, and told to nobody.
BEFORE_RAY = """
import ray
ray.init(
    include_dashboard=False, num_cpus=2, object_store_memory=80_000_000, _node_ip_address="127.0.0.1",
    logging_level="ERROR", log_to_driver=False,
)
"""
SPARK_ARGUMENTS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.driver.memory": "512m",
}


def code_of(section: str) -> str:
    """The Python code under a heading of the page."""
    if not PAGE.exists():
        pytest.skip("only a source tree has the page")
    sections = dict(re.findall(r"^#+ ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.M))
    return "\n".join(re.findall(r"```python\n(.*?)```", sections[section], re.DOTALL))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model and the rows that the page begins with."""
    folder = tmp_path_factory.mktemp("recipes")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(code_of("Scoring where the data lives"), str(PAGE), "exec", dont_inherit=True), {})
    return folder


@pytest.fixture(scope="module")
def expected(folder: Path) -> np.ndarray:
    """The calibrated probability of each visit."""
    visits = pq.read_table(folder / "visits.parquet")
    calibrated = trueup.load(folder / "model.trueup").calibrate(visits, visits["p"])
    assert visits["visit"].to_pylist() == list(range(len(calibrated)))
    return calibrated


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Ray keeps sockets in it, whose paths may have some hundred letters only."""
    folder = Path(tempfile.mkdtemp(prefix="ray"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def run(folder: Path, *parts: str, **environment: str) -> None:
    """Run code in a process of its own, so that what an engine starts ends with it."""
    program = folder / "recipe.py"
    program.write_text("\n".join([BEFORE, *parts]), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, program.name],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        pytest.fail(f"not done after {SECONDS} s:\n{said[-3000:]}")
    assert process.returncode == 0, said[-3000:]


def needs(*packages: str) -> None:
    for name in packages:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed: pip install --group engines")


def check(written: pa.Table, expected: np.ndarray, *, n_rows: int | None = None) -> None:
    """Every row has all of its columns and the calibrator's probability, in whatever order rows are."""
    assert written.num_rows == (len(expected) if n_rows is None else n_rows)
    assert len(set(written["visit"].to_pylist())) == written.num_rows
    np.testing.assert_array_equal(written["calibrated"].to_numpy(), expected[written["visit"].to_numpy()])


@pytest.mark.slow
def test_spark(folder: Path, expected: np.ndarray) -> None:
    needs("pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        assert os.environ.get("TRUEUP_REQUIRE_JAVA") != "1", "Spark needs java, and there is none"
        pytest.skip("Spark needs java, and there is none")
    options = " ".join(f"--conf {name}={value}" for name, value in SPARK_ARGUMENTS.items())
    run(
        folder,
        code_of("The scorer"),
        code_of("Spark"),
        "spark.stop()",
        PYSPARK_SUBMIT_ARGS=f"--master local[1] {options} pyspark-shell",
        PYSPARK_PYTHON=sys.executable,
        SPARK_LOCAL_IP="127.0.0.1",
    )
    check(pq.read_table(folder / "by-spark"), expected)


@pytest.mark.slow
def test_ray(folder: Path, expected: np.ndarray, short_folder: Path) -> None:
    needs("ray")
    run(
        folder,
        BEFORE_RAY,
        code_of("The scorer"),
        code_of("Ray Data"),
        "ray.shutdown()",
        RAY_USAGE_STATS_ENABLED="0",
        RAY_TMPDIR=str(short_folder),
    )
    check(pq.read_table(folder / "by-ray"), expected)
    check(pq.read_table(folder / "by-ray-actors"), expected)


def means_by_country(folder: Path, expected: np.ndarray) -> dict[str, float]:
    visits = pq.read_table(folder / "visits.parquet")
    country = np.array(visits["country"].to_pylist())
    return {name: expected[country == name].mean() for name in np.unique(country)}


def test_duckdb(folder: Path, expected: np.ndarray) -> None:
    needs("duckdb")
    run(folder, code_of("The scorer"), code_of("DuckDB"))
    country = pq.read_table(folder / "visits.parquet")["country"].to_pylist()
    n_rows = sum(name != "NO" for name in country)
    assert 0 < n_rows < len(country)
    check(pq.read_table(folder / "by-duckdb.parquet"), expected, n_rows=n_rows)
    rows = pq.read_table(folder / "by-country.parquet").to_pylist()
    assert {row["country"]: row["calibrated"] for row in rows} == pytest.approx(means_by_country(folder, expected))


def test_polars(folder: Path, expected: np.ndarray) -> None:
    needs("polars")
    after = "by_country.write_parquet('by-country-polars.parquet')\nassert n_high == {}"
    n_high = int((expected > 0.5).sum())
    run(folder, code_of("The scorer"), code_of("Polars"), after.format(n_high))
    assert n_high > 0
    check(pq.read_table(folder / "by-polars.parquet"), expected)
    rows = pq.read_table(folder / "by-country-polars.parquet").to_pylist()
    assert {row["country"]: row["calibrated"] for row in rows} == pytest.approx(means_by_country(folder, expected))


def test_pyarrow(folder: Path, expected: np.ndarray) -> None:
    run(folder, code_of("Parquet to Parquet"))
    written = pq.read_table(folder / "by-pyarrow.parquet")
    check(written, expected)
    assert written.drop(["calibrated"]).equals(pq.read_table(folder / "visits.parquet"))
