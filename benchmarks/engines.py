"""How many rows per second each recipe of docs/scoring-where-the-data-lives.md scores, from Parquet to Parquet.

Beside them, in the same run, the whole table at once: read, `Calibrator.calibrate`, write; and `calibrate` alone, on
a table that is in memory already. All take turns and are repeated; medians and quartiles. Every answer is compared with
`calibrate` before anything is timed. Spark and Ray are started before, on all cores; what that takes is told apart.
Needs the dependency group engines, java, and real data.

    python benchmarks/engines.py [--quick] [--write]

--write sets the table into the page.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import trueup
from machine import OtherWork, describe, real_data
from scoring import interleaved
from trueup import BatchScorer

PAGE = Path(__file__).parents[1] / "docs" / "scoring-where-the-data-lives.md"
BEGIN, END = "<!-- Measured: python benchmarks/engines.py --write -->", "<!-- End of what was measured -->"
ENGINES = ("pyspark", "ray", "duckdb", "polars")
CORES = len(os.sched_getaffinity(0))
ROUNDS = 10
FIT_ROWS = 30_000
BATCH = 65_536
WHOLE = "the whole table: read, `calibrate`, write"
ALONE = "`calibrate` alone, the table in memory"


def employment() -> tuple[pa.Table, np.ndarray, str | None]:
    """People of Massachusetts, with the scores of a model that is not ours."""
    table = pq.read_table(real_data("acs_employment_MA_scored"))
    y = table["employed"].to_numpy()
    return table.drop(["employed", "prediction", "year", "id"]), y, "predicted_probability"


def flights() -> tuple[pa.Table, np.ndarray, str | None]:
    """Flights between some hundred airports; without scores, so from the base rate."""
    table = pq.read_table(real_data("flights_3m"))
    y, minutes = np.greater(table["delay"].to_numpy(), 15).astype(np.int64), table["date"].to_numpy()
    times = {"hour": minutes // 60 % 24, "weekday": minutes // 1440 % 7, "day": minutes // 1440}
    for name, values in times.items():
        table = table.append_column(name, pa.array(values))
    return table.drop(["delay", "date"]), y, None


DATA = {
    "acs_employment_MA_scored, 17 features": employment,
    "flights_3m, 6 features": flights,
}


def prepare(read: Callable[[], tuple[pa.Table, np.ndarray, str | None]]) -> tuple[str | None, int]:
    """Write rows.parquet and model.trueup to the folder that the process is in; the score column and number of rows."""
    table, y, score = read()
    step = max(1, table.num_rows // FIT_ROWS)
    rows = table.take(pa.array(np.arange(0, table.num_rows, step)))
    options = {"max_rounds": ROUNDS, "validation": None, "rescale": "train"}
    trueup.MCGrad(score_column=score, **options).fit(rows, y[::step]).save("model.trueup")
    table = table.append_column("row", pa.array(np.arange(table.num_rows)))
    pq.write_table(table.replace_schema_metadata(None), "rows.parquet")
    return score, table.num_rows


def recipes(spark: Any, ray: Any, score: str | None) -> dict[str, Callable[[], None]]:
    """What is timed; each writes to the path `out`."""
    calibrator = trueup.load("model.trueup")
    scorer = BatchScorer("model.trueup", score=score)
    threaded = BatchScorer("model.trueup", score=score, n_jobs=None)
    in_memory = pq.read_table("rows.parquet")

    def alone() -> None:
        calibrator.calibrate(in_memory)

    def whole() -> None:
        table = pq.read_table("rows.parquet")
        pq.write_table(table.append_column("calibrated", pa.array(calibrator.calibrate(table))), "out")

    def by_pyarrow() -> None:
        source = pq.ParquetFile("rows.parquet")
        with source, pq.ParquetWriter("out", threaded.output_schema(source.schema_arrow)) as target:
            for batch in threaded.map(source.iter_batches(batch_size=BATCH)):
                target.write_batch(batch)

    def by_polars() -> None:
        def probabilities(rows: pl.Series) -> pl.Series:
            return pl.Series(scorer.probabilities(rows.struct.unnest()))

        added = pl.struct(scorer.columns).map_batches(probabilities, return_dtype=pl.Float64, is_elementwise=True)
        pl.scan_parquet("rows.parquet").with_columns(calibrated=added).sink_parquet("out")

    def by_duckdb() -> None:
        with duckdb.connect() as connection:
            batches = connection.sql("SELECT * FROM 'rows.parquet'").to_arrow_reader(BATCH)
            calibrated = pa.RecordBatchReader.from_batches(scorer.output_schema(batches.schema), scorer.map(batches))
            cursor = connection.cursor()
            cursor.register("calibrated", calibrated)
            cursor.execute("COPY (SELECT * FROM calibrated) TO 'out' (FORMAT parquet)")

    def by_duckdb_function() -> None:
        def calibrate(rows: pa.ChunkedArray) -> pa.Array:
            return scorer.probabilities(pa.Table.from_struct_array(rows))

        fields = ", ".join(f'"{name}" := "{name}"' for name in scorer.columns)
        with duckdb.connect() as connection:
            row_type = connection.sql(f"SELECT struct_pack({fields}) FROM 'rows.parquet'").types[0]
            connection.create_function("calibrate", calibrate, [row_type], "DOUBLE", type="arrow")
            connection.execute(
                f"COPY (SELECT *, calibrate(struct_pack({fields})) AS calibrated FROM 'rows.parquet') "
                "TO 'out' (FORMAT parquet)"
            )

    def by_spark() -> None:
        from pyspark.sql.types import DoubleType, StructField, StructType

        rows = spark.read.parquet(os.path.abspath("rows.parquet"))
        schema = StructType([*rows.schema.fields, StructField("calibrated", DoubleType())])
        rows.mapInArrow(scorer.map, schema).write.mode("overwrite").parquet(os.path.abspath("out"))

    def by_ray() -> None:
        rows = ray.data.read_parquet(os.path.abspath("rows.parquet"))
        rows.map_batches(scorer, batch_format="pyarrow", batch_size=16_384).write_parquet(os.path.abspath("out"))

    return {
        ALONE: alone,
        WHOLE: whole,
        f"pyarrow, batches of {BATCH:,}": by_pyarrow,
        "Polars, `sink_parquet`": by_polars,
        f"DuckDB, a stream, batches of {BATCH:,}": by_duckdb,
        "DuckDB, a function in SQL": by_duckdb_function,
        f"Spark, `local[{CORES}]`": by_spark,
        f"Ray Data, {CORES} CPUs": by_ray,
    }


def into_a_new_place(run: Callable[[], None]) -> Callable[[], None]:
    """The same, with nothing at `out` before; what was there is removed by renaming, which takes no time."""

    def renewed() -> None:
        if os.path.exists("out"):
            os.rename("out", tempfile.mkdtemp(dir="before") + "/out")
        run()

    return renewed


def check(contestants: dict[str, Callable[[], None]]) -> None:
    """Each gives the calibrator's probabilities, bit for bit; this also warms them up."""
    table = pq.read_table("rows.parquet")
    expected = trueup.load("model.trueup").calibrate(table)
    for name, run in contestants.items():
        run()
        if name == ALONE:
            continue
        found = pq.read_table("out", columns=["row", "calibrated"])
        found = found.take(pc.sort_indices(found["row"]))
        if not np.array_equal(found["calibrated"].to_numpy(), expected):
            sys.exit(f"{name}: not the calibrator's probabilities")


@contextlib.contextmanager
def started_engines() -> Iterator[tuple[Any, Any, str]]:
    """Spark and Ray on the loopback, and what starting them took."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "RAY_USAGE_STATS_ENABLED": "0"}
    started = time.perf_counter()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{CORES}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    spark = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark_seconds = time.perf_counter() - started
    started = time.perf_counter()
    import ray
    import ray.data

    ray_folder = tempfile.mkdtemp(prefix="ray")
    ray.init(
        include_dashboard=False, num_cpus=CORES, object_store_memory=10**9, _node_ip_address="127.0.0.1",
        _temp_dir=ray_folder, logging_level="ERROR", log_to_driver=False,
    )  # fmt: skip
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    ray_seconds = time.perf_counter() - started
    try:
        yield spark, ray, f"Starting Spark took {spark_seconds:.1f} s, starting Ray {ray_seconds:.1f} s."
    finally:
        ray.shutdown()
        spark.stop()
        shutil.rmtree(ray_folder, ignore_errors=True)


def busy_cores(seconds: float = 5.0) -> float:
    """How many cores others keep busy now: while engines run, their processes can't be told from those of others."""
    with OtherWork() as others:
        time.sleep(seconds)
    return others.cores


def table_of(measured: dict[str, tuple[int, dict[str, list[float]]]]) -> str:
    """Rows a second as Markdown, a column a data set."""
    heads = [f"{name}: {n_rows:,} rows" for name, (n_rows, _) in measured.items()]
    lines = [f"| thousand rows per second | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads)]
    for recipe in next(iter(measured.values()))[1]:
        cells = []
        for n_rows, times in measured.values():
            slow, middle, fast = np.percentile(n_rows / np.array(times[recipe]) / 1000, [25, 50, 75])
            cells.append(f"{middle:,.0f} ({slow:,.0f}–{fast:,.0f})")
        lines.append(f"| {recipe} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and with --write set the table into the page."""
    repeats = 3 if "--quick" in sys.argv else 5
    measured: dict[str, tuple[int, dict[str, list[float]]]] = {}
    before = busy_cores()
    with tempfile.TemporaryDirectory() as folder, started_engines() as (spark, ray, told):
        os.chdir(folder)
        os.mkdir("before")
        for name, read in DATA.items():
            score, n_rows = prepare(read)
            made = {what: into_a_new_place(run) for what, run in recipes(spark, ray, score).items()}
            check(made)
            measured[name] = n_rows, interleaved(made, repeats, 1)
        os.chdir(PAGE.parent)
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ENGINES)
    table = table_of(measured)
    others = f"Other work kept {before:.1f} cores busy just before, and {busy_cores():.1f} just after."
    facts = f"Medians of {repeats} turns, quartiles in brackets. {told} {others} {describe()}, {versions}."
    print(f"{table}\n\n{facts}")
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table}\n\n{facts}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
