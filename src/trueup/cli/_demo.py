"""`trueup demo`: simulated traffic, where the truth is known, before and after."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli._apply import with_probabilities
from trueup.cli._errors import FileError, after_writing
from trueup.cli._findings import Findings, findings_of
from trueup.cli._printing import print_json

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from trueup.datasets import Traffic

    Floats = npt.NDArray[np.float64]

__all__ = ["SEGMENTS_IN_WORDS", "DemoResult", "Metric", "Segment", "demo", "measure"]

SCORE, CALIBRATED = "score", "calibrated"
_MOST_STORIES = 4
_OF_AN_AUDIT = ("mce", "mce_absolute", "mce_p_value")

SEGMENTS_IN_WORDS = {
    "country = NO and device = tablet": "Tablets in Norway",
    "content_type = video and weekday in {Sat, Sun}": "Videos at the weekend",
    "is_logged_in = false and referrer is missing": "Logged out, referrer unknown",
    "device = desktop and hour < 6": "Desktops between midnight and six",
    "account_age_days < 60 and past_clicks >= 10": "New accounts that click a lot",
    "app_version = 8.2.4": "App version 8.2.4",
    "country = IN and device = phone and session_length is missing": "Phones in India, session unknown",
}


@dataclass(frozen=True)
class Metric:
    """A metric on the test rows, before and after."""

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Segment:
    """A segment of the test rows: errors are mean score minus mean true probability."""

    condition: str
    words: str
    rows: int
    true_rate: float
    error_before: float
    error_after: float


@dataclass(frozen=True)
class DemoResult:
    """What the demo found out, of the test rows; `audits` are those of the scores before and after."""

    fit_rows: int
    test_rows: int
    rounds: int
    seconds: float
    metrics: Mapping[str, Metric]
    segments: tuple[Segment, ...]
    everything: Segment
    audits: tuple[Findings, Findings]


def demo(rows: int, seed: int, folder: str, as_json: bool) -> None:
    """Make traffic, fit on one half, show the other half, and leave the files behind."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise FileError(f"{folder!r} is not a folder. Name another one with --output.")
    from trueup.calibrator import MCGrad
    from trueup.datasets import make_traffic

    traffic = make_traffic(rows, random_state=seed)
    table, half = traffic.to_table(), rows // 2
    inputs = table.drop_columns(["label", "true_probability"])
    started = time.perf_counter()
    model = MCGrad(score_column=SCORE, random_state=seed, verbose=1).fit(inputs.slice(0, half), traffic.y[:half])
    seconds = time.perf_counter() - started
    calibrated = model.calibrate(inputs.slice(half))
    result = measure(traffic, calibrated, half, model.n_rounds_, seconds)
    scored = table.slice(half)
    files = _write_files(target, model, scored, with_probabilities(scored, CALIBRATED, calibrated), result)
    with after_writing():
        if as_json:
            print_json(_as_dict(result, files))
        else:
            from trueup.cli._demo_screen import print_screen

            print_screen(result, files)


def measure(traffic: Traffic, calibrated: Floats, first: int, rounds: int, seconds: float) -> DemoResult:
    """Compare scores and calibrated probabilities on the rows from `first` on."""
    from trueup import metrics
    from trueup.auditing import audit

    labels, base, truth = traffic.y[first:], traffic.scores[first:], traffic.true_probability[first:]

    def compared(name: str) -> Metric:
        """The metric before and after."""
        metric = getattr(metrics, name)
        return Metric(name, metric(labels, base), metric(labels, calibrated))

    def segment(condition: str, words: str, inside: Any) -> Segment:
        """The true error inside a segment before and after."""
        true_rate = float(truth[inside].mean())
        before, after = (float(scores[inside].mean()) - true_rate for scores in (base, calibrated))
        return Segment(condition, words, len(truth[inside]), true_rate, before, after)

    segments = [
        segment(condition, SEGMENTS_IN_WORDS.get(condition, condition), mask[first:])
        for condition, mask in traffic.segments.items()
        if mask[first:].any()
    ]
    segments.sort(key=lambda one: -abs(one.error_before) * one.rows)  # the worst first: most visits misjudged
    X = traffic.X.slice(first)
    before, after = (findings_of(audit(labels, p, X, verbose=1), _MOST_STORIES) for p in (base, calibrated))
    names = ("log_loss", "average_precision", "ecce", "ecce_sigma", "ecce_pvalue")
    return DemoResult(
        fit_rows=first,
        test_rows=len(labels),
        rounds=rounds,
        seconds=seconds,
        metrics={name: compared(name) for name in names}
        | {name: Metric(name, getattr(before.result, name), getattr(after.result, name)) for name in _OF_AN_AUDIT},
        segments=tuple(segments),
        everything=segment("all rows", "All visits", slice(None)),
        audits=(before, after),
    )


def _write_files(folder: Path, model: Any, scored: Any, calibrated: Any, result: DemoResult) -> dict[str, str]:
    """Write all files to temporary names first, so that Ctrl-C leaves all of them or none."""
    import pyarrow.parquet as pq

    from trueup.cli._demo_screen import report_html
    from trueup.model import atomic_path

    folder.mkdir(parents=True, exist_ok=True)
    names = ("model.trueup", "scored.parquet", "calibrated.parquet", "report.html")
    files = {name: os.path.join(folder, name) for name in names}
    with contextlib.ExitStack() as together:
        temporary = {name: together.enter_context(atomic_path(path)) for name, path in files.items()}
        model.save(temporary["model.trueup"])
        pq.write_table(scored, temporary["scored.parquet"])
        pq.write_table(calibrated, temporary["calibrated.parquet"])
        temporary["report.html"].write_text(report_html(result, files), encoding="utf-8")
    return files


def _as_dict(result: DemoResult, files: dict[str, str]) -> dict[str, Any]:
    def as_dict(segment: Segment) -> dict[str, Any]:
        """A segment as JSON holds it."""
        return {
            "segment": segment.condition,
            "words": segment.words,
            "rows": segment.rows,
            "true_rate": segment.true_rate,
            "error_before": segment.error_before,
            "error_after": segment.error_after,
        }

    def found(audit: Findings) -> dict[str, Any]:
        """What an audit found, as JSON holds it."""
        return {
            "n_segments": audit.result.n_segments,
            "n_significant": audit.n_significant,
            "n_stories": audit.n_stories,
            "stories": [asdict(finding) for finding in audit.shown if finding.is_significant],
        }

    return {
        "fit_rows": result.fit_rows,
        "test_rows": result.test_rows,
        "rounds": result.rounds,
        "fit_seconds": result.seconds,
        "metrics": {name: {"before": m.before, "after": m.after} for name, m in result.metrics.items()},
        "segments": [as_dict(segment) for segment in result.segments],
        "all_rows": as_dict(result.everything),
        "audit": dict(zip(("before", "after"), map(found, result.audits), strict=True)),
        "files": files,
    }
