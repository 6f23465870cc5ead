"""Small multiples: the reliability in each value of a feature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, read_table
from trueup.errors import ParameterError, TableError
from trueup.metrics import Observations, ReliabilityCurve, cumulative_of, read_rows, reliability_of
from trueup.plot._axes import checked_panels, new_axes, require_matplotlib, sigmas_in_words, wrapped
from trueup.plot._estimators import labels_for, name_of, scores_of
from trueup.plot._reliability import ReliabilityDisplay, limits_of, set_limits
from trueup.segments import cross_columns

_COLUMNS = 3
_PANEL_WIDTH, _PANEL_HEIGHT = 2.7, 3.0  # inches


@dataclass(frozen=True, eq=False)
class Panel:
    """One value of a feature."""

    segment: str  # the condition in words
    rows: int
    curves: Mapping[str, ReliabilityCurve]  # by the name of the scores
    ecce_sigma: Mapping[str, float]  # by the name of the scores


class FeatureGridDisplay:
    """Reliability diagrams side by side, one for each value of a feature.

    All panels have the same axes, and say how far off the scores are. Make it with `from_predictions` or
    `from_estimator`.

    Parameters
    ----------
    panels : sequence of panels
        What is drawn, each with ``segment``, ``rows``, ``curves`` and ``ecce_sigma``.
    feature : str
        The feature.

    Attributes
    ----------
    axes_, figure_ : array of matplotlib Axes, and Figure
        Where it is drawn, in the order of `panels`.
    displays_ : list of lists of ReliabilityDisplay
        What is drawn in each of them.

    See Also
    --------
    ReliabilityDisplay : One diagram.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.plot import FeatureGridDisplay
    >>> visits = make_traffic(5_000)
    >>> scores = {"base": visits.scores, "truth": visits.true_probability}
    >>> display = FeatureGridDisplay.from_predictions(visits.y, scores, visits.X, "device")
    >>> [panel.segment for panel in display.panels]
    ['device = phone', 'device = desktop', 'device = tablet', 'device = tv']
    """

    def __init__(self, panels: Sequence[Panel], *, feature: str) -> None:
        self.panels = tuple(panels)
        self.feature = feature

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        X: Any,
        feature: str,
        *,
        max_values: int = 6,
        sample_weight: Any = None,
        n_bins: int = 5,
        confidence: float = 0.95,
        axes: Any = None,
    ) -> FeatureGridDisplay:
        """Draw the reliability of scores in each value of a feature.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of two classes, or soft ones.
        y_prob : array-like of shape (n,), or mapping of str to array-like
            Probabilities of the positive class, or several of them by name.
        X : table
            The features.
        feature : str
            The one whose values get a panel each.
        max_values : int, default=6
            The most panels, besides one for missing values. The most frequent categories get one each and the others
            share one; numbers are cut at quantiles.
        sample_weight : array-like of shape (n,), optional
            Weights of the rows.
        n_bins : int, default=5
            The most bins in a panel.
        confidence : float, default=0.95
            The chance that a band covers the true rate.
        axes : array of matplotlib Axes, optional
            Where to draw, at least as many as there are panels; a new figure by default.

        Returns
        -------
        FeatureGridDisplay
            The display, drawn.
        """
        require_matplotlib()
        named = y_prob if isinstance(y_prob, Mapping) else {"": y_prob}
        if not named:
            raise ParameterError('y_prob is empty. Pass scores, or scores by name: {"base": p, "calibrated": q}.')
        rows = {name: read_rows(y_true, scores, sample_weight) for name, scores in named.items()}
        counted = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64) > 0
        parts = _rows_by_value(rows, read_table(X), feature, max_values, counted)
        panels = [_panel(segment, inside, n_bins, confidence) for segment, inside in parts.items()]
        return cls(panels, feature=feature).plot(axes)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, feature: str, *, scores: Any = None, **options: Any
    ) -> FeatureGridDisplay:
        """Draw the reliability of what an estimator predicts, in each value of a feature.

        Parameters
        ----------
        estimator : fitted estimator
            An `MCGrad`, what `trueup.load` gives, or any classifier of two classes.
        X, y : table and array-like
            The rows and their labels.
        feature : str
            The column of `X` whose values get a panel each.
        scores : array-like, optional
            The base model's scores, if the estimator calibrates them; they are drawn too.
        **options : object
            Options of `from_predictions`.

        Returns
        -------
        FeatureGridDisplay
            The display, drawn.
        """
        named = {} if scores is None else {"scores": scores}
        named[name_of(estimator, None)] = scores_of(estimator, X, scores)
        return cls.from_predictions(labels_for(estimator, X, y), named, X, feature, **options)

    def plot(self, axes: Any = None) -> FeatureGridDisplay:
        """Draw.

        Parameters
        ----------
        axes : array of matplotlib Axes, optional
            Where to draw, at least as many as there are panels; a new figure by default.

        Returns
        -------
        FeatureGridDisplay
            The display itself.
        """
        require_matplotlib()
        n = len(self.panels)
        columns = min(n, _COLUMNS)
        rows = math.ceil(n / _COLUMNS)
        if axes is None:
            axes = new_axes(_PANEL_WIDTH * columns + 0.4, _PANEL_HEIGHT * rows, rows=rows, columns=columns)
        places = checked_panels(axes, n)
        self.displays_ = [
            self._draw_panel(panel, ax, has_legend=place == 0)
            for place, (panel, ax) in enumerate(zip(self.panels, places, strict=False))
        ]
        for place, ax in enumerate(places[:n]):
            if place % _COLUMNS:
                ax.set_ylabel("")
            if place + _COLUMNS < n:
                ax.set_xlabel("")
        for ax in places[n:]:
            ax.set_axis_off()
        self.axes_ = np.array(places[:n], dtype=object)
        self.figure_ = places[0].get_figure(root=True)
        return self

    def _draw_panel(self, panel: Panel, ax: Any, *, has_legend: bool) -> list[ReliabilityDisplay]:
        displays = [ReliabilityDisplay(curve, name=name or None).plot(ax) for name, curve in panel.curves.items()]
        limits = [limits_of(curve) for every in self.panels for curve in every.curves.values()]
        set_limits(ax, min(low for low, _ in limits), max(high for _, high in limits))
        ax.set_xlabel("Predicted", fontsize="small")
        ax.set_ylabel("Observed", fontsize="small")
        ax.tick_params(labelsize="x-small")
        displays[0].density_ax_.tick_params(labelsize="x-small")
        for text in displays[0].density_ax_.texts:  # said once is enough
            text.set_visible(has_legend and text.get_visible())
        if ax.get_legend() is not None and not has_legend:
            ax.get_legend().remove()
        sigmas = " → ".join(sigmas_in_words(value) for value in panel.ecce_sigma.values())
        words = f"{wrapped(panel.segment, 30)}\n{panel.rows:,} rows, off by {sigmas}"
        ax.set_title(words, fontsize="small", loc="left")
        return displays


def _rows_by_value(
    rows: Mapping[str, Observations], table: CalibrationTable, feature: str, max_values: int, counted: Any
) -> dict[str, dict[str, Observations]]:
    """The rows of each value of the feature, by its condition in words and by the name of the scores."""
    n_counted = table.n_rows if counted is None else int(counted.sum())
    n = len(next(iter(rows.values())).labels)
    if n_counted != n or (counted is not None and len(counted) != table.n_rows):
        raise TableError(f"X has {table.n_rows:,} rows, and y_true another number. They must be the same rows.")
    parts = cross_columns(table, features=[feature], max_values={feature: max_values}, rows=counted)
    if not parts:
        return {f"{feature}: one value only": dict(rows)}
    codes = parts[0].codes
    return {
        str(segment): {name: _of_rows(one, codes == code) for name, one in rows.items()}
        for code, segment in enumerate(parts[0].parts)
    }


def _of_rows(rows: Observations, chosen: npt.NDArray[np.bool_]) -> Observations:
    return Observations(rows.labels[chosen], rows.scores[chosen], rows.weights[chosen])


def _panel(segment: str, rows: Mapping[str, Observations], n_bins: int, confidence: float) -> Panel:
    curves = {name: reliability_of(one, n_bins, confidence) for name, one in rows.items()}
    sigmas = {name: cumulative_of(one).ecce_sigma for name, one in rows.items()}
    n = len(next(iter(rows.values())).labels)
    return Panel(segment, n, curves, sigmas)
