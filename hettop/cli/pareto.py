"""`hettop pareto`: the Pareto front of models, variants and units."""

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
from hettop.report.formats import result_text
from hettop.studies.pareto.choices import LATENCIES, accuracy_names, read_choices
from hettop.studies.pareto.page import pareto_blocks, pareto_document
from hettop.text import clean, nearest

MOST_FILES = 64
LONGEST_HINT = 300


def run(arguments: argparse.Namespace) -> int:
    if len(arguments.files) > MOST_FILES:
        raise HettopError("usage", f"too many files: {len(arguments.files)}", f"the limit is {MOST_FILES}")
    if arguments.latency not in LATENCIES:
        raise HettopError(
            "usage", f"unknown latency: {arguments.latency[:40]!r}", f"choose from {', '.join(LATENCIES)}"
        )
    accuracy = dict(map(_accuracy, arguments.accuracy))
    every = [
        replace(choice, file=name)
        for file, name in zip(arguments.files, names_of_files(arguments.files), strict=True)
        for choice in read_choices(file, arguments.latency, accuracy)
    ]
    _check_accuracy(accuracy, every)
    choices = [choice for choice in every if choice.load == arguments.load]
    if not choices:
        raise HettopError(
            "input", f"no measurements under this load: {clean(arguments.load, 40)!r}", _loads_hint(every)
        )
    compared, objectives = per_item(choices, _objectives(arguments.by) or usual_objectives(choices))
    found = standings(compared, objectives)
    left_out = len(every) - len(choices)
    statistic = arguments.latency.upper() if arguments.latency.startswith("p") else arguments.latency
    notes = [f"latency is the {statistic} of the calls"]
    notes += [f"{left_out} measurements under other loads are left out (--load)"] if left_out else []
    width = shutil.get_terminal_size((100, 24)).columns
    blocks = pareto_blocks(found, objectives, notes)
    sys.stdout.write(result_text(arguments.format, lambda: pareto_document(found, objectives), blocks, width))
    return 0


def _accuracy(text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not name or not math.isfinite(value):
        raise HettopError("usage", f"invalid accuracy: {text[:60]!r}", "write --accuracy mobilenetv2=0.7181")
    return name, value


def _check_accuracy(accuracy: Mapping[str, float], every: Sequence[Choice]) -> None:
    """Raises HettopError (`usage`) for a name that no choice has."""
    there = dict.fromkeys(name for choice in every for name in accuracy_names(choice))
    for name in accuracy:
        if name not in there:
            labels = ", ".join(dict.fromkeys(choice.label for choice in every)) or "none"
            hint = clean(
                f"{nearest(name, there)} names: {labels}; a model or a precision is enough".strip(), LONGEST_HINT
            )
            raise HettopError("usage", f"--accuracy: unknown name: {clean(name, 60)!r}", hint)


def names_of_files(files: Sequence[str]) -> list[str]:
    """Each by its name, with as many of its folders as distinguish it from others of that name."""
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
            raise HettopError(
                "usage",
                f"unknown objective: {clean(name, 40)!r}",
                f"{nearest(name, OBJECTIVES)} choose from {', '.join(OBJECTIVES)}".strip(),
            )
        found.append(OBJECTIVES[name])
    return found


def _loads_hint(every: list[Choice]) -> str:
    loads = dict.fromkeys(choice.load for choice in every)
    return f"loads in the files: {', '.join(loads)}" if loads else "nothing was measured"
