"""`hettop inspect`: what a model holds and what one call of it costs, without running it."""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from hettop.cli.options import make_parser
from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_MODEL

if TYPE_CHECKING:
    from hettop.models.inspection.inspection import Inspection

SUMMARY = "Tell what a model holds and what one call of it costs: operations, parameters, MACs, bytes. Nothing is run."
EXAMPLE = """\
  hettop inspect                                       MobileNetV2 with seeded weights
  hettop inspect mobilenetv2:448x448:b2 --format coreml
  hettop inspect model.onnx --shape image=1,3,640,640
  hettop inspect Model.mlpackage --function main --json

  mobilenetv2:224x224:b1
  ONNX · opset 17

  takes        image   float32 [1, 3, 224, 224]
  gives        logits  float32 [1, 1000]

  parameters   3 487 816    14.0 MB stored
  MACs         300 774 272  a call
  intensity    4.44         MACs per byte
  ..."""
NOTES = """\
Parameters are trained values: no running statistics, shapes or factors of quantisation. MACs are the
multiply-accumulates of convolutions, matrix products and recurrent cells. Activations are what all operations write,
each output once. The intensity is MACs per byte over the operations that have MACs: inputs, weights and outputs, each
moved once. Dynamic axes are counted at 1, or as the model proposes, unless --shape says otherwise; what cannot be
counted is n/a (JSON: null)."""
FORMATS = ("onnx", "coreml")


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    inspection = _inspect(arguments)
    if arguments.as_json:
        from hettop.models.inspection.inspection import document
        from hettop.report.document import to_json

        sys.stdout.write(to_json(document(inspection)) + "\n")
    else:
        from hettop.models.inspection.page import page

        sys.stdout.write(page(inspection, shutil.get_terminal_size((100, 24)).columns))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("inspect", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument(
        "model",
        nargs="?",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="an .onnx, .mlpackage or .mlmodel file, or mobilenetv2[:HxW[:bN]] (the default)",
    )
    parser.add_argument("--function", metavar="NAME", help="function of a multifunction model")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=1,3,640,640", help="shape of an input with dynamic axes"
    )
    parser.add_argument("--format", choices=FORMATS, help="of the default model: ONNX (the default), or an ML Program")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser


def _inspect(arguments: argparse.Namespace) -> Inspection:
    from hettop.models.cache import default_cache
    from hettop.models.inputs import parse_shape
    from hettop.models.inspection.reading import inspect
    from hettop.models.resolve import model_file, model_package, resolve

    cache = default_cache()
    model = resolve(arguments.model)
    if arguments.format is not None and model.path is not None:
        raise HettopError(
            "usage", "--format is for the default model; a file is what it is", f"see {DEFAULT_MODEL} --format coreml"
        )
    path = model_package(arguments.model, cache) if arguments.format == "coreml" else model_file(arguments.model, cache)
    inspection = inspect(path, shapes=dict(map(parse_shape, arguments.shape)), function=arguments.function)
    if model.path is not None:
        return inspection
    return replace(inspection, name=model.name, notes=(*inspection.notes, model.note))
