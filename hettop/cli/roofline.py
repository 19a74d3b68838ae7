"""`hettop roofline`: what this machine can do, what each layer of a model does, and what limits it."""

from __future__ import annotations

import argparse
import shutil
import sys

from hettop.cli.layers import (
    BACKEND,
    PROFILED_BACKENDS,
    add_layer_options,
    measure,
    model_document,
    model_title,
    read_work,
)
from hettop.cli.options import make_parser
from hettop.cli.output import Answer
from hettop.errors import HettopError

SUMMARY = "Measure the roofs of this machine and each layer of a model, and tell which roof limits which layer."
EXAMPLE = """\
  hettop roofline                                 MobileNetV2 with seeded weights
  hettop roofline model.onnx --unit CPU_ONLY@1
  hettop roofline Model.mlpackage --json
  hettop roofline model.onnx --chip 'Exynos 5422'  under roofs that others published; nothing is measured"""
NOTES = """\
Roofs are the best of matrix products and convolutions, and of streams over arrays larger than the cache, all called in
turns through ONNX Runtime with the unit's number of threads. Intensities are theoretical: MACs by the bytes of weights,
inputs and outputs, each moved once. GFLOP/s count two FLOP for each MAC. A layer is bound by compute if its
intensity is beyond the ridge, where both roofs meet. With --chip the roofs are those that papers give for a chip, each
with its source and labelled published: nothing is measured then. docs/LAYERS.md tells more."""


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.chip is not None:
        if arguments.stream or arguments.record is not None:
            raise HettopError("usage", "published roofs are read, not measured", "leave out --stream and --record")
        return _published(arguments)
    if arguments.device is not None:
        raise HettopError("usage", "--device is for the published roofs of a --chip", "name the chip, too")
    if arguments.backend not in PROFILED_BACKENDS:
        hint = "leave out --backend: Core ML files are translated"
        raise HettopError("usage", f"only {BACKEND} is measured under its roofs", hint)
    with Answer("roofline", ["roofline", *argv], arguments) as answer:
        setup, measured = measure(arguments, answer)
        roofs = measured.roofs
        if roofs is None:
            raise HettopError("crashed", "the measuring process told no roofs")
        from hettop.studies.layers.page import roofline_document
        from hettop.studies.roofline.page import roofline_text

        answer.give(
            lambda: roofline_document(model_document(setup), measured, roofs),
            lambda width: roofline_text(model_title(setup), measured, roofs, width),
        )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("roofline", SUMMARY, EXAMPLE, NOTES)
    add_layer_options(parser)
    parser.add_argument("--chip", metavar="CHIP", help="published roofs of this chip, such as M2, instead of measuring")
    parser.add_argument("--device", metavar="NAME", help="with --chip: the device (the fastest with both roofs)")
    return parser


def _published(arguments: argparse.Namespace) -> int:
    """Layers under the published roofs of a chip. Raises HettopError."""
    from hettop.studies.layers.published import find_chip, read_chips

    chip = find_chip(arguments.chip, read_chips())
    roof = chip.device(arguments.device)
    setup, work = read_work(arguments)
    if arguments.as_json:
        from hettop.report.document import to_json
        from hettop.studies.roofline.published import published_document

        sys.stdout.write(to_json(published_document(model_document(setup), chip, roof, work)) + "\n")
    else:
        from hettop.studies.roofline.published import published_text

        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(published_text(model_title(setup), chip, roof, work, width))
    return 0
