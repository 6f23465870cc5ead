"""Folds of rows on a cluster, as the loop of rounds sees them, and the workers that grow their trees together."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import numpy as np

from trueup._fitting import (
    Fold,
    GrownRound,
    LossSums,
    Rescale,
    Rescaling,
    Step,
    convergence_bound,
    edges_of_sample,
    rescaling_from_sums,
    theta_from_sums,
)
from trueup.distributed._cluster import Partitions, reduced, sent
from trueup.distributed._partitions import (
    affine_sums,
    corrections,
    losses_of,
    moved_logits,
    sampled_logits,
    scale_sums,
    step_sums,
    summed,
)
from trueup.distributed._shard import (
    Growth,
    Network,
    NotReadyError,
    free_ports,
    grow_shards,
    interrupt,
    machines_waiting,
    prepare_shard,
    start_growing,
)
from trueup.errors import ClusterWarning, TrainingError, callers_level

_EDGES_OF_LOGITS = 253  # LightGBM has 255 bins: two of them are for zero and for what is missing
_MOST_TRIES = 5
_LOOK_EVERY = 0.5  # seconds between checks that all workers are still there
_LOOK_FOR_STARTED = 0.02  # seconds between checks that all of them have come to the task
_Shards: TypeAlias = list[tuple[int, ...]]


class _Lost(Exception):  # noqa: N818 (a signal to try again)
    """The round could not be grown because a worker or a connection is gone."""


@dataclass(frozen=True, eq=False)
class RoundStart:
    """What a round starts from. All but the counts are on the workers."""

    partitions: Partitions
    logits: Sequence[Any]
    n_train: Sequence[int]  # the number of training rows in each partition
    reference: Any  # the rows that the bins of features are made from
    edges: Any  # where the logit is cut


def grow_together(start: RoundStart, growth: Growth) -> GrownRound:
    """Grow the trees of a round on the workers that hold the partitions.

    Losing a worker costs the round, not the fit: Dask makes its partitions and logits again, and the workers that are
    left grow the round again.
    """
    tries = 0
    while True:
        tries += 1
        try:
            return _grown_by(_crew(start), start, growth)
        except _Lost as lost:
            if tries == _MOST_TRIES:
                raise TrainingError(f"A round could not be grown in {_MOST_TRIES} tries: {lost}.") from None
            warnings.warn(f"{lost}. The round is grown again.", ClusterWarning, stacklevel=callers_level())


def _crew(start: RoundStart) -> dict[str, _Shards]:
    """The workers, and the shards of partitions that each of them grows trees on.

    If one worker holds all partitions, it acts as two machines: LightGBM alone grows slightly different trees than
    several connected ones, and the model must not depend on the number of workers.
    """
    held = start.partitions.locate()
    places = {worker: tuple(number for number in numbers if start.n_train[number]) for worker, numbers in held.items()}
    crew: dict[str, _Shards] = {worker: [places[worker]] for worker in sorted(places) if places[worker]}
    if len(crew) == 1:
        ((worker, [numbers]),) = crew.items()
        middle = len(numbers) // 2
        crew[worker] = [shard for shard in (numbers[:middle], numbers[middle:]) if shard]
    return crew


def _grown_by(crew: dict[str, _Shards], start: RoundStart, growth: Growth) -> GrownRound:
    client = start.partitions.client
    tasks: list[tuple[str, Any]] = []

    def submit(worker: str, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Start a task that only this worker may do."""
        pinned = {"workers": [worker], "allow_other_workers": False, "pure": False, "priority": 9}
        task = client.submit(function, *arguments, **pinned, **options)
        tasks.append((worker, task))
        return task

    try:
        prepared = [
            submit(
                worker,
                prepare_shard,
                [start.partitions.futures[number] for number in shard],
                shard,
                [start.logits[number] for number in shard],
                reference=start.reference,
                edges=start.edges,
                growth=growth,
            )
            for worker, shards in crew.items()
            for shard in shards
        ]
        _wait_for(client, prepared, crew)
        networks = _networks(client, crew)
        grown = [submit(worker, grow_shards, shards, growth, networks[worker]) for worker, shards in crew.items()]
        _start(client, grown, networks, growth.fit)
        _wait_for(client, grown, crew)
        return GrownRound(*_result(client, grown[0], crew))
    finally:
        _stop(client, tasks, growth.fit)
        client.cancel([task for _, task in tasks], force=True)


def _start(client: Any, tasks: Sequence[Any], networks: dict[str, list[Network]], fit: str) -> None:
    """When the last worker has come, let all of them connect to each other."""
    (network, *_), *_ = networks.values()  # any of them knows all machines
    while not set(network.machines) <= set().union(*_of_workers(client, networks, machines_waiting, fit).values()):
        _are_done(client, tasks, networks, _LOOK_FOR_STARTED)
    _of_workers(client, networks, start_growing, fit)


def _of_workers(client: Any, crew: Collection[str], function: Callable[[str], Any], fit: str) -> dict[str, Any]:
    """Call a function on each worker at once, even on busy ones."""
    with _lost_without_answer():
        found: dict[str, Any] = client.run(function, fit, workers=list(crew))
        return found


@contextlib.contextmanager
def _lost_without_answer() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _Lost(f"A worker did not answer ({error})") from error


def _networks(client: Any, crew: dict[str, _Shards]) -> dict[str, list[Network]]:
    """The network of each shard: all machines, and which of them it is."""
    with _lost_without_answer():
        ports = {worker: client.run(free_ports, len(shards), workers=[worker]) for worker, shards in crew.items()}
    machines = tuple(f"{urlsplit(worker).hostname}:{port}" for worker in crew for port in ports[worker][worker])
    ranks = iter(range(len(machines)))
    return {worker: [Network(machines, next(ranks)) for _ in shards] for worker, shards in crew.items()}


def _wait_for(client: Any, tasks: Sequence[Any], crew: Collection[str]) -> None:
    """Wait until all tasks are done. Raise `_Lost` if a worker or a connection is gone."""
    while not _are_done(client, tasks, crew, _LOOK_EVERY):
        pass


def _are_done(client: Any, tasks: Sequence[Any], crew: Collection[str], timeout: float) -> bool:
    """Wait for the next task, at most some seconds, and say whether all are done. Raise `_Lost` if one can't be."""
    from distributed import CancelledError, wait

    with contextlib.suppress(TimeoutError, CancelledError):
        pending = [task for task in tasks if task.status == "pending"]
        wait(pending, timeout=timeout, return_when="FIRST_COMPLETED")
    _check_there(client, crew)
    _check_errors([task.exception() for task in tasks if task.status == "error"])
    if any(task.status in ("cancelled", "lost") for task in tasks):
        raise _Lost("A task is lost")
    return all(task.status == "finished" for task in tasks)


def _result(client: Any, task: Any, crew: Collection[str]) -> Any:
    """The result of a task that is done. Raise `_Lost` if its worker is gone before the result could be fetched."""
    while True:
        with contextlib.suppress(TimeoutError):
            return task.result(timeout=_LOOK_EVERY)
        _check_there(client, crew)


def _check_there(client: Any, crew: Collection[str]) -> None:
    gone = set(crew) - set(client.nthreads())
    if gone:
        raise _Lost(f"Worker {min(gone)} is gone")


def _check_errors(errors: Sequence[BaseException]) -> None:
    """Raise what went wrong, if anything did. The cause comes before the connections that others lost by it."""
    for error in errors:
        if not _of_network(error):
            raise TrainingError(f"LightGBM could not grow a tree on a worker: {error}.") from error
    for error in errors:
        raise _Lost(f"A connection between workers is gone ({error})")


def _of_network(error: BaseException) -> bool:
    return isinstance(error, NotReadyError) or any(
        word in str(error).lower() for word in ("socket", "connect", "bind", "machine")
    )


def _stop(client: Any, tasks: Sequence[tuple[str, Any]], fit: str) -> None:
    """Stop what workers still do, so that none of them waits for one that is gone."""
    from distributed import wait

    for _ in range(20):
        there = client.nthreads()
        running = {task: worker for worker, task in tasks if worker in there and task.status == "pending"}
        if not running:
            return
        with contextlib.suppress(Exception):
            client.run(interrupt, fit, workers=list(set(running.values())), on_error="ignore")
        with contextlib.suppress(TimeoutError):
            wait(list(running), timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED")


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Partitions on a cluster, and what all splits of them share."""

    partitions: Partitions
    n_features: int
    base_logits: Sequence[Any]
    reference: Any


class DaskFold(Fold["DaskFold"]):
    """Training and validation rows on a cluster. Their logits stay on the workers."""

    def __init__(self, rows: DaskRows, growth: Growth, n_train: Sequence[int]) -> None:
        self._rows, self._growth, self._n_train = rows, growth, n_train
        self._logits = list(rows.base_logits)
        self._corrections: list[Any] = []

    @property
    def n_columns(self) -> int:
        """How many columns trees may split on, the logit among them."""
        return self._rows.n_features + 1

    def grow(self, n_threads: int) -> GrownRound:
        """Grow the trees of a round on all workers together."""
        partitions, fold = self._rows.partitions, self._growth.fold
        sample = reduced(partitions.client, np.concatenate, partitions.map(sampled_logits, self._logits, fold=fold))
        edges = partitions.client.submit(edges_of_sample, sample, _EDGES_OF_LOGITS, pure=False)
        start = RoundStart(partitions, self._logits, self._n_train, self._rows.reference, edges)
        grown = grow_together(start, self._growth)
        trees = sent(partitions.client, grown.trees)
        self._corrections = partitions.map(corrections, self._logits, trees=trees)
        return grown

    def held_out(self, n_threads: int) -> DaskFold:
        """The fold itself, which can sum over its validation rows."""
        return self

    def affine_sums(self, theta: float, intercept: float) -> tuple[float, ...]:
        """The loss of the validation rows and its derivatives."""
        found: tuple[float, ...] = self._rows.partitions.total(
            affine_sums, self._logits, self._corrections, fold=self._growth.fold, theta=theta, intercept=intercept
        )
        return found

    def own_rescaling(self, rescale: Rescale, n_threads: int) -> Rescaling:
        """Theta from the training rows; nothing if nothing is rescaled."""
        if rescale is None:
            return Rescaling()
        partitions, fold = self._rows.partitions, self._growth.fold

        def sums(theta: float) -> tuple[float, float]:
            """The derivatives by theta, of all partitions."""
            first, second = partitions.total(scale_sums, self._logits, self._corrections, fold=fold, theta=theta)
            return first, second

        return Rescaling(theta_from_sums(sums))

    def finish(self, rescaling: Rescaling, n_threads: int) -> Step:
        """Move the logits by the grown round, where they are."""
        partitions, before = self._rows.partitions, self._logits
        self._logits = partitions.client.map(moved_logits, before, self._corrections, rescaling=rescaling, pure=False)
        self._corrections = []
        steps = partitions.each(step_sums, before, self._logits, fold=self._growth.fold)
        weight, change, square = summed([sums for *sums, _ in steps])
        mean_change = change / weight
        phi = 2 * mean_change + square / weight / 8
        return Step(mean_change, phi, convergence_bound(phi, max(largest for *_, largest in steps)))

    def losses(self, n_threads: int) -> LossSums:
        """The log loss of training and of validation rows."""
        growth = self._growth
        return LossSums(*self._rows.partitions.total(losses_of, self._logits, fold=growth.fold, soft=growth.soft))


def agreed_rescaling(folds: Sequence[DaskFold], n_threads: int) -> Rescaling:
    """One rescaling for all folds, from the validation rows of each."""

    def sums(theta: float, intercept: float) -> list[float]:
        """The loss and its derivatives, of all folds."""
        return [sum(values) for values in zip(*(fold.affine_sums(theta, intercept) for fold in folds), strict=True)]

    return rescaling_from_sums(sums)
