"""From what a user passes to `fit` to a `CalibrationModel`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from trueup._data import Hashes, hash_column, warn_of_suspects
from trueup._features import FeatureEncoder, learn_features
from trueup._fitting._data import TrainingData
from trueup._fitting._given import FitRows, naming_eval_set, read_eval_rows, read_fit_rows
from trueup._fitting._options import FitOptions, seeds_from
from trueup._fitting._rounds import fit_data, fitted_model, growth_of
from trueup._fitting._splits import Split, make_splits
from trueup._model import CalibrationModel, FeatureSpec
from trueup._runtime import give_back_memory
from trueup._scoring import score_logits
from trueup.errors import DataError


def fit_model(
    options: FitOptions, X: Any, y: Any, *, scores: Any, sample_weight: Any, groups: Any, eval_set: Any
) -> CalibrationModel:
    """Fit a model on a table in memory."""
    score_column = options.score_column
    rows = read_fit_rows(X, y, scores, sample_weight, pos_label=options.pos_label, score_column=score_column)
    spec = learn_features(
        rows.table,
        features=options.features,
        categorical_features=options.categorical_features,
        score_column=score_column,
        rows=rows.kept,
    )
    hashes = None if groups is None else _hashes_of(groups, rows.table.n_rows)
    labels, base_rate, counts = rows.given, rows.base_rate, rows.kept
    warn_of_suspects(X, rows.table, spec.names, labels, rows.base if base_rate is None else None)
    data = _numbers(spec, rows)
    n_fit = data.n_rows
    if eval_set is not None:
        validating, _ = read_eval_rows(eval_set, rows, score_column=score_column)
        with naming_eval_set():
            data = _followed_by(data, _numbers(spec, validating))
        del validating
    del rows  # the data hold all that is needed, and the fit needs the memory
    give_back_memory()
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


def _numbers(spec: FeatureSpec, rows: FitRows) -> TrainingData:
    matrix = FeatureEncoder(spec).encode(rows.table, rows.kept)
    categorical = np.array([feature.is_categorical for feature in spec.features], dtype=np.uint8)
    return TrainingData(matrix, categorical, rows.labels, score_logits(rows.scores), rows.weights, rows.given.soft)


def _followed_by(data: TrainingData, more: TrainingData) -> TrainingData:
    """The rows to fit on, followed by the rows that validate."""
    both = (data, more)
    weights = None
    if data.weights is not None or more.weights is not None:
        weights = np.concatenate([np.ones(rows.n_rows) if rows.weights is None else rows.weights for rows in both])
    matrices: list[Any] = [rows.matrix for rows in both]
    return replace(
        data,
        matrix=np.asfortranarray(np.concatenate(matrices)),
        labels=np.concatenate([rows.labels for rows in both]),
        base_logits=np.concatenate([rows.base_logits for rows in both]),
        weights=weights,
    )


def _hashes_of(groups: Any, n_rows: int) -> Hashes:
    hashes = hash_column(groups, name="groups")
    if len(hashes) != n_rows:
        raise DataError(f"groups has {len(hashes):,} values, but X has {n_rows:,} rows. Pass one value per row.")
    return hashes
