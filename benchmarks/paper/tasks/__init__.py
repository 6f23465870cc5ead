"""The eleven tasks of the MCGrad paper, with the scores of its base models."""

from paper.tasks._base_model import base_scores
from paper.tasks._catalog import TASKS
from paper.tasks._load import data_folder, fetch_files, load_task
from paper.tasks._task import BaseModel, Task

__all__ = ["TASKS", "BaseModel", "Task", "base_scores", "data_folder", "fetch_files", "load_task"]
