"""What the classifier that tells train from test found."""

from __future__ import annotations

import re
from typing import Any

from trueup._data import listed
from trueup.evaluation._diagnosis._differences import Difference, difference_of
from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._joined import JoinedColumn, Measure, joined_amounts
from trueup.evaluation._diagnosis._population import tell_apart
from trueup.evaluation._diagnosis._sides import Side
from trueup.evaluation._diagnosis._survey import ColumnFacts, Sample, Survey
from trueup.evaluation._diagnosis._words import columns, shown_value

__all__ = ["compare_populations"]

_SURE = 1e-3
_NOTABLE, _LARGE, _APART = 0.55, 0.65, 0.95
_LEAST_LOSS = 0.1  # of the AUC beyond a half
_MOST_GIVEAWAYS = 5
_SCORE = "scores"
_TIME_NAME = re.compile(
    r"(?i:(^|[_ .\-])(year|yr|month|week|day|date|time|timestamp|ts|quarter|period|epoch|fold|split|set|cohort|vintage)"
    r"([_ .\-]|$))|(?i:(year|month|week|date|time|timestamp))$"
)
_YEARS = range(1900, 2101)


def compare_populations(
    train: Side, test: Side, survey: Survey, sample: Sample, *, n_threads: int, seed: int
) -> tuple[list[Finding], dict[str, Any]]:
    """Say whether train and test come from one population; give what was measured too."""
    keys = [facts for facts in survey.columns if facts.separates]
    usable = [facts.sampled for facts in survey.columns if not (facts.separates or facts.is_id or facts.is_constant)]
    score = _score_column(train, test, sample, taken=[column.name for column in usable])
    tried = usable if score is None else [*usable, score]
    population = tell_apart(tried, sample, n_threads, seed)
    found = _separating(keys, None if population is None else population.separation.auc)
    if population is None:
        return found, {}
    apart = population.separation
    low, high = apart.interval()
    facts: dict[str, Any] = {
        "population_auc": apart.auc,
        "population_low": low,
        "population_high": high,
        "population_p_value": apart.p_value,
    }
    if apart.p_value >= _SURE or apart.auc < _NOTABLE:
        return found, facts
    by_name = {column.name: column for column in tried}
    least = _LEAST_LOSS * (apart.auc - 0.5)
    told = [name for name, loss in population.importances.items() if loss >= least][:_MOST_GIVEAWAYS]
    giveaways = [difference_of(by_name[name], sample) for name in told]
    severity: Severity = "error" if apart.auc >= _APART else "warning" if apart.auc >= _LARGE else "note"
    return [*found, _different(severity, facts, giveaways, population.importances)], facts


def _different(
    severity: Severity, facts: dict[str, Any], giveaways: list[Difference], importances: dict[str, float]
) -> Finding:
    how = {
        "note": "somewhat different populations",
        "warning": "different populations",
        "error": "populations that have little in common",
    }[severity]
    text = (
        f"train and test come from {how}: a classifier tells their rows apart with an AUC of "
        f"{facts['population_auc']:.2f} (95 % interval {facts['population_low']:.2f}–{facts['population_high']:.2f}; "
        "0.5 is not at all)."
    )
    if giveaways:
        text += f" What gives it away: {'; '.join(one.words for one in giveaways)}."
    advice = (
        "Were both tables made in the same way, of the same period and traffic? If rows just drift, expect less in use."
    )
    values = {
        **facts,
        "giveaways": [one.to_dict() | {"importance": importances[one.column]} for one in giveaways],
    }
    return Finding("different_populations", severity, text, advice, values)


def _score_column(train: Side, test: Side, sample: Sample, taken: list[str]) -> JoinedColumn | None:
    """The scores as one column more; what the user calls so stays the user's."""
    if train.raw_scores is None or test.raw_scores is None:
        return None
    name = _SCORE if _SCORE not in taken else "the scores"
    return joined_amounts(name, train.raw_scores, test.raw_scores).of_rows(sample.rows, sample.n_train)


def _separating(keys: list[ColumnFacts], auc: float | None) -> list[Finding]:
    """Columns that tell the sides apart on their own: the key of the split, or a fault."""
    found = []
    without = "" if auc is None else f" Without {'it' if len(keys) == 1 else 'them'} the AUC is {auc:.2f}."
    of_split = [facts for facts in keys if _is_key(facts)]
    if of_split:
        it = "it" if len(of_split) == 1 else "them"
        names = [facts.name for facts in of_split]
        ranges = "; ".join(_ranges(facts) for facts in of_split[:3])
        verb = "tells" if len(names) == 1 else "each tell"
        found.append(
            Finding(
                "split_key",
                "note",
                f"{_capital(columns(names))} {verb} train from test alone ({ranges}), as what rows are split by "
                f"does.{without}",
                f"If the split is by {it}, all is well; but nothing about rows to come can be learned from {it}: leave "
                f"{it} out (ignore=, or --drop).",
                {"columns": names, "population_auc_without": auc},
            )
        )
    others = [_different_column(facts, without, auc) for facts in keys if facts not in of_split]
    return [*found, *others]


def _different_column(facts: ColumnFacts, without: str, auc: float | None) -> Finding:
    text = f"Column {facts.name!r} alone tells train from test ({_ranges(facts)}).{without}"
    advice = (
        "Was it made in another way on one side, in another unit or spelling? If rows were split by it, leave it out "
        "(ignore=, or --drop)."
    )
    return Finding("separating_column", "warning", text, advice, {"column": facts.name, "population_auc_without": auc})


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _is_key(facts: ColumnFacts) -> bool:
    """Whether a column that separates the sides is a time, a number of rows, or called like one."""
    if facts.sampled.measure is Measure.TIME or facts.is_id or _TIME_NAME.search(facts.name):
        return True
    if facts.ranges is None:
        return False
    ends = [end for pair in facts.ranges for end in pair]
    return all(isinstance(end, float) and end.is_integer() and int(end) in _YEARS for end in ends)


def _ranges(facts: ColumnFacts) -> str:
    if facts.ranges is None:
        shown = listed(facts.unseen_values) if facts.unseen_values else "nothing"
        return f"{facts.name!r}: no value is in both; test has {shown}"
    (low, high), (other_low, other_high) = facts.ranges
    return f"{facts.name!r}: {_range(low, high)} in train, {_range(other_low, other_high)} in test"


def _range(low: object, high: object) -> str:
    ends = [f"{end:g}" if isinstance(end, float) and abs(end) < 1e6 else shown_value(end) for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
