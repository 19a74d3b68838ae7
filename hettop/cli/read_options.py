"""The options of the commands that measure nothing; light to import."""

from __future__ import annotations

import argparse
import re

from hettop.cli.screen import add_screen_options, add_serve_option
from hettop.cli.topics import topic_list
from hettop.errors import HettopError
from hettop.measurement.arguments import (
    CSV,
    HTML,
    JSON,
    MARKDOWN,
    MODEL_GROUP,
    OUTPUT_GROUP,
    TABLE,
    add_force_option,
    add_output_options,
    add_shape_option,
    add_units_option,
    describe,
    group_of,
    invalid,
)
from hettop.measurement.options import DEFAULT_MODEL

_RECORDING = "a recording (.jsonl, .jsonl.zst)"


def _speed(text: str) -> float:
    try:
        value = float(text.lower().removesuffix("x"))
    except ValueError:
        value = 0.0
    if not 0.25 <= value <= 64:
        raise invalid("speed", text, "write 0.25 to 64")
    return value


_REPLAY_EXAMPLES = """\
  hettop replay session.jsonl                  play; space pauses, arrows seek, < > change the speed
  hettop replay session.jsonl --at 90s --speed 4
  hettop replay session.jsonl --headless --json"""


def add_replay_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Replay a recording in the UI, or print its statistics.", _REPLAY_EXAMPLES)
    parser.add_argument("file", metavar="FILE", help=_RECORDING)
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="N", help="play N times as fast (0.25 to 64)")
    parser.add_argument(
        "--at",
        type=moment,
        metavar="90s",
        help="start here; without UI: end here (1:30, 50%% or seconds too)",
    )
    parser.add_argument("--refold", action="store_true", help="compute from the start instead of from stored states")
    parser.add_argument("--headless", action="store_true", help="print the statistics instead of playing")
    add_output_options(parser, (TABLE, JSON, CSV, MARKDOWN))
    add_screen_options(parser)
    add_serve_option(parser)


HIGHEST_TOLERANCE = 10.0

_TOLERANCE = re.compile(r"(?P<value>[0-9]*\.?[0-9]+)(?P<percent>%?)")


def tolerance(text: str) -> float:
    """`5%`, or the share `0.05`; a bare number of 1 or more is refused, since it could be either."""
    found = _TOLERANCE.fullmatch(text.strip())
    value = float(found["value"]) / (100 if found["percent"] else 1) if found else -1.0
    highest = HIGHEST_TOLERANCE if found and found["percent"] else 1.0
    if not 0 <= value <= highest or (value == 1.0 and not (found and found["percent"])):
        raise invalid("tolerance", text, "write 5%, or the share 0.05")
    return value


_COMPARE_EXAMPLES = """\
  hettop compare before.jsonl after.jsonl            exit 1 if B was slower than A by more than 5%
  hettop compare main.jsonl branch.jsonl --tolerance 2% --junit compare.xml
  hettop compare main-1.jsonl branch-1.jsonl --before main-*.jsonl --after branch-*.jsonl --require-proof"""

_COMPARE_NOTES = """\
A regression is a slowdown by more than the tolerance, or a unit that fails in B only. P90 needs 64 samples per run, P99
662. Differences of the machine are reported and do not change the exit code.

With one run a side, the result is about these two runs: two runs of one model differ, too. With several runs a side,
each run counts once, and results are proven (a regression, faster, or the same within the tolerance): at most 5% of
the comparisons in which nothing has changed show a change. That needs 3 runs a side (4 for 2 to 6 conditions, 5 for up
to 25), recorded in turns (A, B, A, B, ...). A file that is named twice counts once.

Exit codes: 0 no regression, or too few samples to compare, 1 a regression, 2 invalid use or nothing in common. With
--require-proof: 0 no regression, proven; 1 a regression, proven; 4 undecided, as it always is with one run a side."""


def add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Compare recordings and detect regressions.", _COMPARE_EXAMPLES, _COMPARE_NOTES)
    parser.add_argument("a", metavar="A", help="the baseline recording")
    parser.add_argument("b", metavar="B", help="the recording to check")
    for flag, side in (("--before", "A"), ("--after", "B")):
        parser.add_argument(
            flag, nargs="+", action="extend", default=[], metavar="FILE", help=f"more runs of {side}'s side"
        )
    parser.add_argument(
        "--tolerance", type=tolerance, default=0.05, metavar="5%", help="slowdown that is acceptable (5%%)"
    )
    parser.add_argument(
        "--require-proof", action="store_true", help="exit 0 or 1 only if that is proven, else 4 (needs several runs)"
    )
    parser.add_argument("--by", choices=("wall", "native"), default="wall", help="wall time (default) or native time")
    group_of(parser, OUTPUT_GROUP).add_argument(
        "--junit", metavar="FILE", help="also write a JUnit report, one test case per condition"
    )
    add_output_options(parser, (TABLE, JSON, CSV, MARKDOWN))


_REPORT_EXAMPLES = """\
  hettop report session.jsonl                          text; Markdown into a pipe or file
  hettop report before.jsonl after.jsonl -o report.html"""

_REPORT_NOTES = "Only HTML has figures."


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Generate an HTML or Markdown report.", _REPORT_EXAMPLES, _REPORT_NOTES)
    parser.add_argument("files", nargs="+", metavar="FILE", help="recordings (.jsonl, .jsonl.zst)")
    add_output_options(parser, (TABLE, MARKDOWN, HTML))


SMALLEST_SCREEN, LARGEST_SCREEN = 20, 400


def moment(text: str) -> str:
    """A moment of a recording, which `50%` names only once its length is known."""
    from hettop.record.moments import length_of

    try:
        length_of(text, 0)
    except HettopError as error:
        raise invalid("moment", text, error.hint) from error
    return text


_SIZE = re.compile(r"(\d{2,3})x(\d{2,3})")


def _screen_size(text: str) -> tuple[int, int]:
    found = _SIZE.fullmatch(text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(SMALLEST_SCREEN <= side <= LARGEST_SCREEN for side in size):
        raise invalid("size", text, f"write 120x40 ({SMALLEST_SCREEN} to {LARGEST_SCREEN})")
    return size


_EXPORT_EXAMPLES = """\
  hettop export session.jsonl -o run.csv               run.csv, and run.power.csv if there is power
  hettop export session.jsonl --to parquet             session.parquet
  hettop export session.jsonl -o screen.svg --at 90s   the screen at that moment
  hettop export session.jsonl --to zst                 session.jsonl.zst; the original stays
  hettop export session.jsonl --to csv -o - | head     one table, into a pipe"""


def add_export_arguments(parser: argparse.ArgumentParser) -> None:
    from hettop.export.formats import EXPORT_FORMATS  # with pathlib: the help of others does without

    notes = "formats:\n" + "\n".join(
        f"  {made.name:<12} {made.suffix:<12} {made.summary}" for made in EXPORT_FORMATS.values()
    )
    describe(parser, "Convert a recording.", _EXPORT_EXAMPLES, notes)
    parser.add_argument("file", metavar="FILE", help=_RECORDING)
    group = group_of(parser, OUTPUT_GROUP)
    group.add_argument("--to", choices=list(EXPORT_FORMATS), help="the format (default: by the suffix of OUT)")
    group.add_argument("-o", "--output", metavar="OUT", help="write OUT (default: beside FILE); - is stdout")
    add_force_option(parser, "replace an earlier export in the same format")
    picture = group_of(parser, "options of svg")
    picture.add_argument("--at", type=moment, metavar="90s", help="moment to show (the end)")
    picture.add_argument("--size", type=_screen_size, metavar="WxH", help="columns and rows of the screen (120x40)")
    picture.add_argument("--theme", metavar="T", help="colour theme")
    picture.add_argument("--refold", action="store_true", help="compute from the start instead of from stored states")


_VERIFY_EXAMPLES = """\
  hettop verify session.jsonl
  hettop verify session.jsonl.zst --json"""

_VERIFY_NOTES = """\
A recording that was not closed, or has lines of a newer hettop, is valid; both are reported.

Exit codes: 0 valid, 1 damaged, 2 not a recording."""


def add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Validate a recording.", _VERIFY_EXAMPLES, _VERIFY_NOTES)
    parser.add_argument("file", metavar="FILE", help=_RECORDING)
    add_output_options(parser)


_REPAIR_EXAMPLES = """\
  hettop repair session.jsonl -o repaired.jsonl
  hettop repair session.jsonl.zst -o repaired.jsonl --force"""

_REPAIR_NOTES = """\
Valid lines are copied unchanged. Invalid lines and an incomplete last line are left out, and the new file declares the
samples that are missing. Checksums, contradicting keyframes and a missing end are written again."""


def add_repair_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser, "Repair a damaged recording into a new file; FILE is not changed.", _REPAIR_EXAMPLES, _REPAIR_NOTES
    )
    parser.add_argument("file", metavar="FILE", help=_RECORDING)
    group = group_of(parser, OUTPUT_GROUP)
    group.add_argument("-o", "--output", required=True, metavar="OUT", help="the new recording")
    add_force_option(parser, "replace an earlier recording")
    group.add_argument("--json", dest="as_json", action="store_true", help="print JSON")


_PARETO_EXAMPLES = """\
  hettop pareto session-a.jsonl session-b.jsonl
  hettop variants model.onnx -o variants.json; hettop pareto variants.json
  hettop pareto a.json b.json --accuracy mobilenetv2=0.7181 --accuracy resnet50=0.7613
  hettop pareto sweep.json --by latency,throughput"""

_PARETO_NOTES = """\
Files are recordings, or JSON output of bench, decide, replay, sweep and variants. Objectives: latency (P50, or
--latency), energy (mJ per inference), accuracy (--accuracy), difference (largest absolute difference of outputs),
throughput, size."""


def add_pareto_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Show the Pareto front of models, variants and units.", _PARETO_EXAMPLES, _PARETO_NOTES)
    parser.add_argument("files", nargs="+", metavar="FILE", help="recordings and JSON documents")
    parser.add_argument("--by", metavar="A,B", help="objectives (latency, and all others that are known)")
    parser.add_argument("--latency", default="p50", metavar="P", help="p50 (default), mean, p90, p99, min or max")
    parser.add_argument(
        "--accuracy",
        action="append",
        default=[],
        metavar="NAME=0.7181",
        help="accuracy of a model or precision, by its name in the table; repeatable",
    )
    parser.add_argument("--load", default="none", metavar="LOAD", help="measurements under this competing load (none)")
    add_output_options(parser, (TABLE, JSON, CSV, MARKDOWN))


ONNX, MLPROGRAM = "onnx", "mlprogram"
FILE_FORMATS = {ONNX: ONNX, MLPROGRAM: MLPROGRAM, "coreml": MLPROGRAM}
"""What `--as` accepts, with the format that each means."""

_INSPECT_EXAMPLES = """\
  hettop inspect                                       MobileNetV2 with seeded weights
  hettop inspect mobilenetv2:448x448:b2 --as mlprogram
  hettop inspect model.onnx --shape image=1,3,640,640
  hettop inspect Model.mlpackage --function main -o model.json"""

_INSPECT_NOTES = """\
The model is not run. MACs are those of convolutions, matrix products and recurrent cells; the intensity is MACs per
byte of weights, inputs and outputs, each moved once. Dynamic axes count as 1 unless --shape is given."""


def _file_format(text: str) -> str:
    if text not in FILE_FORMATS:
        raise invalid("file format", text, f"write {ONNX} or {MLPROGRAM}")
    return FILE_FORMATS[text]


def add_inspect_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Show a model's operations, parameters, MACs and precision.", _INSPECT_EXAMPLES, _INSPECT_NOTES)
    parser.add_argument(
        "model",
        nargs="?",
        default=DEFAULT_MODEL,
        metavar="MODEL",
        help="an .onnx, .mlpackage, .mlmodel or .aimodel file, or a network (hettop models lists them): "
        "mobilenetv2[:HxW[:bN]] (default)",
    )
    group = group_of(parser, MODEL_GROUP)
    group.add_argument("--function", metavar="NAME", help="function of a multifunction model")
    add_shape_option(parser)
    group.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="value of an input that decides which branch runs (ONNX)",
    )
    group.add_argument(
        "--as",
        dest="file_format",
        type=_file_format,
        metavar="F",
        help=f"built-in network: as {ONNX} (default) or {MLPROGRAM}",
    )
    add_output_options(parser, (TABLE, JSON), {name: ("file_format", kind) for name, kind in FILE_FORMATS.items()})


_MODELS_EXAMPLES = """\
  hettop models
  hettop bench resnet50
  hettop bench squeezenet1.1:320x320:b8        another size, and a batch"""

_MODELS_NOTES = """\
Weights are synthetic: speed is that of the published network, answers mean nothing. A file is built when it is first
used, and kept in the cache: ONNX, and ML Program for Core ML. MACs are those of convolutions and fully connected layers
for one image; parameters are counted from the layers, batch norm with a scale and a shift for each channel. Accuracy is
the published one (EmBench, table 1)."""


def add_models_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "List the networks that can be measured by name.", _MODELS_EXAMPLES, _MODELS_NOTES)
    add_output_options(parser, (TABLE, JSON, CSV, MARKDOWN))


_DOCTOR_EXAMPLES = """\
  hettop doctor
  hettop doctor --anonymize                    the same without names and paths
  hettop doctor --report                       write hettop-report.zip, anonymous, for a bug report
  hettop doctor --report --include run.jsonl   with the log of a session
  hettop doctor --sudoers > hettop.sudoers     rules that allow reading power; nothing is installed
  hettop doctor --clear-cache                  remove cached models
  hettop doctor --control                      check that the ANE and GPU power rails respond"""

_DOCTOR_NOTES = """\
--control runs mobilenetv2 on CPU_AND_NE, CPU_AND_GPU and CPU_ONLY for half a minute (macOS) and checks that the rails
rise: an energy counter can read 0 while its device works. Results are kept per machine model, macOS build and source.
--report packs this page, versions of packages, settings and the last internal error. Names of user, host, home folder,
paths, serial numbers, ids and tokens are removed; if one is left, nothing is written and the place is named.

Exit codes: 0 this machine can measure (--control: a rail was checked; --report: written), 3 it cannot (--report: a name
is left), 2 --control cannot run here, or the file exists, 130 interrupted."""

DEFAULT_REPORT = "hettop-report.zip"


def add_doctor_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Check this machine and suggest fixes.", _DOCTOR_EXAMPLES, _DOCTOR_NOTES)
    parser.add_argument("--anonymize", action="store_true", help="leave out host and user names, paths and ids")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--control", action="store_true", help="check the power rails and remember the valid ones")
    choice.add_argument("--sudoers", action="store_true", help="print sudoers rules for reading power")
    choice.add_argument("--clear-cache", action="store_true", help="remove all cached models")
    choice.add_argument(
        "--report",
        nargs="?",
        const=DEFAULT_REPORT,
        metavar="FILE.zip",
        help=f"write an anonymous archive for a bug report ({DEFAULT_REPORT})",
    )
    parser.add_argument("--include", metavar="RECORDING", help="with --report: add the last events of this recording")
    add_output_options(parser)


_CONFIG_EXAMPLES = """\
  hettop config
  hettop config --init            write an example config file; nothing is overwritten
  hettop config --theme hettop-light --json
  hettop config --forget          forget choices made on the screen, such as hidden panels"""

_CONFIG_NOTES = """\
Precedence: option, environment variable (HETTOP_THEME), choice made on the screen, config file, default. Settings
apply to the screen only; bench and other commands ignore them.

Exit codes: 0 valid, 2 a setting is invalid (it is reported and ignored)."""


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Show effective settings and where each comes from.", _CONFIG_EXAMPLES, _CONFIG_NOTES)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--init", action="store_true", help="write a commented example config file")
    choice.add_argument("--forget", action="store_true", help="forget choices made on the screen")
    parser.add_argument("--power", metavar="SRC", help="show settings as if hettop had this option")
    add_units_option(parser, "show settings as if hettop had this option", default=None)
    add_screen_options(parser)
    add_output_options(parser)


_HELP_EXAMPLES = """\
  hettop help                    topics and commands
  hettop help percentiles
  hettop help bench              same as hettop bench --help
  hettop help live               options of the live view
  hettop help --man > hettop.1   the manual page"""


def add_help_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Explain a topic, or show a command's help.", _HELP_EXAMPLES, topic_list())
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("topic", nargs="?", metavar="TOPIC", help="a topic or a command")
    choice.add_argument("--man", action="store_true", help="print the manual page (troff)")


def add_version_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Show the version.", "  hettop version")


SHELLS = ("bash", "fish", "zsh")

_COMPLETIONS_EXAMPLES = """\
  hettop completions bash > ~/.local/share/bash-completion/completions/hettop
  hettop completions zsh > ~/.zfunc/_hettop       with ~/.zfunc in fpath
  hettop completions fish > ~/.config/fish/completions/hettop.fish"""

_COMPLETIONS_NOTES = "Generate them again after an update."


def add_completions_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Generate shell completions.", _COMPLETIONS_EXAMPLES, _COMPLETIONS_NOTES)
    parser.add_argument("shell", choices=SHELLS, help="the shell")
