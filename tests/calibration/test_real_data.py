"""On real data, where they are at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from trueup import MCGrad
from trueup.metrics import log_loss


def test_a_poor_model_of_bank_marketing_gets_better_on_new_rows(data_folder: Path) -> None:
    path = data_folder / "bank_marketing.parquet"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    table = pd.read_parquet(path)
    y = (table.pop("y") == "yes").to_numpy()
    numbers = table[["age", "balance", "campaign"]]  # all that the model knows
    train, test = np.arange(len(y)) % 3 == 0, np.arange(len(y)) % 3 == 1
    base = make_pipeline(StandardScaler(), LogisticRegression()).fit(numbers[train], y[train])
    scores = base.predict_proba(numbers)
    model = MCGrad(max_rounds=3).fit(table[train], y[train], scores=scores[train])
    after = model.calibrate(table[test], scores[test])
    assert log_loss(y[test], after) < 0.8 * log_loss(y[test], scores[test, 1])
    for job, rows in table[test].groupby("job", observed=True).indices.items():
        promised, noise = after[rows].mean(), np.sqrt((after[rows] * (1 - after[rows])).sum()) / len(rows)
        assert abs(promised - y[test][rows].mean()) < 0.01 + 3.5 * noise, job
