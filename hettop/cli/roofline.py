"""`hettop roofline`: what this machine can do, what each layer of a model does, and what limits it."""

from __future__ import annotations

import argparse
import shutil
import sys

from hettop.cli.layers import (
    BACKEND,
    PROFILED_BACKENDS,
    measure,
    model_document,
    model_title,
    read_work,
)
from hettop.cli.output import StudyOutput
from hettop.errors import HettopError
from hettop.report.document import to_json
from hettop.studies.layers.published import find_chip, read_chips
from hettop.studies.layers.text import roofline_document
from hettop.studies.roofline.published import published_document, published_text
from hettop.studies.roofline.text import roofline_text


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
        roofs = measured.roofs
        if roofs is None:
            raise HettopError("crashed", "the measuring process told no roofs")
        output.finish(
            lambda: roofline_document(model_document(setup), measured, roofs),
            lambda width: roofline_text(model_title(setup), measured, roofs, width),
        )
    return 0


def _published(arguments: argparse.Namespace) -> int:
    """Layers under the published roofs of a chip. Raises HettopError."""
    chip = find_chip(arguments.chip, read_chips())
    roof = chip.device(arguments.device)
    setup, work = read_work(arguments)
    if arguments.as_json:
        sys.stdout.write(to_json(published_document(model_document(setup), chip, roof, work)) + "\n")
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(published_text(model_title(setup), chip, roof, work, width))
    return 0
