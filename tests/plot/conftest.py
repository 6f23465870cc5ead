"""What the tests of plots share: no screen, no figures left open, and settings that nobody touched."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def nothing_is_left_behind() -> Iterator[None]:
    import matplotlib.pyplot as plt

    before = copy.deepcopy(dict(mpl.rcParams))
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before
