"""What everything runs on: threads, memory, progress, atomic files."""

from trueup._runtime._atomic import atomic_folder, atomic_path, check_folder
from trueup._runtime._checks import check_fraction, check_number, check_whole, pin_to
from trueup._runtime._progress import Progress, shown_progress
from trueup._runtime._resources import (
    Workers,
    cache_folder,
    give_back_memory,
    has_idle_threads,
    thread_count,
    threads_for_rows,
)

__all__ = [
    "Progress",
    "Workers",
    "atomic_folder",
    "atomic_path",
    "cache_folder",
    "check_folder",
    "check_fraction",
    "check_number",
    "check_whole",
    "give_back_memory",
    "has_idle_threads",
    "pin_to",
    "shown_progress",
    "thread_count",
    "threads_for_rows",
]
