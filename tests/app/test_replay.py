"""A replay on a clock that the test drives: real time picks the position, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.app.replay import SPEEDS, ReplayFeed
from hettop.errors import HettopError
from hettop.record.overview import READ_AT_ONCE_BYTES
from hettop.session.session import Session
from hettop.session.views.replay import Selection
from hettop.session.views.session_view import view
from hettop.session.views.structs import ViewRequest
from hettop.tui.app import HettopApp
from hettop.tui.feed import ReplayStatus
from tests.clocks import FakeClock
from tests.record.stories import edited, read, record, story
from tests.record.stories import header as story_header
from tests.streams import MS, S, header, window
from tests.tui.screens import STILL, screen_text, settled

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


def test_it_plays_as_fast_as_asked(recording: Path, clock: FakeClock) -> None:
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


def spiky(path: Path) -> Path:
    """20 s of 100 samples a second at 2 ms, and one of 9 ms in the windows that are written at 8 s and 15 s."""
    stream: list[events.AnyEvent] = [header()]
    for second in range(LENGTH_S):
        latencies = [2 * MS] * 100
        if second + 1 in (8, 15):
            latencies[50] = 9 * MS
        stream.append(window(latencies, t0=second * S, t=(second + 1) * S))
    path.write_bytes(b"".join(events.encode(event) + b"\n" for event in stream))
    return path


def test_spikes_are_gone_to_and_reported_and_their_lack_is_said(tmp_path: Path, clock: FakeClock) -> None:
    feed = ReplayFeed(spiky(tmp_path / "s.jsonl"), clock=clock)
    feed.pump()
    for expected in (8, 15, 15):
        feed.next_spike(1)
        assert position(feed) == expected
    assert [notice.text for notice in feed.notices()] == [
        "spike 9.00 ms CPU_ONLY",
        "spike 9.00 ms CPU_ONLY",
        "no spike after this moment",
    ]
    feed.next_spike(-1)
    assert position(feed) == 8
    passed(feed, clock, 3)
    assert position(feed) == 8, "one wants to look at it"
    feed.close()


def selection(feed: ReplayFeed) -> Selection | None:
    status = feed.replay_status()
    assert status is not None
    return status.selection


def selected(feed: ReplayFeed, start_s: float, end_s: float) -> None:
    for moment, direction in ((start_s, -1), (end_s, 1)):
        feed.seek(round(moment * S))
        feed.select(direction)


class TestSelection:
    def test_it_is_set_moved_and_taken_back(self, feed: ReplayFeed) -> None:
        assert selection(feed) is None
        selected(feed, 4, 10)
        assert selection(feed) == Selection(4 * S, 10 * S)
        feed.seek(12 * S)
        feed.select(-1)
        assert selection(feed) == Selection(12 * S, None), "it cannot end before it begins"
        feed.select(-1)
        assert selection(feed) is None

    def test_an_end_that_is_lost_is_reported(self, feed: ReplayFeed) -> None:
        selected(feed, 4, 10)
        assert feed.notices() == []
        feed.seek(12 * S)
        feed.select(-1)
        assert [notice.text for notice in feed.notices()] == ["after the end of the selection: ) sets a new end"]
        feed.seek(2 * S)
        feed.select(1)
        assert selection(feed) == Selection(None, 2 * S)
        told = [notice.text for notice in feed.notices()]
        assert told == ["before the start of the selection: ( sets a new start"]

    def test_its_statistics_are_those_of_the_samples_in_it(self, feed: ReplayFeed) -> None:
        selected(feed, 4, 10)
        feed.pump()
        found = selection(feed)
        assert found is not None
        assert found.share == 1
        (unit,) = found.units
        assert (unit.unit, unit.n, unit.p50_ms, unit.p90_ms, unit.max_ms) == ("CPU_ONLY", 60, 2.0, 2.0, 2.0)

    def test_a_loop_goes_round_in_it(self, feed: ReplayFeed, clock: FakeClock) -> None:
        selected(feed, 4, 10)
        feed.toggle_loop()
        feed.seek(9 * S)
        passed(feed, clock, 3)
        assert position(feed) == 6
        passed(feed, clock, 3.5)
        assert position(feed) == 9.5
        passed(feed, clock, 60.5)
        assert position(feed) == 4, "ten times round and to its end, which is its beginning"
        feed.toggle_loop()
        passed(feed, clock, 7)
        assert position(feed) == 11

    def test_a_loop_up_to_the_end_of_the_recording_does_not_stop_there(
        self, feed: ReplayFeed, clock: FakeClock
    ) -> None:
        selected(feed, 15, LENGTH_S)
        feed.toggle_loop()
        feed.seek(19 * S)
        passed(feed, clock, 3)
        assert position(feed) == 17
        assert playing(feed)

    def test_without_a_selection_there_is_nothing_to_go_round_in(self, feed: ReplayFeed) -> None:
        feed.toggle_loop()
        feed.select(-1)
        feed.toggle_loop()
        assert [notice.text.split(":")[0] for notice in feed.notices()] == ["no selection"] * 2

    def test_several_units_are_reported_all_of_them(self, tmp_path: Path, clock: FakeClock) -> None:
        record(tmp_path / "a.jsonl", story(2, 30.0))
        feed = ReplayFeed(tmp_path / "a.jsonl", clock=clock)
        selected(feed, 0, 30)
        feed.pump()
        (notice,) = feed.notices()
        assert [line.split(":")[0] for line in notice.text.splitlines()] == ["CPU_AND_NE", "CPU_ONLY"]
        feed.close()


def test_the_whole_recording_is_reported_in_as_many_columns_as_asked(feed: ReplayFeed) -> None:
    bands = feed.overview(40)
    assert len(bands) == 40
    assert {band.p50_ms for band in bands if band is not None} == {2.0}


def test_changes_of_units_and_load_are_reported(tmp_path: Path, clock: FakeClock) -> None:
    stream: list[events.AnyEvent] = [
        header(),
        events.Control(t=0, action="start", units=["CPU_ONLY"]),
        events.Load(t=3 * S, what="cpu", state="confirmed", condition="cpu:1"),
        events.Control(t=5 * S, action="switch", units=["ALL"]),
    ]
    (tmp_path / "c.jsonl").write_bytes(b"".join(events.encode(event) + b"\n" for event in stream))
    feed = ReplayFeed(tmp_path / "c.jsonl", clock=clock)
    status = feed.replay_status()
    assert isinstance(status, ReplayStatus)
    assert sorted(status.changes) == [(0, "control"), (3 * S, "load"), (5 * S, "control")]
    feed.close()


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[events.AnyEvent]]:
    path = tmp_path_factory.mktemp("replay") / "a.jsonl"
    record(path, story(11, 150.0))
    return path, read(path)[0]


moves = st.lists(
    st.tuples(
        st.sampled_from(
            ["pass", "pass", "faster", "slower", "play", "seek", "step", "back", "mark", "spike", "from", "to", "loop"]
        ),
        st.floats(0, 1),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves)
def test_the_screen_at_a_moment_is_the_same_at_any_speed_and_on_any_way_there(
    long: tuple[Path, list[events.AnyEvent]], moves: list[tuple[str, float]]
) -> None:
    path, told = long
    clock = FakeClock()
    feed = ReplayFeed(path, clock=clock)
    for move, share in moves:
        sign = 1 if share > 0.3 else -1
        match move:
            case "pass":
                passed(feed, clock, share * 4)
            case "faster":
                feed.change_speed(1)
            case "slower":
                feed.change_speed(-1)
            case "play":
                feed.toggle_play()
            case "seek":
                feed.seek(round(share * 150 * S))
            case "step":
                feed.step_window(1)
            case "back":
                feed.step_window(-1)
            case "mark":
                feed.next_mark(sign)
            case "spike":
                feed.next_spike(sign)
            case "from":
                feed.select(-1)
            case "to":
                feed.select(1)
            case "loop":
                feed.toggle_loop()
        feed.pump()
    folded = Session(raw_limit=0)
    for event in told:
        if event.t <= feed.now_ns:
            folded.fold(event)
    request = ViewRequest(now_ns=feed.now_ns, window_ns=60 * S, conditions=True)
    assert view(feed.session, request) == view(folded, request)
    feed.close()


async def test_the_picture_at_a_moment_is_the_same_whichever_way_it_was_reached(
    long: tuple[Path, list[events.AnyEvent]],
) -> None:
    """The whole screen, as it stands there: once played up to the moment at 64x, once sought from behind it."""
    path, _ = long
    moment = round(96.4 * S)
    shown = []
    for played in (True, False):
        clock = FakeClock()
        feed = ReplayFeed(path, clock=clock, at_ns=0 if played else 130 * S)
        feed.pump()
        if played:
            for _ in range(6):
                feed.change_speed(1)
            passed(feed, clock, 1.5)
            feed.toggle_play()
            feed.seek(moment)
            for _ in range(6):
                feed.change_speed(-1)
        else:
            feed.toggle_play()
            feed.seek(moment)
        shown.append(await screen_of(feed))
    assert "01:36.4" in shown[0]
    assert shown[0] == shown[1]


async def screen_of(feed: ReplayFeed) -> str:
    app = HettopApp(lambda: feed, replaying=True, fps=STILL)
    app.animation_level = "none"
    async with app.run_test(size=(120, 40)) as pilot:
        await settled(pilot)
        return screen_text(app)


def test_a_picture_of_a_replay_has_the_whole_recording_in_it(tmp_path: Path, clock: FakeClock) -> None:
    """More of it than is looked at in one go, so that a picture drawn too early would have a part."""
    path = tmp_path / "a.jsonl"
    record(path, (window([MS] * 900, t0=second * S) for second in range(300)))
    assert path.stat().st_size > READ_AT_ONCE_BYTES
    feed = ReplayFeed(path, clock=clock)
    feed.pump()
    assert None in feed.overview(50)
    feed.look_at_all()
    assert None not in feed.overview(50)
    feed.close()


@pytest.fixture(scope="module")
def folded_by_another(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two minutes whose keyframes are by another fold, and too many bytes before them to be folded from the start."""
    path = tmp_path_factory.mktemp("another") / "r.jsonl"
    record(path, story(4, 120.0), opening=story_header(host=events.Host(hettop="9.1")))
    opening, *lines = edited(path.read_bytes().splitlines(keepends=True), lambda keyframe: keyframe.update(fold=999))
    padding = b'{"k":"padding","t":0,"x":"%b"}\n' % (b"x" * 500_000)
    path.write_bytes(b"".join([opening, *[padding] * 5, *lines]))
    return path


@pytest.mark.parametrize(("refold", "told"), [(False, "hettop 9.1"), (True, None)])
async def test_figures_of_another_fold_are_marked_on_the_screen(
    folded_by_another: Path, clock: FakeClock, refold: bool, told: str | None
) -> None:
    feed = ReplayFeed(folded_by_another, at_ns=119 * S, clock=clock, refold=refold)
    status = feed.replay_status()
    assert status is not None
    assert status.folded_by == told
    app = HettopApp(lambda: feed, replaying=True)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert ("computed by hettop 9.1" in screen_text(app)) is not refold
    feed.seek(0)
    status = feed.replay_status()
    assert status is not None
    assert status.folded_by is None, "the start is computed by this version"
    feed.close()


def test_a_recording_that_was_changed_is_played_with_a_warning(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "a.jsonl"
    record(path, story(1, 30))
    head, found, tail = path.read_bytes().rpartition(b'"lat_ns":[')
    path.write_bytes(head + found + (b"2" if tail[:1] == b"1" else b"1") + tail[1:])
    feed = ReplayFeed(path, clock=clock)
    assert [(notice.text.split(" do ")[0], notice.severity) for notice in feed.notices()] == [
        ("1 checksums", "warning")
    ]
    feed.close()
