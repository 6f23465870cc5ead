"""A worker's share of a round: LightGBM in this process, connected to the LightGBM of the other workers."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup._fitting import (
    PACKED_PARAMETERS,
    Cancelled,
    ColumnCodes,
    add_columns,
    copy_bins,
    grow_trees,
    packed_dataset,
    with_real_thresholds,
)
from trueup._model import Trees
from trueup.distributed._partitions import PackedPartition

Floats: TypeAlias = npt.NDArray[np.float64]
_PATIENCE = 60.0  # seconds that a worker waits for the others
_HEAD_START = 0.02  # seconds


@dataclass(frozen=True)
class Growth:
    """How the trees of a round are grown; the same on all workers."""

    fit: str  # a name for it
    fold: int | None  # the fold that validates
    parameters: dict[str, Any]
    n_trees: int
    soft: bool
    gradient_unit: float  # what derivatives are multiples of


class NotReadyError(Exception):
    """The rows to grow trees on are not prepared, because another process prepared them."""


@dataclass(frozen=True)
class Network:
    """The machines that grow trees together, and which of them this is."""

    machines: tuple[str, ...]
    rank: int

    @property
    def address(self) -> tuple[str, int]:
        """The host and port where this machine listens."""
        host, _, port = self.machines[self.rank].rpartition(":")
        return host, int(port)

    @property
    def ports(self) -> set[int]:
        """The ports of all machines."""
        return {int(machine.rpartition(":")[2]) for machine in self.machines}

    @property
    def parameters(self) -> dict[str, Any]:
        """LightGBM's parameters for the network; none if there is just one machine."""
        if len(self.machines) == 1:
            return {}
        return {
            "machines": ",".join(self.machines),
            "local_listen_port": self.address[1],
            "num_machines": len(self.machines),
            "tree_learner": "data",
            "pre_partition": True,
            "time_out": 10,  # minutes
        }


@dataclass(frozen=True, eq=False)
class _Running:
    """A machine of this process that grows trees, with what others need to start and stop it."""

    fit: str
    network: Network
    go: threading.Event = field(default_factory=threading.Event)
    cancel: threading.Event = field(default_factory=threading.Event)


_Shard: TypeAlias = tuple[str, tuple[int, ...]]  # the name of a fit, and the numbers of partitions
_bins: dict[_Shard, lgb.Dataset] = {}  # the features of partitions that this process holds
# The rows of the next round, with what their columns mean and LightGBM's parameters.
_ready: dict[_Shard, tuple[lgb.Dataset, tuple[ColumnCodes, ...], dict[str, Any]]] = {}
_running: list[_Running] = []


def prepare_shard(
    partitions: Sequence[PackedPartition],
    numbers: tuple[int, ...],
    logits: Sequence[Floats],
    *,
    reference: Floats,
    edges: Floats,
    growth: Growth,
) -> bool:
    """Get the rows of some partitions ready in this process.

    This takes long, so it is a task of its own: a worker that is lost meanwhile keeps no other waiting.
    """
    parameters = {**growth.parameters, **PACKED_PARAMETERS, "num_threads": worker_threads()}
    bins = _bins_of(growth.fit, numbers, partitions, reference, parameters)
    training_set, columns = _training_set(bins, partitions, logits, edges, fold=growth.fold, parameters=parameters)
    _ready[growth.fit, numbers] = training_set, columns, parameters
    return True


def grow_shards(shards: Sequence[tuple[int, ...]], growth: Growth, networks: Sequence[Network]) -> tuple[Trees, Floats]:
    """Grow the trees of a round on the rows that are ready here; all workers come to the same trees.

    LightGBM's connections belong to a thread, so one process can be several machines.
    """
    if len(shards) == 1:
        return _grow_shard(shards[0], growth, networks[0])
    with ThreadPoolExecutor(len(shards)) as threads:
        grown = threads.map(lambda shard, network: _grow_shard(shard, growth, network), shards, networks)
        first, *_ = grown  # takes all results, so that an error in any of them is raised
        return first


def _grow_shard(numbers: tuple[int, ...], growth: Growth, network: Network) -> tuple[Trees, Floats]:
    try:
        training_set, columns, parameters = _ready.pop((growth.fit, numbers))
    except KeyError:
        raise NotReadyError("A worker has started anew, or grows for the second time") from None
    running = _Running(growth.fit, network)
    _running.append(running)
    try:
        _wait_to_go(running)
        trees, gains = grow_trees(
            training_set,
            parameters | network.parameters,
            n_trees=growth.n_trees,
            n_columns=len(columns),
            soft=growth.soft,
            cancel=running.cancel,
            gradient_unit=growth.gradient_unit,
        )
    finally:
        _running.remove(running)
    return with_real_thresholds(trees, columns), gains


def _wait_to_go(running: _Running) -> None:
    """Wait until all machines are ready to connect: LightGBM tries for minutes to reach one that is gone.

    The machine of the last rank, to which all others connect, goes first: whoever finds its port closed waits before
    trying again.
    """
    if not running.go.wait(_PATIENCE):
        raise NotReadyError("Not all workers have come to grow trees")
    network = running.network
    if network.rank < len(network.machines) - 1:
        running.cancel.wait(_HEAD_START)
    if running.cancel.is_set():
        raise Cancelled


def machines_waiting(fit: str) -> list[str]:
    """The machines of this process, which may run several workers, that wait for the others."""
    waiting = [running.network for running in list(_running) if running.fit == fit and not running.go.is_set()]
    return [network.machines[network.rank] for network in waiting]


def start_growing(fit: str) -> None:
    """Tell the machines that wait here that all others are ready too."""
    for running in _running.copy():
        if running.fit == fit:
            running.go.set()


def worker_threads() -> int:
    """How many threads this worker has."""
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except ValueError:  # not on a worker
        return 1


def _bins_of(
    fit: str,
    numbers: tuple[int, ...],
    partitions: Sequence[PackedPartition],
    reference: Floats,
    parameters: dict[str, Any],
) -> lgb.Dataset:
    """The features of the partitions. They are binned once, and again only if other partitions have come here."""
    if (fit, numbers) in _bins:
        return _bins[fit, numbers]
    for stale in [known for known in _bins.copy() if known[0] == fit and set(known[1]) & set(numbers)]:
        _bins.pop(stale, None)  # another thread may have done so
    made = packed_dataset([partition.rows.matrix for partition in partitions], parameters, reference)
    made.set_label(np.concatenate([partition.rows.labels for partition in partitions]))
    weights = [partition.rows.weights for partition in partitions if partition.rows.weights is not None]
    if weights:
        made.set_weight(np.concatenate(weights))
    _bins[fit, numbers] = made
    return made


def _training_set(
    bins: lgb.Dataset,
    partitions: Sequence[PackedPartition],
    logits: Sequence[Floats],
    edges: Floats,
    *,
    fold: int | None,
    parameters: dict[str, Any],
) -> tuple[lgb.Dataset, tuple[ColumnCodes, ...]]:
    """The training rows, with the logit as last column and initial score; and what the codes of each column mean."""
    trains = [partition.trains(fold) for partition in partitions]
    begins = np.cumsum([0, *(partition.rows.n_rows for partition in partitions)])
    rows = np.concatenate([train + begin for train, begin in zip(trains, begins, strict=False)]).astype(np.int32)
    values = np.concatenate([some[train] for some, train in zip(logits, trains, strict=True)])
    of_logit = ColumnCodes.of_numbers(edges)
    training_set = copy_bins(bins, rows)
    # The bins of the logit must be the same on all workers, so they are made from the edges, not from the rows.
    ends = lgb.Dataset(
        np.arange(len(of_logit.upper), dtype=np.float64).reshape(-1, 1),
        feature_name=["score"],
        params={**parameters, "min_data_in_bin": 1},
    )
    codes = of_logit.encode(values).astype(np.float64).reshape(-1, 1)
    column = lgb.Dataset(codes, reference=ends.construct(), params=ends.params)
    add_columns(training_set, column.construct())
    return training_set.set_init_score(values), (*partitions[0].rows.matrix.columns, of_logit)


def free_ports(n: int) -> list[int]:
    """Some ports of this worker that are free. All are held until the last is found, so that no two are the same."""
    with contextlib.ExitStack() as probes:
        sockets = [probes.enter_context(socket.socket()) for _ in range(n)]
        for probe in sockets:
            probe.bind(("", 0))
        return [int(probe.getsockname()[1]) for probe in sockets]


def interrupt(fit: str) -> None:
    """Stop what this worker grows for a fit, even if it waits for a worker that is gone.

    LightGBM waits for its peers forever: a peer that has ended gives it empty answers, which it takes for slow
    ones. So we shut its connections and put /dev/null in their place, and it gives up at once. But a LightGBM that
    still waits for others to connect would end the whole process. To that one we pretend to be the others, after
    telling it to stop.
    """
    import psutil

    mine = [running for running in list(_running) if running.fit == fit]
    for running in mine:
        running.cancel.set()
        running.go.set()
    ports = {port for running in mine for port in running.network.ports}
    with open(os.devnull, "rb") as nothing:
        for connection in psutil.Process().net_connections(kind="tcp"):
            if connection.status == psutil.CONN_LISTEN:
                for running in mine:
                    if running.network.address[1] == connection.laddr.port:
                        _pretend_to_connect(running.network)
                continue
            ends = [end.port for end in (connection.laddr, connection.raddr) if end]
            if connection.fd >= 0 and ports.intersection(ends):
                _break(connection.fd, nothing.fileno())


def _pretend_to_connect(network: Network) -> None:
    """Send a listening LightGBM what machines of lower ranks send first: their ranks."""
    for rank in range(network.rank):
        with contextlib.suppress(OSError), socket.create_connection(network.address, timeout=1) as connection:
            connection.sendall(struct.pack("=i", rank))


def _break(connection: int, nothing: int) -> None:
    # Shut it through a copy: this wakes whoever waits at the connection, and closing the copy closes nothing else.
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(connection)) as copy:
        copy.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        os.dup2(nothing, connection)


def forget(fit: str) -> None:
    """Give back the memory that a fit has taken here."""
    for store in (_bins, _ready):
        for known in [known for known in store.copy() if known[0] == fit]:
            store.pop(known, None)
