"""Lines of the log that a keyframe lost, read from the file: those that folding everything gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hettop import events
from hettop.events import AnyEvent
from hettop.record.player import Player
from hettop.session.event_log import TAIL, Logged
from hettop.session.log import in_words
from hettop.session.session import Session
from tests.record.stories import SECOND, read, record, story


def busy(seconds: float) -> Iterator[AnyEvent]:
    """A story with two marks a second."""
    due = 0
    for event in story(3, seconds):
        while event.t >= due:
            yield events.Mark(t=due, text=f"at {due}")
            due += SECOND // 2
        yield event


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("log") / "a.jsonl"
    record(path, busy(200.0))
    return path


def said(lines: list[Logged]) -> list[tuple[int, str, int]]:
    return [(line.t, in_words(line.entry).text, line.n) for line in lines]


def test_stretch_after_stretch_leads_to_the_log_of_the_whole(recording: Path) -> None:
    whole = Session(raw_limit=0)
    for event in read(recording)[0]:
        whole.fold(event)
    expected = said(list(whole.log.held))
    player = Player(recording, folded_bytes=0)
    player.seek(player.duration_ns)
    log = player.session.log
    assert log.earlier
    assert said(list(log.held)) == expected[log.earlier :]
    assert log.counts == whole.log.counts
    stretches = 0
    while log.earlier:
        before = len(log)
        reader = player.earlier_log()
        while not reader.done:
            reader.poll()
        stretches += 1
        assert len(log) >= before + TAIL
        assert said(list(log.held)) == expected[log.earlier :]
    assert stretches > 1
    done = player.earlier_log()
    assert done.done


def test_reading_changes_nothing_of_what_is_counted(recording: Path) -> None:
    player = Player(recording, folded_bytes=0)
    player.seek(player.duration_ns)
    counts, lines = dict(player.session.log.counts), player.session.log.lines
    reader = player.earlier_log()
    while not reader.done:
        reader.poll()
    assert (player.session.log.counts, player.session.log.lines) == (counts, lines)
