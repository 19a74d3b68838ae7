"""The options of what reads a recording."""

from __future__ import annotations

import argparse
import re

from hettop.cli.screen import add_screen_options
from hettop.cli.serving import add_serve_option
from hettop.measurement.arguments import (
    describe,
    duration_ns,
)


def _speed(text: str) -> float:
    try:
        value = float(text.lower().removesuffix("x"))
    except ValueError:
        value = 0.0
    if not 0.25 <= value <= 64:
        raise argparse.ArgumentTypeError(f"{text!r} is no speed; give 0.25 to 64")
    return value


_REPLAY_EXAMPLES = """\
  hettop replay session.jsonl                  play; space pauses, arrows seek, < > change the speed
  hettop replay session.jsonl --at 90s --speed 4
  hettop replay session.jsonl --headless --json"""


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Play a recording in the same screen, or print the same table as the session that made it.",
        _REPLAY_EXAMPLES,
    )
    parser.add_argument("file", metavar="FILE", help="a recording (JSON Lines, as --record writes it)")
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="N", help="play N times as fast (0.25 to 64)")
    parser.add_argument("--at", type=duration_ns, metavar="90s", help="the moment to begin at; headless: to stop at")
    parser.add_argument(
        "--refold", action="store_true", help="compute from the start, not from states that the recording holds"
    )
    parser.add_argument("--headless", action="store_true", help="print the table instead of playing")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    add_screen_options(parser)
    add_serve_option(parser)


HIGHEST_TOLERANCE = 10.0

_TOLERANCE = re.compile(r"(?P<value>[0-9]*\.?[0-9]+)(?P<percent>%?)")


def tolerance(text: str) -> float:
    """`5%`, or `0.05`, as a share."""
    found = _TOLERANCE.fullmatch(text.strip())
    value = float(found["value"]) / (100 if found["percent"] else 1) if found else -1.0
    if not 0 <= value <= HIGHEST_TOLERANCE:
        raise argparse.ArgumentTypeError(f"{text!r} is no tolerance; write 5%")
    return value


_COMPARE_EXAMPLES = """\
  hettop compare before.jsonl after.jsonl            exit 1 if something is proven to be slower by over 5 %
  hettop compare main.jsonl branch.jsonl --tolerance 2% --junit compare.xml
  hettop compare macos26.jsonl macos27.jsonl --json"""

_COMPARE_NOTES = """\
Intervals come from resamples in blocks of neighbouring samples, so that samples which depend on each other do not look
like more evidence than they are. A regression is a slowdown proven beyond the tolerance; a unit that fails in B and
did not in A is one, too. What else differs (chip, OS, model, backend, thermal state) is said, and where the machine was
notably busier, slower or shorter of memory on one side; neither changes the exit code. P90 is compared from 64 samples
a side on, P99 from 662. Exit codes: 0 no regression, 1 a regression, 2 wrong use or nothing in common."""


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Compare two recordings, condition by condition: P50, P90 and P99, with intervals.",
        _COMPARE_EXAMPLES,
        _COMPARE_NOTES,
    )
    parser.add_argument("a", metavar="A", help="the recording to compare with")
    parser.add_argument("b", metavar="B", help="the recording that may have regressed")
    parser.add_argument(
        "--tolerance", type=tolerance, default=0.05, metavar="5%", help="slowdown that is no regression (5%%)"
    )
    parser.add_argument("--by", choices=("wall", "native"), default="wall", help="wall time (default) or native time")
    parser.add_argument("--junit", metavar="FILE", help="also write a JUnit report, a test case for each condition")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")


_REPORT_EXAMPLES = """\
  hettop report session.jsonl                          Markdown, for a pull request
  hettop report before.jsonl after.jsonl -o report.html"""

_REPORT_NOTES = (
    "The suffix of OUT says which: .md or .html. Only the HTML page has figures. SIMULATED recordings say so."
)


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Tell the story of recordings: side by side, and each by itself.", _REPORT_EXAMPLES, _REPORT_NOTES)
    parser.add_argument("files", nargs="+", metavar="FILE", help="recordings (.jsonl, .jsonl.zst)")
    parser.add_argument("-o", "--output", metavar="OUT", help="a .md or .html file; without, Markdown is printed")
    parser.add_argument("--force", action="store_true", help="replace an earlier report at OUT")


SMALLEST_SCREEN, LARGEST_SCREEN = 20, 400

_SIZE = re.compile(r"(\d{2,3})x(\d{2,3})")


def _screen_size(text: str) -> tuple[int, int]:
    found = _SIZE.fullmatch(text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(SMALLEST_SCREEN <= side <= LARGEST_SCREEN for side in size):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 120x40 (20 to 400)")
    return size


_EXPORT_EXAMPLES = """\
  hettop export session.jsonl --to csv                 session.csv, and session.power.csv if there is power
  hettop export session.jsonl --to html -o report.html
  hettop export session.jsonl --to svg --at 90s        the screen at that moment
  hettop export session.jsonl --to zst                 session.jsonl.zst; the original stays
  hettop export session.jsonl --to csv -o - | head     one table, into a pipe"""


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    from hettop.export.formats import EXPORT_FORMATS  # with pathlib: the help of others does without

    notes = "formats:\n" + "\n".join(f"  {made.name:<12} {made.summary}" for made in EXPORT_FORMATS.values())
    describe(parser, "Write a recording in another format.", _EXPORT_EXAMPLES, notes)
    parser.add_argument("file", metavar="FILE", help="a recording (.jsonl, .jsonl.zst)")
    parser.add_argument("--to", required=True, choices=list(EXPORT_FORMATS), help="the format")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file (beside FILE, under its name); - for a pipe")
    parser.add_argument("--force", action="store_true", help="replace an earlier export in the same format")
    parser.add_argument("--at", type=duration_ns, metavar="90s", help="svg: the moment to show")
    parser.add_argument("--size", type=_screen_size, metavar="120x40", help="svg: columns and rows of the screen")
    parser.add_argument("--theme", metavar="T", help="svg: colour theme")
    parser.add_argument("--refold", action="store_true", help="svg: compute from the start, not from saved states")


_VERIFY_EXAMPLES = """\
  hettop verify session.jsonl
  hettop verify session.jsonl.zst --json"""

_VERIFY_NOTES = """\
Not closed cleanly, as after a crash between two lines, is said and no defect. Kinds of line that a newer hettop has
added are counted and no defect either. Exit codes: 0 whole, 1 damaged, 2 no recording."""


def add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Check a recording: lines, order of time, checksums, and keyframes against the lines before them.",
        _VERIFY_EXAMPLES,
        _VERIFY_NOTES,
    )
    parser.add_argument("file", metavar="FILE", help="a recording (.jsonl, .jsonl.zst)")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")


_REPAIR_EXAMPLES = """\
  hettop repair session.jsonl -o mended.jsonl
  hettop repair session.jsonl.zst -o mended.jsonl --force"""

_REPAIR_NOTES = """\
Every line that is committed and valid is kept as it is. Left out are broken lines and an unfinished last one; samples
that are known to be missing are declared, checksums and contradicting keyframes are made anew, and an end is added
where there is none."""


def add_repair_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Mend a recording into a new file; the damaged one is only read.", _REPAIR_EXAMPLES, _REPAIR_NOTES)
    parser.add_argument("file", metavar="FILE", help="a recording (.jsonl, .jsonl.zst)")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the new file, another than FILE")
    parser.add_argument("--force", action="store_true", help="replace an earlier recording at OUT")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")


_PARETO_EXAMPLES = """\
  hettop pareto session-a.jsonl session-b.jsonl               recordings, with energy where there was power
  hettop variants model.onnx --json > variants.json; hettop pareto variants.json
  hettop pareto a.json b.json --accuracy mobilenetv2=0.7181 --accuracy resnet50=0.7613
  hettop pareto sweep.json --by latency,throughput"""

_PARETO_NOTES = """\
Files are recordings, of sessions and of the studies sweep and variants, or what bench, decide, replay, sweep and
variants print with --json. Objectives: latency (P50, or
--latency), energy (mJ an inference), accuracy (as given), difference (largest absolute, of outputs), throughput, size.
Without --by they are latency and what else is known of two choices or more. Choices under a competing load are left out
unless --load names it."""


def add_pareto_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Tell which models, variants and units nothing else beats: latency, energy, and accuracy or output difference.",
        _PARETO_EXAMPLES,
        _PARETO_NOTES,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="recordings and JSON documents")
    parser.add_argument("--by", metavar="A,B", help="objectives (latency, and what else is known)")
    parser.add_argument("--latency", default="p50", metavar="P", help="p50 (the default), mean, p90, p99, min or max")
    parser.add_argument(
        "--accuracy",
        action="append",
        default=[],
        metavar="NAME=0.7181",
        help="accuracy of a model or of a precision, as it is called in the table; may be given several times",
    )
    parser.add_argument("--load", default="none", metavar="LOAD", help="choices under this competing load (none)")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
