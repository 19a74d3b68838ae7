"""`hettop roofline`: what this machine can do, what each layer of a model does, and what limits it."""

from __future__ import annotations

import shutil
import sys

from hettop.commands.layers import add_layer_options, measure, model_document, model_title
from hettop.commands.options import make_parser
from hettop.errors import HettopError

SUMMARY = "Measure the roofs of this machine and each layer of a model, and tell which roof limits which layer."
EXAMPLE = """\
  hettop roofline                                 MobileNetV2 with seeded weights
  hettop roofline model.onnx --unit CPU_ONLY@1
  hettop roofline Model.mlpackage --json"""
NOTES = """\
Roofs are the best of matrix products and convolutions, and of streams over arrays larger than the cache, all called in
turns through ONNX Runtime with the unit's number of threads. Intensities are theoretical: MACs by the bytes of weights,
inputs and outputs, each moved once. GFLOP/s count two FLOP for each MAC. A layer is bound by compute if its
intensity is beyond the ridge, where both roofs meet. docs/LAYERS.md tells more."""


def run(argv: list[str]) -> int:
    parser = make_parser("roofline", SUMMARY, EXAMPLE, NOTES)
    add_layer_options(parser)
    arguments = parser.parse_args(argv)
    setup, measured = measure(arguments)
    roofs = measured.roofs
    if roofs is None:
        raise HettopError("crashed", "the measuring process told no roofs")
    if arguments.as_json:
        from hettop.report.document import to_json
        from hettop.report.layers import roofline_document

        sys.stdout.write(to_json(roofline_document(model_document(setup), measured, roofs)) + "\n")
    else:
        from hettop.report.roofline import roofline_text

        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(roofline_text(model_title(setup), measured, roofs, width))
    return 0
