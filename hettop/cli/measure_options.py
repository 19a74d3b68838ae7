"""The options of what measures a model, or power: the live view, bench, decide and power; light to import."""

from __future__ import annotations

import argparse
import textwrap

from hettop.cli.screen import add_screen_options, add_serve_option
from hettop.measurement.arguments import (
    add_against_option,
    add_measure_options,
    add_metrics_option,
    add_model_options,
    add_power_option,
    add_token_options,
    describe,
    duration_ns,
    not_negative,
    positive,
    rate,
    rest,
    with_words,
)
from hettop.measurement.options import PROTOCOLS
from hettop.sources.power.names import FILE, SOURCES

WIDTH = 120

_LIVE_EXAMPLES = """\
  hettop                              MobileNetV2 with seeded weights
  hettop model.onnx --unit CPU_ONLY@2 --record session.jsonl
  hettop a.onnx --against b.onnx      two models side by side, in turns
  hettop --demo                       a simulated Apple M2, marked SIMULATED"""


def add_live_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Watch a model's latency live; switch units, start competing load and record while watching.",
        _LIVE_EXAMPLES,
    )
    add_model_options(parser)
    parser.add_argument("--unit", metavar="U", help="unit to begin with, such as CPU_ONLY or CPU_ONLY@2")
    parser.add_argument("--demo", action="store_true", help="a simulated Apple M2, marked SIMULATED everywhere")
    add_against_option(parser)
    add_measure_options(parser)
    parser.add_argument("--budget", metavar="16ms@p99", help="latency that the verdict (v) is to judge units by")
    parser.add_argument("--energy", metavar="5mJ", help="energy an inference that it is to judge them by")
    add_metrics_option(parser)
    add_screen_options(parser)
    add_serve_option(parser)


AUTO_WARMUP = "auto"


def _warmup(text: str) -> int | str:
    return AUTO_WARMUP if text == AUTO_WARMUP else not_negative(text)


_BENCH_EXAMPLES = """\
  hettop bench                                       100 samples on every unit of this machine
  hettop bench model.onnx --units CPU_ONLY@1,CPU_ONLY@2 --interleave --duration 10s
  hettop bench --runs 700 --assert 'CPU_ONLY.p99<30ms' --json
  hettop bench --rate 30 --closed-too                what pacing and idle time do to latency
  hettop bench a.onnx --against b.onnx --units CPU_ONLY  which is faster, by how much, how sure
  hettop bench Llm.mlpackage --prefill @prefill --decode @decode --duration 10s    tokens a second
  hettop bench --protocol embench --rest 500ms --json
  hettop bench --backend simulated --record m2.jsonl"""

_BENCH_NOTES = """\
Only steady samples count: the first call and the warm-up are kept apart. Quantiles are numpy's linear (type 7), std is
the population's; P99 is not shown below 662 samples. JSON statistics are exact up to 100,000 samples a condition,
beyond that within 0.5 %. Exit codes: 0 measured, 1 a threshold failed, 2 wrong use, 3 everything failed while running,
or the load or the recording did, 130 interrupted (what was measured is printed). Power is measured with --duration, or
where --power names a source: a hundred runs are over before the second power sample, and blocks long enough for power
leave nothing to interleave; where that happens, a line on stderr says so. A protocol is a set of defaults that options
override; which, the result and the recording say. MLPerf itself asks for 10 minutes: --protocol mlperf
--duration 10m."""


def add_bench_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser, "Measure a model on some or all units of this machine, without a screen.", _BENCH_EXAMPLES, _BENCH_NOTES
    )
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument(
        "--warmup",
        type=_warmup,
        metavar="N|auto",
        help="calls after the first that do not count (10); auto: until the unit is steady, 1,000 or 20 s at most",
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit (100)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit")
    parser.add_argument("--rest", type=rest, metavar="2s", help="a rest before each sample (none)")
    parser.add_argument(
        "--protocol",
        choices=sorted(PROTOCOLS),
        help="as published: m2 (10 + 100), embench (10 + 50 with rests; minimum), mlperf (60 s; P90 by early stopping)",
    )
    parser.add_argument(
        "--interleave", action="store_true", help="run the units in blocks, in turn, not one after another"
    )
    add_against_option(parser)
    add_token_options(parser)
    add_measure_options(parser)
    parser.add_argument(
        "--closed-too",
        action="store_true",
        help="with --rate: each unit in a closed loop too, in turns: UNIT~closed",
    )
    add_metrics_option(parser)
    parser.add_argument(
        "--assert",
        dest="thresholds",
        action="append",
        default=[],
        metavar="'UNIT.p90<30ms'",
        help="fail (exit 1) unless this holds; may be given several times",
    )
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")


_DECIDE_EXAMPLES = """\
  hettop decide session.jsonl                        ranks, advice, and what they rest on
  hettop decide session.jsonl --budget 16ms@p99      exit 0 only if some unit is proven to meet it
  hettop decide model.onnx --rate 60 --until-proven  measure on until it is proven, 2 minutes at most
  hettop decide model.onnx --cold 2s --calls 500     units that answer within 2 s of their start; the best for 500 calls
  hettop decide c.jsonl --calls 500                  the same by a recording of hettop cold
  hettop decide session.jsonl --markdown --anonymize for a pull request"""

_DECIDE_NOTES = """\
Ranks: latency = mean, stability = max/min, efficiency = inferences per joule (1/min unless the energy of all units is
known), consistency = P90/min. A budget is met, or missed, only when the 95 % interval of the percentile excludes the
other; the interval allows for samples that depend on each other. --cold and --calls are about start-up, which is
measured first, as hettop cold does, without load. Quantiles are numpy's linear (type 7). Exit codes:
0 done, 1 no unit is proven to meet the budget, 2 wrong use, 3 everything failed while running, 130 interrupted."""


def add_decide_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Say which unit to use, and prove it: by a recording, or by measuring a model on the spot.",
        _DECIDE_EXAMPLES,
        _DECIDE_NOTES,
    )
    add_model_options(parser)
    parser.add_argument("--budget", metavar="16ms@p99", help="latency that a percentile may have at most (P99)")
    parser.add_argument("--rate", type=rate, metavar="HZ", help="response times at this rate, within its period")
    parser.add_argument("--energy", metavar="5mJ", help="energy that an inference may take at most")
    parser.add_argument("--cold", type=duration_ns, metavar="2s", help="time that a start may take to its first answer")
    parser.add_argument("--calls", type=positive, metavar="N", help="find the unit for N calls, start-up included")
    parser.add_argument("--by", choices=("wall", "native"), default="wall", help="wall time (default) or native time")
    parser.add_argument("--load", metavar="LOAD", help="judge under this competing load, such as cpu:2 (none)")
    parser.add_argument("--units", default="all", metavar="U,V", help="measuring: units, or all (the default)")
    parser.add_argument("--runs", type=positive, metavar="N", help="measuring: samples per unit (200, or as needed)")
    parser.add_argument("--protocol", choices=sorted(PROTOCOLS), help="measuring: as published, see hettop bench")
    parser.add_argument("--until-proven", action="store_true", help="measuring: go on until the answer is proven")
    parser.add_argument("--time-limit", type=duration_ns, metavar="2m", help="measuring: from the first sample on (2m)")
    add_power_option(parser, "measuring: ")
    parser.add_argument("--record", metavar="FILE", help="measuring: record the session as JSON Lines")
    parser.add_argument("--force", action="store_true", help="overwrite the file given to --record")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    form.add_argument("--markdown", action="store_true", help="print Markdown, for a pull request")
    parser.add_argument("--anonymize", action="store_true", help="leave out host and user names, paths and ids")


_POWER_EXAMPLES = """\
  hettop power                          the best source of this machine, until Ctrl-C
  hettop power --duration 5s --json
  hettop power --source macmon --jsonl > power.jsonl
  hettop power --replay capture.plist   a capture of powermetrics (plist or text) or macmon

captures are made with:
  sudo powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -n 20 > capture.plist
  macmon pipe -s 20 > capture.jsonl"""

_POWER_NOTES = f"""\
{
    textwrap.fill(
        f"Sources, best first: {', '.join(with_words(name, entry.needs) for name, entry in SOURCES.items())}; "
        f"{FILE}PATH plays a capture as fast as it was made. hettop never asks for a password and never runs as root.",
        WIDTH,
    )
}
Power is in W (JSON: mW), the mean over the window before each sample; busy is a share of time, the mean over a
cluster's cores. What the source does not tell is n/a (JSON: null), never 0. `combined` is CPU + GPU + ANE as
powermetrics estimates it, never the whole system. Flags: suspect-zero (0 W for the CPU or a busy GPU: not measured),
partial (cut off), estimated (worked out from another quantity), inconsistent (`combined` far from CPU + GPU + ANE).
Without a terminal, and with --json, it ends after 5 s.
Exit codes: 0 measured, 2 no source works here (every reason is told), 3 it failed while running, 130 interrupted
(what was gathered is printed)."""


def add_power_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Tell the power of CPU, GPU and Neural Engine as it is drawn, or the power samples in a capture.",
        _POWER_EXAMPLES,
        _POWER_NOTES,
    )
    parser.add_argument("--source", metavar="S", help=f"{', '.join(SOURCES)} or {FILE}PATH (the best)")
    parser.add_argument("--duration", type=duration_ns, metavar="5s", help="measure for so long")
    parser.add_argument(
        "--interval", type=duration_ns, metavar="500ms", help="a sample so often (500ms; powermetrics: always 500ms)"
    )
    parser.add_argument("--replay", metavar="FILE", help="a captured powermetrics plist or text, or lines of macmon")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    shape.add_argument("--jsonl", dest="as_lines", action="store_true", help="print a JSON line for each sample")
