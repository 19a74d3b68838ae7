"""The options of `hettop variants`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    add_model_options,
    add_result_options,
    describe,
    duration_ns,
    not_negative,
    positive,
)
from hettop.measurement.options import DEFAULT_WARMUP

DEFAULT_PRECISIONS = "fp32,fp16,int8"

_EXAMPLES = """\
  hettop variants                                          MobileNetV2 in fp32, fp16 and int8
  hettop variants model.onnx --precisions fp16,int8,int8-dynamic --units CPU_ONLY@1 --out variants/
  hettop variants Model.mlpackage --precisions int8,palette4 --units CPU_AND_NE --json"""

_NOTES = """\
ONNX models: fp16, int8 (static, calibrated on made-up inputs) and int8-dynamic, by ONNX Runtime's own tools. Core ML
packages: int8 (linear) and palette8, palette6, palette4 (k-means) of the weights, by coremltools. The model as it is
comes first and is what the others are held against. --record v.jsonl keeps what was found; the samples of each are
recorded beside it, such as v-int8-CPU_ONLY.jsonl. See docs/method/variants.md. Exit codes: 0 measured, 2 wrong use, 3
everything failed while running, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Write a model in other precisions and measure them in turns: speed, size, and how far off the answers are.",
        _EXAMPLES,
        _NOTES,
    )
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument(
        "--precisions", default=DEFAULT_PRECISIONS, metavar="P,Q", help=f"precisions ({DEFAULT_PRECISIONS})"
    )
    parser.add_argument("--out", metavar="FOLDER", help="copy the variants there (--force replaces those there)")
    parser.add_argument(
        "--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls that do not count (10)"
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit and variant (200)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit and variant")
    add_result_options(parser)
