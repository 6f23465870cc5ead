"""HKRR as an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._fitting import FitRows, naming_eval_set, read_eval_rows, seeds_from
from trueup._runtime import check_number, check_whole
from trueup.baselines._cells import CellFit, CellRows, CellUpdates, apply_cells, fit_cells
from trueup.baselines._estimator import Floats, SegmentBaseline
from trueup.baselines._given_segments import GivenSegments, kept_rows, read_segments, segments_again
from trueup.errors import ConvergenceWarning, ParameterError, TableError, callers_level
from trueup.metrics import maximum_over_segments, smooth_calibration_error

_ALPHAS = (0.1, 0.05, 0.025, 0.0125)
_MIN_ALPHA = 1e-6
_MIN_WIDTH = 1 / (2**16 - 1)  # a bin's number has 16 bits


class HKRR(SegmentBaseline):
    """The first multicalibration algorithm: moves the cells of segments and bins until none is wrong by alpha.

    Parameters
    ----------
    alpha : float or sequence of float
        How wrong a cell may stay: it is moved if its mean error is at least ``alpha / 2``. Of several, the one
        is taken that is best on the rows of `eval_set`.
    bin_width : float
        The width of the bins that scores are put into.
    max_iterations : int
        How many times to go through all cells at the most.
    average_bins : bool
        Whether all rows of a bin get its mean in the end, as the algorithm says; this leaves as many different
        probabilities as there are bins.
    random_state : int, RandomState or None
        For the order of the cells and the noise.

    Attributes
    ----------
    updates_ : CellUpdates
        The moves of the cells, in order.
    alpha_ : float
        The alpha that was taken.
    validation_errors_ : dict of float to float
        The largest smooth calibration error of any segment on `eval_set`, for each alpha; empty without one.
    n_iterations_ : int
        How many times all cells were gone through.
    n_updates_ : int
        How many times a cell was moved.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    trueup.MCGrad : Needs no segments.
    DFMC : Trees on the segments, without bins.

    Notes
    -----
    Algorithm 1 of Hébert-Johnson, Kim, Reingold and Rothblum (2018), as Hansen et al. (2024) run it: segments and
    bins come in a random order; a cell with at least ``alpha bin_width |segment|`` rows asks a guess-and-check oracle
    with a window of ``alpha / 4``, which finds nothing wrong below two windows and else gives the mean label and a
    uniform noise of up to one window; a probability that leaves [0, 1] is put back.

    Of several alphas, the one is taken whose worst segment is best on the rows of `eval_set`, as Hansen et al. and
    with them the MCGrad paper choose it: the largest smooth calibration error of any segment, all rows not among
    them. If two are equal, the larger is taken, which has moved less.

    Examples
    --------
    >>> from trueup.baselines import HKRR
    >>> X = {"half": ["a"] * 40 + ["b"] * 40}
    >>> y, p = [1] * 32 + [0] * 8 + [0] * 32 + [1] * 8, [0.5] * 80
    >>> model = HKRR(average_bins=False).fit(X, y, scores=p, segments=["half = a", "half = b"])
    >>> model.calibrate(X, p)[[0, 79]].round(1)
    array([0.8, 0.2])
    """

    def __init__(
        self,
        *,
        alpha: float | Sequence[float] = 0.1,
        bin_width: float = 0.1,
        max_iterations: int = 1000,
        average_bins: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.alpha = alpha
        self.bin_width = bin_width
        self.max_iterations = max_iterations
        self.average_bins = average_bins
        self.random_state = random_state

    @classmethod
    def paper(cls, **parameters: Any) -> HKRR:
        """Return an estimator that is fitted as in the benchmark of the MCGrad paper.

        Parameters
        ----------
        **parameters : object
            Parameters of `HKRR` to set besides.

        Returns
        -------
        HKRR
            One that chooses alpha among 0.1, 0.05, 0.025 and 0.0125, so that its fit needs an `eval_set`.

        Examples
        --------
        >>> from trueup.baselines import HKRR
        >>> HKRR.paper().alpha
        (0.1, 0.05, 0.025, 0.0125)
        """
        return cls(**{"alpha": _ALPHAS, **parameters})

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        scores: Any = None,
        sample_weight: Any = None,
        segments: Any = None,
        eval_set: tuple[Any, ...] | None = None,
    ) -> HKRR:
        """Move cells until none is wrong.

        Parameters
        ----------
        X : table
            What conditions are about.
        y : array-like
            Labels of two classes, or probabilities in [0, 1].
        scores : array-like, optional
            The base model's probabilities. Without them the base rate is the base model.
        sample_weight : array-like, optional
            Weights of the rows.
        segments : mapping, sequence or table
            Masks by name, a table of booleans, or conditions such as ``["country = NO", "age < 25"]``.
        eval_set : tuple, optional
            ``(X, y, scores, sample_weight, segments)``, or the first two to four of them: rows that decide between
            several alphas. Its segments are needed if those of the fit are masks.

        Returns
        -------
        HKRR
            The estimator itself.
        """
        alphas = self._checked_alphas()
        if len(alphas) > 1 and eval_set is None:
            raise ParameterError(
                f"alpha has {len(alphas)} values, and eval_set must say which is best: pass rows that are not those "
                "of the fit as eval_set=(X, y, scores), or one alpha."
            )
        rows = self._read(X, y, scores, sample_weight)
        found = read_segments(segments, rows, "HKRR")
        others = None if eval_set is None else read_eval_rows(eval_set, rows, "segments")
        cells = CellRows(rows.scores, rows.labels, rows.weights, found.masks)
        fits = {alpha: self._fit(cells, alpha) for alpha in alphas}
        self.validation_errors_ = (
            {} if others is None else {alpha: _error(fit.updates, found, *others) for alpha, fit in fits.items()}
        )
        self.alpha_ = min(alphas, key=lambda alpha: (self.validation_errors_.get(alpha, 0.0), -alpha))
        chosen = fits[self.alpha_]
        self.n_iterations_, self.n_updates_ = chosen.n_iterations, len(chosen.updates.delta)
        if not chosen.converged:
            warnings.warn(
                f"HKRR stopped after max_iterations={self.max_iterations} with cells that are still wrong. Raise "
                f"max_iterations, or alpha above {self.alpha_:g}.",
                ConvergenceWarning,
                stacklevel=callers_level(),
            )
        self.updates_ = chosen.updates
        self._keep_segments(found)
        self._keep(rows)
        return self

    def _checked_alphas(self) -> list[float]:
        given = self.alpha if isinstance(self.alpha, (Sequence, np.ndarray)) else [self.alpha]
        if not len(given):
            raise ParameterError("alpha is empty. Pass a number, or several to choose from.")
        for alpha in given:
            check_number("alpha", alpha, _MIN_ALPHA, 1.0)
        check_number("bin_width", self.bin_width, _MIN_WIDTH, 1.0)
        check_whole("max_iterations", self.max_iterations, 1)
        return [float(alpha) for alpha in given]

    def _fit(self, cells: CellRows, alpha: float) -> CellFit:
        seed, _ = seeds_from(self.random_state)
        return fit_cells(
            cells,
            alpha=alpha,
            width=float(self.bin_width),
            max_iterations=int(self.max_iterations),
            average=bool(self.average_bins),
            generator=np.random.RandomState(seed),
        )

    def _calibrated_by_masks(self, scores: Floats, masks: Sequence[npt.NDArray[np.bool_]]) -> Floats:
        return apply_cells(self.updates_, scores, masks)


def _error(updates: CellUpdates, found: GivenSegments, rows: FitRows, more: tuple[Any, ...]) -> float:
    """The largest smooth calibration error of any of the segments on some rows."""
    with naming_eval_set():
        masks = list(kept_rows(segments_again(found, rows.table, *more), rows.kept))
    calibrated = apply_cells(updates, rows.scores, masks)
    named = dict(zip(found.names, masks, strict=True))
    try:
        return maximum_over_segments(
            smooth_calibration_error, rows.labels, calibrated, segments=named, sample_weight=rows.weights
        )
    except TableError as reason:
        raise TableError(f"eval_set can't tell one alpha from another: {reason}") from reason
