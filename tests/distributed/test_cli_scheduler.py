"""`trueup fit --scheduler`: the workers of a cluster read the files."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client

import trueup
import trueup.cli._fit
from dask_fits import quick_estimator, rows_of_traffic
from trueup.cli import main
from trueup.distributed import fit_dask

ROWS = rows_of_traffic(900)[["country", "device", "hour", "clicked", "p", "w", "user"]]
GROWTH = quick_estimator().lightgbm_params
OPTIONS = [
    *("--label=clicked", "--score=p", "--max-rounds=1", "--validation=0.3", "--min-sum-hessian=0", "--quiet"),
    *(f"--lightgbm-param={name}={value}" for name, value in GROWTH.items()),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The rows in three files."""
    folder = tmp_path / "days"
    folder.mkdir()
    for part in range(3):
        pq.write_table(pa.Table.from_pandas(ROWS[300 * part : 300 * part + 300]), folder / f"{part}.parquet")
    return folder


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(argument) for argument in arguments])
    return int(end.value.code or 0)


def test_a_model_is_fitted_where_the_scheduler_says(client: Client, folder: Path, tmp_path: Path) -> None:
    more = ["--weight=w", "--group=user", f"--scheduler={client.scheduler.address}"]
    assert run("fit", folder / "*.parquet", "-o", tmp_path / "m.trueup", *OPTIONS, *more) == 0
    model = trueup.load(tmp_path / "m.trueup")
    frame = dd.read_parquet([str(folder / f"{part}.parquet") for part in range(3)])
    estimator = quick_estimator(
        max_rounds=1, validation=0.3, rescale="honest", patience=2, features=["country", "device", "hour"]
    )
    columns = {"label": "clicked", "score": "p", "weight": "w", "group": "user"}
    again = fit_dask(frame, estimator=estimator, client=client, **columns)
    np.testing.assert_array_equal(model.calibrate(ROWS), again.calibrate(ROWS))
    assert model.model.summary.n_rows == 900


def test_a_damaged_file_is_named(
    client: Client, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pq.write_table(pa.Table.from_pandas(ROWS[:300]), folder / "1.parquet", write_page_checksum=True)
    content = bytearray((folder / "1.parquet").read_bytes())
    content[100:200] = bytes(100)
    (folder / "1.parquet").write_bytes(content)
    assert run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, f"--scheduler={client.scheduler.address}") == 3
    told = " ".join(capsys.readouterr().err.split())
    assert "Partition 1, read from" in told
    assert "1.parquet" in told
    assert "Traceback" not in told
    assert not (tmp_path / "m.trueup").exists()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "127.0.0.1:{port}", "nonsense://x:{port}"])
def test_a_scheduler_that_can_not_be_reached_is_told_of_soon(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    monkeypatch.setattr(trueup.cli._fit, "PATIENCE", 0.5)
    with socket.socket() as nobody:  # who holds a port, and doesn't listen
        nobody.bind(("127.0.0.1", 0))
        named = address.format(port=nobody.getsockname()[1])
        begun = time.monotonic()
        assert run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, f"--scheduler={named}") == 3
    assert time.monotonic() - begun < 20
    told = " ".join(capsys.readouterr().err.split())
    assert f"there is no Dask scheduler at '{named}'" in told
    assert "Traceback" not in told


def test_only_parquet_files_are_read_by_workers(
    client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    more = [f"--scheduler={client.scheduler.address}"]
    assert run("fit", tmp_path / "rows.csv", "-o", tmp_path / "m.trueup", *OPTIONS, *more) == 2
    assert "the workers of a cluster read Parquet files" in " ".join(capsys.readouterr().err.split())


def test_without_dask_it_is_said_what_to_install(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, "--scheduler=tcp://127.0.0.1:1") != 0
    assert 'pip install "trueup[dask]"' in " ".join(capsys.readouterr().err.split())
