"""`diagnose`: from training rows and test rows to a `Diagnosis`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from trueup._runtime import check_whole, thread_count
from trueup.errors import ParameterError
from trueup.evaluation._diagnosis._finding import Diagnosis, Finding, in_order
from trueup.evaluation._diagnosis._of_columns import find_in_columns, find_leaks
from trueup.evaluation._diagnosis._of_labels import find_in_amount, find_in_labels, find_in_weights
from trueup.evaluation._diagnosis._of_population import compare_populations
from trueup.evaluation._diagnosis._of_rows import find_in_rows
from trueup.evaluation._diagnosis._of_scores import find_between_scores, find_in_scores
from trueup.evaluation._diagnosis._row_set import RowSet, draw_sample, parts_of_test, read_row_set
from trueup.evaluation._diagnosis._survey import survey_columns

__all__ = ["diagnose"]


def diagnose(
    X: Any,
    y: Any,
    scores: Any = None,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    test: Sequence[Any] | None = None,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    ignore: Sequence[str] = (),
    max_rows: int = 50_000,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Diagnosis:
    """Say what is wrong with rows before anything is fitted or tested on them.

    Parameters
    ----------
    X : table or None
        Features of the training rows: a pandas, polars or pyarrow table, a dict of arrays, or a 2-D NumPy array.
    y : array-like of shape (n,) or str
        Their labels: two classes, or soft labels in [0, 1]; or the name of their column, which is then not a feature.
    scores : array-like of shape (n,) or (n, 2), or str, optional
        The base model's probabilities of the positive class, or the name of their column.
    sample_weight : array-like of shape (n,) or str, optional
        Their weights, or the name of their column.
    pos_label : label, optional
        The positive class, which `scores` are about; by default the greater of the two labels.
    test : tuple, optional
        The test rows: ``(X, y, scores)`` or ``(X, y, scores, sample_weight)``, arrays or names alike. Without them
        only the training rows are looked at.
    features : sequence of str, optional
        The columns to look at; all by default.
    categorical_features : "from_dtype", or names or positions of columns
        Columns that are categorical besides strings, categoricals and booleans.
    ignore : sequence of str, default=()
        Columns to leave out, such as the one that rows were split by.
    max_rows : int, default=50_000
        How many rows, half of them training rows, are drawn for the classifier that tells training rows from test rows
        and for what is measured per column. Everything else looks at all rows.
    random_state : int, default=0
        Seed of the draws and folds.
    n_jobs : int, optional
        Threads to use; by default all cores of the process.

    Returns
    -------
    Diagnosis
        The findings, errors first. ``ok`` is True if there are at most notes.

    Notes
    -----
    What is wrong with the values of labels, scores and weights is a finding, not an exception; so is a column
    that the test rows lack. What can't be read at all, or has another length, raises.

    Significance decides whether there is an effect, and the size of the effect decides how severe it is: the AUC of a
    classifier (0.55, 0.65 and 0.95 are a note, a warning and an error), odds ratios, shares of rows. On sound data,
    each check gives a false alarm less than once in a thousand times.

    Equal rows are counted against what dealing all rows to train and test at random would give, so that tables of
    few coarse columns, which repeat themselves, raise no alarm.

    A million training rows and 300,000 test rows of 20 columns take 3.4 s of processor time from Arrow, and 4.6 s
    from pandas with Python strings.

    Examples
    --------
    Half of the test rows were fitted on:

    >>> import numpy as np
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> visits = make_traffic(20_000)
    >>> train, test = np.arange(12_000), np.arange(8_000, 16_000)
    >>> diagnosis = trueup.diagnose(
    ...     visits.X.take(train),
    ...     visits.y[train],
    ...     visits.scores[train],
    ...     test=(visits.X.take(test), visits.y[test], visits.scores[test]),
    ... )
    >>> diagnosis
    Diagnosis(12,000 training rows and 8,000 test rows: 1 error)
    >>> print(diagnosis.findings[0].text)
    4,000 of the 8,000 test rows (50 %) also appear in the training rows, identical in every column.
    """
    _check_options(ignore, max_rows, random_state)
    n_threads = thread_count(n_jobs)
    train, findings = read_row_set("train", X, y, scores, sample_weight, pos_label=pos_label)
    given = [sample_weight is not None, False]
    other: RowSet | None = None
    if test is not None:
        test_X, test_y, test_scores, test_weight = parts_of_test(test)
        if (test_X is None) != (X is None):
            raise ParameterError("Pass features of both train and test, or of neither.")
        other, more = read_row_set("test", test_X, test_y, test_scores, test_weight, like=train.labels)
        findings, given[1] = findings + more, test_weight is not None
        findings += _scores_on_one_side(train, other, scores is not None, test_scores is not None)
    sets = [train] if other is None else [train, other]
    sample = draw_sample(sets, max_rows, random_state)
    survey = survey_columns(
        train,
        other,
        sample,
        features=_features_of(train, features),
        categorical_features=categorical_features,
        ignore=ignore,
    )
    for rows in sets:
        findings += find_in_scores(rows)
    findings += find_in_weights(train, other, (given[0], given[1]))
    findings += find_in_rows(train, other, survey.prints, specific=survey.is_specific)
    findings += [*find_in_columns(train, other, survey), *find_leaks(train, survey, sample, random_state)]
    facts: dict[str, Any] = {}
    for rows in sets:
        facts |= {f"{rows.name}_rate": rows.rate, f"{rows.name}_mean_score": rows.mean_score}
    if other is not None:
        findings += find_between_scores(train, other)
        more, measured = compare_populations(train, other, survey, sample, n_threads=n_threads, seed=random_state)
        findings, facts = findings + more, facts | measured
    findings += [*find_in_labels(train, other), *find_in_amount(train, other)]
    return Diagnosis(in_order(findings), train.n, 0 if other is None else other.n, facts)


def _features_of(train: RowSet, features: Sequence[str] | None) -> Sequence[str] | None:
    """The columns to look at: those asked for, or all that have no role; None for all of them."""
    return train.given.features(features) if train.table is not None and train.given.names else features


def _scores_on_one_side(train: RowSet, test: RowSet, of_train: bool, of_test: bool) -> list[Finding]:
    if of_train == of_test:
        return []
    has, lacks = (train, test) if of_train else (test, train)
    text = f"{has.words.capitalize()} have scores, and {lacks.words} have none."
    return [Finding("scores_on_one_side", "error", text, f"Score {lacks.words} with the same model.", {})]


def _check_options(ignore: Sequence[str], max_rows: Any, random_state: Any) -> None:
    if isinstance(ignore, str):
        raise ParameterError(f"ignore must be a list of names, got the string {ignore!r}. Use [{ignore!r}].")
    check_whole("max_rows", max_rows, 100)
    check_whole("random_state", random_state, 0)
