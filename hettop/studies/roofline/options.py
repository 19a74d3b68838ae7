"""The options of `hettop roofline`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    describe,
)
from hettop.studies.layers.options import add_layer_options

_EXAMPLES = """\
  hettop roofline                                 MobileNetV2 with seeded weights
  hettop roofline model.onnx --unit CPU_ONLY@1
  hettop roofline Model.mlpackage --json
  hettop roofline model.onnx --chip 'Exynos 5422'  under roofs that others published; nothing is measured"""

_NOTES = """\
Roofs are the best of matrix products and convolutions, and of streams over arrays larger than the cache, all called in
turns through ONNX Runtime with the unit's number of threads. Intensities are theoretical: MACs by the bytes of weights,
inputs and outputs, each moved once. GFLOP/s count two FLOP for each MAC. A layer is bound by compute if its
intensity is beyond the ridge, where both roofs meet. With --chip the roofs are those that papers give for a chip, each
with its source and labelled published: nothing is measured then. See docs/method/layers.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Measure the roofs of this machine and each layer of a model, and tell which roof limits which layer.",
        _EXAMPLES,
        _NOTES,
    )
    add_layer_options(parser)
    parser.add_argument("--chip", metavar="CHIP", help="published roofs of this chip, such as M2, instead of measuring")
    parser.add_argument("--device", metavar="NAME", help="with --chip: the device (the fastest with both roofs)")
