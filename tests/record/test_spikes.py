"""Going from spike to spike: the same ones, whichever way they are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.events import AnyEvent
from hettop.record.player import Player
from hettop.record.reader import open_recording
from hettop.record.spikes import SpikeSearch, fold_and_look
from hettop.session.session import Session
from tests.record.stories import MS, SECOND, header, read, record, story, window


def spikes_of(path: Path) -> list[int]:
    """The moments at which a spike was committed, by folding everything."""
    session = Session(raw_limit=0)
    return sorted({event.t for event in read(path)[0] if fold_and_look(session, event) is not None})


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("spikes") / "a.jsonl"
    record(path, story(3, 30.0))
    return path


@pytest.fixture(scope="module")
def expected(recording: Path) -> list[int]:
    return spikes_of(recording)


@pytest.fixture(params=[0, 1 << 30], ids=["by keyframes", "by folding"])
def player(recording: Path, request: pytest.FixtureRequest) -> Player:
    return Player(recording, folded_bytes=request.param)


def test_forwards_every_spike_is_visited_in_order(player: Player, expected: list[int]) -> None:
    assert len(expected) > 10
    visited = []
    while player.next_spike(1) is not None:
        visited.append(player.position_ns)
    assert visited == expected


def test_backwards_too(player: Player, expected: list[int]) -> None:
    player.seek(player.duration_ns)
    visited = []
    while player.next_spike(-1) is not None:
        visited.append(player.position_ns)
    assert visited == expected[::-1]


def test_where_there_is_none_it_stays(player: Player) -> None:
    player.seek(player.duration_ns)
    assert player.next_spike(1) is None
    assert player.position_ns == player.duration_ns
    player.seek(0)
    assert player.next_spike(-1) is None
    assert player.position_ns == 0


def test_it_reports_which_unit_and_how_slow(tmp_path: Path) -> None:
    told: list[AnyEvent] = [window(second * SECOND, [2 * MS] * 100) for second in range(60)]
    told[40] = window(40 * SECOND, [2 * MS] * 50 + [9 * MS, 12 * MS] + [2 * MS] * 48)
    record(tmp_path / "a.jsonl", told)
    found = Player(tmp_path / "a.jsonl").next_spike(1)
    assert found is not None
    assert (found.unit, found.latency_ms) == ("CPU_ONLY", 12.0)
    assert 40 * SECOND < found.t < 42 * SECOND


def test_a_reset_hides_no_spike(tmp_path: Path) -> None:
    """The spikes that a keyframe counts begin anew: as many before and after are not the same ones."""

    def stretch(begin: int) -> list[AnyEvent]:
        told: list[AnyEvent] = [window(second * SECOND, [2 * MS] * 100) for second in range(begin, begin + 30)]
        told[20] = window((begin + 20) * SECOND, [2 * MS] * 99 + [30 * MS])
        return told

    reset: list[AnyEvent] = [events.Control(t=30 * SECOND, action="reset")]
    record(tmp_path / "a.jsonl", [*stretch(0), *reset, *stretch(30)])
    player = Player(tmp_path / "a.jsonl", folded_bytes=0)
    player.seek(player.duration_ns)
    places = []
    while player.next_spike(-1) is not None:
        places.append(player.position_ns // SECOND)
    assert places == [51, 21], "committed a second after they began"


def test_stretches_without_spikes_are_passed_over(tmp_path: Path) -> None:
    told: list[AnyEvent] = [window(second * SECOND, [2 * MS] * 100) for second in range(1_000)]
    told[990] = window(990 * SECOND, [2 * MS] * 99 + [30 * MS])
    path = tmp_path / "a.jsonl"
    record(path, told)
    player = Player(path, folded_bytes=0)
    file, opening = open_recording(path)
    # A twenty-fifth of the file is enough to find the one spike near its end.
    search = SpikeSearch(
        file, opening, path.stat().st_size, player.duration_ns, folded_bytes=0, search_bytes=path.stat().st_size // 25
    )
    found = search.find(5 * SECOND, 1)
    assert found is not None
    assert found.t // SECOND == 991


def test_a_search_that_would_take_too_long_says_so(tmp_path: Path) -> None:
    lines = [events.encode(header())]
    lines += [events.encode(window(second * SECOND, [2 * MS] * 100)) for second in range(100)]
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    file, opening = open_recording(path)
    search = SpikeSearch(file, opening, path.stat().st_size, 100 * SECOND, folded_bytes=0, search_bytes=20_000)
    with pytest.raises(HettopError, match="too long"):
        search.find(0, 1)
