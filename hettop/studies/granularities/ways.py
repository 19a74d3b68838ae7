"""Runs a model in parallel in every way: within operators, between them, by balanced slices, by inputs.

For the measuring process. After Liu et al., "Deep Learning Inference on Heterogeneous Mobile Processors: Potentials
and Pitfalls", section 3.2.1, whose granularities these are, on the threads of one processor.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.processes.framework_errors import reason
from hettop.processes.qos import set_worker_qos
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.custom_ops import register_custom_ops
from hettop.studies.coexec.blocks import BLOCK_NS, BLOCK_SAMPLES, FEWEST_SAMPLES, REST_NS
from hettop.studies.coexec.run_totals import Span, work_within
from hettop.studies.layers.running import session_options
from hettop.studies.plan.cutting.graph import Part, ends
from hettop.studies.plan.cutting.messages import OPENING, PROFILING, TIMING, CompareJob, CuttingProgress
from hettop.studies.plan.cutting.model import write
from hettop.studies.plan.cutting.result import Compared, Granularity
from hettop.studies.plan.cutting.survey import Opened, measure_layers, open_subject, session
from hettop.units import NS_PER_MS, NS_PER_S

SINGLE, INTRA, INTER, SUB_GRAPH, TASK = "single", "intra-operator", "inter-operator", "sub-graph", "task"
NAMES = (SINGLE, INTRA, INTER, SUB_GRAPH, TASK)
ONE = "CPU_ONLY@1"

WARMING = 0.5
"""Weight of the first calls in every way, where a second of blocks weighs 1 (as parts do that `progress` weighs)."""

Values = dict[str, Any]
Call = Callable[[], object]


AfterBlock = Callable[[str, float, tuple[Granularity, ...], int], None]
"""Takes what is going on, the share of blocks that is done, all rows by now, and a block's length in ns."""


class TellCompared(Protocol):
    """Takes what is going on, the share of all that is done, and at times all that is known."""

    def __call__(self, text: str, share: float, compared: Compared | None = None) -> None: ...


class Way(Protocol):
    """A way to serve a stream of inputs."""

    def run(self, until: int) -> list[Span]:
        """Serves inputs that begin before then, and one at least; when each began and ended, in ns."""
        ...


class BackToBack:
    """One input after the other."""

    def __init__(self, call: Call, clock: Clock) -> None:
        self._call = call
        self._clock = clock

    def run(self, until: int) -> list[Span]:
        spans: list[Span] = []
        end = self._clock.now()
        while not spans or end < until:
            begin = end
            self._call()
            end = self._clock.now()
            spans.append((begin, end))
        return spans


class SideBySide:
    """So many inputs at the same time, each by a call of its own."""

    def __init__(self, calls: Sequence[Call], clock: Clock) -> None:
        self._ways = [BackToBack(call, clock) for call in calls]

    def run(self, until: int) -> list[Span]:
        found: list[list[Span]] = [[] for _ in self._ways]

        def work(index: int) -> None:
            found[index] = self._ways[index].run(until)

        together([lambda index=index: work(index) for index in range(len(self._ways))])  # type: ignore[misc]
        return [span for spans in found for span in spans]


class Pipeline:
    """Each stage works on an input of its own, and hands it on when the next stage has taken the one before."""

    def __init__(self, stages: Sequence[Callable[[Values], Values]], feed: Mapping[str, Any], clock: Clock) -> None:
        self._stages = stages
        self._feed = feed
        self._clock = clock

    def run(self, until: int) -> list[Span]:
        between: list[queue.Queue[tuple[int, Values] | None]] = [queue.Queue(1) for _ in self._stages]
        spans: list[Span] = []

        def first() -> None:
            now, served = self._clock.now(), 0
            try:
                while not served or now < until:
                    between[0].put((now, self._stages[0](dict(self._feed))))
                    now, served = self._clock.now(), served + 1
            finally:
                between[0].put(None)

        def later(index: int) -> None:
            try:
                while (item := between[index - 1].get()) is not None:
                    between[index].put((item[0], self._stages[index](item[1])))
            except BaseException:
                while between[index - 1].get() is not None:  # whoever hands on must not wait for ever
                    continue
                raise
            finally:
                between[index].put(None)

        def last() -> None:
            while (item := between[-1].get()) is not None:
                spans.append((item[0], self._clock.now()))

        stages = [lambda index=index: later(index) for index in range(1, len(self._stages))]
        together([first, *stages, last])
        return spans


def together(jobs: Sequence[Call]) -> None:
    """Runs them in threads of their own, all as threads that measure; what one of them raises goes to the caller."""
    raised: list[BaseException] = []

    def work(job: Call) -> None:
        set_worker_qos()
        try:
            job()
        except BaseException as error:  # noqa: BLE001 (it goes to the caller)
            raised.append(error)

    threads = [threading.Thread(target=work, args=(job,), daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]


def compare(
    job: CompareJob, folder: Path, cache: ModelCache, clock: Clock, tell: TellCompared | None = None
) -> Compared:
    """folder: for scratch files. Raises HettopError: as `open_subject` and measuring layers do, `load`, `predict`."""
    say = tell or _nobody
    seconds = job.duration_ns / NS_PER_S
    progress = CuttingProgress(OPENING + PROFILING + TIMING + WARMING + seconds, say)
    progress.begin("opening the model", OPENING)
    opened = open_subject(job.subject, folder, cache, clock)
    measured = measure_layers(opened, job.subject, folder, cache, clock, progress=progress)
    groups = balanced(measured.times[0], job.threads)
    stages = [Part(measured.parts[first].first, measured.parts[last].last) for first, last in groups]
    progress.begin("first calls in every way", WARMING)
    ways = _ways(opened, stages, job.threads, folder, clock)
    fewer = (
        f"the model has {len(groups)} layers: its pipeline is limited to {len(groups)} stages"
        if len(groups) < job.threads
        else ""
    )
    notes = tuple(filter(None, [fewer]))
    sizes = tuple(last - first + 1 for first, last in groups)

    def after_block(text: str, done: float, rows: tuple[Granularity, ...], block_ns: int) -> None:
        share = 1 - (1 - done) * seconds / (OPENING + PROFILING + TIMING + WARMING + seconds)
        say(text, share, Compared(rows, sizes, block_ns / NS_PER_MS, notes))

    rows, block_ns = in_turns(ways, job.duration_ns, clock, warmup=job.subject.warmup, after_block=after_block)
    return Compared(rows, sizes, block_ns / NS_PER_MS, notes)


def in_turns(
    ways: Mapping[str, Way], duration_ns: int, clock: Clock, *, warmup: int, after_block: AfterBlock | None = None
) -> tuple[tuple[Granularity, ...], int]:
    """A row for each way, measured in blocks that alternate, and the length of a block in ns."""
    slowest = _slowest(ways, clock, warmup)
    per_round = len(ways) * (max(BLOCK_NS, (BLOCK_SAMPLES + 1) * slowest) + REST_NS)
    count = max(1, duration_ns // per_round)
    block_ns = max(duration_ns // (count * len(ways)) - REST_NS, (FEWEST_SAMPLES + 1) * slowest)
    blocks: dict[str, list[tuple[float, int]]] = {name: [] for name in ways}
    latencies: dict[str, list[int]] = {name: [] for name in ways}

    def rows() -> tuple[Granularity, ...]:
        return tuple(_row(name, blocks[name], latencies[name]) for name in ways if blocks[name])

    for number in range(count):
        for place, name in enumerate(list(ways)[:: 1 if number % 2 == 0 else -1]):
            clock.sleep_until(clock.now() + REST_NS)
            until = clock.now() + block_ns
            work, length, counted = within_block(ways[name].run(until), until)
            latencies[name] += [end - begin for begin, end in counted]
            blocks[name].append((work, length))
            if after_block is not None:
                done = (number * len(ways) + place + 1) / (count * len(ways))
                after_block(f"interleaving all ways, round {number + 1} of {count}", done, rows(), block_ns)
    return rows(), block_ns


def _slowest(ways: Mapping[str, Way], clock: Clock, warmup: int) -> int:
    """The first calls of each way, and the median latency of the slowest, in ns."""
    slowest = 0
    for way in ways.values():
        spans = way.run(clock.now())  # what the first call costs is not to be in any block
        spans = [span for _ in range(warmup) for span in way.run(clock.now())] or spans
        slowest = max(slowest, int(np.median([end - begin for begin, end in spans])))
    return slowest


def _nobody(text: str, share: float, compared: Compared | None = None) -> None:
    pass


def within_block(spans: Sequence[Span], until: int) -> tuple[float, int, Sequence[Span]]:
    """Calls of a block, the time that they took in ns, and those that have a latency.

    From the end of the first call, which may have found all caches cold, until the block ends. Where no call begins in
    time after the first (the machine stalled), it is all there is.
    """
    spans = sorted(spans, key=lambda span: span[1])
    since = spans[0][1]
    if len(spans) > 1 and since < until:
        return work_within(spans, since, until), until - since, spans[1:]
    return float(len(spans)), max(1, spans[-1][1] - min(begin for begin, _ in spans)), spans


def _row(name: str, blocks: Sequence[tuple[float, int]], latencies: Sequence[int]) -> Granularity:
    p50, p90 = (np.quantile(np.array(latencies), (0.5, 0.9)) / NS_PER_MS).tolist()
    return Granularity(
        name=name,
        per_s=sum(work for work, _ in blocks) / sum(length for _, length in blocks) * NS_PER_S,
        p50_ms=p50,
        p90_ms=p90,
        calls=len(latencies),
        by_round=tuple(work / length * NS_PER_S for work, length in blocks),
    )


def _ways(opened: Opened, stages: Sequence[Part], threads: int, folder: Path, clock: Clock) -> dict[str, Way]:
    file = write(opened.model.extract(Part(0, len(opened.model.flow.steps) - 1), opened.types), folder / "whole.onnx")
    outputs = list(opened.model.flow.outputs)

    def call(made: Any) -> Call:
        run, feed = made.run, opened.feed
        return lambda: run(outputs, feed)

    return {
        SINGLE: BackToBack(call(session(file, ONE)), clock),
        INTRA: BackToBack(call(session(file, f"CPU_ONLY@{threads}")), clock),
        INTER: BackToBack(call(_between_operators(file, threads)), clock),
        SUB_GRAPH: Pipeline([_stage(opened, part, folder) for part in stages], opened.feed, clock),
        TASK: SideBySide([call(session(file, ONE)) for _ in range(threads)], clock),
    }


def _between_operators(file: Path, threads: int) -> Any:
    """A session that runs operators that do not wait for each other at the same time, each on one thread."""
    import onnxruntime

    options = session_options(1)
    register_custom_ops(options, file)
    options.execution_mode = onnxruntime.ExecutionMode.ORT_PARALLEL
    options.inter_op_num_threads = threads
    try:
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise HettopError("load", f"the model cannot be loaded: {reason(error)}") from error


def _stage(opened: Opened, part: Part, folder: Path) -> Callable[[Values], Values]:
    taken, given = ends(opened.model.flow, part)
    file = write(opened.model.extract(part, opened.types), folder / f"stage-{part.first}.onnx")
    run, outputs = session(file, ONE).run, list(given)

    def stage(values: Values) -> Values:
        values.update(zip(outputs, run(outputs, {name: values[name] for name in taken}), strict=True))
        return values

    return stage


def balanced(times: Sequence[float], stages: int) -> list[tuple[int, int]]:
    """Consecutive groups of `times`, first and last both included, whose longest is as short as can be.

    At most `stages` of them, none empty; of equals the one whose last groups are longest. O(len(times)² x stages).
    """
    n = len(times)
    stages = min(stages, n)
    before = [0.0]
    for time in times:
        before.append(before[-1] + time)
    worst = [0.0] + [math.inf] * n  # of the first so many, in the number of groups looked at
    cuts: list[list[int]] = []
    for _ in range(stages):
        found, cut = [math.inf] * (n + 1), [0] * (n + 1)
        for end in range(1, n + 1):
            for start in range(end):
                longest = max(worst[start], before[end] - before[start])
                if longest < found[end]:
                    found[end], cut[end] = longest, start
        worst = found
        cuts.append(cut)
    groups, end = [], n
    for cut in reversed(cuts):
        groups.append((cut[end], end - 1))
        end = cut[end]
    return groups[::-1]
