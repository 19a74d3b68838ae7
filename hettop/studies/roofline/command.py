"""`hettop roofline`: what this machine can do, what each layer of a model does, and what limits it."""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import Any

from hettop.errors import HettopError
from hettop.report.document import to_json
from hettop.report.page import Paragraph
from hettop.report.terminal.blocks import block_text
from hettop.studies.layers.command import BACKEND, PROFILED_BACKENDS, measure, read_work, result_title
from hettop.studies.layers.notes import noted
from hettop.studies.layers.published import find_chip, read_chips
from hettop.studies.layers.result import LayersResult
from hettop.studies.output import StudyOutput, model_document, model_title
from hettop.studies.roofline.published import LABEL, published_blocks, published_document
from hettop.version import __version__


def run(arguments: argparse.Namespace) -> int:
    if arguments.chip is not None:
        if arguments.stream or arguments.record is not None:
            raise HettopError("usage", "published roofs are read, not measured", "leave out --stream and --record")
        return _published(arguments)
    if arguments.device is not None:
        raise HettopError("usage", "--device is for the published roofs of a --chip", "name the chip, too")
    if arguments.backend not in PROFILED_BACKENDS:
        hint = "leave out --backend: Core ML files are translated"
        raise HettopError("usage", f"only {BACKEND} is measured under its roofs", hint)
    with StudyOutput("roofline", arguments) as output:
        setup, measured = measure(arguments, output)
        if measured.roofs is None:
            raise HettopError("crashed", "the measuring process told no roofs")
        result = noted(measured).with_whole(setup.model.name)
        title = result_title(model_title(setup), result)
        output.finish(result, lambda: roofline_document(model_document(setup), result), title)
    return 0


def roofline_document(model: dict[str, Any], result: LayersResult) -> dict[str, Any]:
    """`roofline --json`: `model` has what is found of the whole model, too."""
    found = result.document()
    return {"hettop": __version__, **found, "model": {**model, **found["whole"], "name": model["name"]}}


def _published(arguments: argparse.Namespace) -> int:
    """Layers under the published roofs of a chip. Raises HettopError."""
    chip = find_chip(arguments.chip, read_chips())
    roof = chip.device(arguments.device)
    setup, work = read_work(arguments)
    if arguments.as_json:
        sys.stdout.write(to_json(published_document(model_document(setup), chip, roof, work)) + "\n")
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        title = f"{model_title(setup)} · {chip.name} ({chip.kind}) · {LABEL}"
        sys.stdout.write(block_text([Paragraph(title, "muted"), *published_blocks(chip, roof, work)], width))
    return 0
