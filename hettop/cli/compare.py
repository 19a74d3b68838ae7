"""`hettop compare`: whether one recording is proven slower than another, beyond a tolerance."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

import numpy as np

from hettop.analysis.comparison import Comparison, Side, compare
from hettop.console.messages import print_warning
from hettop.errors import HettopError
from hettop.exits import EXIT_NOT_MET
from hettop.measurement.recorded import read_recording
from hettop.report.comparison import comparison_blocks, comparison_document, comparison_junit
from hettop.report.formats import result_text
from hettop.text import clean

SEED = 20_250_602  # of the resamples: the same files give the same answer
JUNIT_BEGINNINGS = (b"<?xml", b"<testsuite")


def run(arguments: argparse.Namespace) -> int:
    junit = None if arguments.junit is None else _writable(Path(arguments.junit))
    comparison = _compare(arguments)
    if junit is not None:
        _write_junit(comparison, junit)
    _print(comparison, arguments)
    return EXIT_NOT_MET if comparison.regressions else 0


def _compare(arguments: argparse.Namespace) -> Comparison:
    a, b = (_side(Path(name)) for name in (arguments.a, arguments.b))
    comparison = compare(a, b, np.random.default_rng(SEED), tolerance=arguments.tolerance, by=arguments.by)
    if not comparison.conditions:
        raise HettopError("recording", "no unit and load in common", _side_names(comparison))
    return comparison


def _side(path: Path) -> Side:
    recorded = read_recording(path)
    for kind, lines in recorded.skipped.items():
        print_warning(f"skipped {lines:,} lines of {clean(os.fspath(path))}: {kind}", "run hettop verify")
    return Side(recorded.session, recorded.samples.column, recorded.on_battery, recorded.surroundings)


def _side_names(comparison: Comparison) -> str:
    sides = [
        (name, ", ".join(f"{clean(unit, 30)} under {clean(load, 30)}" for unit, load in keys[:4]))
        for name, keys in (("A", comparison.only_a), ("B", comparison.only_b))
    ]
    return "; ".join(f"{name} has {units or 'no samples'}" for name, units in sides)


def _writable(path: Path) -> Path:
    """Refuses to replace anything but an earlier report: a mistyped name should cost no recording."""
    try:
        if path.exists() and not (path.is_file() and path.open("rb").read(10).startswith(JUNIT_BEGINNINGS)):
            raise HettopError(
                "io", f"not replaced, because it is not a JUnit report: {clean(os.fspath(path))}", "name another file"
            )
    except OSError as error:
        raise HettopError(
            "io", f"cannot write: {clean(os.fspath(path))}: {error.strerror}", "name another file"
        ) from error
    return path


def _write_junit(comparison: Comparison, path: Path) -> None:
    try:
        path.write_bytes(comparison_junit(comparison))
    except OSError as error:
        raise HettopError(
            "io", f"cannot write: {clean(os.fspath(path))}: {error.strerror}", "name another file"
        ) from error


def _print(comparison: Comparison, arguments: argparse.Namespace) -> None:
    width = shutil.get_terminal_size((100, 24)).columns
    blocks = comparison_blocks(comparison, (arguments.a, arguments.b))
    sys.stdout.write(result_text(arguments.format, lambda: comparison_document(comparison), blocks, width))
    sys.stdout.flush()
