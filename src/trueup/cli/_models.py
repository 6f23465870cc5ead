"""Which models to evaluate: one table, a folder of tables, or a manifest."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from trueup.cli._files import STANDARD_STREAM, known_ending
from trueup.errors import FileError, ParameterError

__all__ = ["ModelSpec", "models_in_folder", "models_in_manifest"]

_LISTS = ("features", "drop", "categorical")


@dataclass(frozen=True)
class ModelSpec:
    """A table of scored rows, and which of its columns are what: the options, or a line of a manifest."""

    table: str
    label: str | None = None
    score: str | None = None
    weight: str | None = None
    positive: str | None = None
    time: str | None = None
    group: str | None = None
    test_size: float = 0.3
    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    name: str = ""

    def columns(self) -> dict[str, Any]:
        """All that an evaluation depends on besides the rows."""
        return {key: value for key, value in asdict(self).items() if key not in ("name", "table")}

    def check(self, where: str) -> ModelSpec:
        """The same, if it says what it must."""
        for key in ("label", "score"):
            if getattr(self, key) is None:
                raise ParameterError(f"{where}: which column is the {key}? Name it with --{key}, or in the manifest.")
        if self.features and self.drop:
            raise ParameterError(f"{where}: use features or drop, not both.")
        return self


def models_in_folder(folder: str, defaults: ModelSpec) -> list[ModelSpec]:
    """A model for every table in a folder, named after its file."""
    # Hidden files are no tables, as for a shell's pattern; the stem of "...parquet" would be the folder above.
    files = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.is_file() and known_ending(entry.name) and not entry.name.startswith(".")
    )
    if not files:
        raise FileError(f"The folder {folder!r} has no tables: no file with a known ending. Name another folder.")
    stems = Counter(_stem(file) for file in files)
    models = []
    for file in files:
        name = _stem(file) if stems[_stem(file)] == 1 else file
        models.append(replace(defaults, table=os.path.join(folder, file), name=name).check(repr(file)))
    return models


def models_in_manifest(path: str, defaults: ModelSpec) -> list[ModelSpec]:
    """The models that a file lists: JSON, TOML, or CSV with a line of names first.

    What a model does not say is as the manifest's ``defaults`` say, or else the options. Tables are found from the
    manifest's folder.
    """
    whole = _read(path)
    listed = whole.get("models") if isinstance(whole, Mapping) else whole
    if not isinstance(listed, list) or not listed or not all(isinstance(entry, Mapping) for entry in listed):
        raise FileError(f'{path!r} lists no models. Write them as "models": a list, each with a name and a table.')
    shared = whole.get("defaults", {}) if isinstance(whole, Mapping) else {}
    base = _with(defaults, shared, f"{path!r}, defaults")
    models = []
    for place, entry in enumerate(listed, 1):
        where = f"{path!r}, model {entry.get('name') or place}"
        spec = _with(base, entry, where)
        if not spec.table or spec.table == STANDARD_STREAM:
            raise ParameterError(f"{where}: it has no table. Name the file of its scored rows.")
        spec = replace(spec, table=os.path.join(os.path.dirname(path), spec.table), name=spec.name or _stem(spec.table))
        if spec.name != os.path.basename(spec.name) or spec.name.startswith(".") or not spec.name.isprintable():
            raise ParameterError(f"{where}: a model's name is that of a folder, and {spec.name!r} can't be one.")
        models.append(spec.check(where))
    doubled = [name for name, count in Counter(spec.name for spec in models).items() if count > 1]
    if doubled:
        raise ParameterError(f"{path!r}: more than one model is called {doubled[0]!r}. Each needs a name of its own.")
    return models


def _read(path: str) -> Any:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise FileError(f"{path!r} can't be read: {error.strerror}.") from error
    try:
        text = content.decode("utf-8-sig")
        if path.lower().endswith(".csv"):
            rows = csv.DictReader(text.splitlines(), restkey="")
            return [{key: value for key, value in row.items() if value} for row in rows]
        if path.lower().endswith(".toml"):
            import tomllib

            return tomllib.loads(text)
        return json.loads(text)
    except ImportError:
        raise ParameterError("A manifest in TOML needs Python 3.11 or later. Write it as JSON or CSV.") from None
    except ValueError as error:  # of JSON, TOML and Unicode alike
        raise FileError(f"{path!r} can't be read as a manifest: {error}") from error


def _with(spec: ModelSpec, entry: Any, where: str) -> ModelSpec:
    """The same with what an entry says."""
    if not isinstance(entry, Mapping):
        raise ParameterError(f"{where}: it must be names with values, got {entry!r}.")
    known = [one.name for one in fields(ModelSpec)]
    values: dict[str, Any] = {}
    for key, value in entry.items():
        if key not in known:
            raise ParameterError(f"{where}: there is nothing called {key!r}. Known are {', '.join(known)}.")
        if value is not None:
            values[key] = _value(key, value, where)
    if values.get("features"):
        spec = replace(spec, drop=())  # what is said nearer by is meant
    elif values.get("drop"):
        spec = replace(spec, features=())
    return replace(spec, **values)


def _value(key: str, value: Any, where: str) -> Any:
    if key == "test_size":
        try:
            return float(value)
        except (TypeError, ValueError):
            raise ParameterError(f"{where}: test_size must be a share between 0 and 1, got {value!r}.") from None
    if key in _LISTS:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ParameterError(f"{where}: {key} must be a list of columns, got {value!r}.")
        return tuple(names)
    if not isinstance(value, str):
        raise ParameterError(f"{where}: {key} must be text, got {value!r}.")
    return value


def _stem(file: str) -> str:
    name = os.path.basename(file)
    ending = known_ending(name)
    return name[: -len(ending)] if ending else name
