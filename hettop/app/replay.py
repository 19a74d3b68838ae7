"""The replay feed: advances a player with real time, and provides its controls to the screen.

Real time selects only the position; the view at a position depends on the recording alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hettop import events
from hettop.app.verdict_cache import VerdictCache, budget_of
from hettop.format import UNKNOWN, milliseconds
from hettop.record.earlier_log import EarlierLog
from hettop.record.player import Player
from hettop.record.selection import SelectionReader
from hettop.report.page import Block
from hettop.session.session import Session
from hettop.session.views.replay import Band, SelectedUnit, Selection
from hettop.sources.engine.backend import Clock, RealClock
from hettop.studies.registry import StudyPages
from hettop.tui.feed import Notice, RecordingStatus, ReplayStatus, VerdictPage

if TYPE_CHECKING:
    from hettop.analysis.budget import Budget

SCANNED_AT_ONCE_BYTES = 1 << 24  # some 25 ms, between two frames
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


class ReplayFeed:
    """Plays one recording on the screen, from `at_ns` on."""

    def __init__(
        self,
        path: Path,
        *,
        speed: float = 1.0,
        at_ns: int = 0,
        clock: Clock | None = None,
        refold: bool = False,
        verdicts: VerdictCache | None = None,
    ) -> None:
        """refold: fold from the start instead of trusting keyframes.

        Raises HettopError (`recording`) when the file cannot be played.
        """
        self._player = Player(path, refold=refold)
        self._clock = clock or RealClock()
        self._speed = speed
        self._playing = True
        self._notices = [_changed(self._player.crc_errors)] if self._player.crc_errors else []
        self._played_from: int | None = None  # None until the first frame, so that the requested moment is shown
        self._verdicts = verdicts or VerdictCache()
        self._overview = self._player.overview()
        self._selecting = Selecting(self._player)
        self._pages = StudyPages()
        self._earlier_log: EarlierLog | None = None
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
        self._look_around()
        now = self._clock.now()
        passed = 0 if self._played_from is None else now - self._played_from
        self._played_from = now
        if not self._playing:
            return
        target = self._player.position_ns + round(passed * self._speed)
        again = self._selecting.looped_position(target)
        if again is not None:
            self._player.seek(again)
            return
        self._player.advance(target)
        if self._player.position_ns >= self._player.duration_ns:
            self._playing = False

    def _look_around(self) -> None:
        """Read the next part of the recording for overview and selection, so that playback never stalls."""
        if not self._player.scanned:
            self._player.scan(SCANNED_AT_ONCE_BYTES)
        if self._overview.duration_ns != self._player.duration_ns:  # a second recording was found appended to it
            self._overview = self._player.overview()
        self._overview.poll()
        if self._earlier_log is not None:
            self._earlier_log.poll()
        if self._selecting.poll():
            self._notices += selection_notices(self._selecting.selection)

    def look_at_all(self) -> None:
        """Read the whole recording now: for a picture, which is drawn once."""
        while not (self._player.scanned and self._overview.done):
            self._look_around()

    def recording_status(self) -> RecordingStatus | None:
        return None

    def replay_status(self) -> ReplayStatus | None:
        player = self._player
        return ReplayStatus(
            player.path,
            player.position_ns,
            player.duration_ns,
            self._speed,
            self._playing,
            player.marks_ns,
            player.changes,
            self._selecting.selection,
            player.folded_by or self._selecting.folded_by,
        )

    def overview(self, columns: int) -> tuple[Band | None, ...]:
        return self._overview.bands(columns)

    def verdict(self) -> VerdictPage | None:
        return self._verdicts.page(self._player.session, self._player.position_ns, still=not self._playing)

    def budget(self) -> Budget | None:
        return budget_of(self._player.session)

    def study_page(self, study: events.Study) -> list[Block]:
        return self._pages.of(study)

    def notices(self) -> list[Notice]:
        found, self._notices = self._notices, []
        return found

    def drew_frame(self, duration_ns: int) -> None:
        """Ignored: a replay measures nothing that a redraw could disturb."""

    def toggle_play(self) -> None:
        """Play or pause; at the end, play again from the beginning."""
        if not self._playing and self._player.position_ns >= self._player.duration_ns:
            self._player.seek(0)
        self._playing = not self._playing

    def seek(self, position_ns: int) -> None:
        self._player.seek(position_ns)

    def to_end(self) -> None:
        """Pause at the end."""
        self._player.seek(self._player.duration_ns)
        self._playing = False

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
            self._say_none("mark", direction)

    def next_spike(self, direction: int) -> None:
        """Go to the next or previous spike and pause. Raises HettopError (`recording`)."""
        found = self._player.next_spike(direction)
        if found is None:
            self._say_none("spike", direction)
            return
        self._playing = False
        self._notices.append(Notice(f"spike {milliseconds(found.latency_ms)} ms {found.unit}"))

    def read_earlier_log(self) -> None:
        """Read on in the file for lines of the log before those in memory; they appear when they are found."""
        reader, log = self._earlier_log, self._player.session.log
        if reader is None or reader.done or reader.log is not log:
            self._earlier_log = self._player.earlier_log()

    def _say_none(self, what: str, direction: int) -> None:
        self._notices.append(Notice(f"no {what} {'after' if direction > 0 else 'before'} this moment"))

    def select(self, direction: int) -> None:
        before = self._selecting.selection
        self._selecting.set_end(self._player.position_ns, direction)
        after = self._selecting.selection
        if before is None or after is None:
            return
        if before.start_ns is not None and after.start_ns is None:
            self._notices.append(Notice("before the start of the selection: ( sets a new start"))
        if before.end_ns is not None and after.end_ns is None:
            self._notices.append(Notice("after the end of the selection: ) sets a new end"))

    def toggle_loop(self) -> None:
        """Play the selection in a loop, or stop that."""
        if not self._selecting.toggle_loop():
            self._notices.append(Notice("no selection: ( sets its start, ) its end"))
        elif self._selecting.looping:
            self._playing = True

    def close(self) -> None:
        self._player.close()


def selection_notices(selection: Selection | None) -> list[Notice]:
    """The statistics of all units where there are several: the line below the scrub bar fits few."""
    if selection is None or len(selection.units) < 2:
        return []
    ranked = sorted(selection.units, key=lambda unit: unit.p50_ms)
    rows = [
        f"{unit.unit}: n {unit.n:,}, P50 {milliseconds(unit.p50_ms)}, P90 {milliseconds(unit.p90_ms)}, "
        f"max {milliseconds(unit.max_ms)} ms, {UNKNOWN if unit.spikes is None else unit.spikes} spikes"
        for unit in ranked
    ]
    return [Notice("\n".join(rows))]


class Selecting:
    """The selection of a replay; None until one of its ends is set."""

    def __init__(self, player: Player) -> None:
        self._player = player
        self._start: int | None = None
        self._end: int | None = None
        self._looping = False
        self._reader: SelectionReader | None = None
        self._units: tuple[SelectedUnit, ...] = ()

    @property
    def selection(self) -> Selection | None:
        if self._start is None and self._end is None:
            return None
        share = 0.0 if self._reader is None else self._reader.share
        return Selection(self._start, self._end, self._looping, share, self._units)

    def set_end(self, moment_ns: int, direction: int) -> None:
        """Set its start (`direction` < 0) or end; an end before the start removes the other one.

        The same start or end again clears the selection.
        """
        if moment_ns == (self._start if direction < 0 else self._end):
            self._start = self._end = None
        elif direction < 0:
            self._start = moment_ns
            self._end = None if self._end is not None and self._end <= moment_ns else self._end
        else:
            self._end = moment_ns
            self._start = None if self._start is not None and self._start >= moment_ns else self._start
        self._units, self._reader = (), None
        if self._start is not None and self._end is not None:
            self._reader = self._player.select(self._start, self._end)
        else:
            self._looping = False

    @property
    def folded_by(self) -> str | None:
        """The version that computed the selection's spikes, where that is another version."""
        return None if self._reader is None else self._reader.folded_by

    @property
    def looping(self) -> bool:
        """Whether the selection is played in a loop."""
        return self._looping

    def toggle_loop(self) -> bool:
        """Start or stop looping; returns False without a complete selection."""
        if self._reader is None:
            return False
        self._looping = not self._looping
        return True

    def looped_position(self, target_ns: int) -> int | None:
        """The position that looping goes to instead of `target_ns`; None without looping."""
        if not self._looping or self._start is None or self._end is None or target_ns < self._end:
            return None
        return self._start + (target_ns - self._end) % (self._end - self._start)

    def poll(self) -> bool:
        """Read the next part of the selection; returns whether that was the last."""
        if self._reader is None or self._reader.done:
            return False
        self._reader.poll()
        if self._reader.done:
            self._units = self._reader.units
        return self._reader.done


def _changed(crc_errors: int) -> Notice:
    return Notice(f"{crc_errors:,} checksums do not match: the recording was changed; run hettop verify", "warning")
