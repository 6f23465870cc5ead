"""The segments of an audit, as much of them as plots need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from trueup.auditing import AuditResult
from trueup.errors import ParameterError


@dataclass(frozen=True)
class AuditedSegment:
    """A segment as plots draw it."""

    segment: str  # its conditions in words
    rows: int
    mean_score: float  # predicted
    observed_rate: float
    observed_low: float  # the 95 % interval of the true rate
    observed_high: float
    direction: str  # "over-estimates", "under-estimates" or "both"
    ecce_sigma: float
    significant: bool  # wrong by more than noise explains, the search counted in


def worst_segments(result: AuditResult, n_segments: int) -> tuple[AuditedSegment, ...]:
    """The worst segments of an audit, without those that are wrong only because they overlap another."""
    _check_count("n_segments", n_segments)
    listed = [row for row in result.to_dict(n_segments)["segments"] if row["explained_by"] is None]
    return tuple(audited_segment(row) for row in listed)


def audited_segment(row: dict[str, Any]) -> AuditedSegment:
    """A row of an audit's list."""
    # JSON knows no infinity: all scores in the segment are 0 or 1, and wrong.
    sigmas = math.inf if row["ecce_sigma"] is None else row["ecce_sigma"]
    return AuditedSegment(**{one.name: row[one.name] for one in fields(AuditedSegment)} | {"ecce_sigma": sigmas})


def segments_named(result: AuditResult, names: Sequence[str]) -> dict[str, AuditedSegment]:
    """The segments of these names, of those that the audit lists."""
    # The columns of the table, before a library makes one of them: dicts of 100,000 rows would take seconds.
    columns = result._listing.columns()
    places = {name: place for place, name in enumerate(columns["segment"])}
    found = [places[name] for name in names if name in places]
    wanted = [one.name for one in fields(AuditedSegment)]
    rows = ({name: np.asarray(columns[name][place]).item() for name in wanted} for place in found)
    return {row["segment"]: AuditedSegment(**row) for row in rows}


def _check_count(name: str, value: int) -> None:
    """Check how many things are to be drawn."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1, got {value!r}.")
