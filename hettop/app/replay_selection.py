"""What is selected of a replay: its two ends, whether the replay goes round in it, and its statistics.

Knows the player, which reads the statistics; neither time nor screen.
"""

from __future__ import annotations

from hettop.record.player import Player
from hettop.record.selection import SelectionReader
from hettop.session.replay_views import SelectedUnit, Selection


class Selecting:
    """The one selection of a replay; none until an end of it is set."""

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
        """Let it begin (`direction` < 0) or end at a moment; what would end before it begins loses its other end.

        Where it already begins or ends, there is no selection any more.
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
        """The version whose fold the selection's spikes are by, where that is another."""
        return None if self._reader is None else self._reader.folded_by

    @property
    def looping(self) -> bool:
        """Whether the selection is played over and over."""
        return self._looping

    def toggle_loop(self) -> bool:
        """Go round in it, or not any more; False where there is nothing to go round in."""
        if self._reader is None:
            return False
        self._looping = not self._looping
        return True

    def turned_back(self, target_ns: int) -> int | None:
        """Where a replay that would go to `target_ns` goes instead; None where it simply goes there."""
        if not self._looping or self._start is None or self._end is None or target_ns < self._end:
            return None
        return self._start + (target_ns - self._end) % (self._end - self._start)

    def poll(self) -> bool:
        """Read the next part of what is selected; whether that was the last."""
        if self._reader is None or self._reader.done:
            return False
        self._reader.poll()
        if self._reader.done:
            self._units = self._reader.units
        return self._reader.done
