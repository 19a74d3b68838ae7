"""Which keyframes seeking trusts, and how many lines it folds: never a time, which depends on the machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hettop import events
from hettop.record import player as player_module
from hettop.record import seek
from hettop.record.player import Player
from hettop.record.reader import fold
from hettop.record.verify import verify
from hettop.resources import recordings_folder
from hettop.session.event_log import TAIL
from hettop.session.session import FOLD, Session
from hettop.session.views.session_view import view
from hettop.session.views.structs import SessionView, ViewRequest
from tests.record.stories import SECOND, edited, header, is_keyframe, record, story

MOMENT = 239 * SECOND
NEEDED_FROM = MOMENT - 70 * SECOND
"""The longest window, and what a writer's clock is forgiven, before the moment: where lines are needed from."""


class Sought(NamedTuple):
    """What seeking to a moment showed, by whose fold, and how many lines were folded for it."""

    shown: SessionView
    folded_by: str | None
    lines: int


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Four minutes, recorded by hettop 1.2.3, with the fold of this version."""
    path = tmp_path_factory.mktemp("seek") / "a.jsonl"
    record(path, story(5, 240.0), opening=header(host=events.Host(hettop="1.2.3")))
    return path.read_bytes().splitlines(keepends=True)


@pytest.fixture
def sought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Sought]:
    def found(lines: list[bytes], moment: int = MOMENT, **options: Any) -> Sought:
        path = tmp_path / "sought.jsonl"
        path.write_bytes(b"".join(lines))
        count = 0

        def counted(*arguments: Any) -> bool:
            nonlocal count
            count += 1
            return fold(*arguments)

        player = Player(path, folded_bytes=0, **options)
        with monkeypatch.context() as patch:
            for module in (seek, player_module):
                patch.setattr(module, "fold", counted)
            player.seek(moment)
        request = ViewRequest(moment, 60 * SECOND, conditions=True, spikes=True, studies=True, log_lines=TAIL)
        found = Sought(without_reach(view(player.session, request)), player.folded_by, count)
        player.close()
        return found

    return found


def without_reach(shown: SessionView) -> SessionView:
    """With the lines of the log that a keyframe holds, and the number of all that there were."""
    logged = shown.logged
    total = None if logged.earlier is None else logged.held + logged.earlier
    return replace(shown, logged=replace(logged, held=0, earlier=total))


def time_of(line: bytes) -> int:
    return int(json.loads(line)["t"])


def followed(lines: list[bytes], place: int) -> int:
    """How many lines follow this one, up to the moment."""
    return sum(time_of(line) <= MOMENT for line in lines[place + 1 :])


def used(lines: list[bytes]) -> list[int]:
    """The places of the keyframes that are old enough, the last one first."""
    return [place for place, line in enumerate(lines) if is_keyframe(line) and time_of(line) < NEEDED_FROM][::-1]


def as_1_0(keyframe: dict[str, Any]) -> None:
    """What a keyframe of format 1.0 had: no number of a fold, and the log in words."""
    del keyframe["fold"]
    words = [{"t": each["t"], "level": "info", "text": "as worded then"} for each in keyframe.pop("log_events")]
    keyframe["log"] = words


def without_log(shown: SessionView) -> dict[str, Any]:
    return {name: getattr(shown, name) for name in shown.__slots__ if name != "log"}


def test_from_a_checked_keyframe_only_the_lines_after_it_are_folded(
    lines: list[bytes], sought: Callable[..., Sought]
) -> None:
    found, whole = sought(lines), sought(lines, refold=True)
    assert found.lines == followed(lines, used(lines)[0])
    assert whole.lines == sum(time_of(line) <= MOMENT for line in lines)
    assert (found.shown, found.folded_by) == (whole.shown, None)


def test_another_fold_is_trusted_and_named(lines: list[bytes], sought: Callable[..., Sought]) -> None:
    def by_another(keyframe: dict[str, Any]) -> None:
        keyframe["fold"] = FOLD + 1
        for condition in keyframe["conditions"]:  # for its fold, thresholds are elsewhere
            condition["fence_ns"] = 10**9

    other = edited(lines, by_another)
    found = sought(other)
    assert found.lines == followed(lines, used(lines)[0]), "as fast as one of ours"
    assert found.folded_by == "hettop 1.2.3"
    refolded = sought(other, refold=True)
    assert (refolded.folded_by, refolded.shown) == (None, sought(lines, refold=True).shown)
    assert found.shown != refolded.shown


def test_another_fold_of_a_recording_that_does_not_say_by_what_is_named_so(
    lines: list[bytes], sought: Callable[..., Sought]
) -> None:
    other = edited(lines, lambda keyframe: keyframe.update(fold=FOLD + 1))
    other[0] = other[0].replace(b'"hettop":"1.2.3"', b'"os":"x"')
    assert sought(other).folded_by == "another version of hettop"


@pytest.mark.parametrize("checked", [True, False])
def test_a_changed_phrase_changes_nothing_about_seeking(
    lines: list[bytes], sought: Callable[..., Sought], checked: bool
) -> None:
    def worded_otherwise(keyframe: dict[str, Any]) -> None:
        as_1_0(keyframe)
        for number, each in enumerate(keyframe["log"]):
            each["text"] = f"a phrase that no version of this hettop has ever used: {number}"

    found = sought(edited(lines, worded_otherwise, checked=checked))
    last, witness = used(lines)[:2]
    assert found.lines == followed(lines, last if checked else witness)
    assert found.folded_by == "hettop 1.2.3", "keyframes of format [1,0] are of the first fold"
    assert without_log(found.shown) == without_log(sought(lines).shown)


def test_a_keyframe_without_a_checksum_needs_the_one_before_it(
    lines: list[bytes], sought: Callable[..., Sought]
) -> None:
    found = sought(edited(lines, as_1_0, checked=False))
    assert found.lines == followed(lines, used(lines)[1])
    assert without_log(found.shown) == without_log(sought(lines).shown)


def test_a_count_that_the_lines_contradict_is_not_trusted_without_a_checksum(
    lines: list[bytes], sought: Callable[..., Sought]
) -> None:
    old = edited(lines, as_1_0, checked=False)
    last, middle, earliest = used(old)[:3]
    old[last] = re.sub(rb'"samples":(\d+)', rb'"samples":1\1', old[last], count=1)
    found = sought(old)
    in_vain = last - middle - 1  # from the middle one to the last, which then does not agree
    assert found.lines == followed(lines, earliest) + in_vain
    assert without_log(found.shown) == without_log(sought(lines).shown)


@pytest.mark.parametrize("field", ["fence_ns", "spikes", "energy", "crc32", "line_crc32"])
def test_a_keyframe_with_a_flipped_digit_is_passed_over_for_the_one_before_it(
    lines: list[bytes], sought: Callable[..., Sought], field: str
) -> None:
    last, before = used(lines)[:2]
    damaged = [*lines]
    at = re.search(rb'"%s":\D{0,20}(\d)' % field.encode(), lines[last])
    assert at is not None
    place = at.start(1)
    damaged[last] = lines[last][:place] + b"%d" % (9 - int(at[1])) + lines[last][place + 1 :]
    found = sought(damaged)
    assert found.lines == followed(lines, before)
    assert found.shown == sought(lines).shown


def test_where_every_keyframe_was_changed_all_is_folded(lines: list[bytes], sought: Callable[..., Sought]) -> None:
    damaged = [re.sub(rb'"fold":\d', b'"fold":7', line) if is_keyframe(line) else line for line in lines]
    found = sought(damaged)
    assert (found.lines, found.folded_by) == (sought(lines, refold=True).lines, None)


def test_a_right_checksum_over_a_lie_is_found_by_verify_and_not_by_seeking(
    lines: list[bytes], sought: Callable[..., Sought], tmp_path: Path
) -> None:
    lying = [*lines]
    last = used(lines)[0]
    (lying[last],) = edited([lines[last]], lambda keyframe: keyframe.update(samples=keyframe["samples"] + 1))
    found = sought(lying)
    assert found.lines == followed(lines, last)
    assert found.shown.header.samples == sought(lines).shown.header.samples + 1
    path = tmp_path / "lying.jsonl"
    path.write_bytes(b"".join(lying))
    checked = verify(path).document()
    assert (checked["ok"], checked["keyframe_errors"], checked["crc_errors"]) == (False, 1, 0)


def test_the_spikes_of_a_selection_by_another_fold_are_named_so(lines: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_bytes(b"".join(edited(lines, lambda keyframe: keyframe.update(fold=FOLD + 1))))
    player = Player(path, folded_bytes=0)
    selection = player.select(200 * SECOND, 210 * SECOND)
    while not selection.done:
        selection.poll()
    assert (player.folded_by, selection.folded_by) == (None, "hettop 1.2.3")


@pytest.mark.parametrize("path", sorted(recordings_folder().glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_sample_recordings_show_the_same_however_a_moment_is_reached(path: Path) -> None:
    player = Player(path, folded_bytes=0)
    player.seek(player.duration_ns)
    whole = Player(path, refold=True)
    whole.seek(whole.duration_ns)
    request = ViewRequest(now_ns=player.duration_ns, window_ns=60 * SECOND)
    shown = [view(each.session, request) for each in (player, whole)]
    assert shown[0] == shown[1]
    assert player.folded_by is None


def test_folding_from_a_keyframe_leads_to_the_keyframes_after_it(lines: list[bytes]) -> None:
    opening = events.decode(lines[0])
    assert isinstance(opening, events.Header)
    first, *later = [place for place, line in enumerate(lines) if is_keyframe(line)]
    keyframe = events.decode(lines[first])
    assert isinstance(keyframe, events.Keyframe)
    session = Session.restored(opening, keyframe)
    for place in range(first + 1, len(lines)):
        event = events.decode(lines[place])
        assert event is not None
        if place in later:
            assert isinstance(event, events.Keyframe)
            assert events.encode(session.keyframe(event.t, event.crc32)) + b"\n" == lines[place]
        session.fold(event)
