"""Gaussian kernel density on a grid, with the Improved Sheather-Jones bandwidth.

Written after Botev, Grotowski and Kroese, "Kernel density estimation via diffusion", Annals of Statistics 38 (2010),
sections 2 and 5; t is the diffusion time, the bandwidth sqrt(t).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]

GRID_POINTS = 4096
"""Power of two for the cosine transform; cells are far narrower than any bandwidth that resolves 5% of the mass."""

MARGIN = 0.5
"""Grid beyond the extremes, as a share of the range on each side: kernels end before the grid reflects them."""

_STAGES = 7
"""Plug-in stages l of the paper's section 5; more change nothing, fewer lean on the first guess."""

_SMALLEST_T, _LARGEST_T, _T_STEPS = 1e-7, 0.1, 30
"""Where the root is looked for, in units of the squared grid width (the first is about one cell), and in how many
steps of equal ratio."""

_BISECTIONS = 12
"""Of a bracket of ratio 1.6: the bandwidth is good to 1e-4 of itself, far below what moves a peak."""


def smooth(values: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Grid (shape (GRID_POINTS,), unit of the values) and density on it (1 / unit), from values, shape (n,).

    ValueError when all values are equal: their density is not a function.
    """
    low, high = float(values.min()), float(values.max())
    if not low < high:
        raise ValueError("a density needs values that differ")
    margin = MARGIN * (high - low)
    low, width = low - margin, (high - low) + 2 * margin
    cells = np.minimum(((values - low) * (GRID_POINTS / width)).astype(np.int64), GRID_POINTS - 1)
    mass = np.bincount(cells, minlength=GRID_POINTS) / values.size
    waves = _cosine_transform(mass)
    t = improved_sheather_jones(waves, int(np.unique(values).size))
    if t is None:
        t = (silverman(values) / width) ** 2
    order = np.arange(GRID_POINTS, dtype=np.float64)
    density = _from_cosines(waves * np.exp(-(order**2) * math.pi**2 * t / 2)) * (GRID_POINTS / width)
    grid = low + (order + 0.5) * (width / GRID_POINTS)
    return grid, np.maximum(density, 0.0)  # the transform rings by about 1e-16 where the density is 0


def improved_sheather_jones(waves: Float64Array, n: int) -> float | None:
    """Squared bandwidth t of n distinct values, in units of the squared grid width; None when there is no root.

    `waves` is the type-2 cosine transform of the binned masses. The root of t = xi * gamma^[7](t) (equation 29 of the
    paper) that is smallest is wanted; the search walks up from below, as the authors' own program does.
    """
    squares = np.arange(1, waves.size, dtype=np.float64) ** 2
    weights = _derivative_weights(squares, (waves[1:] / 2) ** 2)

    def excess(t: float) -> float:
        return t - _plug_in(t, n, squares, weights)

    below = _SMALLEST_T
    for t in np.geomspace(_SMALLEST_T, _LARGEST_T, _T_STEPS).tolist():
        if excess(t) >= 0:
            return None if t == below else _bisect(excess, below, t)
        below = t
    return None


def silverman(values: Float64Array) -> float:
    """Silverman's rule of thumb (1986, equation 3.31), in the values' unit: 0.9 min(sd, IQR / 1.34) n^(-1/5)."""
    deviation = float(values.std())
    upper, lower = np.quantile(values, (0.75, 0.25))
    spread = min(deviation, float(upper - lower) / 1.34) or deviation
    return 0.9 * spread * math.pow(values.size, -0.2)


def _cosine_transform(values: Float64Array) -> Float64Array:
    """Type-2 cosine transform of values, shape (n,), n even: wave k is 2 sum_j values[j] cos(pi k (2 j + 1) / (2 n)).

    By one Fourier transform of the even places followed by the odd ones backwards (Makhoul, IEEE Transactions on
    Acoustics, Speech, and Signal Processing 28 (1980)); scipy has it, and takes longer to be imported than this runs.
    """
    turned = np.fft.rfft(np.concatenate((values[::2], values[::-2]))) * _turns(values.size)
    return 2 * np.concatenate((turned.real, -turned.imag[-2:0:-1]))


def _from_cosines(waves: Float64Array) -> Float64Array:
    """The values, shape (n,), n even, whose `_cosine_transform` is `waves`."""
    half = waves.size // 2
    mirrored = np.concatenate(([0.0], waves[: half - 1 : -1]))
    halves = np.fft.irfft((waves[: half + 1] - 1j * mirrored) / (2 * _turns(waves.size)), waves.size)
    values = np.empty_like(waves)
    values[::2], values[::-2] = halves[:half], halves[half:]
    return values


def _turns(n: int) -> npt.NDArray[np.complex128]:
    """exp(-i pi k / (2 n)) for k = 0..n / 2."""
    turns: npt.NDArray[np.complex128] = np.exp(np.arange(n // 2 + 1) * (-0.5j * math.pi / n))
    return turns


def _plug_in(t: float, n: int, squares: Float64Array, weights: list[Float64Array]) -> float:
    """xi * gamma^[7](t): the estimate of the best t when the density's derivatives are smoothed with t itself.

    Infinite when a stage smooths everything away (a handful of values): then no t is large enough.
    """
    functional = _squared_norm(weights[_STAGES], t, squares)
    for s in range(_STAGES - 1, 1, -1):
        if functional == 0.0:
            return math.inf
        odd_product = math.prod(range(1, 2 * s, 2)) / math.sqrt(2 * math.pi)
        constant = (1 + 0.5 ** (s + 0.5)) / 3
        stage_t = (2 * constant * odd_product / (n * functional)) ** (2 / (3 + 2 * s))
        functional = _squared_norm(weights[s], stage_t, squares)
    if functional == 0.0:
        return math.inf
    return float((2 * n * math.sqrt(math.pi) * functional) ** (-0.4))


def _derivative_weights(squares: Float64Array, powers: Float64Array) -> list[Float64Array]:
    """What each wave adds to the squared norm of the s-th derivative, for s = 0.._STAGES, before smoothing."""
    weights = [2 * powers]
    for _ in range(_STAGES):
        weights.append(weights[-1] * squares * math.pi**2)
    return weights


def _squared_norm(weights: Float64Array, t: float, squares: Float64Array) -> float:
    """Squared norm of a derivative of the density smoothed by t."""
    return float(np.dot(weights, np.exp(squares * (-(math.pi**2) * t))))


def _bisect(excess: Callable[[float], float], below: float, above: float) -> float:
    for _ in range(_BISECTIONS):
        middle = math.sqrt(below * above)
        if excess(middle) >= 0:
            above = middle
        else:
            below = middle
    return above
