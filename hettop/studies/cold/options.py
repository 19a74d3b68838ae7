"""The options of `hettop cold`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import add_model_options, add_result_options, describe, positive

DEFAULT_REPEAT = 6
"""Of six values the lowest and the highest are a 95% interval of the median; of five they are not."""

_EXAMPLES = """\
  hettop cold                                       start-up of MobileNetV2 on each unit of this machine
  hettop cold model.onnx --units CPU_ONLY@1,CPU_ONLY@2 --repeat 10
  hettop cold Model.mlpackage --json
  hettop cold model.onnx --record c.jsonl           then: hettop report c.jsonl -o c.html"""

_NOTES = """\
Each start is a new process: process start, load, compilation where the backend reports it, first call, calls until
steady, then half a second of steady calls. Units take turns. Break-even: the least number of calls for which the total
time, start-up included, is lower on the unit that starts slower. Caches of the system are left as they are: starts
that the backend reports as compiled before are apart from the others. See docs/method/cold.md. Exit codes: 0 measured,
2 wrong use, 3 every unit failed, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Measure start-up in new processes, and after how many calls a unit that starts slower pays off.",
        _EXAMPLES,
        _NOTES,
    )
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument(
        "--repeat", type=positive, default=DEFAULT_REPEAT, metavar="R", help=f"starts per unit ({DEFAULT_REPEAT})"
    )
    add_result_options(parser)
