"""The benchmark of the MCGrad paper, run anew: cells, their comparison with the paper's figures, and a page.

Four steps, each with a value in between: `run_cells` and `run_timing` measure what is not measured yet and keep it in
small files; `find` computes all that is to be said; `write_page` lays it out.
"""

from trueup.replication._findings import find
from trueup.replication._methods import METHODS
from trueup.replication._page import write_page
from trueup.replication._run import Plan, finished_cells, run_cells
from trueup.replication._timing import TimingPlan, read_timing, run_timing

__all__ = [
    "METHODS",
    "Plan",
    "TimingPlan",
    "find",
    "finished_cells",
    "read_timing",
    "run_cells",
    "run_timing",
    "write_page",
]
