"""The options of the studies."""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    add_model_options,
    add_power_option,
    add_result_options,
    describe,
    duration_ns,
    not_negative,
    positive,
    rest,
)
from hettop.measurement.options import DEFAULT_WARMUP

DEFAULT_LOADS = "none,cpu:1,memory:1"

DEFAULT_REST_NS = 2 * 10**9

_SWEEP_EXAMPLES = """\
  hettop sweep --batch 1,2,4,8,16,32 --units CPU_ONLY     rate and time by batch, the knee, the best batch
  hettop sweep model.onnx --size 224,320,448 --budget 30ms@p90
  hettop sweep --loads none,cpu:1,cpu:2,memory:1     units interleaved, each load in turn, with rests
  hettop sweep model.onnx --units CPU_ONLY@1,CPU_ONLY@2 --loads none,cpu:1+memory:1 --duration 10s
  hettop sweep --backend simulated --loads none,cpu:4,gpu:1 --record m2-loads.jsonl --json"""

_SWEEP_NOTES = """\
Batches and sizes: points take turns on each unit, one unit after another, with inputs that are really so large; a
file needs dynamic axes for that, MobileNetV2 is built for each point. A point that fails is a row with the reason; what
is more work than a point that ran out of memory is not tried. See docs/method/sweeps.md.
Loads: a comma parts loads, a plus joins them. Samples taken before a load is confirmed count for none. Between loads
nothing runs for --rest. --runs and --duration count steady samples, or steady time, of each unit at each point or under
each load. --record s.jsonl keeps what was found, for a sweep over loads with its samples; those of points are recorded
beside it, such as s-b4-CPU_ONLY.jsonl. Quantiles are numpy's linear (type 7). Exit codes: 0 measured, 2 wrong use, 3
everything failed while running, 130 interrupted (what was measured is printed)."""


def add_sweep_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Measure a model over batches, image sizes or competing loads, on some units, and tell what each does.",
        _SWEEP_EXAMPLES,
        _SWEEP_NOTES,
    )
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument("--batch", metavar="1,2,4", help="batches: items a call")
    parser.add_argument("--size", metavar="224,320", help="sizes of images, in pixels: height and width, or HxW")
    parser.add_argument("--budget", metavar="16ms@p90", help="with --batch or --size: the most items/s within it")
    parser.add_argument("--loads", metavar="L,M", help=f"competing loads, one after another ({DEFAULT_LOADS})")
    parser.add_argument("--rest", type=rest, default=DEFAULT_REST_NS, metavar="2s", help="pause between loads (2s)")
    parser.add_argument(
        "--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls that do not count (10)"
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit and point or load (100)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit and point or load")
    add_power_option(parser, "with --loads: ")
    add_result_options(parser)


DEFAULT_PRECISIONS = "fp32,fp16,int8"

_VARIANTS_EXAMPLES = """\
  hettop variants                                          MobileNetV2 in fp32, fp16 and int8
  hettop variants model.onnx --precisions fp16,int8,int8-dynamic --units CPU_ONLY@1 --out variants/
  hettop variants Model.mlpackage --precisions int8,palette4 --units CPU_AND_NE --json"""

_VARIANTS_NOTES = """\
ONNX models: fp16, int8 (static, calibrated on made-up inputs) and int8-dynamic, by ONNX Runtime's own tools. Core ML
packages: int8 (linear) and palette8, palette6, palette4 (k-means) of the weights, by coremltools. The model as it is
comes first and is what the others are held against. --record v.jsonl keeps what was found; the samples of each are
recorded beside it, such as v-int8-CPU_ONLY.jsonl. See docs/method/variants.md. Exit codes: 0 measured, 2 wrong use, 3
everything failed while running, 130 interrupted (what was measured is printed)."""


def add_variants_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Write a model in other precisions and measure them in turns: speed, size, and how far off the answers are.",
        _VARIANTS_EXAMPLES,
        _VARIANTS_NOTES,
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


def add_layer_options(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    parser.add_argument("--unit", default="CPU_ONLY", metavar="U", help="unit to measure (CPU_ONLY)")
    parser.add_argument("--runs", type=positive, default=50, metavar="N", help="calls that count (50)")
    parser.add_argument("--warmup", type=not_negative, default=10, metavar="N", help="calls before, that do not (10)")
    add_result_options(parser)


_LAYERS_EXAMPLES = """\
  hettop layers                                   MobileNetV2 with seeded weights
  hettop layers model.onnx --unit CPU_ONLY@1 --runs 200
  hettop layers Model.mlpackage --shape image=1,3,640,640 --json
  hettop layers Model.mlpackage --backend coreml --unit CPU_AND_NE   estimated, on a Mac
  hettop layers session.jsonl --unit CPU_AND_NE                      estimated, by the plan in a recording"""

_LAYERS_NOTES = """\
Times are those of ONNX Runtime's profiler, means of the middle half of the calls. A layer is what the runtime runs: an
operation of the model with those fused into it, called after the one that does the work. Bytes are weights, inputs and
outputs, each moved once. Bound is compute or memory by the ridge of roofs that are measured here, which takes three
seconds. See docs/method/layers.md. Units of Core ML have no times by layer: its plan only estimates shares, which is
what --backend coreml and recordings tell, labelled estimated."""


def add_layers_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Measure each layer of a model on ONNX Runtime's CPU engine, or estimate it by Core ML's plan.",
        _LAYERS_EXAMPLES,
        _LAYERS_NOTES,
    )
    add_layer_options(parser)


_ROOFLINE_EXAMPLES = """\
  hettop roofline                                 MobileNetV2 with seeded weights
  hettop roofline model.onnx --unit CPU_ONLY@1
  hettop roofline Model.mlpackage --json
  hettop roofline model.onnx --chip 'Exynos 5422'  under roofs that others published; nothing is measured"""

_ROOFLINE_NOTES = """\
Roofs are the best of matrix products and convolutions, and of streams over arrays larger than the cache, all called in
turns through ONNX Runtime with the unit's number of threads. Intensities are theoretical: MACs by the bytes of weights,
inputs and outputs, each moved once. GFLOP/s count two FLOP for each MAC. A layer is bound by compute if its
intensity is beyond the ridge, where both roofs meet. With --chip the roofs are those that papers give for a chip, each
with its source and labelled published: nothing is measured then. See docs/method/layers.md."""


def add_roofline_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Measure the roofs of this machine and each layer of a model, and tell which roof limits which layer.",
        _ROOFLINE_EXAMPLES,
        _ROOFLINE_NOTES,
    )
    add_layer_options(parser)
    parser.add_argument("--chip", metavar="CHIP", help="published roofs of this chip, such as M2, instead of measuring")
    parser.add_argument("--device", metavar="NAME", help="with --chip: the device (the fastest with both roofs)")


_PLAN_EXAMPLES = """\
  hettop plan model.onnx --devices CPU_ONLY@1,CPU_ONLY@2 --run
  hettop plan model.onnx --slices 'CPU_ONLY@1_1, CPU_ONLY@2_9' --run
  hettop plan model.onnx --run --record plan.jsonl     to show with hettop report or hettop replay
  hettop plan --costs costs.json
  hettop plan --costs costs.json --objective energy --json

  costs.json, for three layers on two devices, costs in ms, sizes and limits in MB:
    {"L": 3, "D": ["B", "N"], "e": [[19, null], [47, 33], [41, 13]], "cin": [[0, 11], [0, 5], [0, 30]],
     "cout": [[0, 29], [0, 29], [0, 19]], "size": [8, 60, 24], "limit": {"N": 100}}

  B_1, N_2
  latency 89.0 ms
  ..."""

_PLAN_NOTES = """\
e: cost of a layer on a device; cin, cout: of communication where a slice begins or ends with it; null: it cannot. A
slice pays at both ends, also beside another slice on the same device; its size may not exceed the device's limit.
Optional: "unit": "ms" or "mJ"; "P": watts by device, or by layer and device, which turn ms into mJ for the objective
energy. Without both, the costs are taken to be in the objective's unit. A device N^960 is N at 960 MHz. N_1, G_9 is a
plan: layers 1 to 8 on N, from 9 on G. Exit code 2 if no plan is finite; the layer in the way is named.
With a MODEL the costs are measured: each layer on each device, and what it takes to cut between layers. --run runs the
plan in turns with the whole model on each device; exit code 1 if the outputs differ. See docs/method/slicing.md."""


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Cut a model's layers into slices and give each a device, so that the whole costs least (MOSAIC).",
        _PLAN_EXAMPLES,
        _PLAN_NOTES,
    )
    add_model_options(parser)
    parser.set_defaults(model=None)
    parser.add_argument("--costs", metavar="FILE", help="a cost table as JSON, instead of a model")
    parser.add_argument(
        "--devices", metavar="A,B", help="units to plan for, CPU_ONLY@N each (every number of threads of this machine)"
    )
    # Named here and not imported: --help must not wait for numpy.
    parser.add_argument(
        "--objective", choices=("latency", "energy"), default="latency", help="what to make least (latency)"
    )
    parser.add_argument(
        "--watts", action="append", default=[], metavar="DEVICE=W", help="power of a device, for the objective energy"
    )
    parser.add_argument(
        "--limit", action="append", default=[], metavar="DEVICE=MB", help="weights and outputs that a slice may have"
    )
    parser.add_argument(
        "--describe", metavar="FILE", help="further devices as JSON, by how they differ from a measured one"
    )
    parser.add_argument("--save-costs", metavar="FILE", help="write the measured table, for --costs")
    parser.add_argument("--slices", metavar="PLAN", help="a plan of your own instead of the best, such as A_1, B_9")
    parser.add_argument("--run", action="store_true", help="run the plan, in turns with the whole model")
    parser.add_argument("--runs", type=positive, default=50, metavar="N", help="calls that count (50)")
    parser.add_argument("--warmup", type=not_negative, default=10, metavar="N", help="calls before, that do not (10)")
    add_result_options(parser)


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


COEXEC_DEPTH = 64  # named here and not imported: --help must not wait for msgspec

MOST_DEPTH = 1_000_000


def _depth(text: str) -> int:
    found = positive(text)
    if found > MOST_DEPTH:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST_DEPTH} numbers")
    return found


_COEXEC_EXAMPLES = """\
  hettop coexec model.onnx --units CPU_ONLY@1,CPU_ONLY@2
  hettop coexec Model.mlpackage --units CPU_AND_GPU,CPU_AND_NE --duration 20s --power powermetrics
  hettop coexec Model.mlpackage --units CPU_AND_NE,CPU_AND_NE  two calls of one unit in flight
  hettop coexec --backend simulated --units CPU_ONLY,CPU_AND_GPU,CPU_AND_NE --json
  hettop coexec model.onnx --live                              on the screen, round by round, until you end it
  hettop coexec model.onnx --until-ended --stream | jq .       the same for a program
  hettop coexec model.onnx --granularities --loads none,cpu:1,cpu:2"""

_COEXEC_NOTES = """\
A unit is a process that takes the next number of the stream, or steals one that another has not begun; numbers travel,
inputs do not: each process makes the same ones from the seed. A buffer restores the order. Each unit alone and all
together are measured in turns, in blocks with rests between them, through the same dispatch. Alone and together are
inferences a second; the latency is from handing a number out to its leaving in order. A unit that dies has its work
done by the others. A unit that is named twice is two processes: two of its calls in flight, one of them measured alone.
Energy needs --power, and then blocks of 2 s. --until-ended goes on until Ctrl-C, SIGTERM, or the end of standard input
where that is a pipe; then it prints what was measured, exit code 0. --stream prints all that is known after each round,
--live opens the live view with it running: there Enter ends it, and starts it again (y from the panels leads to it).
--granularities compares ways to run one model in parallel on the threads of one processor: each operator on all of
them, operators side by side, slices as a pipeline, inputs side by side. See docs/method/coexec.md. Exit codes:
0 measured, 2 wrong use, 3 nothing was measured (ended while it loads, too), 130 interrupted (what was measured is
printed)."""


def add_coexec_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Let several units serve one stream of inputs, results in order, and tell what that gains over the best alone.",
        _COEXEC_EXAMPLES,
        _COEXEC_NOTES,
    )
    add_model_options(parser)
    parser.add_argument(
        "--units",
        metavar="A,B",
        help="two units or more, or one twice (one for each kind of processor, or two numbers of threads)",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--duration", type=duration_ns, default=duration_ns("6s"), metavar="T", help="of all blocks and rests (6s)"
    )
    length.add_argument(
        "--until-ended", action="store_const", const=True, help="until Ctrl-C, SIGTERM, or the end of a piped input"
    )
    length.add_argument(
        "--live", action="store_const", const=True, help="open the live view with it running, until you end it there"
    )
    parser.add_argument("--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls before (10)")
    parser.add_argument(
        "--depth", type=_depth, metavar="N", help=f"numbers that the reorder buffer spans ({COEXEC_DEPTH})"
    )
    parser.add_argument("--block", type=duration_ns, metavar="T", help="shortest block (250ms; 2s with --power)")
    parser.add_argument("--power", metavar="SRC", help="measure energy with this source of power (none)")
    parser.add_argument(
        "--granularities",
        action="store_true",
        help="compare instead: parallel within operators, between them, by slices, by inputs (ONNX Runtime)",
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="of --granularities (one for each core)")
    parser.add_argument("--loads", metavar="L,M", help="competing loads for --granularities, one after another (none)")
    add_result_options(parser)
