"""An evaluation's page: the comparison's, with the split, what the model learned, and the diagnosis."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from trueup._report import Check, Fact, Form, Headline, Page, Round, Rounds, Segments, in_form
from trueup.comparison import comparison_page
from trueup.evaluation._diagnosis._finding import findings_on_page
from trueup.evaluation._fit import feature_shares
from trueup.evaluation._split import RowFacts

if TYPE_CHECKING:
    from trueup._report import Tone
    from trueup.calibration import MCGrad
    from trueup.evaluation._result import Evaluation

__all__ = ["evaluation_page", "sentence_of"]

MOST_SEGMENTS = 15_000  # a table: with two tables of them, the page stays below 5 MB
_VERDICTS: dict[str, tuple[str, Tone]] = {
    "ship": ("Ship the calibrated scores", "good"),
    "keep": ("Keep the scores as they are", "bad"),
    "inconclusive": ("Inconclusive", "unsure"),
}


def evaluation_page(evaluation: Evaluation, *, title: str = "Evaluation", in_full: bool = True) -> Page:
    """What an evaluation's page says; in brief, it has no curves and the first segments only."""
    page = comparison_page(
        evaluation.comparison,
        title=title,
        names=("before", "after"),
        audits=evaluation.audits if in_full else None,
        in_full=in_full,
    )
    return replace(
        page,
        headline=_headline(evaluation, page.headline),
        facts=(*split_facts(evaluation), *page.facts),
        segments=tuple(_first(table, MOST_SEGMENTS) for table in page.segments),
        rounds=_rounds(evaluation.model),
        findings=findings_on_page(evaluation.diagnosis),
    )


def sentence_of(evaluation: Evaluation, compared: str) -> str:
    """The verdict in a sentence or two: that of the comparison, unless the data or the model overrule it."""
    own = [reason.text for reason in evaluation.reasons if reason.kind == "data" and not reason.holds]
    return " ".join(own) if own and evaluation.verdict != evaluation.comparison.verdict else compared


def _headline(evaluation: Evaluation, compared: Headline) -> Headline:
    own = [reason for reason in evaluation.reasons if reason not in evaluation.comparison.reasons]
    checks = (*compared.checks, *(Check(reason.holds, reason.text) for reason in own))
    word, tone = _VERDICTS[evaluation.verdict]
    return Headline(word, tone, sentence_of(evaluation, compared.sentence), checks)


def split_facts(evaluation: Evaluation) -> tuple[Fact, ...]:
    """How rows were split, and what the training rows and the test rows are like."""
    split = evaluation.split
    saved = evaluation.serving
    which = "the one that was tested"
    if evaluation.refitted is not None:
        which = "fitted again on all rows, not tested itself"
    facts = [
        Fact("Trained on", f"{split.train.rows:,} rows", _rows_in_words(split.train)),
        Fact("Tested on", f"{split.test.rows:,} rows", _rows_in_words(split.test)),
        Fact("Split", {"time": "in time", "group": "by group", "random": "at random"}[split.kind], split.by or ""),
        Fact("Model saved", f"{saved.n_rounds_} {'round' if saved.n_rounds_ == 1 else 'rounds'}", which),
    ]
    if split.not_features:
        facts.append(
            Fact(
                "Not used as features",
                ", ".join(split.not_features),
                "they say when a row is from, or what it belongs to",
            )
        )
    return tuple(facts)


def _first(table: Segments, n: int) -> Segments:
    """The first segments of a table."""
    if len(table.words) <= n:
        return table
    repeats = None if table.repeats is None else np.where(table.repeats[:n] < n, table.repeats[:n], -1)
    return replace(
        table,
        words=table.words[:n],
        columns=tuple(
            replace(
                column,
                values=column.values[:n],
                low=None if column.low is None else column.low[:n],
                high=None if column.high is None else column.high[:n],
            )
            for column in table.columns
        ),
        choice=replace(table.choice, codes=table.choice.codes[:n]),
        significant=table.significant[:n],
        repeats=repeats,
        patterns=tuple(pattern for pattern in table.patterns if pattern.place < n),
        curves={place: curves for place, curves in table.curves.items() if place < n},
        n_all=len(table.words) if table.n_all is None else table.n_all,
    )


def _rows_in_words(rows: RowFacts) -> str:
    rates = f"predicted {in_form(rows.mean_score, Form.PERCENT)}, observed {in_form(rows.positive_rate, Form.PERCENT)}"
    groups = None if rows.n_groups is None else f"{rows.n_groups:,} groups"
    return "; ".join(text for text in (None if rows.first is None else rows.span, groups, rates) if text)


def _rounds(model: MCGrad) -> Rounds:
    thetas = [fitted.theta for fitted in model.model_.rounds]
    return Rounds(
        rounds=tuple(
            Round(
                number=record.number,
                train_loss=record.train_loss,
                validation_loss=record.validation_loss,
                # Of a round that was kept, the factor that the model applies; of another, the one that was tried.
                scale=thetas[record.number - 1] if 0 < record.number <= len(thetas) else record.theta,
                change=0.0 if math.isnan(record.logit_change) else record.logit_change,
            )
            for record in model.history_
        ),
        kept=model.n_rounds_,
        gains=tuple(feature_shares(model)),
    )
