"""`hettop inspect`: operations, parameters, MACs and bytes of a model, which is not run."""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace

from hettop.cli.read_options import MLPROGRAM
from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_MODEL
from hettop.models.cache import default_cache
from hettop.models.inputs import parse_shape, parse_value
from hettop.models.inspection.inspection import Inspection, document
from hettop.models.inspection.page import page
from hettop.models.inspection.reading import inspect
from hettop.models.resolve import model_file, model_package, resolve


def run(arguments: argparse.Namespace) -> int:
    inspection = _inspect(arguments)
    if arguments.as_json:
        from hettop.report.document import head, to_json  # with the fold, which a table does without

        sys.stdout.write(to_json({**head("inspect"), **document(inspection)}) + "\n")
    else:
        sys.stdout.write(page(inspection, shutil.get_terminal_size((100, 24)).columns))
    return 0


def _inspect(arguments: argparse.Namespace) -> Inspection:
    cache = default_cache()
    model = resolve(arguments.model)
    as_package = arguments.file_format == MLPROGRAM
    if arguments.file_format is not None and model.path is not None:
        raise HettopError(
            "usage", "--as has no effect on a file", f"leave it out, or use {DEFAULT_MODEL} --as mlprogram"
        )
    path = model_package(arguments.model, cache) if as_package else model_file(arguments.model, cache)
    inspection = inspect(
        path,
        shapes=dict(map(parse_shape, arguments.shape)),
        function=arguments.function,
        values=dict(map(parse_value, arguments.input)),
    )
    if model.path is not None:
        return inspection
    return replace(inspection, name=model.name, notes=(*inspection.notes, model.note))
