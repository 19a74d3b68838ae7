"""Real engine processes whose Core ML goes wrong: each fault ends as a unit that says so, and nothing else suffers."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from hettop import events
from hettop.processes.reaper import Reaper
from hettop.sources.engine.job import EngineJob, Limits
from hettop.sources.engine.supervisor import Engine
from hettop.sources.engine.unit_process import EngineEvent
from tests.clocks import FakeClock
from tests.coreml.bench import Bench
from tests.processes.waiting import environment, gone, wait_for

pytest.importorskip("coremltools", reason="coremltools is not installed")

NS_PER_S = 10**9
AHEAD_NS = 3600 * NS_PER_S
"""The clock that stands still does so beyond every sample that a test takes: none seems to come from the future."""

UNIT = "CPU_AND_NE"


class Run:
    """An engine on the bench. Its clock stands still until a test lets time pass: no fault waits for a time-out."""

    def __init__(self, engine: Engine, clock: FakeClock) -> None:
        self.engine = engine
        self.events: list[EngineEvent] = []
        self._clock = clock
        self._origin_ns = time.monotonic_ns()

    def until(self, condition: Callable[[], bool], what: str) -> None:
        def met() -> bool:
            self.drain()
            return condition()

        wait_for(met, what)

    def drain(self) -> None:
        self.events += self.engine.drain(time.monotonic_ns() - self._origin_ns)

    def finish(self) -> None:
        self.until(lambda: self.engine.finished, "the end of every unit")

    def states(self, unit: str = UNIT) -> list[str]:
        told = [event.state for event in self.events if isinstance(event, events.Engine) and event.unit == unit]
        return [state for state, _ in itertools.groupby(told)]

    def told(self, state: str) -> int:
        return sum(isinstance(event, events.Engine) and event.state == state for event in self.events)

    def let_it_hang(self) -> events.Failure:
        """Silence without an end, as the engine's clock sees it."""

        def failed() -> bool:
            for _ in range(100):
                self._clock.pass_time(NS_PER_S)
                self.drain()
                if self.engine.failures:
                    return True
            return False

        wait_for(failed, "the time-out")
        return self.engine.failures[UNIT]

    def failure(self) -> events.Failure:
        self.finish()
        return self.engine.failures[UNIT]

    def windows(self, phase: str = "steady", unit: str = UNIT) -> list[events.Samples]:
        return [
            event
            for event in self.events
            if isinstance(event, events.Samples) and (event.unit, event.phase) == (unit, phase)
        ]

    def last(self, field: str) -> Any:
        """The latest value of a field of the units' events."""
        values = [getattr(event, field) for event in self.events if isinstance(event, events.Engine)]
        return next(value for value in reversed(values) if value is not None)


Begin = Callable[..., Run]


@pytest.fixture
def begin(bench: Bench, reaper: Reaper, package: Path, tmp_path: Path) -> Iterator[Begin]:
    made: list[Run] = []

    def start(*units: str, runs: int = 20, model: Path | None = None, **options: Any) -> Run:
        clock = FakeClock(time.monotonic_ns() + AHEAD_NS)
        own = {name: options.pop(name) for name in EngineJob.__struct_fields__ if name in options}
        job = {"backend": "coreml", "model": str(model or package), "warmup": 2, "limits": Limits(runs=runs), **own}
        engine = Engine(
            EngineJob(**job),
            units or (UNIT,),
            guard=reaper,
            origin_ns=time.monotonic_ns(),
            clock=clock,
            environment={**bench.environment(environment()), "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)},
            **options,
        )
        run = Run(engine, clock)
        made.append(run)
        engine.switch((units or (UNIT,))[0])
        return run

    yield start
    for run in made:
        run.engine.close()
        run.drain()
        assert gone({event.pid for event in run.events if isinstance(event, events.Engine) and event.pid is not None})


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    made = Reaper()
    yield made
    made.close()


# -- when all is well ---------------------------------------------------------------------------------------------


def test_a_unit_compiles_loads_and_runs_and_the_next_process_finds_it_compiled(begin: Begin, bench: Bench) -> None:
    bench.behave(native_ns=123_456, latency_ms=1)
    first = begin()
    first.finish()
    held = "paused"  # until its plan is read: that must not run beside the measurement
    assert first.states() == ["spawning", "loading", "compiling", "loading", "warming", held, "running", "paused"]
    assert (first.last("cached"), first.last("backend"), first.engine.simulated) == (False, "coreml", False)
    assert first.last("compile_ns") > 0
    assert first.engine.inputs == ("x float32[1,4]",)
    assert sum(window.n for window in first.windows()) == 20
    assert {int(ns) for window in first.windows() if window.native_ns is not None for ns in window.native_ns} == {
        123_456
    }
    second = begin()
    second.finish()
    assert second.states() == ["spawning", "loading", "warming", held, "running", "paused"]
    assert second.last("cached") is True


def test_native_times_that_cannot_be_right_are_counted_and_said_and_end_nothing(begin: Begin, bench: Bench) -> None:
    bench.behave(wrong_native_ns=(10**9, 2**60, 2**200, -5))
    run = begin()
    run.finish()
    assert run.engine.failures == {}
    assert sum(window.n for window in run.windows()) == 20
    assert [window.native_ns for window in run.windows()] == [None] * len(run.windows())
    assert run.last("note") == "24 native times were longer than the call, or negative: not used"


def test_the_time_a_load_takes_while_it_holds_the_gil_is_the_loads(begin: Begin, bench: Bench) -> None:
    bench.set(compile_ms=60).behave(load_ms=40, latency_ms=5)
    run = begin(runs=3)
    run.finish()
    assert run.last("compile_ns") >= 60_000_000
    assert run.last("load_ns") >= 40_000_000
    assert all(int(window.lat_ns.min()) >= 5_000_000 for window in run.windows())


REFUSED = "E5RT encountered an STL exception. msg = MILCompilerForANE error: ANECCompile() FAILED."


@pytest.mark.parametrize(
    "behaviour",
    [
        {"log_at_load": [REFUSED, *["more"] * 100]},
        {"log_at_call": [*["more"] * 100, REFUSED], "at_call": 40},
    ],
)
def test_a_load_that_succeeds_without_the_neural_engine_says_so_on_the_units_row(
    behaviour: Any, begin: Begin, bench: Bench
) -> None:
    bench.behave(UNIT, **behaviour)
    run = begin(runs=100)
    run.finish()
    noted = "the Neural Engine's compiler failed: the model, or part of it, may run elsewhere"
    run.until(lambda: str(run.last("note")).startswith(f"{noted} (log: E5RT"), "the warning, by a pipe of its own")
    assert run.engine.failures == {}


# -- when it goes wrong -------------------------------------------------------------------------------------------


def test_a_compilation_that_never_ends_is_ended_and_said(begin: Begin, bench: Bench) -> None:
    bench.set(hang_in_compile=True)
    run = begin()
    run.until(lambda: run.told("compiling") == 1, "it compiles")
    failure = run.let_it_hang()
    assert failure.kind == "timeout"
    assert failure.message.startswith("engine process hung compiling: nothing for 901.0 s")
    assert failure.message.endswith("killed by SIGKILL")


def test_a_load_that_never_ends_is_ended_and_said(begin: Begin, bench: Bench) -> None:
    bench.behave(UNIT, hang_in_load=True)
    run = begin()
    run.until(lambda: run.told("loading") == 2, "it loads")
    assert run.let_it_hang().message.startswith("engine process hung loading")


@pytest.mark.parametrize(("call", "doing"), [(1, "in its first call"), (40, "running")])
def test_a_call_that_never_ends_is_ended_and_said(call: int, doing: str, begin: Begin, bench: Bench) -> None:
    bench.behave(UNIT, hang_in_predict=True, at_call=call)
    run = begin(runs=100)
    run.until(lambda: run.told("warming" if call == 1 else "running") >= 1, "it is about to hang")
    assert f"hung {doing}" in run.let_it_hang().message


@pytest.mark.parametrize(("name", "kind"), [("SIGKILL", "killed"), ("SIGABRT", "crashed"), ("SIGSEGV", "crashed")])
def test_a_death_at_load_is_reported_by_its_signal(name: str, kind: str, begin: Begin, bench: Bench) -> None:
    bench.behave(UNIT, die_in_load=name)
    failure = begin().failure()
    assert (failure.kind, failure.message) == (kind, f"engine process killed by {name} while loading")


def test_a_load_that_reached_its_own_time_limit_is_a_timeout_with_what_to_use_instead(
    begin: Begin, bench: Bench
) -> None:
    bench.behave(UNIT, die_in_load="SIGALRM")
    failure = begin().failure()
    ended = "engine process killed by SIGALRM: its time limit was over while loading"
    assert (failure.kind, failure.message) == ("timeout", ended)
    assert failure.hint.startswith("use CPU_ONLY or CPU_AND_GPU")


def test_a_model_that_loads_but_dies_at_its_first_call_says_so(begin: Begin, bench: Bench) -> None:
    bench.behave(UNIT, die_in_predict="SIGKILL")
    failure = begin().failure()
    assert (failure.kind, failure.message) == ("killed", "engine process killed by SIGKILL while warming")
    assert "memory" in failure.hint


def test_other_units_go_on_when_one_aborts_and_a_restart_brings_it_back(begin: Begin, bench: Bench) -> None:
    bench.behave(UNIT, die_in_predict="SIGABRT", noise=True)
    run = begin("CPU_ONLY", UNIT)
    run.engine.preload([UNIT])
    run.finish()
    failure = run.engine.failures[UNIT]
    assert failure.message == "engine process killed by SIGABRT while warming"
    assert any("in predict" in line for line in failure.log)  # where it was
    assert all(line.isprintable() for line in failure.log)
    assert sum(window.n for window in run.windows(unit="CPU_ONLY")) == 20
    bench.behave(UNIT)
    run.engine.restart(UNIT)
    run.engine.switch(UNIT)
    run.finish()
    assert run.engine.done == {"CPU_ONLY", UNIT}


def test_what_the_framework_raises_is_reported_in_its_words(begin: Begin, bench: Bench) -> None:
    bench.behave(UNIT, raise_in_predict="Unable to compute the prediction", at_call=40)
    run = begin(runs=100)
    failure = run.failure()
    assert (failure.kind, failure.message) == (
        "predict",
        "Core ML cannot run the model: Unable to compute the prediction",
    )
    assert 0 < sum(window.n for window in run.windows()) < 40  # what was measured before is kept


def test_a_unit_whose_device_is_missing_says_so_at_once(begin: Begin, bench: Bench) -> None:
    bench.set(devices=["cpu", "gpu"], hang_in_compile=True)
    failure = begin().failure()
    assert (failure.kind, failure.message) == ("unsupported-unit", "Core ML has no Neural Engine here")


@pytest.mark.parametrize("stdout_lost", [False, True])
def test_noise_on_stdout_gets_between_no_samples(stdout_lost: bool, begin: Begin, bench: Bench) -> None:
    bench.set(noise_in_compile=True, stdout_lost=stdout_lost).behave(noise=True, clears_inputs=True)
    run = begin(runs=40)
    run.finish()
    assert run.engine.failures == {}
    assert sum(window.n for window in run.windows()) == 40


def test_inputs_outlive_the_calls_that_use_them(begin: Begin, bench: Bench, tmp_path: Path) -> None:
    from tests.coreml.models import half, picture

    bench.behave(needs_inputs=30.0)
    for model in (half(tmp_path / "half.mlpackage"), picture(tmp_path / "picture.mlpackage", "RGB")):
        run = begin(model=model, runs=10)
        run.finish()
        assert run.engine.failures == {}


def test_memory_that_the_framework_leaks_shows_in_the_peak(begin: Begin, bench: Bench) -> None:
    bench.behave(leak_mb=10)
    run = begin(runs=50)
    run.finish()
    peaks = [event.peak_memory_mb for event in run.events if isinstance(event, events.Engine) and event.peak_memory_mb]
    # 50 calls and more, each of which kept 10 MB; a process that keeps none of them stays below 250 MB.
    assert peaks[-1] > 500


def test_hettops_own_process_goes_on_while_a_child_holds_its_gil(begin: Begin, bench: Bench) -> None:
    bench.behave(UNIT, hang_in_load=True)
    run = begin(UNIT, "CPU_ONLY")
    run.until(lambda: run.told("loading") == 2, "it loads")
    run.engine.close()
    run.drain()
    pids = {event.pid for event in run.events if isinstance(event, events.Engine) and event.pid is not None}
    assert not any(psutil.pid_exists(pid) for pid in pids)
