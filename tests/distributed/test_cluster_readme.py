"""What the README shows of clusters runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client

import trueup
from trueup.datasets import make_traffic

README = Path(__file__).parents[2] / "README.md"
SCHEDULER = "tcp://scheduler:8786"


def test_the_readme_fits_scores_and_audits_on_a_cluster(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("days").mkdir()
    for day in range(2):
        table = make_traffic(3_000, random_state=day).to_table().drop_columns(["true_probability"])
        table = table.rename_columns([{"label": "y", "score": "p"}.get(name, name) for name in table.column_names])
        pq.write_table(table.append_column("user_id", pa.array(np.arange(3_000) // 3)), f"days/{day}.parquet")
    (code,) = re.findall(r"```py\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert SCHEDULER in code
    names: dict[str, Any] = {}
    exec(compile(code.replace(SCHEDULER, client.scheduler.address), str(README), "exec"), names)
    names["client"].close()
    assert "6,000 rows" in capsys.readouterr().out
    assert trueup.load("model.trueup").calibrate(table, table["p"]).shape == (3_000,)
