"""The tree of errors and warnings.

Every error that a user can cause derives from `TrueupError`. Errors about the data also derive from
`ValueError`, so that scikit-learn's tools and plain ``except ValueError`` treat them as they should.
"""

import contextlib
import sys
from collections.abc import Iterator
from contextvars import ContextVar

__all__ = [
    "ClusterWarning",
    "ColumnError",
    "ConvergenceWarning",
    "CostWarning",
    "DataError",
    "DataFileError",
    "DataWarning",
    "DiagnosisError",
    "ExportError",
    "FileError",
    "InsufficientDataWarning",
    "LabelError",
    "MissingExtraError",
    "MissingScoreWarning",
    "ModelFileError",
    "ParameterError",
    "RescaleWarning",
    "ScoreError",
    "SketchFileError",
    "SuspiciousDataWarning",
    "TableError",
    "TrainingError",
    "TrueupError",
    "TrueupWarning",
    "UnseenCategoryWarning",
    "WeightError",
]


# Whether messages name options as the shell knows them. A context variable: the layers that find a fault lie far
# below the command line, and none of them should have to pass its words through.
_IN_SHELL: ContextVar[bool] = ContextVar("in_shell", default=False)


@contextlib.contextmanager
def speaking_to_the_shell() -> Iterator[None]:
    """Let messages name the options of the command line instead of Python's parameters."""
    token = _IN_SHELL.set(True)
    try:
        yield
    finally:
        _IN_SHELL.reset(token)


def is_in_shell() -> bool:
    """Whether messages are read by someone who typed a command."""
    return _IN_SHELL.get()


def callers_level() -> int:
    """The `stacklevel` at which a warning points at the user's line: the first frame outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == "trueup":
        level, frame = level + 1, frame.f_back
    return level


class TrueupError(Exception):
    """The base of all errors of this package."""


class MissingExtraError(TrueupError, ImportError):
    """A package is needed that is not installed; the message names the command that installs it."""


class ParameterError(TrueupError, ValueError):
    """An option has a value that it can't have."""


class DataError(TrueupError, ValueError):
    """The data given can't be used as they are."""


class DiagnosisError(DataError):
    """The diagnosis of the data has warnings, and the user asked for that to be an error.

    Parameters
    ----------
    message : str
        What was found.
    diagnosis : Diagnosis, optional
        All of it.
    """

    def __init__(self, message: str, diagnosis: object = None) -> None:
        super().__init__(message)
        self.diagnosis = diagnosis


class FileError(DataError):
    """A file can't be read or written."""


class DataFileError(FileError):
    """A data file is missing, can't be downloaded, or is not the file that it was."""


class TableError(DataError):
    """The table as a whole has a wrong shape, type or length."""


class ColumnError(DataError):
    """A column is missing, doubled, or holds another kind of value than at fit."""


class ScoreError(DataError):
    """Scores are missing or outside [0, 1]."""


class LabelError(DataError):
    """Labels are missing, out of range, or of one class only."""


class WeightError(DataError):
    """Sample weights are negative, not finite, too large, or all zero."""


class TrainingError(TrueupError, ValueError):
    """LightGBM could not grow trees with these parameters on these data."""


class ModelFileError(TrueupError):
    """A model file is damaged, truncated, hostile, or of a format that this version doesn't know."""


class SketchFileError(TrueupError):
    """A file of a sketch is damaged, truncated, hostile, or of a format that this version doesn't know."""


class ExportError(TrueupError):
    """A model can't be expressed in another format, or what was exported does not give the model's answers."""


class TrueupWarning(UserWarning):
    """The base of all warnings of this package."""


class ClusterWarning(TrueupWarning):
    """A worker of a cluster was lost, and its work is done again."""


class ConvergenceWarning(TrueupWarning):
    """A fit ended at its limit of iterations before it was done."""


class CostWarning(TrueupWarning):
    """What was asked for takes long; the message says how long, and how to do less."""


class DataWarning(TrueupWarning):
    """The data can be used, but something about them deserves a look."""


class SuspiciousDataWarning(DataWarning):
    """A column looks like an id, or a copy of the label or score; or scores look like those of the other class."""


class MissingScoreWarning(DataWarning):
    """Rows without a score get NaN instead of a calibrated probability."""


class UnseenCategoryWarning(DataWarning):
    """Most categories of a column were not there at fit, and count as missing."""


class InsufficientDataWarning(DataWarning):
    """Too few rows to grow a tree or to validate: the base scores are given back unchanged."""


class RescaleWarning(TrueupWarning):
    """Honest rescaling had no validation rows."""
