from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.sources.engine.watchdog import Timeouts
from tests.processes.waiting import environment, gone, wait_for
from tests.sources.engine.faulty import MARK
from tests.sources.engine.faulty import NAME as FAULTY
from tests.sources.engine.sessions import Start


def test_a_unit_loads_warms_up_and_runs_exactly_as_often_as_asked(start: Start) -> None:
    session = start("ALL", runs=70, warmup=5)
    session.engine.switch("ALL")
    session.until(lambda: session.engine.finished, "70 runs")
    assert session.states("ALL") == ["spawning", "loading", "warming", "running", "paused"]
    assert [session.count("ALL", phase) for phase in ("first", "warmup", "steady", "resume")] == [1, 5, 70, 0]
    assert session.engine.done == {"ALL"}
    # A call of this backend sleeps 1 ms.
    assert all(int(window.lat_ns.min()) >= 1_000_000 for window in session.windows("ALL"))


def test_a_ready_unit_tells_what_is_known_of_it(start: Start) -> None:
    session = start("CPU_ONLY@3", runs=1)
    session.engine.switch("CPU_ONLY@3")
    session.until(lambda: session.engine.finished, "one run")
    ready = next(e for e in session.events if isinstance(e, events.Engine) and e.load_ns is not None)
    first = session.windows("CPU_ONLY@3", "first")[0]
    assert (ready.backend, ready.load_ns, ready.placed, ready.note) == ("faulty", 5, None, "threads 3")
    assert ready.first_ns == int(first.lat_ns[0])
    assert ready.peak_memory_mb is not None
    assert session.engine.inputs == ("x float32[1,3]",)
    assert session.engine.simulated is False


def test_starts_ascend_within_the_session_and_gaps_join_the_windows(start: Start) -> None:
    session = start(runs=150)
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "150 runs")
    windows = session.windows("CPU_ONLY")
    assert len(windows) > 3
    assert all(window.t0 <= window.t for window in windows)
    for before, after in itertools.pairwise(windows):
        end = int(before.starts_ns()[-1] + before.lat_ns[-1])
        assert after.t0 - int(after.gap_ns[0]) == end
        assert after.gap_ns.min() >= 0


def test_a_limit_of_duration_is_steady_time(start: Start) -> None:
    session = start(duration_ns=200_000_000)
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "200 ms")
    steady = session.windows("CPU_ONLY", "steady")
    last_warm_up = session.windows("CPU_ONLY", "warmup")[-1]
    begin = int(last_warm_up.starts_ns()[-1] + last_warm_up.lat_ns[-1])
    ends = [int(end) - begin for window in steady for end in window.starts_ns() + window.lat_ns]
    assert ends[-1] >= 200_000_000 > ends[-2]


def test_the_simulated_backend_runs_in_a_child_like_any_other(start: Start) -> None:
    session = start("CPU_AND_NE", backend="simulated", runs=20)
    session.engine.switch("CPU_AND_NE")
    session.until(lambda: session.engine.finished, "20 runs")
    assert session.engine.simulated is True
    assert session.count("CPU_AND_NE") == 20


def test_one_unit_runs_at_a_time_and_a_switch_back_needs_no_load(start: Start) -> None:
    session = start("CPU_ONLY", "ALL")
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 5)
    session.engine.switch("ALL")
    session.until_steady("ALL", 5)
    session.engine.switch("CPU_ONLY")
    session.until_state("ALL", "paused")
    session.until(lambda: session.count("CPU_ONLY", "resume") == 1, "CPU_ONLY resumes")
    session.until_steady("CPU_ONLY", session.count("CPU_ONLY") + 5)
    assert session.states("CPU_ONLY").count("spawning") == 1
    first_of_all = session.windows("ALL", "first")[0].t0
    resumed = session.windows("CPU_ONLY", "resume")[0].t0
    for window in session.windows("CPU_ONLY"):
        for begin, latency in zip(window.starts_ns().tolist(), window.lat_ns.tolist(), strict=True):
            assert begin + latency <= first_of_all or begin >= resumed


def test_a_unit_that_does_not_run_is_ended_beyond_the_memory_budget_and_loaded_anew(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", memory_mb=1.0)
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 5)
    session.engine.switch("ALL")
    session.until_state("CPU_ONLY", "stopped")
    session.until_steady("ALL", 5)
    assert session.engine.states["ALL"] == "running", "what runs is needed"
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", session.count("CPU_ONLY") + 5)
    session.until_state("ALL", "stopped")
    notes = [e.note for e in session.events if isinstance(e, events.Engine) and e.state == "stopped"]
    assert all(note is not None and note.endswith("predictions: other units need the memory") for note in notes)


def test_a_preloaded_unit_is_warm_and_waits(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", runs=3)
    session.engine.preload(["CPU_ONLY", "ALL"])
    session.until_state("ALL", "paused")
    assert session.engine.states["CPU_ONLY"] == "paused"
    assert [session.count("ALL", phase) for phase in ("first", "warmup", "steady")] == [1, 2, 0]
    session.engine.switch("ALL")
    session.until_steady("ALL", 3)
    assert session.count("ALL", "resume") == 1


def test_units_are_loaded_one_after_another(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", runs=3)
    session.engine.preload(["CPU_ONLY", "ALL"])
    session.until_state("ALL", "paused")
    warm = session.windows("CPU_ONLY", "warmup")[-1]
    spawned = next(e for e in session.events if isinstance(e, events.Engine) and e.unit == "ALL")
    assert warm.t0 < spawned.t


def test_a_pause_stops_samples_and_resume_goes_on(start: Start) -> None:
    session = start()
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 5)
    session.engine.pause()
    session.until_state("CPU_ONLY", "paused")
    session.drain()
    before = session.count("CPU_ONLY")
    time.sleep(0.1)
    session.drain()
    assert session.count("CPU_ONLY") == before
    session.engine.resume()
    session.until_steady("CPU_ONLY", before + 5)
    assert session.count("CPU_ONLY", "resume") == 1


def test_interleaved_units_take_turns_that_do_not_overlap(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", duration_ns=600_000_000)
    session.engine.interleave(["CPU_ONLY", "ALL"])
    session.until(lambda: session.engine.finished, "600 ms each")
    ran = sorted(
        (int(begin), unit)
        for unit in ("CPU_ONLY", "ALL")
        for window in session.windows(unit)
        if window.phase in {"resume", "steady"}
        for begin in window.starts_ns()
    )
    changes = sum(unit != following for (_, unit), (_, following) in itertools.pairwise(ran))
    # Blocks of hundreds of samples; side by side the two would change places after nearly every sample.
    assert 4 <= changes < len(ran) / 20


def test_a_unit_that_fails_leaves_the_rotation_and_the_rest_goes_on(start: Start) -> None:
    session = start("CPU_ONLY", "CPU_AND_NE", "ALL", model="CPU_AND_NE segfault 20", runs=300)
    session.engine.interleave(["CPU_ONLY", "CPU_AND_NE", "ALL"])
    session.until(lambda: session.engine.finished, "two units done, one failed")
    assert set(session.engine.failures) == {"CPU_AND_NE"}
    assert session.engine.done == {"CPU_ONLY", "ALL"}
    assert session.count("CPU_ONLY") == session.count("ALL") == 300


def test_paced_samples_tell_their_lateness(start: Start) -> None:
    session = start(rate_hz=100.0, runs=20)
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "20 paced runs")
    steady = session.windows("CPU_ONLY", "steady")
    assert all(window.late_ns is not None and int(window.late_ns.min()) >= 0 for window in steady)
    assert all(window.late_ns is None for window in session.windows("CPU_ONLY", "warmup"))
    starts = [int(start) for window in steady for start in window.starts_ns()]
    late = [int(late) for window in steady if window.late_ns is not None for late in window.late_ns]
    # Start less lateness is the plan: 10 ms apart, whatever the machine was doing.
    assert {(after - before) for before, after in itertools.pairwise(map(int.__sub__, starts, late))} == {10_000_000}
    paused = [e for e in session.events if isinstance(e, events.Engine) and e.state == "paused"]
    assert paused[-1].unfinished is not None


def test_samples_carry_the_load_in_force_and_an_unconfirmed_one_makes_them_transition(start: Start) -> None:
    session = start(runs=200)
    session.engine.set_load("cpu:1", confirmed=True)
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 20)
    session.engine.set_load("cpu:2", confirmed=False)
    session.until(lambda: session.count("CPU_ONLY", "transition") > 20, "transition")
    session.engine.set_load("cpu:2", confirmed=True)
    session.until(lambda: session.engine.finished, "200 steady runs")
    assert {(w.condition, w.phase) for w in session.windows("CPU_ONLY")} == {
        ("cpu:1", "first"),
        ("cpu:1", "warmup"),
        ("cpu:1", "steady"),
        ("cpu:2", "transition"),
        ("cpu:2", "steady"),
        *({("cpu:2", "resume")} if session.count("CPU_ONLY", "resume") else ()),
    }
    # Transition samples do not count: the child is asked for as many more.
    assert session.count("CPU_ONLY") == 200


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        ("refuse 0", "format", "not a model"),
        ("misbehave 0", "load", "ValueError: odd"),
        ("misbehave 50", "predict", "ValueError: odd"),
        ("segfault 0", "crashed", "engine process killed by SIGSEGV while loading"),
        ("segfault 50", "crashed", "engine process killed by SIGSEGV while running"),
        ("vanish 50", "killed", "engine process killed by SIGKILL while running"),
        ("exit 50", "crashed", "engine process exited with status 3 while running"),
    ],
)
def test_a_unit_that_goes_wrong_says_how(start: Start, fault: str, kind: str, message: str) -> None:
    session = start(model=f"CPU_ONLY {fault}")
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "the failure")
    failure = session.engine.failures["CPU_ONLY"]
    assert (failure.kind, failure.message) == (kind, message)
    last = [e for e in session.events if isinstance(e, events.Engine)][-1]
    assert (last.state, last.error) == ("failed", failure)


def test_the_hint_and_the_last_words_come_along_cleaned(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", model="CPU_ONLY refuse 0;ALL misbehave 5")
    session.engine.switch("CPU_ONLY")
    session.until(lambda: "CPU_ONLY" in session.engine.failures, "a refusal")
    assert session.engine.failures["CPU_ONLY"].hint == "use another"
    session.engine.switch("ALL")
    session.until(lambda: "ALL" in session.engine.failures, "a failure")
    assert session.engine.failures["ALL"].log == ["told none", "a last \ufffd[31mword"]


def test_samples_before_a_failing_call_are_kept(start: Start) -> None:
    session = start(model="CPU_ONLY misbehave 50", warmup=2)
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "the failure")
    # Call 1 is the first, 2 and 3 are the warm-up, and the 50th fails.
    assert session.count("CPU_ONLY") == 46


@pytest.mark.parametrize(
    ("call", "doing"), [(0, "loading"), (1, "in its first call"), (3, "warming up"), (20, "running")]
)
def test_a_hang_that_holds_the_gil_is_ended_after_the_time_out(start: Start, call: int, doing: str) -> None:
    session = start(model=f"CPU_ONLY hang {call}", timeouts=Timeouts(load_s=1.0, predict_s=0.5))
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "the time-out")
    failure = session.engine.failures["CPU_ONLY"]
    assert failure.kind == "timeout"
    assert f"hung {doing}: nothing for" in failure.message
    session.until(lambda: not psutil.pid_exists(session.pid("CPU_ONLY")), "the child is killed and collected")


def test_a_process_that_never_speaks_is_ended_too(start: Start) -> None:
    silent = [sys.executable, "-c", "import time; time.sleep(3600)"]
    session = start(argv=silent, timeouts=Timeouts(spawn_s=0.3))
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "the time-out")
    assert "hung starting" in session.engine.failures["CPU_ONLY"].message


def test_a_process_that_speaks_nonsense_is_ended(start: Start) -> None:
    session = start(argv=[sys.executable, "-c", "import time; print('hello there', flush=True); time.sleep(3600)"])
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "the failure")
    assert session.engine.failures["CPU_ONLY"].kind == "crashed"


def test_a_program_that_does_not_exist_is_a_failure_of_the_unit(start: Start) -> None:
    session = start(argv=["/nowhere/python"])
    session.engine.switch("CPU_ONLY")
    session.drain()
    assert "cannot start an engine process" in session.engine.failures["CPU_ONLY"].message
    assert session.engine.finished


def test_what_a_framework_prints_cannot_corrupt_the_samples(start: Start) -> None:
    session = start(model="CPU_ONLY babble 10", runs=50)
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "50 runs")
    assert session.engine.failures == {}
    assert session.count("CPU_ONLY") == 50


def test_a_failed_unit_stays_failed_until_it_is_restarted(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", model="CPU_ONLY vanish 200")
    session.engine.switch("CPU_ONLY")
    session.until_state("CPU_ONLY", "failed")
    session.engine.switch("ALL")
    session.until_steady("ALL", 3)
    session.engine.switch("CPU_ONLY")
    session.drain()
    assert session.engine.states["CPU_ONLY"] == "failed"
    first_pid, before = session.pid("CPU_ONLY"), session.count("CPU_ONLY")
    session.engine.restart("CPU_ONLY")
    session.until_steady("CPU_ONLY", before + 3)
    assert session.pid("CPU_ONLY") != first_pid
    assert session.engine.failures == {}


def test_a_running_unit_can_be_restarted_and_lacks_only_what_it_lacked(start: Start) -> None:
    session = start(runs=200)
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 50)
    session.engine.restart("CPU_ONLY")
    session.until(lambda: session.engine.finished, "200 runs in all")
    assert session.count("CPU_ONLY") == 200
    assert session.count("CPU_ONLY", "first") == 2


def test_a_restarted_unit_rejoins_the_rotation(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", model="CPU_ONLY vanish 300")
    session.engine.interleave(["CPU_ONLY", "ALL"])
    session.until_state("CPU_ONLY", "failed")
    before = session.count("CPU_ONLY", "resume")
    session.engine.restart("CPU_ONLY")
    session.until(lambda: session.count("CPU_ONLY", "resume") > before, "its turn has come")


def test_a_screen_that_takes_nothing_does_not_stall_inference_and_nothing_is_lost_silently(
    start: Start, tmp_path: Path
) -> None:
    # From its first warm-up call on the backend takes no time at all: what is kept for a stalled reader is soon full.
    marked = tmp_path / "marked"
    session = start(
        model="CPU_ONLY rush 2;CPU_ONLY mark 300000",
        runs=400_000,
        backlog_bytes=1 << 20,
        unread_bytes=1024,
        environment={**environment(), MARK: str(marked)},
    )
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.simulated is not None, "the unit is ready")
    wait_for(marked.exists, "300,000 runs while nobody reads")
    session.until(lambda: session.engine.finished, "400,000 runs")
    dropped = [event for event in session.events if isinstance(event, events.Dropped)]
    # Pipe, backlog (1 MiB each) and collector hold some 150,000 samples; the rest ran while nobody read.
    assert sum(event.n for event in dropped) > 10_000
    assert {event.unit for event in dropped} == {"CPU_ONLY"}
    # What was lost was declared, and made up for.
    assert session.count("CPU_ONLY") == 400_000


def test_a_hettop_that_was_stopped_itself_takes_no_unit_for_hung(start: Start) -> None:
    session = start(timeouts=Timeouts(predict_s=2.0))
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 5)
    child = psutil.Process(session.pid("CPU_ONLY"))
    child.suspend()
    time.sleep(2.5)
    session.drain()
    assert session.engine.failures == {}
    child.resume()
    session.until_steady("CPU_ONLY", session.count("CPU_ONLY") + 5)


def test_the_terminals_ctrl_c_does_not_end_a_child(start: Start) -> None:
    session = start()
    session.engine.switch("CPU_ONLY")
    session.until_state("CPU_ONLY", "spawning")
    os.kill(session.pid("CPU_ONLY"), signal.SIGINT)  # at once: even while its interpreter starts
    session.until_steady("CPU_ONLY", 5)
    os.kill(session.pid("CPU_ONLY"), signal.SIGINT)
    session.until_steady("CPU_ONLY", session.count("CPU_ONLY") + 5)


def test_closing_keeps_the_last_samples_and_says_stopped(start: Start) -> None:
    session = start("CPU_ONLY", "ALL", model="ALL hang 0")
    session.engine.switch("CPU_ONLY")
    session.until_steady("CPU_ONLY", 5)
    session.engine.preload(["ALL"])
    session.until_state("ALL", "loading")
    session.engine.close()
    session.drain()
    assert session.engine.states == {"CPU_ONLY": "stopped", "ALL": "stopped"}
    session.engine.close()  # once more does nothing
    last = [e for e in session.events if isinstance(e, events.Engine) and e.unit == "CPU_ONLY"][-1]
    assert last.peak_memory_mb is not None
    assert gone([session.pid("CPU_ONLY"), session.pid("ALL")])


def test_what_was_finished_stays_so_when_all_is_closed(start: Start) -> None:
    session = start(runs=3)
    session.engine.switch("CPU_ONLY")
    session.until(lambda: session.engine.finished, "three runs")
    session.engine.close()
    session.drain()
    assert session.engine.finished
    assert session.engine.states == {"CPU_ONLY": "stopped"}


def test_a_unit_that_was_not_asked_for_is_refused(start: Start) -> None:
    with pytest.raises(HettopError, match="ALL is not among CPU_ONLY"):
        start().engine.switch("ALL")


def test_once_it_is_closed_nothing_that_it_is_told_starts_a_process_or_writes_anywhere(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start("CPU_ONLY", "ALL")
    session.engine.switch("CPU_ONLY")
    session.until_state("CPU_ONLY", "running")
    session.engine.close()
    session.drain()
    written: list[int] = []

    def write(fd: int, data: bytes) -> int:
        written.append(fd)
        return len(data)

    def refuse(*_arguments: object, **_options: object) -> None:
        pytest.fail("a process was started")

    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    engine, told = session.engine, len(session.events)
    controls: tuple[Callable[[], None], ...] = (
        lambda: engine.switch("ALL"),
        lambda: engine.interleave(["ALL", "CPU_ONLY"]),
        lambda: engine.preload(["ALL"]),
        engine.pause,
        engine.resume,
        lambda: engine.restart("CPU_ONLY"),
        lambda: engine.restart("ALL"),
        lambda: engine.end_warmup("CPU_ONLY"),
        lambda: engine.set_load("cpu:1", confirmed=True),
        lambda: engine.set_shortest_block(1),
        engine.close,
    )
    for control in controls:
        control()
        session.drain()
    monkeypatch.undo()
    assert written == []
    assert len(session.events) == told
    assert engine.states == {"CPU_ONLY": "stopped"}


HETTOP_LIKE = f"""
import sys, time
from hettop.processes.reaper import Reaper
from hettop.sources.engine.job import EngineJob
from hettop.sources.engine.supervisor import Engine
from hettop.events import Engine as Told
reaper = Reaper()
units = ["CPU_ONLY", "ALL", "CPU_AND_NE"]
job = EngineJob(model="CPU_ONLY hang 20;ALL hang 0", backend={FAULTY!r})
engine = Engine(job, units, guard=reaper, origin_ns=0)
pids, states = set(), {{}}
def drain():
    for event in engine.drain(0):
        if isinstance(event, Told) and event.pid:
            pids.add(event.pid)
def until(unit, *wanted):
    while engine.states.get(unit) not in wanted:
        drain()
        time.sleep(.01)
engine.switch("CPU_AND_NE")
until("CPU_AND_NE", "running")
engine.switch("CPU_ONLY")
until("CPU_ONLY", "running")
engine.preload(["ALL"])
until("ALL", "loading")
time.sleep(.2)  # both hang by now
print(reaper.pid, *pids, flush=True)
time.sleep(3600)
"""


def test_nothing_outlives_a_hettop_that_is_killed_while_children_hang() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HETTOP_LIKE], stdout=subprocess.PIPE, env=environment(), text=True
    ) as hettop:
        assert hettop.stdout is not None
        pids = [int(word) for word in hettop.stdout.readline().split()]
        assert len(pids) == 4
        assert not gone(pids)
        hettop.kill()
        wait_for(lambda: gone(pids), "three children and the reaper end")


def test_a_child_ends_by_itself_when_its_stdin_does() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "hettop.sources.engine.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as child:
        assert child.stdin is not None
        child.stdin.write(b'{"backend":"simulated","model":"","unit":"ALL"}\n')
        child.stdin.close()
        assert child.wait(60) == 2
