"""Published gains of co-execution recomputed: Wang et al., "Neural Network Inference on Mobile SoCs", tables I-III."""

from __future__ import annotations

from statistics import mean

import pytest

from hettop.studies.coexec.rates import gain

# Images a second of the best component alone and of all together, and the gain as printed, in per cent.
PRINTED = {
    "AlexNet, Exynos": (7.8, 10.3, 32.4),
    "GoogLeNet, Exynos": (5.2, 8.7, 66.3),
    "MobileNet, Exynos": (8.5, 14.9, 76.7),
    "ResNet50, Exynos": (2.1, 2.9, 38.6),
    "SqueezeNet, Exynos": (8.0, 13.8, 73.9),
    "AlexNet, Kirin": (32.5, 33.4, 2.8),
    "GoogLeNet, Kirin": (19.9, 28.4, 42.8),
    "MobileNet, Kirin": (29.1, 51.5, 77.1),
    "ResNet50, Kirin": (8.4, 12.3, 46.3),
    "SqueezeNet, Kirin": (43.0, 54.5, 26.7),
    "AlexNet, NPU": (32.5, 63.7, 96.0),
    "GoogLeNet, NPU": (34.4, 59.3, 72.4),
    "ResNet50, NPU": (21.9, 30.9, 40.9),
    "SqueezeNet, NPU": (49.3, 95.1, 92.9),
}
ROUNDED = 0.05

# Table I, images a second of A7, A15, A53 and A73.
CORES = ((1.1, 3.1, 2.2, 7.6), (0.9, 3.4, 3.0, 7.1), (1.5, 5.7, 6.5, 17.7), (0.2, 1.3, 1.5, 2.8), (1.5, 5.0, 6.8, 15.7))


@pytest.mark.parametrize("case", PRINTED)
def test_printed_gains_are_those_of_the_printed_rates_but_for_their_rounding(case: str) -> None:
    alone, together, printed = PRINTED[case]
    least, most = gain(together - ROUNDED, alone + ROUNDED), gain(together + ROUNDED, alone - ROUNDED)
    assert least is not None
    assert most is not None
    assert 100 * least <= printed + ROUNDED
    assert printed - ROUNDED <= 100 * most


def test_the_gain_of_the_npu_with_squeezenet_is_exact() -> None:
    assert gain(95.1, 49.3) == pytest.approx(0.929, abs=5e-4)


def test_the_texts_big_and_small_speed_ups_are_swapped() -> None:
    """It says "Big 4.4x, Small 2.6x" of the newer chip."""
    assert mean(big / old for _, old, _, big in CORES) == pytest.approx(2.59, abs=0.01)
    assert mean(small / old for old, _, small, _ in CORES) == pytest.approx(4.34, abs=0.01)


def test_the_printed_share_of_the_npu_with_googlenet_is_more_than_it_does_alone() -> None:
    share, together, alone = 0.619, 59.3, 34.4
    assert share * together == pytest.approx(36.7, abs=0.01)
    assert share * together > alone
