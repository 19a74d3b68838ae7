"""`hettop pareto`: which of several models, variants and units nothing else beats."""

from __future__ import annotations

import argparse
import math
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hettop.analysis.pareto import OBJECTIVES, Choice, Objective, per_item, standings, usual_objectives
from hettop.errors import HettopError
from hettop.report.document import to_json
from hettop.report.terminal.blocks import block_text
from hettop.studies.pareto.choices import LATENCIES, accuracy_names, read_choices
from hettop.studies.pareto.page import pareto_blocks, pareto_document
from hettop.text import clean

MOST_FILES = 64
LONGEST_HINT = 300


def run(arguments: argparse.Namespace) -> int:
    if len(arguments.files) > MOST_FILES:
        raise HettopError("usage", f"{len(arguments.files)} files are too many", f"name up to {MOST_FILES}")
    if arguments.latency not in LATENCIES:
        raise HettopError("usage", f"no latency {arguments.latency[:40]!r}", f"one of {', '.join(LATENCIES)}")
    accuracy = dict(map(_accuracy, arguments.accuracy))
    every = [
        replace(choice, file=name)
        for file, name in zip(arguments.files, names_of_files(arguments.files), strict=True)
        for choice in read_choices(file, arguments.latency, accuracy)
    ]
    _check_accuracy(accuracy, every)
    choices = [choice for choice in every if choice.load == arguments.load]
    if not choices:
        raise HettopError("input", "nothing to choose from", _loads_hint(every, arguments.load))
    compared, objectives = per_item(choices, _objectives(arguments.by) or usual_objectives(choices))
    found = standings(compared, objectives)
    if arguments.as_json:
        sys.stdout.write(to_json(pareto_document(found, objectives)) + "\n")
    else:
        left_out = len(every) - len(choices)
        notes = [f"{left_out} choices under other loads are left out; --load names one"] if left_out else []
        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(block_text(list(pareto_blocks(found, objectives, notes)), width))
    return 0


def _accuracy(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not name or not math.isfinite(value):
        raise HettopError("usage", f"{text[:60]!r} is no accuracy", "write --accuracy mobilenetv2=0.7181")
    return name, value


def _check_accuracy(accuracy: Mapping[str, float], every: Sequence[Choice]) -> None:
    """Raises HettopError (`usage`) for a name that nothing has: a slip of the pen would be taken for unknown."""
    there = dict.fromkeys(name for choice in every for name in accuracy_names(choice))
    for name in accuracy:
        if name not in there:
            labels = ", ".join(dict.fromkeys(choice.label for choice in every)) or "nothing"
            hint = clean(f"there is {labels}; a model or a precision alone will do", LONGEST_HINT)
            raise HettopError("usage", f"--accuracy: nothing is called {clean(name, 60)}", hint)


def names_of_files(files: Sequence[str]) -> list[str]:
    """Each by its name, or with as many of its folders as tell it from others of that name."""
    paths = [Path(file).resolve() for file in files]
    names = []
    for path in paths:
        others = [other for other in paths if other != path]
        parts = next(
            n for n in range(1, len(path.parts) + 1) if all(other.parts[-n:] != path.parts[-n:] for other in others)
        )
        names.append(clean(str(Path(*path.parts[-parts:])), 60))
    return names


def _objectives(text: str | None) -> list[Objective]:
    found = []
    for name in dict.fromkeys([] if text is None else (part.strip() for part in text.split(","))):
        if name not in OBJECTIVES:
            raise HettopError("usage", f"no objective {name[:40]!r}", f"some of {', '.join(OBJECTIVES)}")
        found.append(OBJECTIVES[name])
    return found


def _loads_hint(every: list[Choice], load: str) -> str:
    loads = dict.fromkeys(choice.load for choice in every)
    return f"under {load[:40]!r} nothing was measured; there is {', '.join(loads)}" if loads else "nothing was measured"
