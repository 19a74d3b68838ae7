"""How far a measurement in turns is, told to whoever follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from hettop.cli.output import Answer
from hettop.cli.rounds import KNOWN_EVERY_NS, TOLD_EVERY_NS, Followed
from hettop.measurement.rounds import Rounds


@dataclass
class Turns:
    """Stands in for what is measured."""

    between_turns: bool = False
    doing: str = "b1 on ALL"
    share_done: float = 0.0


@dataclass
class Told:
    """Keeps what is told."""

    lines: list[tuple[str, float | None]] = field(default_factory=list)
    documents: list[Mapping[str, Any]] = field(default_factory=list)

    def doing(self, text: str, share: float | None = None) -> None:
        self.lines.append((text, share))

    def known(self, document: Callable[[], Mapping[str, Any]]) -> None:
        self.documents.append(document())


def followed() -> tuple[Turns, Told, list[int], Followed]:
    turns, told, clock = Turns(), Told(), [0]
    asked = {"n": 0}

    def known() -> dict[str, int]:
        asked["n"] += 1
        return dict(asked)

    return turns, told, clock, Followed(cast(Rounds, turns), cast(Answer, told), known, lambda: clock[0])


def test_what_is_going_on_is_told_at_once_and_then_twice_a_second() -> None:
    turns, told, clock, following = followed()
    for now, share in ((0, 0.0), (10, 0.1), (TOLD_EVERY_NS, 0.2)):
        clock[0], turns.share_done = now, share
        following.look()
    assert told.lines == [("b1 on ALL", 0.0), ("b1 on ALL", 0.2)]
    assert told.documents == []


def test_what_is_known_is_told_between_turns_alone_and_about_once_a_second() -> None:
    turns, told, clock, following = followed()
    counts = []
    for now, between in ((0, True), (KNOWN_EVERY_NS, False), (KNOWN_EVERY_NS + 10, True), (KNOWN_EVERY_NS + 20, True)):
        clock[0], turns.between_turns = now, between
        following.look()
        counts.append(len(told.documents))
    assert counts == [0, 0, 1, 1], "nothing is put together while something is measured"


def test_a_document_is_followed_by_how_far_it_is() -> None:
    """The last line is what a screen shows until the next."""
    turns, told, clock, following = followed()
    for clock[0] in (0, TOLD_EVERY_NS):
        following.look()
    clock[0], turns.between_turns, turns.doing, turns.share_done = KNOWN_EVERY_NS, True, "", 0.5
    following.look()
    assert told.lines[-1] == ("b1 on ALL", 0.5), "between turns the last one's name stays"
    assert len(told.documents) == 1
