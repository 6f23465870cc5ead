"""The calibration error after smoothing with a kernel whose width fits the error (smECE)."""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from trueup.metrics._checks import FloatArray, Observations, check_observations

# The discretisation of relplot 1.0, so that its values can be compared with ours. Widths are multiples of 1 / _WIDTHS,
# and at least two of them.
_WIDTHS = 1024
_GRID_STEPS, _GRID_STEPS_A_WIDTH = 1000, 10
_MESH_POINTS, _MESH_POINTS_A_WIDTH = 200, 10


def smooth_calibration_error(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Calibration error without bins, which changes little when scores change little (smECE).

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The smECE, in [0, 1]. Noise alone makes it positive.

    Notes
    -----
    With a kernel K of width σ, ``smECE_σ = ∫ |Σ w_i (p_i - y_i) K_σ(t, p_i)| dt / ∫ Σ w_i K_σ(t, p_i) dt``. It
    falls as σ grows, and smECE is its value where it equals σ. It lies between a multiple of the distance to the
    nearest calibrated scores and a multiple of that distance's square root (Błasiok and Nakkiran, "Smooth ECE:
    principled reliability diagrams via kernel smoothing", ICLR 2024).

    K is Gaussian and reflected at 0 and 1. Values agree with the authors' package relplot 1.0, whose discretisation
    this follows: a grid of 1,000 steps, or 10 per width, with each row shared between the two nearest points; a kernel
    cut off at a distance of ½; integrals as sums over 200 points, or 10 per width; and σ found by bisection, rounded
    up to a multiple of 1/1024, at least 2/1024. As there, the first and last point of the grid are not reflected:
    rows with a score of exactly 0 or 1 count half, so if most scores are below 0.001, the others count too much.
    Unlike there, nothing is added to the density (relplot adds 0.0001 of a row, which lowers its values by at most
    0.03 % / n). The cost is O(n) for each of up to 5 grids, plus a Fourier transform of each.

    Examples
    --------
    All scores are a tenth too high:

    >>> from trueup.metrics import smooth_calibration_error
    >>> round(smooth_calibration_error([0.1, 0.4, 0.7], [0.2, 0.5, 0.8]), 4)
    0.1
    """
    rows = check_observations(y_true, y_prob, sample_weight)

    @cache
    def on_grid(steps: int) -> tuple[FloatArray, FloatArray]:
        """The errors and the weights of all rows, on a grid with this many steps."""
        errors = rows.weights * (rows.scores - rows.labels)
        return _shared_out(rows, errors, steps), _shared_out(rows, rows.weights, steps)

    return min(1.0, _where_width_equals_error(lambda width: _error_at(width, on_grid)))


def _where_width_equals_error(error_at: Callable[[float], float]) -> float:
    """The error at the narrowest width, of those that a bisection tries, that is not below its own error."""
    too_narrow, wide_enough = 0, _WIDTHS
    while wide_enough - too_narrow > 1:
        middle = (too_narrow + wide_enough) // 2
        width = middle / _WIDTHS
        if middle == 1 or width < error_at(width):
            too_narrow = middle
        else:
            wide_enough = middle
    return error_at(wide_enough / _WIDTHS)


def _error_at(width: float, on_grid: Callable[[int], tuple[FloatArray, FloatArray]]) -> float:
    steps = max(_GRID_STEPS, round(2 * _GRID_STEPS_A_WIDTH / width) // 2)
    errors, weights = (_smoothed(values, width) for values in on_grid(steps))
    grid = np.linspace(0, 1, steps + 1)
    mesh = np.linspace(0, 1, max(_MESH_POINTS, round(_MESH_POINTS_A_WIDTH / width)))
    return float(np.abs(np.interp(mesh, grid, errors)).sum() / np.interp(mesh, grid, weights).sum())


def _shared_out(rows: Observations, values: FloatArray, steps: int) -> FloatArray:
    """Share each row's value between the two grid points around its score; the nearer one gets more."""
    places = rows.scores * steps
    left = np.minimum(places.astype(np.intp), steps - 1)
    to_the_right = np.bincount(left, values * (places - left), steps)
    grid = np.zeros(steps + 1)
    grid[:-1] = np.bincount(left, values, steps) - to_the_right
    grid[1:] += to_the_right
    return grid


def _smoothed(values: FloatArray, width: float) -> FloatArray:
    """Convolve values on a grid over [0, 1], reflected at both ends, with a Gaussian kernel cut at ±½."""
    points = len(values)
    # Reflected at both ends again and again, the grid is a circle.
    circle = np.concatenate((values, values[-2:0:-1]))
    kernel = np.zeros(len(circle))
    # With an even number of points the kernel's peak falls between two of them, half a step off. That is relplot's
    # way, and only matters for the widths 3 and 7 of 1024.
    kernel[np.arange(points) - points // 2] = np.exp(-0.5 * ((np.linspace(0, 1, points) - 0.5) / width) ** 2)
    product = np.fft.rfft(circle) * np.fft.rfft(kernel)
    smoothed: FloatArray = np.fft.irfft(product, len(circle))[:points]
    return smoothed
