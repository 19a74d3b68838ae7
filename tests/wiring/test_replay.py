"""A replay on a clock that the test drives: real time picks the position, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.wiring.replay import SPEEDS, ReplayFeed
from tests.clocks import FakeClock
from tests.streams import MS, S, header, window

LENGTH_S = 20


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """20 s: a window of 10 samples a second, marks at 5 s and 12 s."""
    stream: list[events.AnyEvent] = [header()]
    for second in range(LENGTH_S):
        stream.append(window([2 * MS] * 10, t0=second * S, t=(second + 1) * S))
        if second + 1 in (5, 12):
            stream.append(events.Mark(t=(second + 1) * S, text="here"))
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"".join(events.encode(event) + b"\n" for event in stream))
    return path


@pytest.fixture
def feed(recording: Path, clock: FakeClock) -> Iterator[ReplayFeed]:
    feed = ReplayFeed(recording, clock=clock)
    feed.pump()
    yield feed
    feed.close()


def position(feed: ReplayFeed) -> float:
    status = feed.replay_status()
    assert status is not None
    assert status.position_ns == feed.now_ns
    return status.position_ns / S


def playing(feed: ReplayFeed) -> bool:
    status = feed.replay_status()
    assert status is not None
    return status.playing


def speed(feed: ReplayFeed) -> float:
    status = feed.replay_status()
    assert status is not None
    return status.speed


def passed(feed: ReplayFeed, clock: FakeClock, seconds: float) -> None:
    clock.pass_time(round(seconds * S))
    feed.pump()


def test_it_plays_as_time_passes(feed: ReplayFeed, clock: FakeClock) -> None:
    passed(feed, clock, 3.5)
    assert position(feed) == 3.5
    assert feed.session.samples == 30
    passed(feed, clock, 0.5)
    assert feed.session.samples == 40


def test_it_offers_the_controls_of_a_replay_alone(feed: ReplayFeed) -> None:
    assert feed.replay is feed
    assert feed.live is None
    assert feed.recording_status() is None
    assert feed.notices() == []


def test_the_moment_asked_for_stands_until_it_is_first_shown(recording: Path, clock: FakeClock) -> None:
    feed = ReplayFeed(recording, at_ns=7 * S, clock=clock)
    clock.pass_time(3 * S)  # a screen takes its time to appear
    feed.pump()
    assert position(feed) == 7
    assert feed.session.samples == 70
    passed(feed, clock, 1)
    assert position(feed) == 8
    feed.close()


def test_it_plays_as_fast_as_told(recording: Path, clock: FakeClock) -> None:
    feed = ReplayFeed(recording, speed=4, clock=clock)
    feed.pump()
    passed(feed, clock, 1)
    assert position(feed) == 4
    feed.change_speed(1)
    assert speed(feed) == 8
    passed(feed, clock, 0.5)
    assert position(feed) == 8
    feed.change_speed(-1)
    feed.change_speed(-1)
    passed(feed, clock, 1)
    assert position(feed) == 10
    feed.close()


def test_speed_steps_stay_within_the_offered_ones(feed: ReplayFeed) -> None:
    for _ in range(20):
        feed.change_speed(1)
    assert speed(feed) == SPEEDS[-1] == 64
    for _ in range(20):
        feed.change_speed(-1)
    assert speed(feed) == SPEEDS[0] == 0.25


def test_a_speed_between_the_steps_goes_to_a_step(recording: Path, clock: FakeClock) -> None:
    feed = ReplayFeed(recording, speed=5.0, clock=clock)
    feed.change_speed(1)
    assert speed(feed) == 8
    feed.close()


def test_pausing_stands_still_and_does_not_catch_up(feed: ReplayFeed, clock: FakeClock) -> None:
    passed(feed, clock, 2)
    feed.toggle_play()
    passed(feed, clock, 60)
    assert position(feed) == 2
    feed.toggle_play()
    passed(feed, clock, 1)
    assert position(feed) == 3


def test_it_stops_at_the_end_and_plays_again_from_the_beginning(feed: ReplayFeed, clock: FakeClock) -> None:
    passed(feed, clock, 100)
    assert position(feed) == LENGTH_S
    assert feed.session.samples == 200
    assert not playing(feed)
    feed.toggle_play()
    assert playing(feed)
    assert position(feed) == 0
    passed(feed, clock, 1)
    assert position(feed) == 1
    assert feed.session.samples == 10


def test_seeking_goes_anywhere_and_no_further_than_the_ends(feed: ReplayFeed) -> None:
    for target, reached, samples in ((15, 15, 150), (2.5, 2.5, 20), (99, 20, 200), (-3, 0, 0)):
        feed.seek(round(target * S))
        assert position(feed) == reached
        assert feed.session.samples == samples
    assert playing(feed)


def test_stepping_goes_to_the_next_window_and_stands_there(feed: ReplayFeed, clock: FakeClock) -> None:
    passed(feed, clock, 2.5)
    feed.step_window(1)
    assert position(feed) == 3
    passed(feed, clock, 5)
    assert position(feed) == 3
    feed.step_window(-1)
    assert position(feed) == 2


def test_marks_are_gone_to_and_their_lack_is_said(feed: ReplayFeed) -> None:
    status = feed.replay_status()
    assert status is not None
    assert status.marks_ns == (5 * S, 12 * S)
    for expected in (5, 12, 12):
        feed.next_mark(1)
        assert position(feed) == expected
    assert [notice.text for notice in feed.notices()] == ["no mark after this moment"]
    assert feed.notices() == [], "a notice is told once"
    feed.next_mark(-1)
    feed.next_mark(-1)
    assert position(feed) == 5
    assert [notice.text for notice in feed.notices()] == ["no mark before this moment"]


def test_a_file_that_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a":1}\n')
    with pytest.raises(HettopError) as caught:
        ReplayFeed(tmp_path / "x.jsonl")
    assert caught.value.kind == "recording"


def test_a_recording_without_samples_plays_too(tmp_path: Path, clock: FakeClock) -> None:
    (tmp_path / "empty.jsonl").write_bytes(events.encode(header()) + b"\n")
    feed = ReplayFeed(tmp_path / "empty.jsonl", clock=clock)
    feed.pump()
    passed(feed, clock, 1)
    assert position(feed) == 0
    assert not playing(feed)
    feed.close()
