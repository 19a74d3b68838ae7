"""`hettop compare`: whether recordings of one side are slower than those of another, beyond a tolerance."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hettop.analysis.comparison import Comparison, compare
from hettop.analysis.runs import Run, run_of
from hettop.console.messages import warn_of_damage
from hettop.errors import HettopError
from hettop.exits import EXIT_NOT_MET, EXIT_UNDECIDED
from hettop.measurement.recorded import read_recording
from hettop.report.comparison import comparison_blocks, comparison_document, comparison_junit
from hettop.report.formats import result_text
from hettop.stats.runs import LEAST_RUNS
from hettop.text import clean

SEED = 20_250_602  # of the resamples: the same files give the same answer
JUNIT_BEGINNINGS = (b"<?xml", b"<testsuite")


def run(arguments: argparse.Namespace) -> int:
    if arguments.junit is not None and arguments.junit == arguments.output:
        raise HettopError("usage", "the same file for --junit and --output", "name two files")
    junit = None if arguments.junit is None else _writable(Path(arguments.junit))
    comparison = _compare(arguments)
    if junit is not None:
        _write_junit(comparison, junit, require_proof=arguments.require_proof)
    _print(comparison, arguments)
    if arguments.require_proof and not comparison.proven:
        return EXIT_UNDECIDED
    return EXIT_NOT_MET if comparison.regressions else 0


def _compare(arguments: argparse.Namespace) -> Comparison:
    sides = _files(arguments.a, arguments.before), _files(arguments.b, arguments.after)
    several = max(map(len, sides)) > 1
    if several:
        _check_runs(sides)
    a, b = ([_run(path, arguments.by, keep_samples=not several) for path in side] for side in sides)
    if several:
        _check_different([*sides[0], *sides[1]], [*a, *b])
    comparison = compare(a, b, np.random.default_rng(SEED), tolerance=arguments.tolerance)
    if not comparison.conditions:
        raise HettopError("recording", "no unit and load in common", _side_names(comparison))
    return comparison


def _files(first: str, more: Sequence[str]) -> list[Path]:
    """The recordings of a side; one that is named twice, as a pattern may do, is one run."""
    return list({os.path.realpath(name): Path(name) for name in (first, *more)}.values())


def _check_runs(sides: tuple[list[Path], list[Path]]) -> None:
    """Refuses sides from which nothing can be proven."""
    for name, option, side in (("A", "--before", sides[0]), ("B", "--after", sides[1])):
        if len(side) < LEAST_RUNS:
            hint = f"add runs with {option} (at least {LEAST_RUNS} a side), or compare one with one"
            raise HettopError("usage", f"too few runs of {name}: {len(side)}", hint)


def _check_different(paths: Sequence[Path], runs: Sequence[Run]) -> None:
    """Refuses one recording as two runs: a copy proves nothing."""
    known: dict[str, Path] = {}
    for path, run in zip(paths, runs, strict=True):
        name = "" if run.header is None else run.header.id
        if name and name in known:
            both = f"{clean(os.fspath(known[name]))} and {clean(os.fspath(path))}"
            raise HettopError("usage", f"the same recording twice: {both}", "each run needs a recording of its own")
        known[name] = path


def _run(path: Path, by: str, *, keep_samples: bool) -> Run:
    recorded = read_recording(path)
    warn_of_damage(recorded.report, path)
    session, in_order = recorded.session, recorded.samples.column
    return run_of(session, in_order, recorded.on_battery, recorded.surroundings, by=by, keep_samples=keep_samples)


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


def _write_junit(comparison: Comparison, path: Path, *, require_proof: bool) -> None:
    try:
        path.write_bytes(comparison_junit(comparison, require_proof=require_proof))
    except OSError as error:
        raise HettopError(
            "io", f"cannot write: {clean(os.fspath(path))}: {error.strerror}", "name another file"
        ) from error


def _print(comparison: Comparison, arguments: argparse.Namespace) -> None:
    width = shutil.get_terminal_size((100, 24)).columns
    blocks = comparison_blocks(comparison, (arguments.a, arguments.b))
    sys.stdout.write(result_text(arguments.format, lambda: comparison_document(comparison), blocks, width))
    sys.stdout.flush()
