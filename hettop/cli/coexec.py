"""`hettop coexec`: without a screen as any study, with `--live` in the live view."""

from __future__ import annotations

import argparse
import os

from hettop.cli.live import co_execute
from hettop.errors import HettopError
from hettop.measurement.arguments import model_arguments, model_options
from hettop.studies.coexec import command
from hettop.studies.coexec.blocks import unit_of
from hettop.studies.coexec.command import named_units, refuse_mixtures
from hettop.studies.coexec.setup import prepare_units
from hettop.studies.kinds import Together

HEADLESS = {"as_json": "json", "stream": "stream", "block": "block"}


def run(arguments: argparse.Namespace) -> int:
    refuse_mixtures(arguments)
    return _on_screen(arguments) if arguments.live else command.run(arguments)


def _on_screen(arguments: argparse.Namespace) -> int:
    """Raises HettopError (`usage`) for what has no place on a screen."""
    wrong = next((name for name in HEADLESS if getattr(arguments, name)), None)
    if wrong is not None:
        raise HettopError("usage", f"--{HEADLESS[wrong]} goes without --live", "see hettop coexec --help")
    model, named = model_options(arguments), named_units(arguments)
    units = prepare_units(model, named, os.cpu_count() or 1).units
    options = ["--warmup", str(arguments.warmup), *(["--depth", str(arguments.depth)] if arguments.depth else [])]
    argv = model_arguments(model)
    for option in ("power", "record"):
        value = getattr(arguments, option)
        argv += [f"--{option}", value] if value is not None else []
    if arguments.force:
        argv.append("--force")
    return co_execute(argv, Together(tuple(map(unit_of, units)), tuple(options)))
