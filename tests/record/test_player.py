"""The player: the session at a moment is the same whichever way the moment was reached."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.errors import HettopError
from hettop.events import AnyEvent, Samples
from hettop.record.player import Player
from hettop.record.seek import FOLDED_FROM_START_BYTES
from hettop.session.session import Session
from hettop.session.views.session_view import view
from hettop.session.views.structs import SessionView, ViewRequest
from tests.record.stories import SECOND, header, read, record, story, window

MINUTE = 60 * SECOND


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("player") / "a.jsonl"
    record(path, story(11, 240.0))
    return path


@pytest.fixture(scope="module")
def told(recording: Path) -> list[AnyEvent]:
    return read(recording)[0]


@pytest.fixture
def player(recording: Path) -> Iterator[Player]:
    found = Player(recording)
    yield found
    found.close()


Shown = tuple[bytes, SessionView]


def shown(session: Session, now_ns: int) -> Shown:
    """All that can be seen of a session: the state that folding goes on from, and every panel's view."""
    seen = view(session, ViewRequest(now_ns=now_ns, window_ns=MINUTE))
    return events.encode(session.keyframe(now_ns, 0)), seen


def folded(told: list[AnyEvent], until: int) -> Shown:
    session = Session(raw_limit=0)
    for event in told:
        if event.t <= until:
            session.fold(event)
    return shown(session, until)


moves = st.lists(
    st.tuples(st.sampled_from(["seek", "advance", "on", "step", "back", "mark"]), st.floats(0, 1)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(moves)
def test_the_session_depends_on_the_moment_alone(
    recording: Path, told: list[AnyEvent], moves: list[tuple[str, float]]
) -> None:
    player = Player(recording, folded_bytes=0)
    for move, share in moves:
        place = round(share * player.duration_ns)
        match move:
            case "seek":
                player.seek(place)
            case "advance":
                player.advance(place)
            case "on":
                player.advance(player.position_ns + round(share * 5 * SECOND))
            case "step":
                player.step_window(1)
            case "back":
                player.step_window(-1)
            case "mark":
                player.next_mark(1 if share > 0.5 else -1)
        assert shown(player.session, player.position_ns) == folded(told, player.position_ns)
    player.close()


def test_it_opens_at_the_start_with_the_state_events_of_time_zero(player: Player) -> None:
    assert player.position_ns == 0
    assert player.header.id == "story"
    assert list(player.session.units) == ["CPU_ONLY", "CPU_AND_NE"]
    assert player.session.samples == 0


def test_the_duration_is_the_time_of_the_last_line(player: Player, told: list[AnyEvent]) -> None:
    assert player.duration_ns == told[-1].t
    player.seek(10**18)
    assert player.position_ns == told[-1].t
    assert player.session.ended is not None
    player.seek(-5)
    assert player.position_ns == 0


def test_stepping_visits_every_window_and_back(player: Player, told: list[AnyEvent]) -> None:
    times = sorted({event.t for event in told if isinstance(event, Samples)})
    visited = []
    for _ in times[:12]:
        player.step_window(1)
        visited.append(player.position_ns)
    assert visited == times[:12]
    for expected in times[10::-1]:
        player.step_window(-1)
        assert player.position_ns == expected
    player.step_window(-1)
    assert player.position_ns == 0


def test_stepping_past_the_last_window_goes_to_the_end_and_back_to_it(player: Player, told: list[AnyEvent]) -> None:
    last = max(event.t for event in told if isinstance(event, Samples))
    player.seek(last)
    player.step_window(1)
    assert player.position_ns == player.duration_ns > last
    player.step_window(-1)
    assert player.position_ns == last


def test_marks_are_found_and_visited_in_order(player: Player, told: list[AnyEvent]) -> None:
    marks = tuple(event.t for event in told if isinstance(event, events.Mark))
    assert len(marks) > 5
    assert player.marks_ns == marks
    for mark in marks[:3]:
        player.next_mark(1)
        assert player.position_ns == mark
    player.next_mark(-1)
    assert player.position_ns == marks[1]
    player.seek(player.duration_ns)
    player.next_mark(1)
    assert player.position_ns == player.duration_ns


def test_what_is_written_after_opening_is_not_played(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record(path, [window(0, [100])])
    player = Player(path)
    with path.open("ab") as file:
        file.write(events.encode(events.Mark(t=10**12)) + b"\n")
    player.advance(10**13)
    assert player.duration_ns < 10**12
    assert player.session.ended is not None


def test_a_torn_tail_is_not_played(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record(path, [window(0, [100]), events.Mark(t=SECOND)])
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.rindex(b'{"k":"end"') + 20])
    player = Player(path)
    assert player.duration_ns == SECOND


def test_an_empty_recording_has_no_length_and_moves_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(events.encode(header()) + b"\n")
    player = Player(path)
    for direction in (1, -1):
        player.step_window(direction)
        player.next_mark(direction)
    player.advance(5)
    assert (player.position_ns, player.duration_ns, player.marks_ns) == (0, 0, ())


def test_no_recording_no_player(tmp_path: Path) -> None:
    with pytest.raises(HettopError):
        Player(tmp_path / "missing.jsonl")


def test_of_joined_recordings_the_first_is_played(recording: Path, told: list[AnyEvent], tmp_path: Path) -> None:
    joined = tmp_path / "joined.jsonl"
    joined.write_bytes(recording.read_bytes() * 2)
    player = Player(joined, folded_bytes=0)
    player.seek(player.duration_ns - SECOND)
    assert player.duration_ns == told[-1].t
    assert len(player.marks_ns) == len({event.t for event in told if isinstance(event, events.Mark)})
    assert shown(player.session, player.position_ns) == folded(told, player.position_ns)


def sought_and_folded(
    damaged: Path, moment: int, *, folded_bytes: int = FOLDED_FROM_START_BYTES
) -> tuple[Shown, Shown]:
    """What seeking to a moment shows, and what folding from the start shows."""
    player = Player(damaged, folded_bytes=folded_bytes)
    player.seek(moment)
    return shown(player.session, player.position_ns), folded(read(damaged)[0], player.position_ns)


@pytest.mark.parametrize("moment", [150 * SECOND, 239 * SECOND])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"samples":', b'"samples":1'),  # a count that contradicts the lines
        (b'"crc32"', b'"crc33"'),  # unreadable
        (b'{"k":"keyframe"', b'{"k":"keyfrane"'),  # gone
        (b'"spikes":', b'"spikes":1'),
        (b'"runs":[-', b'"runs":[-1'),  # a histogram that contradicts its count
    ],
)
def test_a_keyframe_that_is_damaged_is_not_believed(
    recording: Path, tmp_path: Path, moment: int, old: bytes, new: bytes
) -> None:
    lines = recording.read_bytes().splitlines(keepends=True)
    places = [place for place, line in enumerate(lines) if line.startswith(b'{"k":"keyframe"')]
    # The last three that seeking to the moment looks at, one at a time.
    used = [place for place in places if events_time(lines[place]) < moment - 70 * SECOND][-3:]
    for place in used:
        damaged = [*lines]
        damaged[place] = damaged[place].replace(old, new, 1)
        assert damaged[place] != lines[place]
        path = tmp_path / f"damaged{place}.jsonl"
        path.write_bytes(b"".join(damaged))
        sought, from_start = sought_and_folded(path, moment, folded_bytes=0)
        assert sought == from_start


def test_in_a_short_recording_no_keyframe_is_believed(recording: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(recording.read_bytes().replace(b'"spikes":', b'"spikes":1'))
    sought, from_start = sought_and_folded(path, 200 * SECOND)
    assert sought == from_start


def events_time(line: bytes) -> int:
    event = events.decode(line)
    assert event is not None
    return event.t


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    flips=st.lists(
        st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 35), st.integers(0, 7)), min_size=1, max_size=4
    )
)
def test_seeking_in_a_damaged_file_shows_what_folding_it_shows(
    recording: Path, flips: list[tuple[float, int, int]]
) -> None:
    # Only where kinds and times stand, at the line starts: that is what seeking relies on. And only after the
    # keyframes that are used: of lines damaged before it, a keyframe knows what they held, which folding cannot.
    lines = [bytearray(line) for line in recording.read_bytes().splitlines(keepends=True)]
    first = next(place for place, line in enumerate(lines) if events_time(bytes(line)) > 170 * SECOND)
    for place, byte, bit in flips:
        lines[first + int(place * (len(lines) - first))][byte] ^= 1 << bit
    path = recording.with_name("flipped.jsonl")
    path.write_bytes(b"".join(lines))
    sought, from_start = sought_and_folded(path, 240 * SECOND, folded_bytes=0)
    assert sought == from_start


def test_seeking_late_reads_a_small_part_of_the_file(recording: Path) -> None:
    player = Player(recording, folded_bytes=0)
    player.seek(player.duration_ns)
    total = recording.read_bytes().count(b"\n")
    assert player.report.lines < 0.6 * total, "two minutes of four: from a keyframe before the last minute on"
