"""`hettop compare`: whether one recording is slower than another, beyond chance and beyond a tolerance."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.options import make_parser
from hettop.errors import HettopError
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.analysis.comparison import Comparison, Side

SUMMARY = "Compare two recordings, condition by condition: P50, P90 and P99, with intervals."
EXAMPLE = """\
  hettop compare before.jsonl after.jsonl            exit 1 if something is proven to be slower by over 5 %
  hettop compare main.jsonl branch.jsonl --tolerance 2% --junit compare.xml
  hettop compare macos26.jsonl macos27.jsonl --json"""
NOTES = """\
Intervals come from resamples in blocks of neighbouring samples, so that samples which depend on each other do not look
like more evidence than they are. A regression is a slowdown proven beyond the tolerance; a unit that fails in B and
did not in A is one, too. What else differs (chip, OS, model, backend, thermal state) is said, and where the machine was
notably busier, slower or shorter of memory on one side; neither changes the exit code. P90 is compared from 64 samples
a side on, P99 from 662. Exit codes: 0 no regression, 1 a regression, 2 wrong use or nothing in common."""
SEED = 20_250_602  # of the resamples: the same files give the same answer
HIGHEST_TOLERANCE = 10.0
_TOLERANCE = re.compile(r"(?P<value>[0-9]*\.?[0-9]+)(?P<percent>%?)")
JUNIT_BEGINNINGS = (b"<?xml", b"<testsuite")


def run(argv: list[str]) -> int:
    from hettop.exits import EXIT_FAILED_THRESHOLD

    arguments = _parser().parse_args(argv)
    junit = None if arguments.junit is None else _writable(Path(arguments.junit))
    comparison = _compare(arguments)
    if junit is not None:
        _write_junit(comparison, junit)
    _print(comparison, arguments)
    return EXIT_FAILED_THRESHOLD if comparison.regressions else 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("compare", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("a", metavar="A", help="the recording to compare with")
    parser.add_argument("b", metavar="B", help="the recording that may have regressed")
    parser.add_argument(
        "--tolerance", type=tolerance, default=0.05, metavar="5%", help="slowdown that is no regression (5%%)"
    )
    parser.add_argument("--by", choices=("wall", "native"), default="wall", help="wall time (default) or native time")
    parser.add_argument("--junit", metavar="FILE", help="also write a JUnit report, a test case for each condition")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser


def tolerance(text: str) -> float:
    """`5%`, or `0.05`, as a share."""
    found = _TOLERANCE.fullmatch(text.strip())
    value = float(found["value"]) / (100 if found["percent"] else 1) if found else -1.0
    if not 0 <= value <= HIGHEST_TOLERANCE:
        raise argparse.ArgumentTypeError(f"{text!r} is no tolerance; write 5%")
    return value


def _compare(arguments: argparse.Namespace) -> Comparison:
    import numpy as np

    from hettop.analysis.comparison import compare

    a, b = (_side(Path(name)) for name in (arguments.a, arguments.b))
    comparison = compare(a, b, np.random.default_rng(SEED), tolerance=arguments.tolerance, by=arguments.by)
    if not comparison.conditions:
        raise HettopError("recording", "the recordings have no condition in common", _told(comparison))
    return comparison


def _side(path: Path) -> Side:
    from hettop.analysis.comparison import Side
    from hettop.measurement.recorded import read_recording

    recorded = read_recording(path)
    for kind, lines in recorded.skipped.items():
        sys.stderr.write(f"hettop: {clean(os.fspath(path))}: skipped {lines} lines: {kind}\n")
    return Side(recorded.session, recorded.samples.column, recorded.on_battery, recorded.surroundings)


def _told(comparison: Comparison) -> str:
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
    from hettop.report.comparison import comparison_junit

    try:
        path.write_bytes(comparison_junit(comparison))
    except OSError as error:
        raise HettopError("io", f"cannot write {clean(os.fspath(path))}: {error.strerror}") from error


def _print(comparison: Comparison, arguments: argparse.Namespace) -> None:
    from hettop.report.comparison import comparison_document, comparison_text
    from hettop.report.document import to_json

    if arguments.as_json:
        sys.stdout.write(to_json(comparison_document(comparison)) + "\n")
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(comparison_text(comparison, (arguments.a, arguments.b), width))
    sys.stdout.flush()
