"""The options of the live view, bench, decide and power; light to import."""

from __future__ import annotations

import argparse
import textwrap

from hettop.cli.screen import add_screen_options, add_serve_option
from hettop.measurement.arguments import (
    CSV,
    JSON,
    JSON_LINES,
    MARKDOWN,
    MEASURE_GROUP,
    OUTPUT_GROUP,
    TABLE,
    add_against_option,
    add_alias,
    add_answer_options,
    add_length_options,
    add_measure_options,
    add_metrics_option,
    add_model_options,
    add_output_options,
    add_power_option,
    add_record_option,
    add_strict_option,
    add_token_options,
    add_units_option,
    describe,
    duration_ns,
    group_of,
    not_negative,
    positive,
    rate,
    rest,
    with_words,
)
from hettop.measurement.options import PROTOCOLS
from hettop.sources.power.names import FILE, SOURCES

WIDTH = 100
BENCH_RUNS, DECIDE_RUNS = 100, 200

_LIVE_EXAMPLES = """\
  hettop                              MobileNetV2 with seeded weights
  hettop model.onnx --units cpu@2 --record session.jsonl
  hettop a.onnx --against b.onnx      two models, measured in turns
  hettop --demo                       a simulated Apple M2, marked SIMULATED"""


def add_live_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Show a model's latency live; switch units, add competing load and record while it runs.",
        _LIVE_EXAMPLES,
    )
    add_model_options(parser)
    add_strict_option(parser)
    add_units_option(parser, "units to start with; several run in turns (the first available)", default=None)
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument("--demo", action="store_true", help="simulate an Apple M2; everything is marked SIMULATED")
    add_against_option(parser)
    add_answer_options(parser)
    add_measure_options(parser)
    group.add_argument("--budget", metavar="16ms@p99", help="latency budget of the verdict (a bare number is ms)")
    group.add_argument("--energy", metavar="5mJ", help="energy budget per inference (a bare number is mJ)")
    group.add_argument("--follow-advice", action="store_true", help="switch to the unit that is advised (off)")
    add_metrics_option(parser)
    add_screen_options(parser)
    add_serve_option(parser)


AUTO_WARMUP = "auto"


def _warmup(text: str) -> int | str:
    return AUTO_WARMUP if text == AUTO_WARMUP else not_negative(text)


_BENCH_EXAMPLES = """\
  hettop bench                                       100 samples on every unit
  hettop bench model.onnx --units cpu@1,cpu@2 --interleave --duration 10s
  hettop bench -n 700 --assert 'cpu.p99<30ms' -o result.json
  hettop bench model.onnx --units cpu --duration 30s --assert 'cpu.p90<8ms' --require-proof
  hettop bench --rate 30 --closed-too                the effect of pacing and idle time
  hettop bench a.onnx --against b.onnx --units cpu   which model is faster, and by how much
  hettop bench Llm.mlpackage --prefill @prefill --decode @decode --duration 10s
  hettop bench --protocol embench --rest 500ms --json
  hettop bench --backend simulated --record m2.jsonl"""

_BENCH_NOTES = """\
Only steady samples count; the first call and the warm-up are reported separately. P99 needs 662 samples, P99.9 needs
6,636; --assert refuses a percentile that -n cannot reach. It compares the measured value; with --require-proof, the
95% interval must lie on one side of the limit, which takes 1,210 samples for P50 and 7,040 for P90 (fewer in turns).
Power is measured with --duration, or with --power SRC.
A protocol sets defaults, which options override; MLPerf itself requires --duration 10m.

Exit codes: 0 measured, 1 a threshold is not met, 2 invalid use, 3 everything failed, or the load or the recording did,
4 undecided: more samples are needed, 130 interrupted (what was measured is printed).
See docs/method/statistics.md."""


def add_bench_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Benchmark a model without the UI.", _BENCH_EXAMPLES, _BENCH_NOTES)
    add_model_options(parser)
    add_strict_option(parser)
    add_units_option(parser, "units to measure (all)")
    group = group_of(parser, MEASURE_GROUP)
    add_length_options(parser, BENCH_RUNS, "unit")
    group.add_argument(
        "--warmup",
        type=_warmup,
        metavar="N|auto",
        help="calls before measuring (10); auto: until steady, at most 1,000 calls or 20 s",
    )
    group.add_argument("--rest", type=rest, metavar="2s", help="pause before each sample (none)")
    group.add_argument(
        "--protocol",
        choices=sorted(PROTOCOLS),
        help="published defaults: m2 (10 + 100), embench (10 + 50 with pauses), mlperf (60 s, early stopping)",
    )
    group.add_argument("--interleave", action="store_true", help="run the units in turns instead of one after another")
    add_against_option(parser)
    add_token_options(parser)
    add_answer_options(parser)
    add_measure_options(parser)
    group.add_argument(
        "--closed-too", action="store_true", help="with --rate: also measure each unit back to back, as UNIT~closed"
    )
    group.add_argument(
        "--assert",
        dest="thresholds",
        action="append",
        default=[],
        metavar="'UNIT.p90<30ms'",
        help="exit 1 if this is not met, 4 if undecided; times in ms without a unit; repeatable",
    )
    group.add_argument(
        "--require-proof",
        action="store_true",
        help="with --assert: exit 0 or 1 only if the interval of the percentile proves it, else 4",
    )
    add_metrics_option(parser)
    add_output_options(parser, (TABLE, JSON, CSV, MARKDOWN))


_DECIDE_EXAMPLES = """\
  hettop decide session.jsonl                        ranks, advice and evidence
  hettop decide session.jsonl --budget 16ms@p99      exit 0 only if a unit is proven to meet the budget
  hettop decide model.onnx --rate 60 --budget 16ms@p90 --until-proven  measure until it is decided, at most 2 minutes
  hettop decide model.onnx --cold 2s --calls 500     include start-up
  hettop decide c.jsonl --calls 500                  the same from a recording of hettop cold
  hettop decide session.jsonl --markdown --anonymize for a pull request"""

_DECIDE_NOTES = """\
A budget is met or missed only if the 95% interval of the percentile is entirely on one side of the limit. --cold and
--calls measure start-up first, as hettop cold does, without load. See docs/method/verdict.md for the ranks.

Exit codes: 0 done, 1 every unit is proven to miss the budget, 2 invalid use, 3 everything failed while running,
4 undecided, 130 interrupted."""


def add_decide_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Recommend a compute unit, with evidence, from a recording or by measuring a model.",
        _DECIDE_EXAMPLES,
        _DECIDE_NOTES,
    )
    add_model_options(parser, or_recording=True)
    add_strict_option(parser)
    question = group_of(parser, "requirements")
    question.add_argument(
        "--budget",
        metavar="16ms@p99",
        help="highest latency at a percentile (P99; a bare number is ms); token streams: 50ms@p99:itl,500ms@p90:ttft",
    )
    question.add_argument(
        "--rate", type=rate, metavar="HZ", help="judge response times at this rate, within its period"
    )
    question.add_argument("--energy", metavar="5mJ", help="highest energy per inference (a bare number is mJ)")
    question.add_argument(
        "--cold", type=duration_ns, metavar="2s", help="longest time from process start to the first answer"
    )
    question.add_argument(
        "--calls", type=positive, metavar="N", help="find the best unit for N calls including start-up"
    )
    question.add_argument("--by", choices=("wall", "native"), default="wall", help="wall time (default) or native time")
    question.add_argument("--load", metavar="LOAD", help="judge under this competing load, such as cpu:2 (none)")
    add_answer_options(parser)
    add_units_option(parser, "measuring: units (all)", default=None)
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument(
        "-n", "--runs", type=positive, metavar="N", help="measuring: samples per unit (200, or as needed)"
    )
    group.add_argument("--protocol", choices=sorted(PROTOCOLS), help="measuring: published defaults, see hettop bench")
    group.add_argument("--until-proven", action="store_true", help="measuring: continue until the answer is proven")
    group.add_argument(
        "--time-limit",
        type=duration_ns,
        metavar="2m",
        help="measuring: end so long after the first sample (1m; 2m until proven)",
    )
    add_power_option(parser, "measuring: ")
    add_output_options(parser, (TABLE, JSON, MARKDOWN))
    add_record_option(parser, "measuring: record the session (.jsonl or .jsonl.zst)")
    group_of(parser, OUTPUT_GROUP).add_argument(
        "--anonymize", action="store_true", help="leave out host and user names, paths and ids"
    )


_POWER_EXAMPLES = """\
  hettop power                          the best source, until Ctrl-C
  hettop power --duration 5s -o power.json
  hettop power --power macmon --jsonl > power.jsonl
  hettop power --replay capture.plist   a capture of powermetrics (plist or text) or macmon

make a capture:
  sudo powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -n 20 > capture.plist
  macmon pipe -s 20 > capture.jsonl"""

_POWER_NOTES = f"""\
{
    textwrap.fill(
        f"Sources, best first: {', '.join(with_words(name, entry.needs) for name, entry in SOURCES.items())}; "
        f"{FILE}PATH replays a capture at its own speed. hettop never asks for a password and never runs as root.",
        WIDTH,
    )
}
Power is in W (JSON: mW); what the source does not report is n/a (JSON: null), never 0. Without a terminal, and with
--json, it ends after 5 s. See docs/method/power.md for flags and rails.

Exit codes: 0 measured, 2 no source works here, 3 the source failed while running, 130 interrupted (what was measured
is printed)."""


def add_power_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Show live power draw, or parse a capture.", _POWER_EXAMPLES, _POWER_NOTES)
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument("--power", metavar="SRC", help=f"{', '.join(SOURCES)} or {FILE}PATH (best available)")
    add_alias(group, "--source", "power")
    group.add_argument(
        "--duration", type=duration_ns, metavar="5s", help="how long to measure (a bare number is seconds)"
    )
    group.add_argument(
        "--interval", type=duration_ns, metavar="500ms", help="time between samples (500ms; powermetrics: always 500ms)"
    )
    group.add_argument("--replay", metavar="FILE", help="a powermetrics plist or text capture, or macmon lines")
    add_output_options(parser, (TABLE, JSON, JSON_LINES))
