"""The process that loads slices on Core ML's units, times them in turns and passes values between them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hettop.models.cache import ModelCache, default_cache
from hettop.models.compiled import CompiledModels
from hettop.models.mil.package import open_package
from hettop.models.ports import Feed
from hettop.models.resolve import core_ml_file
from hettop.processes.call import ChildLostError
from hettop.processes.serve import Caller, serve
from hettop.processes.time_limit import end_after
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions, RealClock
from hettop.sources.engine.backends import PlanReader
from hettop.sources.engine.backends.coreml import CoreMLBackend, NativeFeed
from hettop.sources.engine.planning import separate_reader
from hettop.studies.layers.profile import mean_of_the_middle
from hettop.studies.plan.cutting.coreml_messages import (
    Common,
    FitJob,
    Fitted,
    MeasureJob,
    PrepareJob,
    ProgramJob,
    ProgramRunJob,
    Timed,
    Trial,
)
from hettop.studies.plan.cutting.coreml_program import Program
from hettop.studies.plan.cutting.graph import Part
from hettop.studies.plan.cutting.messages import Tell
from hettop.studies.plan.cutting.result import Moved, Ran
from hettop.studies.plan.cutting.running import HALF_TOLERANCE, ROUNDINGS, TOLERANCE, both_ways, compare
from hettop.studies.plan.cutting.worker import ProgressSender
from hettop.units import NS_PER_MS


def measured(job: ProgramJob, caller: Caller, held: list[object]) -> Fitted | Timed | Ran | None:
    if isinstance(job, PrepareJob):
        from hettop.models.resolve import core_ml_file

        core_ml_file(job.common.subject.model, default_cache())
        return None

    bench = Bench(job.common, caller.scratch, default_cache(), RealClock(), ProgressSender(caller, RealClock()))
    held.append(bench)
    if isinstance(job, FitJob):
        return fit(job, bench, separate_reader("coreml"))
    return measure(job, bench) if isinstance(job, MeasureJob) else run(job, bench)


KEPT_NS = 5 * 10**9
"""Core ML frees inputs on a thread of its own up to a second after a call; values are kept for longer than that."""

Values = dict[str, Any]


class Bench:
    """The model of a job, and whatever is loaded of it. To be kept until the process ends: Core ML has it, too."""

    def __init__(self, common: Common, folder: Path, cache: ModelCache, clock: Clock, tell: Tell) -> None:
        """folder: for scratch files. Raises HettopError: as `Program` does."""
        self.common, self.clock = common, clock
        self.source = core_ml_file(common.subject.model, cache)
        self.program = Program(open_package(self.source), common.subject.function)
        self.folder = folder
        self.feed: Feed = {}
        self._cache, self.tell = cache, tell
        self._compiled = CompiledModels(ModelCache(self.folder / "compiled", self.folder / "compiled-too"))
        self._kept: deque[tuple[int, NativeFeed]] = deque()
        self._fixed: list[NativeFeed] = []

    def whole(self, unit: str) -> Runner:
        """The model itself; its inputs are made with the first one."""
        backend = CoreMLBackend(self.clock, self._cache)
        runner = self._loaded(backend, str(self.source), unit, self.common.subject.function, "the whole model")
        self.feed = self.feed or backend.make_inputs(runner.loaded.inputs, self.common.subject.inputs())
        runner.fix(self.feed)
        return runner

    def part(self, part: Part, unit: str, fixed: Mapping[str, Any] | None = None) -> Runner:
        """Steps of it as a model of their own. fixed: values of the model's own inputs; of a part that is measured
        alone, all its inputs are random."""
        path = self.folder / f"steps-{part.first}-{part.last}.mlpackage"
        if not path.exists():
            self.program.extract(part, path)
        backend = CoreMLBackend(self.clock, self._cache, self._compiled)
        words = f"steps {part.first + 1} to {part.last + 1}"
        runner = self._loaded(backend, str(path), unit, None, words)
        runner.fix(backend.make_inputs(runner.loaded.inputs, self.common.subject.inputs()) if fixed is None else fixed)
        return runner

    def keep_for_good(self, feed: NativeFeed) -> None:
        """As long as the process lives."""
        self._fixed.append(feed)

    def keep(self, feed: NativeFeed) -> None:
        """For as long as Core ML may read it."""
        now = self.clock.now()
        self._kept.append((now, feed))
        while self._kept[0][0] < now - KEPT_NS:
            self._kept.popleft()

    def watch(self) -> None:
        """Ends this process if the next does not come in time; what hangs holds the GIL, so no thread of Python can."""
        end_after(self.common.patience_s)

    def _loaded(self, backend: CoreMLBackend, model: str, unit: str, function: str | None, words: str) -> Runner:
        def tell(state: str) -> None:
            self.tell(f"{state} {words} on {unit}", 0.0)
            self.watch()

        tell("loading")
        loaded = backend.load(model, unit, LoadOptions(function=function, hints=self.common.hints, tell=tell))
        return Runner(self, backend, loaded)


class Runner:
    """A loaded model that takes values by name and gives more."""

    def __init__(self, bench: Bench, backend: CoreMLBackend, loaded: Loaded) -> None:
        self.bench, self.backend, self.loaded = bench, backend, loaded
        self.fix({})

    def fix(self, values: Mapping[str, Any]) -> None:
        """Inputs that are the same at every call; what they are to Core ML is made once."""
        self.values = dict(values)
        self._fixed = NativeFeed(values, self.loaded.inputs)
        self.bench.keep_for_good(self._fixed)
        self._moving = [port for port in self.loaded.inputs if port.name not in values and not port.optional]

    def __call__(self, values: Values) -> None:
        """One call; what it gives goes into `values`. Raises HettopError: `predict`."""
        feed = NativeFeed({port.name: values[port.name] for port in self._moving}, self._moving)
        feed.native.update(self._fixed.native)
        self.bench.keep(feed)
        self.backend.predict(feed)
        values.update(self.backend.outputs())


def fit(job: FitJob, bench: Bench, read_plan: PlanReader) -> Fitted:
    """Raises HettopError: as loading, running and the plan do; a plan whose reader was lost costs the facts alone."""
    tell = bench.tell
    runner = bench.whole(job.unit) if job.whole else bench.part(Part(job.first, job.last), job.unit)
    tell(f"calling it for the first time on {job.unit}", 0.5)
    bench.watch()
    runner({})
    tell(f"reading the plan of {job.unit}", 0.8)
    bench.watch()
    function = job.common.subject.function if job.whole else None
    try:
        return Fitted(facts=tuple(read_plan(runner.loaded.compiled or "", job.unit, function)))
    except ChildLostError as error:
        return Fitted(plan_lost=error.message)


def measure(job: MeasureJob, bench: Bench) -> Timed:
    """Raises HettopError: as loading and running do."""
    tell = bench.tell
    runners = [_piece(bench, piece.first, piece.last, piece.device, job.steps) for piece in job.pieces]
    tell("timing all units, interleaved", 0.2)
    taken = _in_turns(bench, [[runner] for runner in runners])
    del runners
    moved = []
    for number, trial in enumerate(job.trials):
        ms = _cut_ms(bench, trial, job.steps)
        moved.append(Moved(trial.device, trial.nbytes, ms))
        tell(f"trying cuts: {number + 1} of {len(job.trials)}", 0.3 + 0.7 * (number + 1) / len(job.trials))
    return Timed(piece_ms=tuple(mean_of_the_middle(each) / NS_PER_MS for each in taken), moved=tuple(moved))


def run(job: ProgramRunJob, bench: Bench) -> Ran:
    """Raises HettopError: as loading and running do."""
    tell = bench.tell
    reference = bench.whole(job.reference)
    wholes = [reference if unit == job.reference else bench.whole(unit) for unit in job.whole]
    slices = [bench.part(Part(piece.first, piece.last), piece.device, bench.feed) for piece in job.pieces]
    tell("comparing outputs", 0.3)
    wanted = _outputs(bench, [reference])
    cut_difference, cut_same = compare(wanted, _outputs(bench, _on_reference(bench, job, slices)))
    apart = {unit: compare(wanted, _outputs(bench, [whole]))[0] for unit, whole in zip(job.whole, wholes, strict=True)}
    difference, same = compare(wanted, _outputs(bench, slices))
    least = HALF_TOLERANCE if bench.program.half else TOLERANCE
    own = [ROUNDINGS * (apart.get(piece.device) or 0.0) for piece in job.pieces]
    tolerance = max(least, *own)
    tell("running the plan interleaved with the whole model", 0.5)
    slice_times, whole_times = _plan_in_turns(bench, slices, wholes)
    whole_ms = [mean_of_the_middle(each) / NS_PER_MS for each in whole_times]
    best = int(np.argmin(whole_ms))
    totals = [sum(parts) for parts in slice_times]
    by_unit = dict(zip(job.whole, whole_ms, strict=True))
    cut_right = cut_same and cut_difference is not None and cut_difference <= least
    return Ran(
        slice_ms=tuple(mean_of_the_middle(each) / NS_PER_MS for each in zip(*slice_times, strict=True)),
        plan_ms=mean_of_the_middle(totals) / NS_PER_MS,
        whole_ms=tuple(by_unit.get(unit) for unit in job.common.subject.devices),
        gains=tuple(other / total - 1 for other, total in zip(whole_times[best], totals, strict=True)),
        difference=difference,
        equal=cut_right and same and difference is not None and difference <= tolerance,
        tolerance=tolerance,
        runs=job.common.subject.runs,
        cut_difference=cut_difference,
        cut_tolerance=least,
        reference=job.reference,
        apart=tuple(apart.get(unit) for unit in job.common.subject.devices),
    )


def _piece(bench: Bench, first: int, last: int, unit: str, steps: int) -> Runner:
    whole = first == 0 and last == steps - 1
    return bench.whole(unit) if whole else bench.part(Part(first, last), unit)


def _on_reference(bench: Bench, job: ProgramRunJob, slices: Sequence[Runner]) -> list[Runner]:
    """The same slices, all of them where the whole model's outputs come from."""
    return [
        each if piece.device == job.reference else bench.part(Part(piece.first, piece.last), job.reference, bench.feed)
        for piece, each in zip(job.pieces, slices, strict=True)
    ]


def _outputs(bench: Bench, chain: Sequence[Runner]) -> list[Any]:
    values: Values = {}
    for runner in chain:
        bench.watch()
        runner(values)
    return [np.array(values[name]) for name in bench.program.flow.outputs]


def _cut_ms(bench: Bench, trial: Trial, steps: int) -> float:
    """What it costs to run the steps in two models beyond one of all, the values' way between them included."""
    unit = bench.common.subject.devices[trial.device]
    around = _piece(bench, trial.first, trial.last, unit, steps)
    fixed = around.values
    before = bench.part(Part(trial.first, trial.after), unit, fixed)
    after = bench.part(Part(trial.after + 1, trial.last), unit, fixed)
    whole, cut = _in_turns(bench, [[around], [before, after]])
    return mean_of_the_middle([two - one for one, two in zip(whole, cut, strict=True)]) / NS_PER_MS


def _in_turns(bench: Bench, chains: Sequence[Sequence[Runner]]) -> list[list[int]]:
    """Times of each chain in ns, by chain and turn."""
    found: list[list[int]] = [[] for _ in chains]
    for turn in range(bench.common.subject.warmup + bench.common.subject.runs):
        bench.watch()
        times = both_ways(turn, [partial(_timed, bench, chain) for chain in chains])
        if turn >= bench.common.subject.warmup:
            for taken, parts in zip(found, times, strict=True):
                taken.append(sum(parts))
    return found


def _plan_in_turns(
    bench: Bench, slices: Sequence[Runner], wholes: Sequence[Runner]
) -> tuple[list[list[int]], list[list[int]]]:
    """Of each turn the times of the slices, and of each whole model the time of each turn."""
    slice_times: list[list[int]] = []
    whole_times: list[list[int]] = [[] for _ in wholes]
    for turn in range(bench.common.subject.warmup + bench.common.subject.runs):
        bench.watch()
        parts, *others = both_ways(turn, [partial(_timed, bench, chain) for chain in (slices, *([w] for w in wholes))])
        if turn >= bench.common.subject.warmup:
            slice_times.append(parts)
            for taken, (ns,) in zip(whole_times, others, strict=True):
                taken.append(ns)
    return slice_times, whole_times


def _timed(bench: Bench, chain: Sequence[Runner]) -> list[int]:
    values: Values = {}
    times, before = [], bench.clock.now()
    for runner in chain:
        runner(values)
        now = bench.clock.now()
        times.append(now - before)
        before = now
    return times


if __name__ == "__main__":
    kept: list[object] = []  # not freed before the process ends
    serve(partial(measured, held=kept), ProgramJob, timed=True)
