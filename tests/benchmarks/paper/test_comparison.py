"""Averages, ranks, improvements and orders on figures small enough to do by hand."""

from __future__ import annotations

import pytest

from paper._comparison import (
    COMPARED,
    average_table,
    counted_best,
    order_agreement,
    relative_improvement,
    tasks_with,
    worse_than,
)
from paper._paper import PAPER_TASKS, paper_figures

METRIC_NAMES = ("mce_unspecified", "log_loss", "prauc", "ecce_sigma")


def figures(**by_method: tuple[float, float]) -> dict[tuple[str, str], dict[str, float]]:
    """Two tasks; all metrics of a method are equal."""
    return {
        (task, method): dict.fromkeys(METRIC_NAMES, values[place])
        for method, values in by_method.items()
        for place, task in enumerate(("a", "b"))
    }


FIVE = figures(MCGrad_msh_20=(1, 2), Isotonic=(2, 1), DFMC=(3, 3), HKRR=(4, 4), base_model=(5, 5), trueup=(2.5, 0.5))


def test_averages_and_ranks_are_over_tasks() -> None:
    rows = {row.method: row for row in average_table(FIVE, COMPARED, ["a", "b"])}
    assert rows["MCGrad_msh_20"].averages["log_loss"] == 1.5
    assert rows["MCGrad_msh_20"].ranks["log_loss"] == 1.5  # first on a, second on b
    assert rows["base_model"].ranks["log_loss"] == 5
    # More is better in PRAUC, so the order is turned round.
    assert rows["base_model"].ranks["prauc"] == 1


def test_another_method_is_ranked_in_mcgrad_s_place() -> None:
    (row,) = average_table(FIVE, ["trueup"], ["a", "b"])
    # On a, 2.5 is behind Isotonic's 2; on b it is first of all.
    assert row.ranks["log_loss"] == 1.5


def test_best_means_that_none_is_better() -> None:
    tied = figures(MCGrad_msh_20=(1, 2), Isotonic=(1, 1), DFMC=(3, 3), HKRR=(4, 4), base_model=(5, 5))
    assert counted_best(tied, "log_loss", ["a", "b"]) == ["a"]


def test_worse_is_strict_and_knows_the_metric_s_direction() -> None:
    assert worse_than(FIVE, "log_loss", "MCGrad_msh_20", "Isotonic", ["a", "b"]) == ["b"]
    assert worse_than(FIVE, "prauc", "MCGrad_msh_20", "Isotonic", ["a", "b"]) == ["a"]
    assert worse_than(FIVE, "prauc", "DFMC", "DFMC", ["a", "b"]) == []


def test_an_improvement_is_positive_where_it_is_one() -> None:
    # From 2 to 1: the log loss is half, 50 % better; a PRAUC of half is 50 % worse.
    assert relative_improvement(FIVE, "log_loss", "a", "MCGrad_msh_20", "Isotonic") == 50
    assert relative_improvement(FIVE, "prauc", "a", "MCGrad_msh_20", "Isotonic") == -50


def test_tasks_count_only_with_all_methods() -> None:
    lacking = {key: value for key, value in FIVE.items() if key != ("b", "HKRR")}
    assert tasks_with(lacking, COMPARED) == ["a"]


def test_the_paper_agrees_with_itself_on_every_pair() -> None:
    paper = paper_figures()
    agreement = order_agreement(paper, "log_loss", list(PAPER_TASKS))
    assert agreement.share == 1
    assert 100 <= agreement.pairs <= 110  # ten pairs on each of eleven tasks, less ties


def test_figures_in_the_reverse_order_agree_on_no_pair() -> None:
    reversed_ = {key: {"log_loss": -value["log_loss"]} for key, value in paper_figures().items()}
    assert order_agreement(reversed_, "log_loss", ["Credit"]).same == 0


@pytest.mark.parametrize(("metric", "best_on"), [("mce_unspecified", 9), ("mce_prespecified", 5)])
def test_mcgrad_is_best_on_as_many_tasks_as_the_appendix_says(metric: str, best_on: int) -> None:
    """The caption of the paper's Figure 1 says 10 and 5; on Marketing its appendix has DFMC at 5.68, MCGrad at 5.91."""
    assert len(counted_best(paper_figures(), metric, list(PAPER_TASKS))) == best_on


def test_averages_and_ranks_of_the_paper_s_figures_are_those_of_its_table_2() -> None:
    row = average_table(paper_figures(), COMPARED, list(PAPER_TASKS))[0]
    assert (round(row.averages["log_loss"], 3), round(row.averages["prauc"], 3)) == (0.375, 0.714)
    assert (round(row.ranks["mce_unspecified"], 2), row.ranks["log_loss"], row.ranks["prauc"]) == (1.18, 1.0, 1.0)


def test_the_carried_figures_are_whole() -> None:
    paper = paper_figures()
    assert len(paper) == 11 * 9
    assert paper["Marketing", "base_model"]["log_loss"] == 0.2433
    assert {len(metrics) for metrics in paper.values()} == {10}
