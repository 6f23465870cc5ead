"""The paper's tasks: where their rows come from, ready or from the source, and how they are prepared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from paper.tasks._acs import PROBLEMS, STATES, prepare_acs, read_pums_zips
from paper.tasks._download import RemoteFile
from paper.tasks._meps import prepare_meps, read_meps_files
from paper.tasks._mortgage import prepare_mortgages, read_mortgage_zips
from paper.tasks._ready import (
    read_credit,
    read_income,
    read_mobility,
    read_plain,
    read_public,
    read_pums_2024,
    read_travel,
)
from paper.tasks._task import BaseModel, Origin, Prepared
from paper.tasks._uci import prepare_bank, prepare_credit, read_bank_zip, read_credit_csv

__all__ = ["TASKS", "TASK_SOURCES", "ReadyFile", "TaskSource"]


@dataclass(frozen=True)
class ReadyFile:
    """A Parquet file of a folder of ready files."""

    name: str
    read: Callable[[Path], pa.Table]
    origin: Origin
    told: str


@dataclass(frozen=True)
class TaskSource:
    """Where a task's rows come from.

    Attributes
    ----------
    ready : ReadyFile
        The ready file.
    remote : tuple of RemoteFile
        The source's own files, the paper's data.
    read : callable
        What reads those files.
    prepare : callable
        What makes features, labels and groups of the rows.
    base_model : BaseModel
        The base model's settings.
    told : str
        The source in words.
    """

    ready: ReadyFile
    remote: tuple[RemoteFile, ...]
    read: Callable[[list[Path]], pa.Table]
    prepare: Callable[[pa.Table], Prepared]
    base_model: BaseModel
    told: str


_UCI = "https://archive.ics.uci.edu/static/public"
_PUMS = "https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year"
_HMDA = "https://github.com/pasta41/hmda-data-2017/raw/main/2017/TX"
_MEPS = "https://raw.githubusercontent.com/alangee/FaiR-N/master/datasets/meps"


def _pums_files(states: tuple[str, ...]) -> tuple[RemoteFile, ...]:
    names = [f"csv_p{state.lower()}.zip" for state in states]
    return tuple(RemoteFile(f"acs-2018-{name}", f"{_PUMS}/{name}") for name in names)


def _acs(problem: str, ready: ReadyFile, states: tuple[str, ...] = STATES, where: str = "50 states") -> TaskSource:
    return TaskSource(
        ready,
        _pums_files(states),
        lambda paths: read_pums_zips(paths, PROBLEMS[problem]),
        prepare_acs,
        BaseModel(C=0.4),
        f"American Community Survey 2018, {where}, folktables' {problem} problem",
    )


_2018, _2024 = "American Community Survey 2018", "American Community Survey 2024, 48 states and DC"

TASK_SOURCES: dict[str, TaskSource] = {
    "MEPS": TaskSource(
        ReadyFile("meps_test", read_plain, "subset", "29 % of the paper's rows"),
        tuple(
            RemoteFile(name, f"{_MEPS}/{name}")
            for name in (
                "meps_train_processed.csv",
                "meps_test_processed.csv",
                "mepsdata_train_labels.txt",
                "mepsdata_test_labels.txt",
            )
        ),
        read_meps_files,
        prepare_meps,
        BaseModel(C=0.4),
        "Medical Expenditure Panel Survey, as FaiR-N published it",
    ),
    "Credit": TaskSource(
        ReadyFile("credit_default", read_credit, "same data", "UCI Default of Credit Card Clients"),
        (RemoteFile("credit-default.csv", f"{_UCI}/350/data.csv"),),
        lambda paths: read_credit_csv(paths[0]),
        prepare_credit,
        BaseModel(C=4.0),
        "UCI Default of Credit Card Clients",
    ),
    "Marketing": TaskSource(
        ReadyFile("bank_marketing", read_plain, "same data", "UCI Bank Marketing"),
        (RemoteFile("bank-marketing.zip", f"{_UCI}/222/bank+marketing.zip"),),
        lambda paths: read_bank_zip(paths[0]),
        prepare_bank,
        BaseModel(C=2.0, drop_first=True),
        "UCI Bank Marketing",
    ),
    "HMDA": TaskSource(
        ReadyFile("hmda_2017_NJ", read_plain, "substitute", "HMDA 2017, New Jersey in place of Texas"),
        tuple(
            RemoteFile(f"hmda-2017-TX-{part}.zip", f"{_HMDA}/2017-TX-{part}.zip")
            for part in ("features", "protected", "target")
        ),
        read_mortgage_zips,
        prepare_mortgages,
        BaseModel(C=4.0),
        "HMDA 2017, Texas, as Cooper et al. published it",
    ),
    "ACSIncomeCA": _acs(
        "income",
        ReadyFile(
            "acs_income_2018", partial(read_income, state="CA"), "subset", f"{_2018}, California, 46 % of the rows"
        ),
        ("CA",),
        "California",
    ),
    "ACSMobility": _acs(
        "mobility",
        ReadyFile("acs_mobility_2018", read_mobility, "subset", f"{_2018}, 40 % of the rows, 21 of 23 columns"),
    ),
    "ACSPublic": _acs(
        "public",
        ReadyFile("acs_public_2018", read_public, "subset", f"{_2018}, 40 % of the rows, 18 of 24 columns"),
    ),
    "ACSTravel": _acs(
        "travel",
        ReadyFile("acs_travel_2018_holdout", read_travel, "substitute", f"{_2018}, other rows, 13 of 19 columns"),
    ),
    "ACSIncome": _acs(
        "income",
        ReadyFile("acs_income_2018", read_income, "subset", f"{_2018}, 46 % of the rows"),
    ),
    "ACSEmploy": _acs(
        "employment",
        ReadyFile(
            "acs_pums_2024",
            partial(read_pums_2024, problem="employment", target="ESR"),
            "substitute",
            f"{_2024}, 15 of 20 columns",
        ),
    ),
    "ACSHealth": _acs(
        "health",
        ReadyFile(
            "acs_pums_2024",
            partial(read_pums_2024, problem="health", target="PRIVCOV"),
            "substitute",
            f"{_2024}, 19 of 31 columns; the label is private coverage in place of insurance bought directly",
        ),
    ),
}
TASKS: tuple[str, ...] = tuple(TASK_SOURCES)
