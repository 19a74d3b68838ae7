"""The options of what reads a recording, or shows something and measures nothing; light to import."""

from __future__ import annotations

import argparse
import re

from hettop.cli.screen import add_screen_options, add_serve_option
from hettop.cli.topics import topic_list
from hettop.measurement.arguments import (
    describe,
    duration_ns,
)
from hettop.measurement.options import DEFAULT_MODEL


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


FORMATS = ("onnx", "coreml")

_INSPECT_EXAMPLES = """\
  hettop inspect                                       MobileNetV2 with seeded weights
  hettop inspect mobilenetv2:448x448:b2 --format coreml
  hettop inspect model.onnx --shape image=1,3,640,640
  hettop inspect Model.mlpackage --function main --json

  mobilenetv2:224x224:b1
  ONNX · opset 17

  takes        image   float32 [1, 3, 224, 224]
  gives        logits  float32 [1, 1000]

  parameters   3 487 816    14.0 MB stored
  MACs         300 774 272  a call
  intensity    4.44         MACs per byte
  ..."""

_INSPECT_NOTES = """\
Parameters are trained values: no running statistics, shapes or factors of quantisation. MACs are the
multiply-accumulates of convolutions, matrix products and recurrent cells. Activations are what all operations write,
each output once. The intensity is MACs per byte over the operations that have MACs: inputs, weights and outputs, each
moved once. Dynamic axes are counted at 1, or as the model proposes, unless --shape says otherwise; what cannot be
counted is n/a (JSON: null)."""


def add_inspect_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Tell what a model holds and what one call of it costs: operations, parameters, MACs, bytes. Nothing is run.",
        _INSPECT_EXAMPLES,
        _INSPECT_NOTES,
    )
    parser.add_argument(
        "model",
        nargs="?",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="an .onnx, .mlpackage or .mlmodel file, or mobilenetv2[:HxW[:bN]] (the default)",
    )
    parser.add_argument("--function", metavar="NAME", help="function of a multifunction model")
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=1,3,640,640", help="shape of an input with dynamic axes"
    )
    parser.add_argument("--format", choices=FORMATS, help="of the default model: ONNX (the default), or an ML Program")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")


_DOCTOR_EXAMPLES = """\
  hettop doctor
  hettop doctor --json
  hettop doctor --anonymize                    for a bug report: without names and paths
  hettop doctor --sudoers > hettop.sudoers     rules that let you read power figures; installs nothing
  hettop doctor --clear-cache                  forget built, translated and compiled models
  hettop doctor --control                      check that the ANE and GPU power rails rise when their unit works"""

_DOCTOR_NOTES = """\
--control takes half a minute on a Mac. It runs mobilenetv2 on CPU_AND_NE, CPU_AND_GPU and CPU_ONLY and compares what
the rails read, because an energy counter can read 0 while its device works. A rail that rises is remembered as
validated for this machine model, macOS build and power source; only then is a zero of it evidence.
Exit codes: 0 something real can be measured here (--control: some rail was tried), 3 nothing can (none could be), 2
--control cannot run here, 130 interrupted."""


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Tell what works on this machine, what does not, why, and the command that mends it.",
        _DOCTOR_EXAMPLES,
        _DOCTOR_NOTES,
    )
    parser.add_argument("--anonymize", action="store_true", help="leave out host and user names, paths and ids")
    parser.add_argument(
        "--control", action="store_true", help="check the power rails, and remember which are validated"
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    choice.add_argument("--sudoers", action="store_true", help="print sudoers rules for power figures")
    choice.add_argument("--clear-cache", action="store_true", help="remove all models that hettop keeps")


_CONFIG_EXAMPLES = """\
  hettop config
  hettop config --init            write an example, all in comments; nothing is overwritten
  hettop config --theme hettop-light --json
  hettop config --forget          forget what was chosen on the screen, such as hidden panels"""

_CONFIG_NOTES = """\
A value is taken from the option, else from an environment variable such as HETTOP_THEME, else from a choice made on
the screen, else from the config file, else it is hettop's own. A choice made on the screen holds until the file says
something else than it did then. Settings are about the screen: commands that measure without one read none of them.
Exit codes: 0 all is well, 2 something in the file or the environment is wrong; it is named, and left out."""


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Tell where hettop's settings lie, which are in force, and where each value came from.",
        _CONFIG_EXAMPLES,
        _CONFIG_NOTES,
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    choice.add_argument("--init", action="store_true", help="write a commented example where the config file belongs")
    choice.add_argument("--forget", action="store_true", help="forget what was chosen on the screen")
    parser.add_argument("--power", metavar="SRC", help="as with hettop itself, to see what it would override")
    parser.add_argument("--unit", metavar="U", help="the same")
    add_screen_options(parser)


_HELP_EXAMPLES = """\
  hettop help                    all commands and topics
  hettop help percentiles
  hettop help bench              as hettop bench --help
  hettop help --man > hettop.1   the manual page"""


def add_help_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Explain a topic, or print a command's own help.", _HELP_EXAMPLES, topic_list())
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("topic", nargs="?", metavar="TOPIC", help="a topic or a command")
    choice.add_argument("--man", action="store_true", help="print the manual page, in troff")


SHELLS = ("bash", "fish", "zsh")

_COMPLETIONS_EXAMPLES = """\
  hettop completions bash > ~/.local/share/bash-completion/completions/hettop
  hettop completions zsh > ~/.zfunc/_hettop       with ~/.zfunc in fpath
  hettop completions fish > ~/.config/fish/completions/hettop.fish"""

_COMPLETIONS_NOTES = "Made from the options of this very version: print it anew after an update."


def add_completions_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Print what a shell needs to complete hettop's commands, options and their values.",
        _COMPLETIONS_EXAMPLES,
        _COMPLETIONS_NOTES,
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
