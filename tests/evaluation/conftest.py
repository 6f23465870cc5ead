"""One evaluation that many tests look at."""

from __future__ import annotations

import pytest

import trueup
from trueup.datasets import Traffic, make_traffic
from trueup.evaluation import Evaluation


@pytest.fixture(scope="session")
def traffic() -> Traffic:
    return make_traffic(20_000)


@pytest.fixture(scope="session")
def evaluation(traffic: Traffic) -> Evaluation:
    return trueup.evaluate(traffic.to_table().drop_columns(["true_probability"]), "label", "score")
