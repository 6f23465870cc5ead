"""The models that a server answers for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from trueup._model import map_entry
from trueup.errors import ModelFileError
from trueup.serving._problems import Problem
from trueup.serving._rows import RowPlan, check_servable
from trueup.serving._serve import ServerOptions
from trueup.serving._slot import LoadedModel, ModelSlot

__all__ = ["Served", "ServedModels"]


@dataclass(frozen=True, eq=False)
class Served:
    """A model and what its rows must look like, which are swapped together."""

    loaded: LoadedModel
    plan: RowPlan


class _Entry(ModelSlot):
    """A name's model file, and what is served from it."""

    _served: Served | None = None

    def __init__(self, path: str, *, strict: bool, max_memory: int) -> None:
        super().__init__(path, n_jobs=1, accept=check_servable, max_memory=max_memory)  # the workers are the threads
        self._strict = strict

    @property
    def served(self) -> Served:
        """What is in use now."""
        served, loaded = self._served, self.current
        if served is None or served.loaded is not loaded:
            self._served = served = Served(loaded, RowPlan.of(loaded.calibrator.model, strict=self._strict))
        return served


class ServedModels:
    """The models by name, and the candidates that shadow them; a `ModelFileError` if a file can't be used."""

    def __init__(self, options: ServerOptions) -> None:
        strict, memory = not options.allow_unknown_columns, options.max_model_memory
        self._entries = {n: _Entry(path, strict=strict, max_memory=memory) for n, path in options.models.items()}
        # A candidate may know fewer columns than the model: what it does not know, it ignores.
        self._shadows = {n: _Entry(path, strict=False, max_memory=memory) for n, path in options.shadows.items()}
        self.default = options.default_model
        for name, shadow in self._shadows.items():
            if (shadow.served.plan.base_rate is None) != (self._entries[name].served.plan.base_rate is None):
                raise ModelFileError(
                    f"Of the model {name!r} and its candidate, only one takes scores, so they can't share requests."
                )

    def served(self, name: str) -> Served:
        """The model of a name, to be taken once a request; a `Problem` if there is none."""
        entry = self._entries.get(name)
        if entry is None:
            raise Problem("unknown-model", f"There is no model {name[:64]!r}.")
        return entry.served

    def shadow(self, name: str) -> Served | None:
        """The candidate that shadows a model."""
        entry = self._shadows.get(name)
        return None if entry is None else entry.served

    def reload(self, *, force: bool = False) -> Iterator[tuple[str, bool, str | None]]:
        """Look at all files; the name, whether it was swapped, and what is wrong, of each that has changed."""
        named = [*self._entries.items(), *((f"{name}:shadow", entry) for name, entry in self._shadows.items())]
        for name, entry in named:
            before = entry.error
            swapped = entry.reload(force=force)
            error = entry.error
            if swapped or error != before or (force and error is not None):
                yield name, swapped, error

    def gauges(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        """The models as `/metrics` shows them: names, labels and values."""
        for name, entry in self._entries.items():
            loaded = entry.current
            yield "trueup_model_info", (name, loaded.sha256), 1.0
            yield "trueup_model_loaded_timestamp_seconds", (name,), loaded.loaded_at
            yield "trueup_model_file_bad", (name,), float(entry.error is not None)

    def state(self) -> dict[str, Any]:
        """What is in use under each name, and why the file there now is not, if so."""
        return {name: {"sha256": one.current.sha256, "error": one.error} for name, one in self._entries.items()}

    def describe_all(self) -> dict[str, Any]:
        """All models, the default first."""
        return {"default": self.default, "models": list(map(self.describe, self._entries))}

    def describe(self, name: str) -> dict[str, Any]:
        """All that a client needs to know of a model."""
        served = self.served(name)
        loaded, model = served.loaded, served.loaded.calibrator.model
        spec, summary = model.features, model.summary
        features = [
            {
                "name": feature.name,
                "type": feature.kind.value,
                "json": served.plan.types[feature.name][1],
                "categories": len(feature.categories or ()) if feature.is_categorical else None,
            }
            for feature in spec.features
        ]
        return {
            "name": name,
            "default": name == self.default,
            "rounds": len(model.rounds),
            "score_map": map_entry(model.score_map),
            "features": features,
            "scores": model.base_rate is None,
            "score_column": served.plan.score_column if model.base_rate is None else None,
            "base_rate": model.base_rate,
            "fitted_rows": summary.n_rows,
            "versions": dict(summary.versions),
            "sha256": loaded.sha256,
            "bytes": loaded.n_bytes,
            "loaded_at": datetime.fromtimestamp(loaded.loaded_at, timezone.utc).isoformat(timespec="seconds"),
            "shadowed": name in self._shadows,
        }
