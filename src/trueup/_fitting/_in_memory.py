"""From what a user passes to `fit` to a `CalibrationModel`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import (
    CalibrationTable,
    Hashes,
    Labels,
    hash_column,
    read_labels,
    read_scores,
    read_table,
    read_weights,
    warn_of_suspects,
)
from trueup._features import FeatureEncoder, learn_features
from trueup._fitting._data import TrainingData
from trueup._fitting._options import FitOptions, seeds_from
from trueup._fitting._rounds import fit_data, fitted_model, growth_of
from trueup._fitting._splits import Split, make_splits
from trueup._model import CalibrationModel
from trueup._runtime import give_back_memory
from trueup._scoring import score_logits
from trueup.errors import DataError, LabelError, ParameterError, ScoreError

Floats = npt.NDArray[np.float64]


def fit_model(
    options: FitOptions, X: Any, y: Any, *, scores: Any, sample_weight: Any, groups: Any, eval_set: Any
) -> CalibrationModel:
    """Fit a model on a table in memory."""
    table = read_table(X)
    if table.n_rows == 0:
        raise DataError("X has no rows: found array with 0 sample(s), and at least one is needed.")
    weights = read_weights(sample_weight, table.n_rows)
    spec = learn_features(
        table,
        features=options.features,
        categorical_features=options.categorical_features,
        score_column=options.score_column,
        rows=None if weights is None or weights.all() else weights > 0,
    )
    encoder = FeatureEncoder(spec)
    labels = read_labels(y, table.n_rows, pos_label=options.pos_label)
    hashes = None if groups is None else _hashes_of(groups, table.n_rows)
    base, base_rate = _given_scores(table, scores, options, labels), None
    warn_of_suspects(X, table, spec.names, labels, base)
    if base is None:
        base_rate = float(np.average(labels.values, weights=weights))
        base = np.full(table.n_rows, base_rate)
    rows = _Rows.from_table(encoder, table, labels, base, weights)
    n_fit = len(rows.labels)
    validating = None if eval_set is None else _validation_rows(encoder, eval_set, labels, options, base_rate)
    data = rows.with_more(validating, spec.features, labels.soft)
    del table, encoder, base, rows, validating  # the data hold all that is needed, and the fit needs the memory
    give_back_memory()
    counts = None if weights is None or weights.all() else weights > 0
    seeds = seeds_from(options.random_state)
    parameters = growth_of(options, spec, seeds[1])
    splits: list[Split] | str = []
    if n_fit < data.n_rows:
        fit_rows = np.arange(n_fit, dtype=np.int32)
        splits = [(fit_rows, np.arange(n_fit, data.n_rows, dtype=np.int32))]
    elif options.validation is not None:
        splits = make_splits(
            options.validation, labels.values, soft=labels.soft, seed=seeds[0], groups=hashes, counts=counts
        )
    outcome = fit_data(data, n_fit, splits, parameters, options)
    positive_rate = float(np.average(data.labels[:n_fit], weights=data.weights_of(slice(n_fit))))
    return fitted_model(options, spec, labels, outcome, base_rate=base_rate, n_rows=n_fit, positive_rate=positive_rate)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows with a positive weight, as numbers."""

    matrix: Floats
    labels: Floats
    scores: Floats
    weights: Floats | None

    @classmethod
    def from_table(
        cls,
        encoder: FeatureEncoder,
        table: CalibrationTable,
        labels: Labels,
        scores: Floats,
        weights: Floats | None,
    ) -> _Rows:
        if weights is None or weights.all():
            return cls(encoder.encode(table), labels.values, scores, weights)
        counts = weights > 0  # a row of weight 0 counts as absent
        return cls(encoder.encode(table, counts), labels.values[counts], scores[counts], weights[counts])

    def with_more(self, validating: _Rows | None, features: Sequence[Any], soft: bool) -> TrainingData:
        """The rows to fit on, followed by the rows to validate on."""
        matrix, labels, scores, weights = self.matrix, self.labels, self.scores, self.weights
        if not soft and labels.min() == labels.max():
            raise LabelError(
                "y holds one class only among the rows with a positive weight. There is nothing to calibrate."
            )
        if validating is not None:
            matrix = np.asfortranarray(np.concatenate([matrix, validating.matrix]))
            labels = np.concatenate([labels, validating.labels])
            scores = np.concatenate([scores, validating.scores])
            if weights is not None or validating.weights is not None:
                weights = np.concatenate([rows.weights_or_ones() for rows in (self, validating)])
        categorical = np.array([feature.is_categorical for feature in features], dtype=np.uint8)
        return TrainingData(matrix, categorical, labels, score_logits(scores), weights, soft)

    def weights_or_ones(self) -> Floats:
        return np.ones(len(self.labels)) if self.weights is None else self.weights


def _given_scores(table: CalibrationTable, scores: Any, options: FitOptions, labels: Labels) -> Floats | None:
    """The base scores that were passed or that a column holds; None if there is no base model."""
    if scores is not None:
        return read_scores(scores, table.n_rows, positive=labels.positive_column)
    name = options.score_column
    return None if name is None else read_scores(table.column(name), table.n_rows, name=f"Column {name!r}")


def _validation_rows(
    encoder: FeatureEncoder, eval_set: Any, labels: Labels, options: FitOptions, base_rate: float | None
) -> _Rows:
    """The rows of an `eval_set`, whose errors say that they are about it."""
    if not isinstance(eval_set, tuple) or not 2 <= len(eval_set) <= 4:
        raise ParameterError("eval_set must be a tuple (X, y), (X, y, scores) or (X, y, scores, sample_weight).")
    X, y, scores, sample_weight = (*eval_set, None, None)[:4]
    try:
        table = read_table(X)
        if table.n_rows == 0:
            raise DataError("X has no rows.")
        base = _given_scores(table, scores, options, labels)
        if base is None and base_rate is None:
            raise ScoreError("scores are missing. The fit has scores, so eval_set needs them too: pass (X, y, scores).")
        if base is None:
            base = np.full(table.n_rows, base_rate)
        weights = read_weights(sample_weight, table.n_rows)
        return _Rows.from_table(encoder, table, read_labels(y, table.n_rows, like=labels), base, weights)
    except DataError as error:
        raise type(error)(f"eval_set: {error}") from error


def _hashes_of(groups: Any, n_rows: int) -> Hashes:
    hashes = hash_column(groups, name="groups")
    if len(hashes) != n_rows:
        raise DataError(f"groups has {len(hashes):,} values, but X has {n_rows:,} rows. Pass one value per row.")
    return hashes
