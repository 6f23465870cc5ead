"""The segments of an audit, as plots need them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from trueup._runtime import check_whole
from trueup.auditing import AuditResult


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
    """The worst segments of an audit, without those that are only wrong because they overlap another."""
    check_whole("n_segments", n_segments, 1)
    listed = [row for row in result.to_dict(n_segments)["segments"] if row["explained_by"] is None]
    return tuple(_audited_segment(row) for row in listed)


def _audited_segment(row: dict[str, Any]) -> AuditedSegment:
    # JSON knows no infinity: all scores in the segment are 0 or 1, and wrong.
    sigmas = math.inf if row["ecce_sigma"] is None else row["ecce_sigma"]
    return AuditedSegment(**{one.name: row[one.name] for one in fields(AuditedSegment)} | {"ecce_sigma": sigmas})


def segments_named(result: AuditResult, names: Sequence[str]) -> dict[str, AuditedSegment]:
    """The segments with these names, if the audit lists them."""
    # Columns, because dicts of 100,000 rows would take seconds.
    columns = result._listing.columns()
    places = {name: place for place, name in enumerate(columns["segment"])}
    found = [places[name] for name in names if name in places]
    wanted = [one.name for one in fields(AuditedSegment)]
    rows = ({name: np.asarray(columns[name][place]).item() for name in wanted} for place in found)
    return {row["segment"]: AuditedSegment(**row) for row in rows}
