"""The feed: one thread reads the source, the other drains and never waits; whatever goes wrong becomes a status."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from hettop.errors import HettopError
from hettop.events import POWER_STATES, Power, PowerStatus
from hettop.sources.power.choice import Choice
from hettop.sources.power.feed import PowerFeed, PowerWatchdog
from hettop.sources.power.macmon import MacmonSource
from hettop.sources.power.powermetrics import PowermetricsSource
from hettop.sources.power.source import Availability, PowerLostError
from tests.clocks import FakeClock
from tests.processes.waiting import wait_for
from tests.sources.power.machines import mac
from tests.sources.power.sources import Chooses, ScriptedSource, sample

MS = 10**6
HALF_S = 500 * MS
SECOND = 10**9
QUICK = PowerWatchdog(again_s=0.01, longest_s=0.02)


class Fed:
    """A feed on a clock that the test moves; the session begins when the clock reads one second."""

    def __init__(self, choose: Chooses, **options: object) -> None:
        self.clock = FakeClock(SECOND)
        patience = options.pop("patience", QUICK)
        self.feed = PowerFeed(choose, now=self.clock.now, origin_ns=SECOND, patience=patience, **options)  # type: ignore[arg-type]
        self.events: list[Power | PowerStatus] = []

    @property
    def samples(self) -> list[Power]:
        return [event for event in self.events if isinstance(event, Power)]

    @property
    def statuses(self) -> list[PowerStatus]:
        return [event for event in self.events if isinstance(event, PowerStatus)]

    @property
    def states(self) -> list[str]:
        return [status.state for status in self.statuses]

    def drain(self) -> None:
        self.events += self.feed.drain(self.clock.now() - SECOND)

    def until_state(self, state: str, n: int = 1) -> PowerStatus:
        def reached() -> bool:
            self.drain()
            return self.states.count(state) >= n

        wait_for(reached, f"the source is {state}, {n} times; it was {self.states}")
        return [status for status in self.statuses if status.state == state][n - 1]

    def until_samples(self, n: int) -> list[Power]:
        def reached() -> bool:
            self.drain()
            return len(self.samples) >= n

        wait_for(reached, f"{n} samples come")
        return self.samples


@pytest.fixture
def source() -> ScriptedSource:
    return ScriptedSource()


@pytest.fixture
def fed(source: ScriptedSource) -> Iterator[Fed]:
    fed = Fed(Chooses(source))
    yield fed
    fed.feed.close()


def test_it_reports_which_source_runs_and_then_its_samples(fed: Fed, source: ScriptedSource) -> None:
    source.will(sample(cpu=1250.0))
    fed.clock.pass_time(2 * SECOND)
    (event,) = fed.until_samples(1)
    assert (event.source, event.mw["cpu"], event.elapsed_ns, event.t) == ("scripted", 1250.0, HALF_S, 2 * SECOND)
    assert fed.states == ["starting", "running"]
    running = fed.statuses[-1]
    assert (running.interval_ns, running.resolution_mj, running.reason) == (HALF_S, 1.0, "")
    assert fed.feed.interval_ns == HALF_S


def test_windows_follow_each_other_by_their_lengths(fed: Fed, source: ScriptedSource) -> None:
    done = threading.Event()
    for since_the_last in (2_000, 540, 480):
        source.will(partial(fed.clock.pass_time, since_the_last * MS), sample(503 * MS))
    source.will(done.set)
    done.wait()
    fed.drain()
    assert [event.t // MS for event in fed.samples] == [2_000, 2_503, 3_006]


def test_time_never_runs_backwards_past_the_last_drain(fed: Fed, source: ScriptedSource) -> None:
    fed.clock.pass_time(2 * SECOND)
    source.will(sample())
    fed.until_samples(1)
    fed.clock.pass_time(700 * MS)
    fed.drain()  # whatever is reported from here on is not before 2.7 s
    source.will(sample())
    assert fed.until_samples(2)[1].t == 2_700 * MS


def test_a_window_does_not_begin_before_the_session(fed: Fed, source: ScriptedSource) -> None:
    fed.clock.pass_time(100 * MS)
    source.will(sample())
    assert fed.until_samples(1)[0].elapsed_ns == 100 * MS


def test_a_length_that_is_not_reported_is_estimated(fed: Fed, source: ScriptedSource) -> None:
    wait_for(lambda: source.runs == 1, "it runs")
    fed.clock.pass_time(200 * MS)
    source.will(sample(None))
    fed.until_samples(1)
    fed.clock.pass_time(400 * MS)
    source.will(sample(None))
    assert [(event.elapsed_ns, event.flags) for event in fed.until_samples(2)] == [
        (200 * MS, ["estimated"]),
        (400 * MS, ["estimated"]),
    ]


def test_drain_returns_at_once_with_nothing(fed: Fed) -> None:
    fed.until_state("starting")
    assert fed.feed.drain(5) == []


def test_of_what_nobody_drains_the_oldest_samples_are_dropped_and_counted_and_no_status(source: ScriptedSource) -> None:
    fed = Fed(Chooses(source), buffer=5)
    source.will(*(sample(cpu=float(number)) for number in range(10)), None)
    wait_for(lambda: fed.feed.dropped >= 7, "seven are dropped")
    wait_for(lambda: source.runs == 1 and fed.feed.dropped == 8, "and one more for the last word")
    fed.drain()
    assert [event.mw["cpu"] for event in fed.samples] == [8.0, 9.0]
    assert fed.states == ["starting", "running", "stopped"]
    fed.feed.close()


def test_another_interval_than_was_asked_for_is_reported(source: ScriptedSource) -> None:
    fed = Fed(Chooses(source), interval_ns=100 * MS)
    source.will(sample())
    assert fed.until_state("running").reason == "a sample every 500 ms, not the requested 100 ms"
    fed.feed.close()


def test_a_capture_does_not_pass_for_a_live_source() -> None:
    source = ScriptedSource("file", granted_ns=None)
    source.note = "plays a capture"
    fed = Fed(Chooses(source))
    source.will(sample(), None)
    assert fed.until_samples(1)[0].source == "file"
    assert fed.until_state("running").reason == "plays a capture"
    assert fed.until_state("stopped").reason == "played to its end"
    fed.feed.close()


# --- losing a source


@pytest.mark.parametrize("error", [PowerLostError("it died", "look after it"), ValueError("a parser's fault\x1b[31m")])
def test_a_source_that_fails_is_said_and_started_again(fed: Fed, source: ScriptedSource, error: Exception) -> None:
    source.will(sample(), error, sample())
    failed = fed.until_state("failed")
    assert "it died" in failed.reason or failed.reason == "ValueError: a parser's fault\ufffd[31m"
    fed.until_samples(2)
    assert fed.states == ["starting", "running", "failed", "starting", "running"]


def test_one_that_ends_as_it_was_meant_to_is_started_again_without_a_word(fed: Fed, source: ScriptedSource) -> None:
    source.will(sample(), PowerLostError("7200 samples", state="starting"), sample())
    fed.until_samples(2)
    assert fed.states == ["starting", "running", "starting", "running"]


def test_access_that_ran_out_is_waited_for(source: ScriptedSource) -> None:
    other = ScriptedSource("other")
    fed = Fed(Chooses(source, other))
    source.will(sample(), PowerLostError("it died"), PowerLostError("power access expired", state="expired"))
    expired = fed.until_state("expired")
    assert expired.reason == "power access expired"
    assert (source.runs, other.runs) == (2, 0)
    source.will(sample())
    fed.feed.retry()
    fed.until_samples(2)
    fed.feed.close()


def test_one_that_cannot_work_gives_way_to_the_next_and_is_named(source: ScriptedSource) -> None:
    other = ScriptedSource("other")
    fed = Fed(Chooses(source, other))
    source.will(PowerLostError("a virtual machine", state="unavailable"))
    other.will(sample())
    fed.until_samples(1)
    assert fed.samples[0].source == "other"
    assert fed.statuses[-1].refused == {"scripted": "a virtual machine"}
    fed.feed.close()


def test_one_that_fails_three_times_without_a_sample_gives_way(source: ScriptedSource) -> None:
    other = ScriptedSource("other")
    fed = Fed(Chooses(source, other))
    source.will(*[PowerLostError("it died")] * 3)
    other.will(sample())
    fed.until_samples(1)
    assert (source.runs, fed.statuses[-1].refused) == (3, {"scripted": "it died"})
    fed.feed.close()


def test_with_no_other_source_it_goes_on_trying(fed: Fed, source: ScriptedSource) -> None:
    source.will(*[PowerLostError("it died")] * 5, sample())
    fed.until_samples(1)
    assert (fed.states.count("failed"), source.runs) == (5, 6)


def test_what_is_wrong_in_itself_is_not_tried_again(fed: Fed, source: ScriptedSource) -> None:
    source.will(HettopError("format", "it is binary data", "make a capture"))
    status = fed.until_state("unavailable")
    assert (status.reason, status.fix, source.runs) == ("it is binary data", "make a capture", 1)


def test_no_source_is_said_with_every_reason_and_looked_for_again_when_asked(source: ScriptedSource) -> None:
    source.available = Availability(False, "no ticket")
    fed = Fed(Chooses(source))
    status = fed.until_state("unavailable")
    assert (status.source, status.reason, status.fix) == ("none", "nothing works here", "buy a Mac")
    assert status.refused == {"scripted": "no ticket"}
    source.available = Availability(True)
    source.will(sample())
    fed.feed.retry()
    fed.until_samples(1)
    fed.feed.close()


def test_a_choice_that_fails_is_said(source: ScriptedSource) -> None:
    class Broken(Chooses):
        def __call__(self, known: object) -> Choice:
            raise OSError("no sysfs")

    fed = Fed(Broken(source))
    assert fed.until_state("unavailable").reason == "cannot choose a source: no sysfs"
    fed.feed.close()


def test_asking_again_while_it_runs_chooses_the_best_anew(source: ScriptedSource) -> None:
    source.available = Availability(False, "no ticket")
    other = ScriptedSource("other")
    fed = Fed(Chooses(source, other))
    other.will(sample())
    fed.until_samples(1)
    source.available = Availability(True)
    source.will(sample())
    fed.feed.retry()
    assert fed.until_samples(2)[1].source == "scripted"
    fed.feed.close()


# --- standing still


def pass_seconds(fed: Fed, seconds: int) -> None:
    """A person watches: drained ten times a second."""
    for _ in range(10 * seconds):
        fed.clock.pass_time(100 * MS)
        fed.drain()


def test_one_that_stands_still_is_said_and_started_again(fed: Fed, source: ScriptedSource) -> None:
    source.will(sample())
    fed.until_samples(1)
    pass_seconds(fed, 4)
    assert fed.states == ["starting", "running"]
    pass_seconds(fed, 2)
    assert fed.until_state("failed").reason == "no sample for 5 s: restarting it"
    source.will(sample())
    fed.until_samples(2)
    assert fed.states == ["starting", "running", "failed", "starting", "running"]


def test_a_slow_first_sample_is_not_standing_still(fed: Fed, source: ScriptedSource) -> None:
    fed.until_state("starting")
    pass_seconds(fed, 15)
    assert fed.states == ["starting"]
    pass_seconds(fed, 10)
    fed.until_state("failed")


def test_a_hettop_that_was_asleep_does_not_blame_the_source(fed: Fed, source: ScriptedSource) -> None:
    source.will(sample())
    fed.until_samples(1)
    fed.clock.pass_time(3600 * SECOND)
    fed.drain()
    pass_seconds(fed, 3)
    assert fed.states == ["starting", "running"]


def test_long_intervals_are_waited_for() -> None:
    source = ScriptedSource(granted_ns=3 * SECOND)
    fed = Fed(Chooses(source))
    source.will(sample(3 * SECOND))
    fed.until_samples(1)
    pass_seconds(fed, 14)
    assert "failed" not in fed.states
    pass_seconds(fed, 2)
    fed.until_state("failed")
    fed.feed.close()


def test_a_capture_may_pause_as_long_as_it_did() -> None:
    source = ScriptedSource(granted_ns=None)
    fed = Fed(Chooses(source))
    source.will(sample())
    fed.until_samples(1)
    pass_seconds(fed, 60)
    assert "failed" not in fed.states
    fed.feed.close()


# --- the end


def test_closing_ends_source_and_thread_and_keeps_what_came(source: ScriptedSource) -> None:
    before = threading.active_count()
    fed = Fed(Chooses(source))
    source.will(sample())
    wait_for(lambda: source.runs == 1, "it runs")
    fed.until_samples(1)
    fed.feed.close()
    fed.feed.close()
    assert (threading.active_count(), source.stops > 0) == (before, True)
    fed.drain()
    assert fed.states[-1] == "stopped"


@pytest.mark.parametrize(
    "way", ["steady", "killed", "stuck", "noise", "binary", "empty", "superuser", "chatty", "split"]
)
def test_no_stand_in_gets_past_it_with_more_than_a_status(way: str) -> None:
    bench = mac(powermetrics=way, interval="0.01")
    fed = Fed(Chooses(PowermetricsSource(bench.machine), MacmonSource(bench.machine)))
    fed.until_samples(3) if way not in ("killed", "stuck") else fed.until_samples(1)
    fed.feed.close()
    fed.drain()
    assert set(fed.states) <= set(POWER_STATES)
    assert bench.alive == []
    assert bench.guard.pids == []
    last = fed.samples[-1].source
    assert last == ("macmon" if way in ("binary", "empty", "superuser") else "powermetrics")


def test_a_ticket_that_runs_out_between_two_runs_is_reported(tmp_path_factory: pytest.TempPathFactory) -> None:
    tickets = tmp_path_factory.mktemp("sudo") / "tickets"
    tickets.write_bytes(b"!")
    bench = mac(powermetrics="finite", sudo=str(tickets), interval="0.01")
    fed = Fed(Chooses(PowermetricsSource(bench.machine), MacmonSource(bench.machine)))
    status = fed.until_state("expired")
    assert (status.source, status.reason) == ("powermetrics", "power access expired")
    assert len(fed.samples) == 3
    tickets.write_bytes(b"!")
    fed.feed.retry()
    fed.until_samples(6)
    fed.feed.close()
