"""What everything runs on: threads, memory, progress, atomic files."""

from trueup._runtime._atomic import atomic_path
from trueup._runtime._atomic_folder import atomic_folder, check_folder
from trueup._runtime._cache import cache_folder
from trueup._runtime._checks import check_fraction, check_number, check_whole
from trueup._runtime._jobs import Workers, has_idle_threads
from trueup._runtime._memory import give_back_memory
from trueup._runtime._progress import Progress, shown_progress
from trueup._runtime._public import pin_to
from trueup._runtime._threads import thread_count, threads_for_rows

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
