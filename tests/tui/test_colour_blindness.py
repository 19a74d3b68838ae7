"""The inks of the latency bands as people with colour blindness see them, in every shipped theme.

Simulated by the matrices of Machado, Oliveira and Fernandes (2009), "A Physiologically-based Model for Simulation of
Color Vision Deficiency", table 1, severity 1.0, which apply to linear RGB. Distances are CIE 1976 (L*a*b*, D65): about
2.3 is the smallest that can be noticed when two colours lie side by side.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt
import pytest
from rich.color import ColorSystem
from textual.color import Color
from textual.theme import Theme

from tests.tui.test_few_colours import CASES, INKS, SIXTEEN, VGA, XTERM, seen, sent

DEFICIENCIES = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
BANDS = ("low", "mid", "high")
FAR = 10.0
"""Four times what can be noticed, for bars that are a cell wide."""

FEW = 8.0
"""Of sixteen colours there are few: here lines at P90 and P99 and the glyphs tell the bands apart as well."""

Vector = npt.NDArray[np.float64]


def linear(color: Color) -> Vector:
    """Linear RGB of sRGB (IEC 61966-2-1)."""
    channels = np.array(color.rgb) / 255
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def simulated(color: Color, deficiency: str) -> Vector:
    """Linear RGB as it is seen."""
    return np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(color), 0, 1)


def lab(rgb: Vector) -> Vector:
    """CIE L*a*b* of linear RGB under D65."""
    matrix = np.array(((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505)))
    xyz = matrix @ rgb / np.array((0.95047, 1.0, 1.08883))
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array((116 * y - 16, 500 * (x - y), 200 * (y - z)))


def distance(one: Color, other: Color, deficiency: str) -> float:
    return float(np.linalg.norm(lab(simulated(one, deficiency)) - lab(simulated(other, deficiency))))


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_greys_are_seen_as_they_are(deficiency: str) -> None:
    assert simulated(Color(128, 128, 128), deficiency) == pytest.approx(linear(Color(128, 128, 128)), abs=1e-5)


def test_distances_are_those_of_the_definition() -> None:
    # White is L* = 100 and black 0; sRGB red is L*a*b* = (53.2, 80.1, 67.2).
    assert distance(Color(255, 255, 255), Color(0, 0, 0), "protanopia") == pytest.approx(100, abs=0.1)
    assert lab(linear(Color(255, 0, 0))) == pytest.approx((53.2, 80.1, 67.2), abs=0.1)


def test_each_deficiency_confuses_what_it_is_known_to_confuse() -> None:
    red, green, blue = Color(200, 60, 40), Color(120, 120, 30), Color(60, 60, 220)
    for deficiency in ("protanopia", "deuteranopia"):
        assert distance(red, green, deficiency) < distance(red, blue, deficiency) / 3
    cyan, teal = Color(80, 170, 255), Color(60, 190, 170)
    assert distance(cyan, teal, "tritanopia") < distance(cyan, teal, "deuteranopia")


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize(("theme", "system"), CASES)
def test_the_bands_of_latency_are_told_apart(theme: Theme, system: ColorSystem, deficiency: str) -> None:
    """Up to P90, up to P99 and beyond, in every theme; of monochrome in 16 colours two are the same grey."""
    for first, second in combinations(BANDS, 2):
        if system is SIXTEEN and theme.name == "hettop-mono" and (first, second) == ("low", "mid"):
            continue
        for sixteen in (VGA, XTERM):
            one, other = (seen(sent(theme, INKS[ink], system)[0], sixteen) for ink in (first, second))
            assert distance(one, other, deficiency) >= (FEW if system is SIXTEEN else FAR), (first, second)
