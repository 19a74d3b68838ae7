"""`hettop compare`: whether one recording is slower than another, beyond chance and beyond a tolerance."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import numpy as np

from hettop.analysis.comparison import Comparison, Side, compare
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED_THRESHOLD
from hettop.measurement.recorded import read_recording
from hettop.report.comparison import comparison_blocks, comparison_document, comparison_junit
from hettop.report.document import to_json
from hettop.report.terminal.blocks import block_text
from hettop.text import clean

SEED = 20_250_602  # of the resamples: the same files give the same answer
JUNIT_BEGINNINGS = (b"<?xml", b"<testsuite")


def run(arguments: argparse.Namespace) -> int:
    junit = None if arguments.junit is None else _writable(Path(arguments.junit))
    comparison = _compare(arguments)
    if junit is not None:
        _write_junit(comparison, junit)
    _print(comparison, arguments)
    return EXIT_FAILED_THRESHOLD if comparison.regressions else 0


def _compare(arguments: argparse.Namespace) -> Comparison:
    a, b = (_side(Path(name)) for name in (arguments.a, arguments.b))
    comparison = compare(a, b, np.random.default_rng(SEED), tolerance=arguments.tolerance, by=arguments.by)
    if not comparison.conditions:
        raise HettopError("recording", "the recordings have no condition in common", _side_names(comparison))
    return comparison


def _side(path: Path) -> Side:
    recorded = read_recording(path)
    for kind, lines in recorded.skipped.items():
        sys.stderr.write(f"hettop: {clean(os.fspath(path))}: skipped {lines} lines: {kind}\n")
    return Side(recorded.session, recorded.samples.column, recorded.on_battery, recorded.surroundings)


def _side_names(comparison: Comparison) -> str:
    sides = [
        (name, ", ".join(f"{clean(unit, 30)} under {clean(load, 30)}" for unit, load in keys[:4]))
        for name, keys in (("A", comparison.only_a), ("B", comparison.only_b))
    ]
    return "; ".join(f"{name} has {told or 'no samples'}" for name, told in sides)


def _writable(path: Path) -> Path:
    """Refuses to replace anything but an earlier report: a mistyped name should cost no recording."""
    try:
        if path.exists() and not (path.is_file() and path.open("rb").read(10).startswith(JUNIT_BEGINNINGS)):
            raise HettopError(
                "io", f"{clean(os.fspath(path))} is no earlier report; it is left alone", "name another file"
            )
    except OSError as error:
        raise HettopError("io", f"cannot write {clean(os.fspath(path))}: {error.strerror}") from error
    return path


def _write_junit(comparison: Comparison, path: Path) -> None:
    try:
        path.write_bytes(comparison_junit(comparison))
    except OSError as error:
        raise HettopError("io", f"cannot write {clean(os.fspath(path))}: {error.strerror}") from error


def _print(comparison: Comparison, arguments: argparse.Namespace) -> None:
    if arguments.as_json:
        sys.stdout.write(to_json(comparison_document(comparison)) + "\n")
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(block_text(list(comparison_blocks(comparison, (arguments.a, arguments.b))), width))
    sys.stdout.flush()
