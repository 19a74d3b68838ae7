"""The options of `hettop variants`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    MEASURE_GROUP,
    OUTPUT_GROUP,
    add_length_options,
    add_model_options,
    add_result_options,
    add_units_option,
    add_warmup_option,
    describe,
    group_of,
)
from hettop.measurement.options import DEFAULT_WARMUP

DEFAULT_PRECISIONS = "fp32,fp16,int8"
DEFAULT_RUNS = 200

_EXAMPLES = """\
  hettop variants                                          MobileNetV2 in fp32, fp16 and int8
  hettop variants model.onnx --precisions fp16,int8,int8-dynamic --units cpu@1 --out variants/
  hettop variants Model.mlpackage --precisions int8,palette4 --units ne -o variants.json"""

_NOTES = """\
ONNX models: fp16, int8 (static, calibrated on random inputs) and int8-dynamic. Core ML packages: int8 (linear),
palette8, palette6 and palette4 (k-means) of the weights. All are compared with the model as it is. --record v.jsonl
keeps the result; samples are recorded beside it, such as v-int8-CPU_ONLY.jsonl. See docs/method/variants.md.

Exit codes: 0 measured, 2 invalid use, 3 everything failed, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Build and compare precision variants: speed, size and output difference.", _EXAMPLES, _NOTES)
    add_model_options(parser)
    add_units_option(parser, "units to measure (all)")
    group_of(parser, MEASURE_GROUP).add_argument(
        "--precisions", default=DEFAULT_PRECISIONS, metavar="P,Q", help=f"precisions ({DEFAULT_PRECISIONS})"
    )
    add_warmup_option(parser, DEFAULT_WARMUP)
    add_length_options(parser, DEFAULT_RUNS, "unit and variant")
    add_result_options(parser)
    group_of(parser, OUTPUT_GROUP).add_argument("--out", metavar="FOLDER", help="copy the variants into this folder")
