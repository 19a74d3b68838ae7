"""The keys that steer a replay: where in the recording it stands, and how fast it plays."""

from __future__ import annotations

from functools import partial

from hettop.format import NS_PER_SECOND
from hettop.tui.actions.steering import Steering
from hettop.tui.panels.scrub import ScrubBar


class Replaying(Steering):
    """What is done to a replay."""

    def action_seek(self, direction: int) -> None:
        if (status := self.replay_status) is not None:
            self._seek(status.position_ns + direction * NS_PER_SECOND)

    def action_seek_start(self) -> None:
        self._seek(0)

    def action_seek_end(self) -> None:
        if (status := self.replay_status) is not None:
            self._seek(status.duration_ns)

    def _seek(self, position_ns: int) -> None:
        if self.replay is not None:
            self.tell(partial(self.replay.seek, max(0, position_ns)))

    def action_step_window(self, direction: int) -> None:
        if self.replay is not None:
            self.tell(partial(self.replay.step_window, direction))

    def action_next_mark(self, direction: int) -> None:
        if self.replay is not None:
            self.tell(partial(self.replay.next_mark, direction))

    def action_change_speed(self, direction: int) -> None:
        if self.replay is not None:
            self.tell(partial(self.replay.change_speed, direction))

    def on_scrub_bar_sought(self, message: ScrubBar.Sought) -> None:
        self._seek(message.position_ns)
