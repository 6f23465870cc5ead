"""Data to try things on: simulated, so that the truth is known; real flights; and the tasks of the MCGrad paper."""

from trueup.datasets._base_model import base_scores
from trueup.datasets._catalog import TASKS
from trueup.datasets._flights import Flights, flight_scores, load_flights
from trueup.datasets._load import data_folder, fetch_files, load_task
from trueup.datasets._task import BaseModel, Task
from trueup.datasets._traffic import Traffic, make_traffic

__all__ = [
    "TASKS",
    "BaseModel",
    "Flights",
    "Task",
    "Traffic",
    "base_scores",
    "data_folder",
    "fetch_files",
    "flight_scores",
    "load_flights",
    "load_task",
    "make_traffic",
]
