"""The paper's claims hold on the paper's own figures, and fail on figures that contradict them."""

from __future__ import annotations

from collections.abc import Callable

from bench_cells import GROWING, timing
from paper._cells import Cell
from paper._comparison import figures_of
from paper._paper import paper_figures
from paper._verdicts import Verdict, check_cells, judge


def named(verdicts: list[Verdict], words: str) -> Verdict:
    (found,) = [verdict for verdict in verdicts if words in verdict.claim]
    return found


def test_all_claims_hold_on_the_paper_s_own_figures() -> None:
    verdicts = judge(paper_figures(), GROWING)
    assert len(verdicts) == 11
    assert [verdict.claim for verdict in verdicts if verdict.holds is not True] == []
    assert all(verdict.paper == verdict.ours for verdict in verdicts if "lowest MCE" in verdict.claim)


def test_a_method_that_beats_mcgrad_everywhere_breaks_the_first_claim(
    cells_of_the_paper: Callable[..., list[Cell]],
) -> None:
    better = {(task, "HKRR"): {"mce_unspecified": 0.1} for task, _ in paper_figures()}
    verdicts = judge(figures_of(cells_of_the_paper(better)), [])
    lowest = named(verdicts, "lowest MCE over unspecified")
    assert lowest.holds is False
    assert lowest.ours.startswith("0 of 11 tasks; not on MEPS")
    assert named(verdicts, "Best on average in MCE").ours.startswith("HKRR, ")


def test_one_harmed_task_breaks_the_promise_of_no_harm(cells_of_the_paper: Callable[..., list[Cell]]) -> None:
    harmed = {("Credit", "MCGrad_msh_20"): {"log_loss": 0.5}}
    verdict = named(judge(figures_of(cells_of_the_paper(harmed)), []), "never harms")
    assert verdict.holds is False
    assert verdict.ours == "log loss worse on Credit; PRAUC worse on none"


def test_a_time_that_grows_breaks_the_claim_of_constant_time() -> None:
    slow = [cell for cell in GROWING if cell.method != "MCGrad"] + [timing("MCGrad", n, n) for n in (10, 1000)]
    assert named(judge({}, GROWING), "Time to predict").holds
    assert named(judge({}, slow), "Time to predict").holds is False


def test_nothing_is_judged_without_figures() -> None:
    assert judge({}, []) == []


def test_our_defaults_are_compared_but_not_judged() -> None:
    base = dict(paper_figures()["Credit", "MCGrad_msh_20"])
    figures = {("Credit", "MCGrad_msh_20"): base, ("Credit", "trueup"): base | {"log_loss": 0.1}}
    (verdict,) = judge(figures, [])
    assert verdict.holds is None
    assert verdict.ours.startswith("log loss better on 1 of 1 tasks; MCE σ, unspecified better on 0 of 1")


def test_cells_on_the_paper_s_rows_are_held_against_tolerances() -> None:
    paper = paper_figures()["Marketing", "MCGrad"]
    own = dict(paper) | {"log_loss": paper["log_loss"] + 0.0019, "mce_unspecified": 1.3 * paper["mce_unspecified"]}
    (check,) = check_cells({("Marketing", "MCGrad"): own, ("ACSTravel", "MCGrad"): own, ("Marketing", "trueup"): own})
    assert check.within == {"log_loss": True, "prauc": True, "mce_unspecified": False}
    assert round(check.differences["mce_unspecified"], 6) == 0.3
