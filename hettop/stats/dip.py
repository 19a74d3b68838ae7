"""Hartigan's dip: how far a sample is from the nearest distribution with one mode, and whether that is significant.

J. A. Hartigan and P. M. Hartigan, "The dip test of unimodality", Annals of Statistics 13 (1985), 70-84.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Float64Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]

LEVELS = (0.05, 0.01)
SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 20_000)
CRITICAL = {
    0.05: (0.4630, 0.4851, 0.5028, 0.5163, 0.5262, 0.5302, 0.5345, 0.5377, 0.5397, 0.5445),
    0.01: (0.5329, 0.5568, 0.5783, 0.5964, 0.6106, 0.6155, 0.6178, 0.6208, 0.6247, 0.6310),
}
"""sqrt(n) times the dip that uniform samples of each of SIZES exceed with each of LEVELS' probability.

Simulated by `tools/dip_table.py`: 40,000 samples of each size, seed 1985; the last digit is uncertain by about 15.
"""

CHAIN_POINTS = 256
"""Below so many points, walking a chain in Python is cheaper than another pass over arrays."""


def dip(ascending: Float64Array) -> float:
    """Largest distance between the empirical distribution of `ascending` and the nearest unimodal distribution.

    ascending: shape (n,), n >= 1. The result lies between 1/(2n) and 1/4. The algorithm is the paper's; distances are
    counted in samples and divided by n at the end. The greatest convex minorant touches the steps of the distribution
    from below at (x[i], i), the least concave majorant from above at (x[i], i + 1).
    """
    x = np.asarray(ascending, dtype=np.float64)
    low, high, found = 0, x.size - 1, 1.0
    while x[low] < x[high]:
        minorant, majorant = _minorant(x, low, high), _majorant(x, low, high)
        at_minorant = np.interp(x[minorant], x[majorant], majorant) - minorant + 1.0
        at_majorant = majorant - np.interp(x[majorant], x[minorant], minorant) + 1.0
        widest = max(float(at_minorant.max()), float(at_majorant.max()))
        if widest <= found:
            break
        if at_minorant.max() > at_majorant.max():
            new_low = int(minorant[int(np.argmax(at_minorant))])
            new_high = int(majorant[np.searchsorted(x[majorant], x[new_low], side="left")])
        else:
            new_high = int(majorant[int(np.argmax(at_majorant))])
            new_low = int(minorant[np.searchsorted(x[minorant], x[new_high], side="right") - 1])
        left = np.arange(low, new_low + 1)
        right = np.arange(new_high, high + 1)
        below = left + 1 - np.interp(x[left], x[minorant], minorant)
        above = np.interp(x[right], x[majorant], majorant) + 1 - right
        found = max(found, float(below.max()), float(above.max()))
        if (new_low, new_high) == (low, high):
            break
        low, high = new_low, new_high
    return found / (2.0 * x.size)


def critical_dip(n: int, level: float) -> float:
    """The dip that a sample of `n` from one mode exceeds with probability `level` (one of LEVELS) at most.

    Interpolated in the logarithm of n; beyond SIZES the nearest one holds.
    """
    return float(np.interp(math.log(n), np.log(SIZES), CRITICAL[level])) / math.sqrt(n)


def _minorant(x: Float64Array, low: int, high: int) -> Indices:
    """Indices in [low, high] of the corners of the greatest convex minorant of the points (x[i], i)."""
    return _hull(x, np.arange(low, high + 1), 1.0)


def _majorant(x: Float64Array, low: int, high: int) -> Indices:
    """Indices in [low, high] of the corners of the least concave majorant of the points (x[i], i)."""
    return _hull(x, np.arange(low, high + 1), -1.0)


def _hull(x: Float64Array, index: Indices, side: float) -> Indices:
    """Corners of the lower (side 1) or upper (side -1) hull of the points (x[i], i) for ascending i in `index`.

    A point that does not lie beyond the line through its two neighbours is not a corner whatever lies further away, so
    whole passes remove such points at once; what passes do not thin out any more is walked point by point.
    """
    while index.size > CHAIN_POINTS:
        dx, dy = np.diff(x[index]), np.diff(index)
        beyond = side * (dx[:-1] * dy[1:] - dx[1:] * dy[:-1]) > 0
        kept = index[np.concatenate(([True], beyond, [True]))]
        thinned, index = kept.size < 0.9 * index.size, kept
        if not thinned:
            break
    corners: list[int] = []
    for i in index.tolist():
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            if side * ((x[b] - x[a]) * (i - b) - (x[i] - x[b]) * (b - a)) > 0:
                break
            corners.pop()
        corners.append(i)
    return np.asarray(corners)
