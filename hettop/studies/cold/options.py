"""The options of `hettop cold`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    MEASURE_GROUP,
    add_model_options,
    add_result_options,
    add_units_option,
    describe,
    group_of,
    invalid,
    positive,
)

DEFAULT_REPEAT = 6
"""Of six values the lowest and the highest are a 95% interval of the median; of five they are not."""

_EXAMPLES = """\
  hettop cold                                       start-up of MobileNetV2 on every unit
  hettop cold model.onnx --units cpu@1,cpu@2 --repeat 10
  hettop cold Model.mlpackage -o cold.json
  hettop cold model.onnx --record c.jsonl           then: hettop report c.jsonl -o c.html"""

_NOTES = """\
Each start is a new process; units take turns. Break-even is the number of calls from which the unit that starts slower
needs less time in total. System caches are not cleared: starts with a compiled model are reported separately.
See docs/method/cold.md.

Exit codes: 0 measured, 2 invalid use, 3 every unit failed, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Measure start-up cost and break-even.", _EXAMPLES, _NOTES)
    add_model_options(parser)
    add_units_option(parser, "units to measure (all)")
    group_of(parser, MEASURE_GROUP).add_argument(
        "--repeat", type=_repeat, default=DEFAULT_REPEAT, metavar="R", help=f"starts per unit ({DEFAULT_REPEAT})"
    )
    add_result_options(parser)


MOST_STARTS = 1000


def _repeat(text: str) -> int:
    found = positive(text)
    if found > MOST_STARTS:
        raise invalid("number of starts", text, f"the highest is {MOST_STARTS}")
    return found
