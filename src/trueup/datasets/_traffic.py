"""Simulated traffic of a web product, scored by a model that is right on the whole and wrong in segments."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trueup.errors import ParameterError

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
# Before it becomes a table, a string column is an array of codes: positions in its list of names.
Columns: TypeAlias = dict[str, NDArray[Any]]

# The most frequent come first; weekdays are all alike.
_COUNTRIES = [
    "US", "IN", "BR", "NO", "GB", "DE", "FR", "MX", "ID", "JP", "ES", "IT", "CA",
    "NL", "PL", "TR", "SE", "AR", "KR", "ZA", "FI", "PT", "IE", "NZ", "IS",
]  # fmt: skip
_DEVICES = ["phone", "desktop", "tablet", "tv"]
_CONTENT_TYPES = ["article", "video", "image", "poll", "event"]
_WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
_REFERRERS = ["search", "social", "newsletter", "partner", "push"]
_APP_VERSIONS = [
    f"{major}.{minor}.{patch}" for major in range(8, 0, -1) for minor in range(4, -1, -1) for patch in range(4, -1, -1)
]
_NAMES = {
    "country": _COUNTRIES,
    "device": _DEVICES,
    "app_version": _APP_VERSIONS,
    "content_type": _CONTENT_TYPES,
    "weekday": _WEEKDAYS,
    "referrer": _REFERRERS,
}
_MISSING_CODE = -1

_DEVICE_SHARES = np.array([0.58, 0.28, 0.11, 0.03])
_CONTENT_SHARES = np.array([0.40, 0.30, 0.20, 0.07, 0.03])
_REFERRER_SHARES = np.array([0.36, 0.30, 0.16, 0.12, 0.06])
_HOUR_SHARES = 1.3 - np.cos(2 * np.pi * (np.arange(24) - 4) / 24)

# Main effects on the logit, in the order of the names.
_COUNTRY_EFFECTS = 0.50 * np.sin(2.3 * np.arange(len(_COUNTRIES)))
_DEVICE_EFFECTS = np.array([0.20, -0.35, 0.05, -0.80])
_CONTENT_EFFECTS = np.array([-0.40, 0.45, 0.00, 0.80, -0.60])
_WEEKDAY_EFFECTS = np.array([-0.15, -0.10, 0.00, 0.00, 0.10, 0.20, 0.15])
_REFERRER_EFFECTS = np.array([0.35, -0.20, 0.70, -0.60, 0.95])
_INTERCEPT = -3.20

_REFERENCE_ROWS = 200_000
_REFERENCE_SEED = 20_240_229
_NEWTON_STEPS = 12


@dataclass(frozen=True, eq=False, repr=False)
class Traffic:
    """Rows of simulated traffic, a base model's scores for them, and the truth.

    Attributes
    ----------
    X : pyarrow.Table
        The features, with missing values and rare categories.
    y : numpy.ndarray of int64
        Labels 0 and 1, drawn from `true_probability`.
    scores : numpy.ndarray of float64
        The base model's probabilities.
    true_probability : numpy.ndarray of float64
        The probability that each label was drawn with.
    segments : mapping of str to numpy.ndarray of bool
        The segments in which the base model is wrong: name to the rows inside.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(1_000)
    >>> traffic
    Traffic(1,000 rows, 11 features, wrong in 7 segments)
    """

    X: pa.Table
    y: NDArray[np.int64]
    scores: FloatArray
    true_probability: FloatArray
    segments: Mapping[str, BoolArray]

    def __repr__(self) -> str:
        rows, features, segments = len(self.y), self.X.num_columns, len(self.segments)
        return f"Traffic({rows:,} rows, {features} features, wrong in {segments} segments)"

    def to_table(self) -> pa.Table:
        """Return features, ``label``, ``score`` and ``true_probability`` as one table.

        Returns
        -------
        pyarrow.Table
            A table to write to a file and hand to the command line.

        Examples
        --------
        >>> from trueup.datasets import make_traffic
        >>> make_traffic(1_000).to_table().column_names[-4:]
        ['referrer', 'label', 'score', 'true_probability']
        """
        table = self.X.append_column("label", pa.array(self.y))
        table = table.append_column("score", pa.array(self.scores))
        return table.append_column("true_probability", pa.array(self.true_probability))


def make_traffic(n: int = 50_000, random_state: int | np.random.Generator | None = 0) -> Traffic:
    """Return simulated traffic whose scores are calibrated on the whole and wrong in known segments.

    Parameters
    ----------
    n : int, default=50_000
        Number of rows, at least 1.
    random_state : int, numpy.random.Generator or None, default=0
        Seed, or source of randomness. The same seed gives the same traffic; None gives new traffic each time.

    Returns
    -------
    Traffic
        Features, labels, scores, true probabilities, and the segments in which the scores are wrong.

    Notes
    -----
    The true probability is logistic: main effects of the features, plus one effect for each segment. The base
    model knows the main effects and has been calibrated on other traffic, once: its scores are the same
    function of the features for every `n` and `random_state`, so that traffic of one seed can train and that
    of another test. About 12 labels in 100 are 1.

    Examples
    --------
    On the whole the scores are right; for one app version they are far too high:

    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic()
    >>> print(f"predicted {traffic.scores.mean():.2f}, true {traffic.true_probability.mean():.2f}")
    predicted 0.12, true 0.12
    >>> rows = traffic.segments["app_version = 8.2.4"]
    >>> print(f"predicted {traffic.scores[rows].mean():.2f}, true {traffic.true_probability[rows].mean():.2f}")
    predicted 0.13, true 0.03
    """
    n_rows, rng = _checked_size(n), _checked_generator(random_state)
    columns = _draw_columns(n_rows, rng)
    segments = _segments_with_effects(columns)
    main = _main_logit(columns)
    true_probability = _sigmoid(main + _segment_logit(segments))
    return Traffic(
        X=_to_arrow(columns),
        y=(rng.random(n_rows) < true_probability).astype(np.int64),
        scores=_base_score(main),
        true_probability=true_probability,
        segments={name: mask for name, (mask, _) in segments.items()},
    )


def _checked_size(n: int) -> int:
    try:
        n_rows = operator.index(n)
    except TypeError:
        raise ParameterError(f"n must be a whole number, got {n!r}.") from None
    if n_rows < 1:
        raise ParameterError(f"n must be at least 1, got {n_rows:,}.")
    return n_rows


def _checked_generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state must be an int of at least 0, a numpy Generator or None, got {random_state!r}."
        ) from None


def _draw_columns(n: int, rng: np.random.Generator) -> Columns:
    device = _draw_codes(_DEVICE_SHARES, n, rng)
    account_age_days = rng.gamma(1.1, 420.0, n)
    past_clicks = np.floor(2.5 * rng.pareto(1.4, n) * (1 + account_age_days / 600)).astype(np.int64)
    session_length = rng.lognormal(np.array([4.4, 5.2, 4.9, 6.1])[device], 0.9)
    session_length[rng.random(n) < np.array([0.10, 0.06, 0.08, 0.30])[device]] = np.nan
    account_age_days[rng.random(n) < 0.02] = np.nan
    referrer = _draw_codes(_REFERRER_SHARES, n, rng)
    referrer[rng.random(n) < 0.22] = _MISSING_CODE
    return {
        "country": _draw_codes(_thinning_zipf(len(_COUNTRIES), 1.1, 13.0), n, rng),
        "device": device,
        "app_version": _draw_codes(_thinning_zipf(len(_APP_VERSIONS), 0.9, 120.0), n, rng),
        "content_type": _draw_codes(_CONTENT_SHARES, n, rng),
        "hour": _draw_codes(_HOUR_SHARES, n, rng),
        "weekday": rng.integers(len(_WEEKDAYS), size=n),
        "account_age_days": account_age_days,
        "past_clicks": past_clicks,
        "session_length": session_length,
        "is_logged_in": rng.random(n) < np.array([0.75, 0.45, 0.65, 0.80])[device],
        "referrer": referrer,
    }


def _thinning_zipf(count: int, power: float, scale: float) -> FloatArray:
    """Give shares that fall as a power of the rank, and past `scale` much faster: the last ones are rare."""
    ranks = np.arange(1, count + 1, dtype=np.float64)
    return ranks**-power * np.exp(-((ranks / scale) ** 2))


def _draw_codes(shares: FloatArray, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return rng.choice(len(shares), size=n, p=shares / shares.sum())


def _main_logit(columns: Columns) -> FloatArray:
    # A missing value acts as an average one; the code of a missing referrer, -1, finds the last effect.
    age = np.nan_to_num(np.log1p(columns["account_age_days"] / 300), nan=0.7)
    session = np.nan_to_num(np.log(columns["session_length"] / 100), nan=0.0)
    logit: FloatArray = (
        _INTERCEPT
        + _COUNTRY_EFFECTS[columns["country"]]
        + _DEVICE_EFFECTS[columns["device"]]
        + _CONTENT_EFFECTS[columns["content_type"]]
        + _WEEKDAY_EFFECTS[columns["weekday"]]
        + np.append(_REFERRER_EFFECTS, 0.0)[columns["referrer"]]
        + 0.40 * np.cos(2 * np.pi * (columns["hour"] - 20) / 24)
        - 0.003 * columns["app_version"]
        - 0.40 * age
        + 0.50 * np.log1p(columns["past_clicks"])
        + 0.30 * session
        + 0.35 * columns["is_logged_in"]
    )
    return logit


def _segments_with_effects(columns: Columns) -> dict[str, tuple[BoolArray, float]]:
    """Give each segment's rows and its effect on the logit, of which the base model knows nothing."""

    def among(column: str, *names: str) -> BoolArray:
        """The rows that have one of the names in a column."""
        return np.isin(columns[column], [_NAMES[column].index(name) for name in names])

    # Comparisons with NaN are false: a missing number is in no interval.
    new_account = columns["account_age_days"] < 60
    return {
        "country = NO and device = tablet": (among("country", "NO") & among("device", "tablet"), 0.75),
        "content_type = video and weekday in {Sat, Sun}": (
            among("content_type", "video") & among("weekday", "Sat", "Sun"),
            0.60,
        ),
        "is_logged_in = false and referrer is missing": (
            ~columns["is_logged_in"] & (columns["referrer"] == _MISSING_CODE),
            -1.50,
        ),
        "device = desktop and hour < 6": (among("device", "desktop") & (columns["hour"] < 6), 1.05),
        "account_age_days < 60 and past_clicks >= 10": (new_account & (columns["past_clicks"] >= 10), -0.70),
        "app_version = 8.2.4": (among("app_version", "8.2.4"), -1.60),
        "country = IN and device = phone and session_length is missing": (
            among("country", "IN") & among("device", "phone") & np.isnan(columns["session_length"]),
            0.75,
        ),
    }


def _segment_logit(segments: Mapping[str, tuple[BoolArray, float]]) -> FloatArray:
    total: FloatArray = np.sum([effect * mask for mask, effect in segments.values()], axis=0)
    return total


def _scaled(main: FloatArray) -> FloatArray:
    return (main - _INTERCEPT) / 2


@lru_cache(maxsize=1)
def _base_model() -> tuple[float, ...]:
    """Calibrate the main effects on a reference sample: coefficients of a parabola in the logit.

    Logistic regression by Newton's method, on true probabilities instead of labels: this is the limit of many
    labels, without their noise. The parabola's bend takes up what the segments do to the extreme scores.
    """
    columns = _draw_columns(_REFERENCE_ROWS, np.random.default_rng(_REFERENCE_SEED))
    main = _main_logit(columns)
    truth = _sigmoid(main + _segment_logit(_segments_with_effects(columns)))
    terms = np.vander(_scaled(main), 3)
    coefficients = np.zeros(3)
    for _ in range(_NEWTON_STEPS):
        scores = _sigmoid(terms @ coefficients)
        hessian = (terms * (scores * (1 - scores))[:, None]).T @ terms
        coefficients += np.linalg.solve(hessian, terms.T @ (truth - scores))
    # The last bits of the sums depend on the machine; the scores should not.
    return tuple(coefficients.round(6).tolist())


def _base_score(main: FloatArray) -> FloatArray:
    logit: FloatArray = np.polyval(_base_model(), _scaled(main)).astype(np.float64, copy=False)
    return _sigmoid(logit)


def _sigmoid(logit: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-logit))


def _to_arrow(columns: Columns) -> pa.Table:
    return pa.table({name: _to_arrow_column(name, values) for name, values in columns.items()})


def _to_arrow_column(name: str, values: NDArray[Any]) -> Any:
    if name in _NAMES:
        codes = pa.array(values.astype(np.int32), mask=values == _MISSING_CODE)
        return pa.DictionaryArray.from_arrays(codes, pa.array(_NAMES[name])).cast(pa.string())
    return pa.array(values, mask=np.isnan(values))
