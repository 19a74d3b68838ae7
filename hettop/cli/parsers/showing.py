"""The options of what shows something and measures nothing: inspect, doctor, config, help and completions."""

from __future__ import annotations

import argparse

from hettop.cli.screen import add_screen_options
from hettop.cli.topics import topic_list
from hettop.measurement.arguments import describe
from hettop.measurement.options import DEFAULT_MODEL

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
