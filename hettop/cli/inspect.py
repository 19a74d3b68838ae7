"""`hettop inspect`: what a model holds and what one call of it costs, without running it."""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace

from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_MODEL
from hettop.models.cache import default_cache
from hettop.models.inputs import parse_shape
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
    if arguments.format is not None and model.path is not None:
        raise HettopError(
            "usage", "--format is for the default model; a file is what it is", f"see {DEFAULT_MODEL} --format coreml"
        )
    path = model_package(arguments.model, cache) if arguments.format == "coreml" else model_file(arguments.model, cache)
    inspection = inspect(path, shapes=dict(map(parse_shape, arguments.shape)), function=arguments.function)
    if model.path is not None:
        return inspection
    return replace(inspection, name=model.name, notes=(*inspection.notes, model.note))
