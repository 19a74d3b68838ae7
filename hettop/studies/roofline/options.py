"""The options of `hettop roofline`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import MEASURE_GROUP, describe, group_of
from hettop.studies.layers.options import add_layer_options

_EXAMPLES = """\
  hettop roofline                                 MobileNetV2 with seeded weights
  hettop roofline model.onnx --units cpu@1
  hettop roofline Model.mlpackage -o roofline.json
  hettop roofline model.onnx --chip 'Exynos 5422'  published rooflines; nothing is measured"""

_NOTES = """\
The roofs are the best rates of matrix products, convolutions and memory streams on the unit. Intensities are
theoretical: MACs per byte of weights, inputs and outputs, each moved once. GFLOP/s counts two FLOP per MAC.
--chip uses published roofs, marked published. See docs/method/layers.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Measure the roofline and place each layer on it.", _EXAMPLES, _NOTES)
    add_layer_options(parser)
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument("--chip", metavar="CHIP", help="use the published roofs of this chip, such as M2")
    group.add_argument("--device", metavar="NAME", help="with --chip: its device (the fastest with both roofs)")
