"""The benchmark of the MCGrad paper, run anew: cells, their comparison with the paper's figures, and a page.

Four steps, each with a value in between: `run_cells` and `run_timing` measure what is not measured yet and keep it in
small files; `find` computes all that is to be said; `write_page` lays it out.
"""

from paper._findings import find
from paper._methods import METHODS
from paper._page import write_page
from paper._run import Plan, finished_cells, run_cells
from paper._timing import TimingPlan, read_timing, run_timing

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
