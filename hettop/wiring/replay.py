"""A replay: turns the passing of time into positions of a player, and offers the screen its controls.

Real time only picks the position; what is shown at a position depends on the recording alone.
"""

from __future__ import annotations

from pathlib import Path

from hettop.engine.backend import Clock
from hettop.engine.clock import RealClock
from hettop.record.player import Player
from hettop.session.session import Session
from hettop.tui.feed import Notice, RecordingStatus, ReplayStatus

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class ReplayFeed:
    """Plays one recording for the screen, from `at_ns` on."""

    def __init__(self, path: Path, *, speed: float = 1.0, at_ns: int = 0, clock: Clock | None = None) -> None:
        """Raises HettopError (`recording`) when the file cannot be played."""
        self._player = Player(path)
        self._clock = clock or RealClock()
        self._speed = speed
        self._playing = True
        self._notices: list[Notice] = []
        self._played_from: int | None = None  # the moment asked for stands until it is first shown
        self._player.seek(at_ns)

    @property
    def live(self) -> None:
        return None

    @property
    def replay(self) -> ReplayFeed:
        return self

    @property
    def session(self) -> Session:
        return self._player.session

    @property
    def now_ns(self) -> int:
        return self._player.position_ns

    def pump(self) -> None:
        if not self._player.scanned:
            self._player.scan()
        now = self._clock.now()
        passed = 0 if self._played_from is None else now - self._played_from
        self._played_from = now
        if self._playing:
            self._player.advance(self._player.position_ns + round(passed * self._speed))
            if self._player.position_ns >= self._player.duration_ns:
                self._playing = False

    def recording_status(self) -> RecordingStatus | None:
        return None

    def replay_status(self) -> ReplayStatus | None:
        player = self._player
        return ReplayStatus(
            player.path, player.position_ns, player.duration_ns, self._speed, self._playing, player.marks_ns
        )

    def notices(self) -> list[Notice]:
        found, self._notices = self._notices, []
        return found

    def drew_frame(self, duration_ns: int) -> None:
        """A replay measures nothing, so what a redraw costs is nobody's spike."""

    def toggle_play(self) -> None:
        """Play or pause; at the end, play again from the beginning."""
        if not self._playing and self._player.position_ns >= self._player.duration_ns:
            self._player.seek(0)
        self._playing = not self._playing

    def seek(self, position_ns: int) -> None:
        self._player.seek(position_ns)

    def step_window(self, direction: int) -> None:
        self._playing = False
        self._player.step_window(direction)

    def change_speed(self, direction: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self._speed))
        self._speed = SPEEDS[max(0, min(nearest + direction, len(SPEEDS) - 1))]

    def next_mark(self, direction: int) -> None:
        before = self._player.position_ns
        self._player.next_mark(direction)
        if self._player.position_ns == before:
            where = "after" if direction > 0 else "before"
            self._notices.append(Notice(f"no mark {where} this moment"))

    def close(self) -> None:
        self._player.close()
