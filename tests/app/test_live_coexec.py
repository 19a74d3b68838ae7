"""Co-execution as a mode of a live session: begun, watched, a worker killed, and ended in each way."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from hettop import events
from hettop.app.live import LiveFeed
from hettop.events import Study
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.session.log import in_words
from hettop.session.session import Session
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.kinds import Together
from hettop.studies.registry import result_of
from tests.processes.waiting import gone, wait_for
from tests.record.stories import read
from tests.sources.engine import faulty
from tests.sources.power.captures import CHIPS, macmon_line, truth_of

pytestmark = pytest.mark.slow

S = 10**9
MODEL = ModelOptions(backend="simulated")
PAIR = ["CPU_ONLY", "CPU_AND_NE"]


@pytest.fixture
def feed(tmp_path: Path) -> Iterator[LiveFeed]:
    setup = prepare(MODEL, ("CPU_AND_NE", "CPU_ONLY"), 2)
    options = MeasureOptions(warmup=0, record=str(tmp_path / "r.jsonl"))
    feed = LiveFeed(Measurement(setup, options, rows=setup.units, raw_limit=0), MODEL, Together(tuple(PAIR)))
    yield feed
    feed.close()


def pumped(feed: LiveFeed, condition: Callable[[], bool], what: str) -> None:
    def holds() -> bool:
        feed.pump()
        return condition()

    wait_for(holds, what)


def control(session: Session) -> events.Control:
    assert session.control is not None
    return session.control


def study(session: Session) -> Study:
    return next(each for each in session.studies.all if each.name == "coexec")


def found(session: Session) -> CoexecResult:
    told = result_of(study(session))
    return told if isinstance(told, CoexecResult) else CoexecResult()


def workers() -> list[int]:
    below = psutil.Process().children(recursive=True)
    return [each.pid for each in below if any("hettop.studies.coexec" in word for word in each.cmdline())]


def log(session: Session) -> list[str]:
    return [in_words(entry).text for entry in session.log]


def co_executing(feed: LiveFeed, rounds: int = 1) -> None:
    feed.study("coexec")
    pumped(feed, lambda: found(feed.session).rounds >= rounds, "it has measured a round")


def test_it_is_a_mode_that_begins_and_ends_in_the_stream(feed: LiveFeed) -> None:
    feed.switch("CPU_AND_NE")
    assert {offer.name: offer.reason for offer in feed.studies()} == {
        "coexec": None,
        **dict.fromkeys(
            ("layers", "roofline", "sweep", "variants", "cold", "plan", "granularities"),
            "needs a real model: hettop MODEL",
        ),
    }
    co_executing(feed)
    held = control(feed.session)
    assert (held.action, held.mode, held.units, held.paused) == ("coexec", "coexec", PAIR, True)
    assert "co-executing CPU_ONLY, CPU_AND_NE" in log(feed.session)
    told = found(feed.session)
    assert told.gain is not None
    assert "simulated" in (told.energy_why or "")
    below = workers()
    assert len(below) == 3, "a dispatch, two workers"
    feed.end_study()
    held = control(feed.session)
    assert (held.action, held.mode, held.units, held.paused) == ("resume", "single", ["CPU_AND_NE"], False)
    assert study(feed.session).state == "ended"
    assert found(feed.session).delivered >= told.delivered, "its last words count"
    assert log(feed.session)[-2:] == ["co-execution ended", "inference resumed"]
    wait_for(lambda: gone(below), "all of them gone")


def test_its_figures_grow_and_a_worker_that_is_killed_is_reported_once_and_the_stream_goes_on(
    feed: LiveFeed, tmp_path: Path
) -> None:
    co_executing(feed)
    first = found(feed.session)
    pumped(feed, lambda: found(feed.session).rounds > first.rounds, "another round")
    assert found(feed.session).delivered > first.delivered
    assert study(feed.session).share is None, "nobody knows when it ends"
    os.kill(next(pid for pid in workers() if "worker" in psutil.Process(pid).cmdline()[-1]), signal.SIGKILL)
    pumped(feed, lambda: any(unit.error for unit in found(feed.session).units), "its death is known")
    rounds = found(feed.session).rounds
    pumped(feed, lambda: found(feed.session).rounds >= rounds + 2, "the other unit continues")
    deaths = [text for text in log(feed.session) if "left the co-execution: worker process killed by SIGKILL" in text]
    assert len(deaths) == 1
    assert found(feed.session).in_order
    assert found(feed.session).together_by_round[-1]
    assert study(feed.session).state == "running"
    feed.close()
    replayed = Session(0)
    for event in read(tmp_path / "r.jsonl")[0]:
        replayed.fold(event)
    assert [text for text in log(replayed) if "left the co-execution" in text] == deaths


def test_whatever_ends_it_leaves_no_process_and_another_mode(feed: LiveFeed) -> None:
    """One after another: space, another unit, a load, and the end of the session."""
    feed.switch("CPU_AND_NE")
    ways: tuple[tuple[Callable[[], object], list[str], bool], ...] = (
        (feed.toggle_pause, ["CPU_AND_NE"], False),
        (lambda: feed.switch("CPU_ONLY"), ["CPU_ONLY"], False),
        (lambda: feed.change_load("cpu", 1, 100), ["CPU_ONLY"], True),
    )
    for ends, units, paused in ways:
        assert co_executed_until(feed, ends) == ("ended", "single", units, paused)
    feed.end_load()
    assert co_executed_until(feed, feed.close)[0] == "ended"


def co_executed_until(feed: LiveFeed, ends: Callable[[], object]) -> tuple[str, str, list[str], bool]:
    """State of the study, and mode, units and pause of the session, once its processes are gone."""
    feed.study("coexec")
    pumped(feed, lambda: study(feed.session).state == "running" and len(workers()) == 3, "a dispatch, two workers")
    below = workers()
    ends()
    wait_for(lambda: gone(below), "all of them gone")
    held = control(feed.session)
    return study(feed.session).state, held.mode, list(held.units), held.paused


def test_one_that_was_there_from_the_start_is_followed_by_the_first_unit(feed: LiveFeed) -> None:
    co_executing(feed)
    assert not feed.session.conditions
    feed.end_study()
    assert (control(feed.session).action, control(feed.session).units) == ("switch", ["CPU_AND_NE"])
    pumped(feed, lambda: bool(feed.session.conditions), "it is measured")


class Watts:
    """A source that reports every tenth of a second of 5 W since the last time it was asked."""

    def __init__(self) -> None:
        self._since = 0

    def drain(self, t: int) -> list[events.Power]:
        elapsed = t - self._since
        if elapsed < S // 20:
            return []
        self._since = t
        return [events.Power(t=t, source="rapl", elapsed_ns=elapsed, mw={"package": 5_000.0})]


@contextmanager
def not_simulated(power: str, folder: Path) -> Iterator[LiveFeed]:
    """Units whose calls sleep for a millisecond."""
    (script := folder / "CPU_ONLY rush 9999999;- - .onnx").write_text("x")
    model = ModelOptions(model=str(script), backend=faulty.NAME)
    setup = prepare(model, tuple(PAIR), 2)
    feed = LiveFeed(Measurement(setup, MeasureOptions(power=power), rows=setup.units, raw_limit=0), model)
    try:
        yield feed
    finally:
        feed.close()


def test_power_of_the_session_in_blocks_of_all_gives_energy(tmp_path: Path) -> None:
    """5 W by so many inferences a second."""
    with not_simulated("none", tmp_path) as feed:
        feed.measurement._sources.append(Watts())
        feed.study("coexec")
        pumped(feed, lambda: found(feed.session).energy_mj is not None, "power falls into a block of all")
        told = found(feed.session)
        assert told.together_per_s
        assert told.energy_mj == pytest.approx(5_000 / told.together_per_s, rel=1e-4)
        assert (told.mean_mw, told.power_source, told.energy_why) == (5_000, "rapl", None)


def test_a_capture_gives_no_energy_and_says_why(tmp_path: Path) -> None:
    lines = [macmon_line(truth_of(CHIPS["M1"]), f"2026-01-01T00:00:{n:02}.000Z") for n in range(50)]
    (tmp_path / "capture.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    with not_simulated(f"file:{tmp_path / 'capture.jsonl'}", tmp_path) as feed:
        pumped(feed, lambda: feed.session.captured, "it plays")
        co_executing(feed)
        told = found(feed.session)
        assert told.energy_mj is None
        assert (told.energy_why or "").startswith("power is from a capture, not from this run")


def test_after_a_pause_it_stays_paused(feed: LiveFeed) -> None:
    feed.switch("CPU_ONLY")
    feed.toggle_pause()
    co_executing(feed)
    feed.end_study()
    held = control(feed.session)
    assert (held.action, held.mode, held.units, held.paused) == ("pause", "single", ["CPU_ONLY"], True)


def test_one_that_fails_says_why_and_gives_the_mode_back(feed: LiveFeed) -> None:
    feed = LiveFeed(feed.measurement, MODEL, Together(tuple(PAIR), ("--depth", "nothing")))
    feed.switch("CPU_ONLY")
    feed.study("coexec")
    pumped(feed, lambda: study(feed.session).state == "failed", "it fails")
    assert control(feed.session).mode == "single"
    assert not control(feed.session).paused
    assert any(text.startswith("co-execution failed: ") for text in log(feed.session))
