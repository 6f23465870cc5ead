"""The narrow waist: what a fit gives and scoring needs, and the file that it is kept in."""

from trueup.model._atomic import atomic_path
from trueup.model._atomic_folder import atomic_folder, check_folder
from trueup.model._cache import cache_folder
from trueup.model._features import Feature, FeatureSpec, ValueKind
from trueup.model._file import read_file_bytes, read_model, read_model_bytes, write_model
from trueup.model._manifest import FORMAT, ParityRows
from trueup.model._model import CalibrationModel, FittedRound, RoundRecord, TrainingSummary
from trueup.model._score_map import KnotMap, LogitMap, ScoreMap, map_entry
from trueup.model._trees import ARRAY_TYPES, Trees
from trueup.model._values import OpaqueValue, decode_value, encode_value, plain_value

__all__ = [
    "ARRAY_TYPES",
    "FORMAT",
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
    "atomic_folder",
    "atomic_path",
    "cache_folder",
    "check_folder",
    "decode_value",
    "encode_value",
    "map_entry",
    "plain_value",
    "read_file_bytes",
    "read_model",
    "read_model_bytes",
    "write_model",
]
