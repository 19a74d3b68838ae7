"""`hettop sweep`: measure a model over a range of something, unattended: loads here, batches and sizes elsewhere."""

from __future__ import annotations

import argparse
import os
import sys
import time
from typing import TYPE_CHECKING, Any

from hettop.cli.options import (
    add_model_options,
    add_power_option,
    duration_ns,
    make_parser,
    model_options,
    not_negative,
    positive,
)
from hettop.cli.output import Answer, add_result_options, check_result_options
from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_WARMUP, MeasureOptions
from hettop.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hettop.measurement.setup import Setup
    from hettop.sources.load.parts import LoadPart
    from hettop.studies.sweep.loads import Sweep, SweepOptions

SUMMARY = "Measure a model over batches, image sizes or competing loads, on some units, and tell what each does."
EXAMPLE = """\
  hettop sweep --batch 1,2,4,8,16,32 --units CPU_ONLY     rate and time by batch, the knee, the best batch
  hettop sweep model.onnx --size 224,320,448 --budget 30ms@p90
  hettop sweep --loads none,cpu:1,cpu:2,memory:1     units interleaved, each load in turn, with rests
  hettop sweep model.onnx --units CPU_ONLY@1,CPU_ONLY@2 --loads none,cpu:1+memory:1 --duration 10s
  hettop sweep --backend simulated --loads none,cpu:4,gpu:1 --record m2-loads.jsonl --json"""
NOTES = """\
Batches and sizes: points take turns on each unit, one unit after another, with inputs that are really so large; a
file needs dynamic axes for that, MobileNetV2 is built for each point. A point that fails is a row with the reason; what
is more work than a point that ran out of memory is not tried. docs/SWEEPS.md tells of the knee and the fit.
Loads: a comma parts loads, a plus joins them. Samples taken before a load is confirmed count for none. Between loads
nothing runs for --rest. --runs and --duration count steady samples, or steady time, of each unit at each point or under
each load. --record s.jsonl keeps what was found, for a sweep over loads with its samples; those of points are recorded
beside it, such as s-b4-CPU_ONLY.jsonl. Quantiles are numpy's linear (type 7). Exit codes: 0 measured, 2 wrong use, 3
everything failed while running, 130 interrupted (what was measured is printed)."""
DEFAULT_LOADS = "none,cpu:1,memory:1"
DEFAULT_RUNS = 100
DEFAULT_REST_NS = 2 * 10**9
MOST_LOADS = 64
TOLD_EVERY_NS = 500_000_000


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.batch is not None or arguments.size is not None:
        if arguments.loads is not None:
            raise HettopError("usage", "one sweep is over loads, or over batches and sizes", "make it two")
        if arguments.power is not None:
            raise HettopError("usage", "--power is for a sweep over loads", "turns of points are too short for it")
        from hettop.cli.sweep_points import run_points

        return run_points(argv, arguments)
    if arguments.budget is not None:
        raise HettopError("usage", "--budget is for a sweep over batches or sizes", "hettop decide judges loads")
    from hettop.measurement.setup import prepare
    from hettop.session.session import RAW_LIMIT
    from hettop.studies.sweep.loads import Sweep, SweepOptions

    check_result_options(arguments)
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    options = SweepOptions(
        loads=_loads(DEFAULT_LOADS if arguments.loads is None else arguments.loads),
        runs=arguments.runs if arguments.runs or arguments.duration else DEFAULT_RUNS,
        duration_ns=arguments.duration,
        rest_ns=arguments.rest,
    )
    setup = prepare(model_options(arguments), units, os.cpu_count() or 1)
    _check_loads(setup, options)
    measure = MeasureOptions(
        warmup=arguments.warmup,
        interleave=True,
        canary=True,
        power=arguments.power,
        record=arguments.record,
        force=arguments.force,
    )
    sweep = Sweep(setup, measure, options, argv, raw_limit=RAW_LIMIT)
    # What it found joins the recording of its samples: there is none for the answer to begin.
    with Answer("sweep", ["sweep", *argv], arguments) as answer:
        return _sweep(sweep, measure, answer, streamed=arguments.stream)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("sweep", SUMMARY, EXAMPLE, NOTES)
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument("--batch", metavar="1,2,4", help="batches: items a call")
    parser.add_argument("--size", metavar="224,320", help="sizes of images, in pixels: height and width, or HxW")
    parser.add_argument("--budget", metavar="16ms@p90", help="with --batch or --size: the most items/s within it")
    parser.add_argument("--loads", metavar="L,M", help=f"competing loads, one after another ({DEFAULT_LOADS})")
    parser.add_argument("--rest", type=_rest, default=DEFAULT_REST_NS, metavar="2s", help="pause between loads (2s)")
    parser.add_argument(
        "--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls that do not count (10)"
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit and point or load (100)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit and point or load")
    add_power_option(parser, "with --loads: ")
    add_result_options(parser)
    return parser


def _rest(text: str) -> int:
    return 0 if text.strip() in ("0", "0s") else duration_ns(text)


def _loads(text: str) -> tuple[tuple[LoadPart, ...], ...]:
    """The loads of a comma list, each once, in the order given. Raises HettopError (`usage`)."""
    from hettop.sources.load.parts import parse_load

    loads = tuple(dict.fromkeys(parse_load(part.strip()) for part in text.split(",")))
    if len(loads) > MOST_LOADS:
        raise HettopError("usage", f"{len(loads)} loads are too many", f"give {MOST_LOADS} at most")
    return loads


def _check_loads(setup: Setup, options: SweepOptions) -> None:
    """Refuses loads that this machine cannot run before anything starts: a sweep may take hours."""
    from hettop.sources.load.source import unavailable

    if setup.simulated:
        return
    for parts in options.loads:
        why = unavailable(parts)
        if why is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")


def _sweep(sweep: Sweep, measure_options: MeasureOptions, answer: Answer, *, streamed: bool) -> int:
    from hettop.cli.bench import say_recorded
    from hettop.cli.measuring import after_recording, measure, print_header_warnings, say_power
    from hettop.cli.rounds import INTERRUPTED
    from hettop.cli.signals import stop_signals_ignored
    from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
    from hettop.studies.sweep.page import loads_document

    def known() -> dict[str, Any]:
        return loads_document(sweep.session, sweep.failed_loads)

    print_header_warnings(sweep.session)
    line = _Line(sweep, time.monotonic_ns())
    show = _Followed(sweep, answer, known, time.monotonic_ns).show if streamed else line.show
    outcome = measure(sweep, show, line.clear)
    with stop_signals_ignored():
        notes = [INTERRUPTED] if outcome.interrupted else []
        answer.give(
            lambda: loads_document(sweep.session, sweep.failed_loads, notes), lambda width: _text(sweep, notes, width)
        )
        sys.stdout.flush()
        if outcome.closed is not None:
            say_recorded(outcome.closed)
        say_power(sweep.session, measure_options)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if any(condition.wall.n for condition in sweep.session.conditions.values()):
        return after_recording(0, outcome.closed, sweep.session)
    for unit in sweep.session.units.values():
        sys.stderr.write(
            f"hettop: {unit.name}: {clean(unit.error.message if unit.error else 'nothing measured', 400)}\n"
        )
    for load, why in sweep.failed_loads.items():
        sys.stderr.write(f"hettop: load {load}: {clean(why, 400)}\n")
    return EXIT_FAILED


def _text(sweep: Sweep, notes: list[str], width: int) -> str:
    from hettop.report.conditions import conditions_text
    from hettop.report.grid import wrapped
    from hettop.report.verdict_words import provenance

    title = wrapped(" · ".join(provenance(sweep.session)), width)
    page = conditions_text(sweep.session, sweep.failed_loads, width)
    return "\n".join([*title, "", ""]) + page + "".join(f"{note}\n" for note in notes)


class _Followed:
    """Tells whoever follows how far it is, and between loads what is known by then: nothing runs there."""

    def __init__(
        self, sweep: Sweep, answer: Answer, known: Callable[[], Mapping[str, Any]], now: Callable[[], int]
    ) -> None:
        self._sweep, self._answer, self._known, self._now = sweep, answer, known, now
        self._told_at: int | None = None
        self._resting = False

    def show(self) -> bool:
        now = self._now()
        knows = self._sweep.resting and not self._resting
        self._resting = self._sweep.resting
        if knows:
            self._answer.known(self._known)
        if knows or self._told_at is None or now - self._told_at >= TOLD_EVERY_NS:
            self._told_at = now
            self._answer.doing(f"load {self._sweep.load}", self._sweep.share_done)
        return False


class _Line:
    """How far the sweep is and how long it will take, on a terminal's stderr."""

    def __init__(self, sweep: Sweep, began_ns: int) -> None:
        from hettop.cli.progress import width_of

        self._sweep, self._began_ns = sweep, began_ns
        self._width = width_of(sys.stderr, os.environ.get("TERM", ""))

    def show(self) -> bool:
        if self._width:
            from hettop.cli.progress import progress_line

            shown = progress_line(self._sweep.share_done, self._sweep.load, time.monotonic_ns() - self._began_ns)
            sys.stderr.write(f"\r\x1b[K{shown[: self._width - 1]}")
            sys.stderr.flush()
        return False

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
