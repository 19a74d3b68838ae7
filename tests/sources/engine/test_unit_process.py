"""One unit's standing, with a stand-in for its process that says what a test wants it to."""

from __future__ import annotations

import signal
from array import array
from collections.abc import Iterator, Mapping

import pytest

from hettop import events
from hettop.processes.child_log import ChildLog
from hettop.processes.child_process import ChildExit
from hettop.sources.engine.frames import (
    AnyFrame,
    AnyReport,
    DoubtReport,
    FrameReader,
    ReadyReport,
    RetireReport,
    StateReport,
    UsageReport,
    encode_report,
    encode_samples,
)
from hettop.sources.engine.job import AnyCommand, Limits, Retire
from hettop.sources.engine.outputs import Comparisons
from hettop.sources.engine.unit_events import LoadHistory
from hettop.sources.engine.unit_process import UnitProcess
from hettop.sources.engine.watchdog import Timeouts


class SaidChild:
    """A process that is told things, and has ended when the test says so."""

    pid = 7
    frames_ended = False
    log_ended = False
    ending = ChildExit(0)

    def __init__(self, limits: Limits, recycled: bool) -> None:
        self.limits, self.recycled = limits, recycled
        self.told: list[AnyCommand] = []
        self._reader = FrameReader()
        self._log = ChildLog()

    def receive_frames(self, data: bytes) -> Iterator[AnyFrame]:
        return self._reader.feed(data)

    def send(self, command: AnyCommand) -> None:
        self.told.append(command)

    def retry(self) -> None:
        pass

    def kill(self) -> None:
        pass

    def collect(self, _patience_s: float) -> ChildExit | None:
        return self.ending if self.frames_ended else None

    def receive_log(self, data: bytes) -> bool:
        return self._log.receive(data)

    @property
    def warnings(self) -> Mapping[str, str]:
        return self._log.warnings.found

    def log(self) -> list[str]:
        return self._log.lines()


class Standing:
    """A member that was started, with its processes in order."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 (immutable)
        self.children: list[SaidChild] = []
        self.member = UnitProcess(
            "ALL",
            origin_ns=0,
            limits=limits,
            timeouts=Timeouts(),
            loads=LoadHistory(),
            comparisons=Comparisons(),
            now=lambda: 2**53,
        )
        self.start()

    def start(self) -> None:
        def spawn(_unit: str, limits: Limits, recycled: bool) -> SaidChild:
            self.children.append(SaidChild(limits, recycled))
            return self.children[-1]

        self.member.start(spawn)  # type: ignore[arg-type]

    def say(self, *reports: AnyReport) -> None:
        child = self.children[-1]
        self.member.receive(child, b"".join(map(encode_report, reports)))  # type: ignore[arg-type]

    def log(self, text: str, child: int = -1) -> None:
        self.member.receive_log(self.children[child], text.encode())  # type: ignore[arg-type]

    def end(self, status: int = 0) -> None:
        self.children[-1].ending = ChildExit(status)
        self.children[-1].frames_ended = True
        self.children[-1].log_ended = True
        self.member.check(1, 0)

    def notes(self) -> list[str | None]:
        return [event.note for event in self.told()]

    def told(self) -> list[events.Engine]:
        return [event for event in self.member.outbox if isinstance(event, events.Engine)]


def ready(peak_memory_mb: float) -> ReadyReport:
    return ReadyReport(
        backend="b",
        simulated=False,
        pid=7,
        load_ns=1,
        first_ns=1,
        placed=None,
        note="",
        inputs=[],
        peak_memory_mb=peak_memory_mb,
    )


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [("latency", -1, "a latency of -1 ns"), ("latency", 2**62, f"a latency of {2**62} ns"),
     ("native", -7, "a native time of -7 ns"), ("native", 2**60, f"a native time of {2**60} ns"),
     ("start", 4, "a sample that starts before the previous one"), ("start", -3, "a start of -3 ns"),
     ("start", 2**53, "a start of 9007199254740992 ns"), ("late", 2**60, f"a lateness of {2**60} ns")],
)  # fmt: skip
def test_samples_that_no_event_can_hold_fail_the_unit_alone(column: str, value: int, told: str) -> None:
    standing = Standing()
    columns = {name: array("q", [5, 6]) for name in ("start", "latency", "native", "late")}
    columns[column][1] = value
    standing.say(ready(100))
    frame = encode_samples("steady", columns["start"], columns["latency"], columns["native"], columns["late"])
    standing.member.receive(standing.children[-1], frame)  # type: ignore[arg-type]
    assert standing.member.failure is not None
    assert standing.member.failure.message == f"the engine process sent an invalid message: {told}"
    assert not [event for event in standing.member.outbox if isinstance(event, events.Samples)]


def test_native_times_that_were_refused_are_told_at_the_first_and_counted_when_the_unit_rests() -> None:
    standing = Standing()
    standing.say(ready(100), StateReport(state="running"), DoubtReport(n=2), DoubtReport(n=1_500))
    assert [event.note for event in standing.told()[3:]] == [
        "native times longer than the call, or negative, are not used"
    ]
    standing.say(StateReport(state="paused"), StateReport(state="running"), StateReport(state="paused"))
    assert [event.note for event in standing.told()[4:] if event.note] == [
        "1,502 native times were longer than the call, or negative: not used"
    ]


REFUSED = "E5RT: MILCompilerForANE error: refused"
WARNING = f"the Neural Engine's compiler failed: the model, or part of it, may run elsewhere (log: {REFUSED})"


def test_what_the_log_said_while_the_unit_loaded_is_on_its_row_when_it_is_ready() -> None:
    standing = Standing()
    standing.log(f"{REFUSED}\n" + "more\n" * 1000)
    assert standing.notes() == [None], "there is no row to put it on yet"
    standing.say(ready(100))
    assert standing.notes() == [None, None, WARNING]
    assert [event.state for event in standing.told()] == ["spawning", "warming", "warming"]


@pytest.mark.parametrize("state", ["running", "paused", "stopped"])
def test_a_log_that_arrives_after_the_unit_is_ready_is_on_its_row_as_well(state: str) -> None:
    standing = Standing()
    standing.say(ready(100), StateReport(state=state))
    standing.log(REFUSED)
    assert standing.notes() == [None, None, None]
    standing.log("\n")
    standing.log(f"{REFUSED} again\n")
    assert standing.notes() == [None, None, None, WARNING]
    assert standing.told()[-1].state == state


def test_a_warning_stays_beside_what_else_there_is_to_say_and_in_a_process_that_takes_over() -> None:
    standing = Standing()
    standing.say(ready(100))
    standing.log(f"{REFUSED}\n")
    standing.say(DoubtReport(n=1))
    assert standing.notes()[-1] == f"{WARNING} · native times longer than the call, or negative, are not used"[:200]
    standing.say(StateReport(state="running"), RetireReport(predictions=5, steady_ns=0))
    standing.end()
    standing.start()
    standing.say(ready(100))
    assert str(standing.notes()[-1]).startswith(WARNING)


def test_a_restart_forgets_the_log_of_the_process_before() -> None:
    standing = Standing()
    standing.say(ready(100))
    standing.log(f"{REFUSED}\n")
    standing.member.discard()
    standing.start()
    standing.log(f"{REFUSED}\n", child=0)
    standing.say(ready(100))
    assert standing.notes()[-2:] == [None, None]


def test_the_log_explains_a_death_better_than_its_signal() -> None:
    standing = Standing()
    standing.say(ready(100))
    standing.log(f"{REFUSED}\n")
    standing.end(-signal.SIGKILL)
    assert standing.member.failure is not None
    assert (standing.member.failure.kind, standing.member.failure.hint) == ("killed", WARNING)


def leak(*resident_mb: float) -> list[UsageReport]:
    return [UsageReport(resident_mb=value) for value in resident_mb]


def test_a_process_that_leaks_is_told_to_retire_once() -> None:
    standing = Standing()
    standing.say(ready(300), *leak(*range(300, 900, 100)))
    assert standing.children[-1].told == []
    standing.say(*leak(900, 1000, 1100))
    assert standing.children[-1].told == [Retire()]
    assert not [event for event in standing.member.outbox if isinstance(event, events.Usage)]


def test_a_process_that_leaked_is_replaced_and_the_reason_told() -> None:
    standing = Standing(Limits(duration_ns=1000))
    standing.say(ready(350), *leak(*range(300, 1000, 100)))
    standing.say(RetireReport(predictions=5000, steady_ns=400, peak_memory_mb=950))
    assert (standing.member.may_run, standing.member.being_replaced, standing.member.vacant) == (False, True, False)
    standing.end()
    assert (standing.member.failure, standing.member.vacant) == (None, True)
    standing.start()
    assert (standing.children[-1].recycled, standing.children[-1].limits.duration_ns) == (True, 600)
    assert standing.told()[-1].note == "recycled after 5,000 predictions: its memory grew from 300 to 900 MB"
    standing.say(ready(340))
    assert [event.peak_memory_mb for event in standing.told() if event.state == "warming"] == [350, 950]


def test_a_unit_that_is_not_to_run_rests_once_its_process_retired() -> None:
    standing = Standing()
    standing.say(ready(300), RetireReport(predictions=900, steady_ns=0, peak_memory_mb=320))
    standing.end()
    standing.member.rest()
    standing.member.rest()
    rests = [event for event in standing.told() if event.state == "stopped"]
    assert [event.peak_memory_mb for event in rests] == [320]
    standing.start()
    assert standing.children[-1].recycled


def test_what_is_discarded_leaves_nothing_to_the_next_process() -> None:
    standing = Standing()
    standing.say(ready(900), RetireReport(predictions=900, steady_ns=0, peak_memory_mb=900))
    standing.member.discard()
    standing.start()
    standing.say(ready(100))
    assert not standing.children[-1].recycled
    assert standing.told()[-1].peak_memory_mb == 100


def test_a_process_that_hangs_while_it_retires_has_failed() -> None:
    standing = Standing()
    standing.say(ready(300))
    standing.member.state = "running"
    standing.say(RetireReport(predictions=900, steady_ns=0))
    for _ in range(40):
        standing.member.check(10**9, 0)
    assert standing.member.failure is not None
    assert standing.member.failure.kind == "timeout"
    assert (standing.member.vacant, standing.member.being_replaced) == (False, False)
