"""Clusters of Dask workers on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Client, LocalCluster


@pytest.fixture(scope="session")
def client() -> Iterator[Client]:
    """Two workers, each a process of one thread; not the default client, so that tests say where they work."""
    with _two_processes() as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="module")
def mortal() -> Iterator[Client]:
    """Two workers of a file's own, which may be killed; others take their places."""
    with _two_processes() as cluster, Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture(scope="session")
def alone() -> Iterator[Client]:
    """One worker, which is a thread of this process."""
    options: dict[str, Any] = {"processes": False, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=1, **options) as cluster, Client(cluster, set_as_default=False) as client:
        yield client


def _two_processes() -> LocalCluster:
    return LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0")
