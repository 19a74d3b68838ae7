"""Starts in real engine processes, and what is read from the events of one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np
import psutil
import pytest

from hettop.events import AnyEvent, Dropped, Engine, Failure, Samples
from hettop.measurement.options import LONGEST_WARMUP
from hettop.measurement.setup import Setup
from hettop.models.ports import InputOptions
from hettop.models.resolve import ResolvedModel
from hettop.studies.cold.measure import ColdStarts, Start, cold_result, start_of
from hettop.studies.cold.result import Spread
from tests.processes.waiting import wait_for
from tests.sources.engine import faulty
from tests.studies.cold import caching

MS = 1_000_000
U = "CPU_ONLY"


def samples(phase: str, t0: int, latencies: list[int], gap_ns: int = 0) -> Samples:
    n = len(latencies)
    gaps = np.full(n, gap_ns, dtype=np.int64)
    return Samples(
        t=t0 + sum(latencies) + n * gap_ns,
        unit=U,
        condition="none",
        phase=phase,
        t0=t0,
        n=n,
        gap_ns=gaps,
        lat_ns=np.array(latencies, dtype=np.int64),
    )


def events_of_a_start() -> list[AnyEvent]:
    """The process starts at 10 ms, loads from 110 ms on, answers first at 180 ms; 60 warm-ups begin at 500 ms."""
    return [
        Engine(t=0, unit=U, state="stopped"),
        Engine(t=12 * MS, unit=U, state="spawning"),
        Engine(t=110 * MS, unit=U, state="loading"),
        samples("first", 160 * MS, [20 * MS]),
        Engine(t=181 * MS, unit=U, state="warming", load_ns=30 * MS, first_ns=20 * MS),
        samples("warmup", 500 * MS, [2 * MS] * 30, MS),
        samples("warmup", 590 * MS, [2 * MS] * 30, MS),
        samples("steady", 700 * MS, [2 * MS, 5 * MS, 3 * MS]),
    ]


def test_a_process_starts_until_it_says_that_it_loads_not_until_that_is_read() -> None:
    """A busy hettop may read it later than the end of the first call."""
    late = events_of_a_start()
    late[2] = Engine(t=181 * MS, unit=U, state="loading", entered_ns=110 * MS)
    assert start_of(U, 10 * MS, late) == start_of(U, 10 * MS, events_of_a_start())


def test_the_parts_of_a_start_are_read_from_its_events() -> None:
    start = start_of(U, 10 * MS, events_of_a_start())
    assert start.start_ns == 100 * MS
    assert (start.compile_ns, start.load_ns, start.first_ns, start.cached) == (None, 30 * MS, 20 * MS, None)
    assert start.ready_ns == 170 * MS
    assert start.other_ns == (170 - 100 - 30 - 20) * MS
    assert start.call_ns == 3 * MS
    assert start.complete


def test_time_to_steady_leaves_out_what_is_asked_between_the_first_call_and_the_warm_up() -> None:
    """Even calls are steady after 50: 50 x 2 ms, and 49 gaps of 1 ms between them, after the 170 ms."""
    start = start_of(U, 10 * MS, events_of_a_start())
    assert start.warmups == 50
    assert start.steady_ns == (170 + 50 * 2 + 49) * MS


def test_a_warm_up_that_samples_are_missing_from_is_not_known_to_be_steady() -> None:
    start = start_of(U, 10 * MS, [*events_of_a_start(), Dropped(t=800 * MS, n=5, why="slow", unit=U)])
    assert (start.warmups, start.steady_ns) == (None, None)
    assert start.complete, "its first answer is known all the same"


def test_a_process_that_follows_one_that_retired_is_no_part_of_the_start() -> None:
    again: list[AnyEvent] = [
        Engine(t=900 * MS, unit=U, state="spawning"),
        samples("first", 950 * MS, [40 * MS]),
        samples("steady", 999 * MS, [70 * MS] * 9),
    ]
    assert start_of(U, 10 * MS, [*events_of_a_start(), *again]) == start_of(U, 10 * MS, events_of_a_start())


def test_compiling_and_caches_are_as_the_backend_reports_them() -> None:
    compiled = Engine(t=181 * MS, unit=U, state="warming", load_ns=10 * MS, compile_ns=15 * MS, cached=False)
    start = start_of(U, 10 * MS, [*events_of_a_start()[:4], compiled, *events_of_a_start()[5:]])
    assert (start.compile_ns, start.cached) == (15 * MS, False)
    assert start.other_ns == (170 - 100 - 15 - 10 - 20) * MS


def test_parts_that_are_more_than_the_whole_leave_no_rest() -> None:
    start = Start(U, start_ns=100, load_ns=50, first_ns=1, ready_ns=120)
    assert start.other_ns is None


def test_a_start_that_failed_is_not_complete() -> None:
    failed = Engine(t=150 * MS, unit=U, state="failed", error=Failure(kind="load", message="no", hint="other"))
    start = start_of(U, 10 * MS, [*events_of_a_start()[:3], failed])
    assert not start.complete
    assert start.error == failed.error
    assert (start.start_ns, start.ready_ns, start.call_ns) == (100 * MS, None, None)


def start(ready_ms: int, unit: str = U, cached: bool | None = None, **more: object) -> Start:
    fields = {"start_ns": MS, "load_ns": MS, "first_ns": MS, "call_ns": float(MS), **more}
    return Start(unit, ready_ns=ready_ms * MS, cached=cached, **fields)  # type: ignore[arg-type]


def test_a_row_has_median_lowest_and_highest_of_its_starts() -> None:
    result = cold_result([start(30), start(10), start(14)], repeat=3, backend="x", simulated=False)
    (row,) = result.rows
    assert (row.n, row.ready_ms, row.ready_each_ms) == (3, Spread(median=14, lowest=10, highest=30), [30, 10, 14])
    assert row.steady_ms is None, "none was steady"


def test_a_part_that_one_start_lacks_has_no_median() -> None:
    starts = [start(30, steady_ns=99 * MS, warmups=50), start(10)]
    result = cold_result(starts, repeat=2, backend="x", simulated=False)
    assert result.rows[0].steady_ms is None
    assert result.notes[-1] == (
        f"steady n/a on {U}: 1 starts did not become steady within {LONGEST_WARMUP} calls or 20 s"
    )


def test_starts_with_and_without_a_cache_are_rows_of_their_own_and_compared_with_their_like() -> None:
    starts = [
        *(start(90, cached=False, compile_ns=50 * MS) for _ in range(3)),
        *(start(20, cached=True) for _ in range(3)),
        *(start(10, "ALL", cached=True) for _ in range(3)),
    ]
    result = cold_result(starts, repeat=6, backend="coreml", simulated=False)
    assert [(row.unit, row.cached, row.n) for row in result.rows] == [("ALL", True, 3), (U, True, 3), (U, False, 3)]
    (pair,) = result.break_even
    assert (pair.faster_start, pair.slower_start, pair.cached) == ("ALL", U, True)
    assert not any("cache" in note for note in result.notes)


def test_a_backend_that_reports_neither_compiling_nor_caches_is_said_to() -> None:
    result = cold_result([start(10)], repeat=1, backend="onnxruntime", simulated=False, notes=["mine"])
    assert result.notes[0] == "mine"
    assert [note.split(":")[0] for note in result.notes[1:3]] == ["compile n/a", "caches"]
    assert all("onnxruntime" in note for note in result.notes[1:3])


def test_a_failed_start_joins_the_row_that_its_unit_had_last() -> None:
    failed = Start(U, error=Failure(kind="crashed", message="gone"))
    result = cold_result(
        [start(9, cached=False), start(5, cached=True), failed], repeat=3, backend="x", simulated=False
    )
    assert [(row.cached, row.n, row.error is not None) for row in result.rows] == [(True, 1, True), (False, 1, False)]
    assert result.failures() == {U: "gone"}


# -- in real processes ----------------------------------------------------------------------------------------------


def setup_of(faults: str = "", units: tuple[str, ...] = (U,), backend: str = faulty.NAME) -> Setup:
    return Setup(
        model=ResolvedModel(name=faults, path=None, sha256="0" * 64),
        backend=backend,
        simulated=False,
        units=units,
        available=units,
        absent={},
        inputs=InputOptions(),
        function=None,
    )


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hettop.measurement.measurement.LONGEST_NS", 100 * MS)
    monkeypatch.setattr("hettop.studies.cold.measure.STEADY_NS", 20 * MS)


def all_of(starts: ColdStarts) -> list[Start]:
    def finished() -> bool:
        starts.pump()
        return starts.finished

    try:
        wait_for(finished, "all starts are measured")
    finally:
        starts.close("done")
    return starts.starts


def test_units_take_turns_and_each_start_is_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int | None] = []
    read = start_of

    def noted(unit: str, began_ns: int, events: object) -> Start:
        told = list(events)  # type: ignore[call-overload]
        pids.extend(each.pid for each in told if isinstance(each, Engine) and each.state == "spawning")
        return read(unit, began_ns, told)

    monkeypatch.setattr("hettop.studies.cold.measure.start_of", noted)
    found = all_of(ColdStarts(setup_of(units=(U, "ALL")), 2))
    assert [each.unit for each in found] == [U, "ALL", U, "ALL"]
    assert all(each.complete for each in found)
    assert len(set(pids)) == 4
    for each in found:
        assert each.ready_ns is not None
        assert each.start_ns is not None
        assert 0 < each.start_ns < each.ready_ns
        assert each.call_ns is not None
        assert each.call_ns >= faulty.CALL_NS


def test_nothing_is_left_behind() -> None:
    before = set(Path(os.environ["TMPDIR"]).iterdir()) if "TMPDIR" in os.environ else set()
    starts = ColdStarts(setup_of(), 3)

    def second() -> bool:
        starts.pump()
        return bool(starts.starts) and not starts.between_starts

    wait_for(second, "the second start has begun")
    children = psutil.Process().children()
    assert children
    starts.close("interrupted")
    starts.close("again")
    assert not [child for child in psutil.Process().children() if child in children]
    assert starts.finished
    assert len(starts.starts) == 1, "one under way does not count"
    after = set(Path(os.environ["TMPDIR"]).iterdir()) if "TMPDIR" in os.environ else set()
    assert not {path.name for path in after - before if path.name.startswith("hettop-cold-")}


def test_an_engine_that_is_killed_while_it_starts_is_a_failure_of_its_unit_and_the_others_go_on() -> None:
    starts = ColdStarts(setup_of("ALL hang 0", units=("ALL", U)), 2)

    def killed() -> bool:
        starts.pump()
        session = starts.session
        if session is None or session.units["ALL"].state != "loading":
            return False
        (engine,) = [
            child for child in psutil.Process().children() if "hettop.sources.engine.worker" in str(child.cmdline())
        ]
        os.kill(engine.pid, signal.SIGKILL)
        return True

    wait_for(killed, "it loads, and is killed")
    found = all_of(starts)
    assert [(each.unit, each.complete) for each in found] == [("ALL", False), (U, True), (U, True)], "not tried again"
    error = found[0].error
    assert error is not None
    assert (error.kind, error.message) == ("killed", "engine process killed by SIGKILL while loading")
    assert error.hint == "the system kills processes when memory runs out"
    result = cold_result(found, repeat=2, backend="faulty", simulated=False)
    assert [(row.unit, row.n, row.error) for row in result.rows] == [(U, 2, None), ("ALL", 0, error)]


def test_a_start_during_which_the_engine_was_stopped_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(faulty.MARK, str(tmp_path / "seen"))
    starts, pids = ColdStarts(setup_of(f"{U} await_mark 0"), 1), set()

    def continued() -> bool:
        starts.pump()
        if starts.session is None or starts.session.units[U].state != "loading":
            return False
        (engine,) = [each for each in psutil.Process().children() if "engine.worker" in str(each.cmdline())]
        os.kill(engine.pid, signal.SIGCONT)
        pids.add(engine.pid)
        (tmp_path / "seen").touch()
        return True

    wait_for(continued, "it loads, and is continued")

    def begun_again() -> bool:
        starts.pump()
        pids.update(each.pid for each in psutil.Process().children() if "engine.worker" in str(each.cmdline()))
        return len(pids) == 2

    wait_for(begun_again, "the second attempt")
    assert starts.starts == [], "the first does not count"
    assert [each.complete for each in all_of(starts)] == [True]


def test_a_model_that_is_refused_is_a_failure_with_its_hint() -> None:
    (failed,) = all_of(ColdStarts(setup_of(f"{U} refuse 0"), 3))
    assert failed.error == Failure(kind="format", message="not a model", hint="use another")


def test_a_backend_that_caches_what_it_compiles_gives_a_row_of_each(tmp_path: Path) -> None:
    found = all_of(ColdStarts(setup_of(str(tmp_path), backend=caching.NAME), 3))
    assert [(each.cached, each.compile_ns) for each in found] == [
        (False, caching.COMPILE_NS),
        (True, None),
        (True, None),
    ]
