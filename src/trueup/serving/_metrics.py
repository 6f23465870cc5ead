"""What is counted, and how Prometheus reads it."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._scoring import Observed
from trueup.serving._counters import CounterBlock

__all__ = ["FAMILIES", "Digest", "Metrics", "ModelGauges", "digest_of"]

Floats = npt.NDArray[np.float64]

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SCORES = (0.01, 0.02, 0.05, *(n / 10 for n in range(1, 10)), 0.95, 0.98, 0.99, 1.0)
DIFFERENCES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_FEW = 8  # rows, for which a loop is quicker than NumPy


@dataclass(frozen=True)
class Family:
    """A metric: its kind (counter, gauge or histogram), help, labels, and the bounds of its buckets."""

    kind: str
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()


FAMILIES: Mapping[str, Family] = {
    "trueup_requests": Family("counter", "Requests answered.", ("route", "status")),
    "trueup_request_seconds": Family("histogram", "Time from headers to answer.", ("route",), SECONDS),
    "trueup_errors": Family("counter", "Requests refused or failed, by the kind of problem.", ("kind",)),
    "trueup_disconnects": Family("counter", "Requests whose client left before the answer."),
    "trueup_requests_in_work": Family("gauge", "Requests being worked on."),
    "trueup_body_bytes": Family("gauge", "Bytes of bodies that are held, whole or not."),
    "trueup_rows": Family("counter", "Rows scored.", ("model",)),
    "trueup_missing_scores": Family("counter", "Rows without a base score.", ("model",)),
    "trueup_missing_values": Family("counter", "Missing values of a feature.", ("model", "feature")),
    "trueup_unseen_categories": Family("counter", "Categories that were not there at fit.", ("model", "feature")),
    "trueup_base_score": Family("histogram", "Scores before calibration.", ("model",), SCORES),
    "trueup_calibrated_score": Family("histogram", "Scores after calibration.", ("model",), SCORES),
    "trueup_shadow_score": Family("histogram", "Scores of the candidate.", ("model",), SCORES),
    "trueup_shadow_difference": Family(
        "histogram", "Distance between the candidate's score and the answer.", ("model",), DIFFERENCES
    ),
    "trueup_shadow_dropped_rows": Family("counter", "Rows that the candidate had no time for.", ("model",)),
    "trueup_shadow_errors": Family("counter", "Requests that the candidate could not score.", ("model",)),
    "trueup_model_reloads": Family("counter", "Changes of a model's file, by what came of it.", ("model", "outcome")),
    "trueup_log_lines_dropped": Family("counter", "Lines of the log that nobody read in time."),
    "trueup_worker_restarts": Family("counter", "Workers that died and were replaced."),
    "trueup_worker_resident_bytes": Family("gauge", "Memory of a worker.", ("worker",)),
}


@dataclass(frozen=True, eq=False)
class Digest:
    """What is recorded of a request's rows: numbers only, of all rows together."""

    n_rows: int
    missing_scores: int
    before: Floats
    after: Floats
    missing: Mapping[str, int]
    unseen: Mapping[str, int]


def digest_of(scores: Floats, observed: Observed) -> Digest:
    """The digest of scored rows."""
    present = scores if not (absent := int(np.isnan(scores).sum())) else scores[~np.isnan(scores)]
    calibrated = observed.probabilities
    after = calibrated if not absent else calibrated[~np.isnan(calibrated)]
    return Digest(
        len(scores), absent, histogram(present, SCORES), histogram(after, SCORES), observed.missing, observed.unseen
    )


def histogram(values: Floats, bounds: tuple[float, ...]) -> Floats:
    """How many values are at most each bound and above the one before; then those above all; then the sum."""
    counts = np.zeros(len(bounds) + 2)
    if len(values) <= _FEW:
        for value in values.tolist():
            counts[bisect.bisect_left(bounds, value)] += 1
    else:
        counts[:-1] = np.bincount(np.searchsorted(np.array(bounds), values), minlength=len(bounds) + 1)
    counts[-1] = values.sum()
    return counts


@dataclass(frozen=True)
class ModelGauges:
    """A model as `/metrics` shows it."""

    name: str
    sha256: str
    loaded_at: float
    file_is_bad: bool


class Metrics:
    """The counters of this process, and the sums over all.

    Parameters
    ----------
    own : CounterBlock
        Where this process counts.
    blocks : sequence of CounterBlock
        Those of all processes, this one's included.
    """

    def __init__(self, own: CounterBlock, blocks: Sequence[CounterBlock]) -> None:
        self.own = own
        self._blocks = blocks

    def count(self, name: str, *labels: str, by: float = 1.0) -> None:
        """Add to a counter."""
        self.own.add(name, labels, by)

    def set(self, name: str, *labels: str, value: float) -> None:
        """Set a gauge."""
        self.own.put(name, labels, value)

    def observe(self, name: str, *labels: str, counts: Floats) -> None:
        """Add what `histogram` gives to a histogram."""
        self.own.add(name, labels, counts, len(counts))

    def record_request(self, route: str, status: int, seconds: float) -> None:
        """Count a request that has been answered."""
        self.count("trueup_requests", route, str(status))
        counts = np.zeros(len(SECONDS) + 2)
        counts[bisect.bisect_left(SECONDS, seconds)] = 1
        counts[-1] = seconds
        self.observe("trueup_request_seconds", route, counts=counts)

    def record_rows(self, model: str, digest: Digest) -> None:
        """Count the rows of a request that has been scored."""
        self.count("trueup_rows", model, by=digest.n_rows)
        self.observe("trueup_base_score", model, counts=digest.before)
        self.observe("trueup_calibrated_score", model, counts=digest.after)
        if digest.missing_scores:
            self.count("trueup_missing_scores", model, by=digest.missing_scores)
        for name, counts in (("trueup_missing_values", digest.missing), ("trueup_unseen_categories", digest.unseen)):
            for feature, count in counts.items():
                self.count(name, model, feature, by=count)

    def totals(self) -> dict[str, dict[tuple[str, ...], Floats]]:
        """The counters of all processes together, by name and labels."""
        totals: dict[str, dict[tuple[str, ...], Floats]] = {}
        for block in self._blocks:
            for (name, labels), values in block.read():
                of_name = totals.setdefault(name, {})
                of_name[labels] = of_name[labels] + values if labels in of_name else values
        return totals

    def exposition(self, models: Callable[[], Iterable[ModelGauges]]) -> tuple[bytes, str]:
        """All metrics in Prometheus's text format, and its media type."""
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

        registry = CollectorRegistry()
        registry.register(_Collector(self.totals(), models()))
        return generate_latest(registry), CONTENT_TYPE_LATEST


class _Collector:
    """The metrics in the form that the Prometheus client writes."""

    def __init__(self, totals: dict[str, dict[tuple[str, ...], Floats]], models: Iterable[ModelGauges]) -> None:
        self._totals = totals
        self._models = list(models)

    def collect(self) -> Iterator[Any]:
        """Each metric with all its labels."""
        for name, family in FAMILIES.items():
            yield _family(name, family, self._totals.get(name, {}))
        yield from self._of_models()

    def _of_models(self) -> Iterator[Any]:
        from prometheus_client.core import GaugeMetricFamily

        info = GaugeMetricFamily("trueup_model_info", "The model in use.", labels=["model", "sha256"])
        loaded = GaugeMetricFamily("trueup_model_loaded_timestamp_seconds", "When it was loaded.", labels=["model"])
        bad = GaugeMetricFamily(
            "trueup_model_file_bad", "1 if the file that is there now can't be used.", labels=["model"]
        )
        for model in self._models:
            info.add_metric([model.name, model.sha256], 1)
            loaded.add_metric([model.name], model.loaded_at)
            bad.add_metric([model.name], float(model.file_is_bad))
        yield from (info, loaded, bad)


def _family(name: str, family: Family, entries: Mapping[tuple[str, ...], Floats]) -> Any:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    if family.kind == "histogram":
        metric = HistogramMetricFamily(name, family.help, labels=family.labels)
        for labels, counts in sorted(entries.items()):
            bounds = [*map(repr, family.bounds), "+Inf"]
            up_to = np.cumsum(counts[:-1]).tolist()
            metric.add_metric(labels, list(zip(bounds, up_to, strict=True)), float(counts[-1]))
        return metric
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    of_kind = kind(name, family.help, labels=family.labels)
    for labels, counts in sorted(entries.items()):
        of_kind.add_metric(labels, float(counts[0]))
    return of_kind
