"""The paper's own figures, from the tables of its appendix (tables of multicalibration and of global metrics)."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from importlib import resources

__all__ = ["PAPER_TASKS", "paper_figures"]

# The paper's names of tasks in its tables of results.
PAPER_TASKS = {
    "MEPS": "MEPS",
    "Credit": "CreditDefault",
    "Marketing": "BankMarketing",
    "HMDA": "HMDA",
    "ACSIncomeCA": "ACSIncome",
    "ACSMobility": "acs_mobility_all_states",
    "ACSPublic": "acs_public_health_insurance_all_states",
    "ACSTravel": "acs_travel_time_all_states",
    "ACSIncome": "acs_income_all_states",
    "ACSEmploy": "acs_employment_all_states",
    "ACSHealth": "acs_health_insurance_all_states",
}


@functools.cache
def paper_figures() -> Mapping[tuple[str, str], Mapping[str, float]]:
    """Task and method to metrics, as the paper reports them."""
    ours = {name: task for task, name in PAPER_TASKS.items()}
    figures: dict[tuple[str, str], Mapping[str, float]] = {}
    text = resources.files("paper").joinpath("paper_results.csv").read_text("utf-8")
    for line in csv.DictReader(text.splitlines()):
        task, method = ours[line.pop("dataset")], line.pop("algorithm")
        figures[task, method] = {name: float(value) for name, value in line.items()}
    return figures
