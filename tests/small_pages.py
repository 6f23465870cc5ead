"""Pages of numbers that one can check in one's head, for tests of the report."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trueup._report import (
    Check,
    Choice,
    Estimate,
    Fact,
    Form,
    Headline,
    Number,
    Option,
    Page,
    PageColumn,
    PageFinding,
    PageNumbers,
    Pattern,
    Round,
    Rounds,
    Segments,
    Series,
)
from trueup.metrics import cumulative_curve, reliability_curve

# What would be harmful if a page took it for anything but text.
HOSTILE = (
    "</script><script>window.hacked = true</script>",
    '<img src=x onerror="window.hacked = true">',
    "{{ 7 * 7 }} {% raw %}",
    "\u2028\u2029 line ends of scripts",
    "a' onclick='window.hacked = true' \"b\"",
    "]]> <!-- <script> & &lt; \\u003c",
    "\u202eright to left",
    "half a character \ud800",
    "x" * 300,
)


def series(name: str, shift: float, n: int = 400) -> Series:
    """Scores that are off by a shift in the labels' rate, the same each time."""
    rng = np.random.default_rng(int(1000 * abs(shift)))
    scores = np.linspace(0.05, 0.9, n)
    labels = (rng.random(n) < np.clip(scores + shift, 0, 1)).astype(float)
    return Series(name, reliability_curve(labels, scores), cumulative_curve(labels, scores, max_points=60))


def segments(words: Sequence[str], *, names: Sequence[str] = ("before", "after"), n_curves: int = 3) -> Segments:
    """Segment i has 1,000 - i rows, is more than noise if i < 5, and from 10 on repeats the first."""
    n = len(words)
    i = np.arange(n)
    return Segments(
        title="Where the scores are wrong",
        reads="How to read it.",
        words=tuple(words),
        columns=(
            PageColumn("Rows", 1000 - i, Form.COUNT),
            PageColumn("Predicted", np.where(i == 1, np.nan, 0.5 - i / 1000), Form.PERCENT),
            PageColumn("Observed", i / 1000, Form.PERCENT, low=i / 2000, high=i / 500),
            PageColumn("p", np.minimum(1.0, (i + 1) / 201), Form.P_VALUE, least=1 / 201),
        ),
        choice=Choice("Score is", (Option("too high", "up"), Option("too low", "down")), i % 2),
        significant=i < 5,
        repeats=np.where(i >= 10, 0, -1),
        patterns=(Pattern(0, "is off."), Pattern(2, "is off too.")) if n > 2 else (),
        curves={
            k: tuple(series(name, (k + 1) * 0.05 * (1 if j == 0 else -0.2)) for j, name in enumerate(names))
            for k in range(min(n_curves, n))
        },
        n_all=n + 1,
    )


def whole_page(words: Sequence[str], *, title: str = "A page", names: Sequence[str] = ("before", "after")) -> Page:
    """A page with everything that a page can have."""
    number = Number(
        "Log loss",
        "Lower is better.",
        tuple(Estimate(0.3 - k / 100) for k in range(len(names))),
        Form.DECIMAL,
        change=Estimate(-0.01, -0.012, -0.008),
        p_value=0.001,
        outcome="better",
        role="decides",
    )
    return Page(
        title=title,
        headline=Headline(
            "Ship", "good", f"All is well in {words[0]}.", (Check(True, "It holds."), Check(False, "Not."))
        ),
        facts=(Fact("Rows", "1,000", "of them all"),),
        numbers=PageNumbers(tuple(names), (number,)),
        overall=tuple(series(name, 0.02 * k) for k, name in enumerate(names)),
        segments=(segments(words, names=names),),
        rounds=Rounds(
            (Round(0, 0.3, 0.31), Round(1, 0.28, 0.3, 1.02, 0.1), Round(2, 0.27, math.nan, told=words[0])),
            kept=1,
            gains=((words[0], 0.95), ("hour", 0.05)),
        ),
        findings=(PageFinding("warning", f"Mind {words[0]}.", "Look at it."), PageFinding("note", "By the way.")),
        made="Made by a test.",
    )


def plain_words(n: int) -> list[str]:
    """Names of n segments, made of two conditions each."""
    return [f"country = C{i:02d} and device = {'phone' if i % 3 else 'desktop'}" for i in range(n)]
