"""The frozen model, what a fit gives and scoring needs, and the file that it is kept in."""

from trueup._model._file import read_file_bytes, read_model, read_model_bytes, write_model
from trueup._model._manifest import ParityRows
from trueup._model._model import (
    CalibrationModel,
    Feature,
    FeatureSpec,
    FittedRound,
    KnotMap,
    LogitMap,
    RoundRecord,
    ScoreMap,
    TrainingSummary,
    ValueKind,
    map_entry,
    positive_column,
)
from trueup._model._trees import ARRAY_TYPES, Trees
from trueup._model._values import (
    LARGEST_NUMBER,
    OpaqueValue,
    encode_value,
    exactly,
    fields_of,
    finite,
    plain_value,
    value_of,
)
from trueup._runtime import pin_to

__all__ = [
    "ARRAY_TYPES",
    "LARGEST_NUMBER",
    "CalibrationModel",
    "Feature",
    "FeatureSpec",
    "FittedRound",
    "KnotMap",
    "LogitMap",
    "OpaqueValue",
    "ParityRows",
    "RoundRecord",
    "ScoreMap",
    "TrainingSummary",
    "Trees",
    "ValueKind",
    "encode_value",
    "exactly",
    "fields_of",
    "finite",
    "map_entry",
    "plain_value",
    "positive_column",
    "read_file_bytes",
    "read_model",
    "read_model_bytes",
    "value_of",
    "write_model",
]

pin_to(__name__, __all__, globals())
