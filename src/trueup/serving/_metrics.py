"""What is counted, how processes share their counts, and how Prometheus reads them.

Each process writes to a block of anonymous shared memory of its own, made before the workers are forked, and all
blocks are read together. A worker that dies leaves its block to its successor, which counts on in it: sums never fall,
and there are no files to clean up. Numbers are aligned doubles, which a processor reads and writes as a whole, and a
key is published only after it is written, so a reader never sees half of one.
"""

from __future__ import annotations

import bisect
import json
import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._scoring import Observed

__all__ = [
    "HEARTBEAT",
    "STOPPING",
    "Counted",
    "CounterBlock",
    "Metrics",
    "digest_of",
    "histogram",
    "make_blocks",
    "tally",
]

Key: TypeAlias = tuple[str, tuple[str, ...]]
Floats = npt.NDArray[np.float64]


class _Few(NamedTuple):
    """The few entries that grow of an array of counts: for one row, arrays cost more than scoring it."""

    size: int
    grown: list[tuple[int, float]]


Counted: TypeAlias = tuple[str, tuple[str, ...], float | Floats | _Few]

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SCORES = (0.01, 0.02, 0.05, *(n / 10 for n in range(1, 10)), 0.95, 0.98, 0.99, 1.0)
DIFFERENCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_FEW = 8  # rows, for which a loop is quicker than NumPy

_N_VALUES = 1 << 17  # of 8 bytes; pages that are never touched cost nothing
_N_KEY_BYTES = 1 << 21
_USED, _KEY_BYTES, _FIRST = 0, 1, 8
HEARTBEAT, STOPPING = 0, 1  # marks: when a process last showed that it is alive, and whether it has been told to stop
_SIZE = _N_VALUES * 8 + _N_KEY_BYTES

# By name: the kind, the help, the labels, and the upper bounds of a histogram's buckets.
_FAMILIES: Mapping[str, tuple[str, str, tuple[str, ...], tuple[float, ...]]] = {
    "trueup_requests": ("counter", "Requests answered.", ("route", "status"), ()),
    "trueup_request_seconds": ("histogram", "Time from headers to answer.", ("route",), SECONDS),
    "trueup_errors": ("counter", "Requests refused or failed, by kind of problem.", ("kind",), ()),
    "trueup_disconnects": ("counter", "Requests whose client left before the answer.", (), ()),
    "trueup_requests_in_work": ("gauge", "Requests being worked on.", (), ()),
    "trueup_body_bytes": ("gauge", "Bytes of request bodies in memory, complete or not.", (), ()),
    "trueup_rows": ("counter", "Rows scored.", ("model",), ()),
    "trueup_missing_scores": ("counter", "Rows without a base score.", ("model",), ()),
    "trueup_missing_values": ("counter", "Missing values of a feature.", ("model", "feature"), ()),
    "trueup_unseen_categories": ("counter", "Categories that the model never saw at fit.", ("model", "feature"), ()),
    "trueup_base_score": ("histogram", "Scores before calibration.", ("model",), SCORES),
    "trueup_calibrated_score": ("histogram", "Scores after calibration.", ("model",), SCORES),
    "trueup_shadow_score": ("histogram", "Scores of the candidate.", ("model",), SCORES),
    "trueup_shadow_difference": ("histogram", "From the answer to the candidate's score.", ("model",), DIFFERENCES),
    "trueup_shadow_dropped_rows": ("counter", "Rows that the candidate had no time for.", ("model",), ()),
    "trueup_shadow_errors": ("counter", "Requests that the candidate could not score.", ("model",), ()),
    "trueup_model_reloads": ("counter", "Changes of a model's file, by outcome.", ("model", "outcome"), ()),
    "trueup_log_lines_dropped": ("counter", "Log lines dropped because nobody read them in time.", (), ()),
    "trueup_worker_restarts": ("counter", "Workers that died and were replaced.", (), ()),
    "trueup_worker_resident_bytes": ("gauge", "Memory of a worker.", ("worker",), ()),
    "trueup_model_info": ("gauge", "The model in use.", ("model", "sha256"), ()),
    "trueup_model_loaded_timestamp_seconds": ("gauge", "When the model was loaded.", ("model",), ()),
    "trueup_model_file_bad": ("gauge", "1 if the file that is there now can't be used.", ("model",), ()),
}


def make_blocks(count: int) -> list[mmap.mmap]:
    """Memory for so many blocks, which children of a fork share."""
    return [mmap.mmap(-1, _SIZE) for _ in range(count)]


class CounterBlock:
    """The counters of one process, in a memory of `make_blocks`; what that holds already is kept."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._values: Floats = np.frombuffer(memory, np.float64, _N_VALUES)
        self._numbers = memoryview(memory)[: 8 * _N_VALUES].cast("d")  # the same; quicker for single numbers
        if self._values[_USED] == 0:
            self._values[_USED] = _FIRST
        self.marks = self._values[_KEY_BYTES + 1 : _FIRST]  # at HEARTBEAT and STOPPING
        self._places = {key: start for key, start, _ in self._entries()}

    def add(self, name: str, labels: tuple[str, ...], amounts: float | Floats | _Few) -> None:
        """Add to the counters of a name and labels; what no longer fits is not counted."""
        size = len(amounts) if isinstance(amounts, np.ndarray) else amounts.size if isinstance(amounts, _Few) else 1
        start = self._place(name, labels, size)
        if start is None:
            return
        if isinstance(amounts, np.ndarray):
            self._values[start : start + size] += amounts
        else:
            for place, amount in amounts.grown if isinstance(amounts, _Few) else ((0, amounts),):
                self._numbers[start + place] += amount

    def put(self, name: str, labels: tuple[str, ...], value: float) -> None:
        """Set the number of a name and labels."""
        start = self._place(name, labels, 1)
        if start is not None:
            self._numbers[start] = value

    def read(self) -> Iterator[tuple[Key, Floats]]:
        """All counters, as they are now."""
        for key, start, size in self._entries():
            yield key, self._values[start : start + size].copy()

    def _place(self, name: str, labels: tuple[str, ...], size: int) -> int | None:
        key = (name, labels)
        start = self._places.get(key)
        if start is None:
            start = self._publish(key, size)
            if start is not None:
                self._places[key] = start
        return start

    def _publish(self, key: Key, size: int) -> int | None:
        start, written = int(self._values[_USED]), int(self._values[_KEY_BYTES])
        line = json.dumps([*key, start, size]).encode() + b"\n"
        if start + size > _N_VALUES or written + len(line) > _N_KEY_BYTES:
            return None
        offset = _N_VALUES * 8 + written
        self._memory[offset : offset + len(line)] = line
        self._values[_USED] = start + size
        self._values[_KEY_BYTES] = written + len(line)  # last: readers look no further than this
        return start

    def _entries(self) -> Iterator[tuple[Key, int, int]]:
        offset = _N_VALUES * 8
        for line in self._memory[offset : offset + int(self._values[_KEY_BYTES])].splitlines():
            name, labels, start, size = json.loads(line)
            yield (name, tuple(labels)), start, size


def digest_of(model: str, scores: Floats, observed: Observed) -> list[Counted]:
    """What is counted of a request's rows, which is numbers only and of all rows together."""
    digest: list[Counted] = [
        ("trueup_rows", (model,), len(scores)),
        ("trueup_base_score", (model,), tally(scores, SCORES)),
        ("trueup_calibrated_score", (model,), tally(observed.probabilities, SCORES)),
    ]
    if n_missing := int(np.count_nonzero(np.isnan(scores))):
        digest.append(("trueup_missing_scores", (model,), n_missing))
    digest += [("trueup_missing_values", (model, feature), count) for feature, count in observed.missing.items()]
    return digest + [("trueup_unseen_categories", (model, name), count) for name, count in observed.unseen.items()]


def tally(values: Floats, bounds: tuple[float, ...]) -> Floats | _Few:
    """The histogram of the values that are there, in the form that is quickest to add."""
    if len(values) > _FEW:
        return histogram(values[~np.isnan(values)], bounds)
    present = [value for value in values.tolist() if value == value]  # noqa: PLR0124 - not NaN, without a call
    grown = [(bisect.bisect_left(bounds, value), 1.0) for value in present]
    return _Few(len(bounds) + 2, [*grown, (len(bounds) + 1, sum(present))])


def histogram(values: Floats, bounds: tuple[float, ...]) -> Floats:
    """How many values are at most each bound and above the one before; then those above all; then the sum."""
    counts = np.zeros(len(bounds) + 2)
    counts[:-1] = np.bincount(np.searchsorted(np.array(bounds), values), minlength=len(bounds) + 1)
    counts[-1] = values.sum()
    return counts


class Metrics:
    """Counts in the block of this process, `own`, and reads the sums over all `blocks`, its own included."""

    def __init__(self, own: CounterBlock, blocks: Sequence[CounterBlock]) -> None:
        self.own, self._blocks = own, blocks

    def count(self, name: str, *labels: str, by: float = 1.0) -> None:
        """Add to a counter."""
        self.own.add(name, labels, by)

    def set(self, name: str, *labels: str, value: float) -> None:
        """Set a gauge."""
        self.own.put(name, labels, value)

    def record(self, digest: Iterable[Counted]) -> None:
        """Count the rows of a request that has been scored."""
        for name, labels, amounts in digest:
            self.own.add(name, labels, amounts)

    def record_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        self.count("trueup_requests", route, str(status))
        grown = [(bisect.bisect_left(SECONDS, seconds), 1.0), (len(SECONDS) + 1, seconds)]
        self.own.add("trueup_request_seconds", (route,), _Few(len(SECONDS) + 2, grown))

    def totals(self) -> dict[str, dict[tuple[str, ...], Floats]]:
        """The counters of all processes together, by name and labels."""
        totals: dict[str, dict[tuple[str, ...], Floats]] = {}
        for block in self._blocks:
            for (name, labels), values in block.read():
                of_name = totals.setdefault(name, {})
                of_name[labels] = of_name[labels] + values if labels in of_name else values
        return totals

    def exposition(self, gauges: Iterable[tuple[str, tuple[str, ...], float]]) -> tuple[bytes, str]:
        """All metrics, and gauges that are known only now, in Prometheus's text format, and its media type."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        totals: dict[str, Any] = self.totals()
        for name, labels, value in gauges:
            totals.setdefault(name, {})[labels] = [value]
        kinds = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily, "histogram": HistogramMetricFamily}
        metrics = []
        for name, (kind, said, label_names, bounds) in _FAMILIES.items():
            metric: Any = kinds[kind](name, said, labels=label_names)
            for labels, counts in sorted(totals.get(name, {}).items(), key=lambda entry: entry[0]):
                if kind == "histogram":
                    buckets = zip([*map(repr, bounds), "+Inf"], np.cumsum(counts[:-1]).tolist(), strict=True)
                    metric.add_metric(labels, list(buckets), float(counts[-1]))
                else:
                    metric.add_metric(labels, float(counts[0]))
            metrics.append(metric)
        registry: Any = SimpleNamespace(collect=lambda: metrics)
        return generate_latest(registry), CONTENT_TYPE_LATEST
