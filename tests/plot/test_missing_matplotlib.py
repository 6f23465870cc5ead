"""Plots without matplotlib."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import trueup
from trueup.errors import MissingExtraError, TrueupError
from trueup.plot import (
    CumulativeDisplay,
    FeatureGridDisplay,
    LearningCurveDisplay,
    ReliabilityDisplay,
    SegmentsDisplay,
    SlopesDisplay,
)

Y, P, X = [0, 1] * 20, [0.5] * 40, {"a": ["x", "y"] * 20}


@pytest.mark.parametrize(
    "draw",
    [
        lambda: ReliabilityDisplay.from_predictions(Y, P),
        lambda: CumulativeDisplay.from_predictions(Y, P),
        lambda: SegmentsDisplay.from_predictions(Y, P, X),
        lambda: SlopesDisplay.from_predictions(Y, P, P, X),
        lambda: FeatureGridDisplay.from_predictions(Y, P, X, "a"),
        lambda: LearningCurveDisplay([0], [0.5], [0.5], n_rounds=0).plot(),
    ],
)
def test_the_error_names_the_command_that_installs_it(draw: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)  # as if it could not be found
    with pytest.raises(MissingExtraError, match=r'pip install "trueup\[plot\]"') as raised:
        draw()
    assert isinstance(raised.value, (ImportError, TrueupError))


def test_the_names_are_there_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert trueup.plot.ReliabilityDisplay is ReliabilityDisplay


def test_importing_the_plots_does_not_load_it() -> None:
    program = "import sys, trueup.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
