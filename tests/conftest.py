"""What all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Threads that spin while they wait make small fits many times slower wherever the tests don't have the machine alone.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

settings.register_profile("repeatable", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("quick", parent=settings.get_profile("repeatable"), max_examples=25)  # `make test`
settings.load_profile("repeatable")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Count tests on real data among the slow ones: they read large files, and most machines have none."""
    if "data_folder" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data sets; tests that need it are skipped without one."""
    named = os.environ.get("TRUEUP_DATA")
    if not named:
        pytest.skip("needs real data: set TRUEUP_DATA to the folder that holds them")
    if not Path(named).is_dir():
        pytest.fail(f"TRUEUP_DATA names {named!r}, which is no folder")
    return Path(named)
