"""The actions that control a replay: its position in the recording and its speed."""

from __future__ import annotations

from functools import partial

from hettop.errors import HettopError
from hettop.record.moments import moment_of
from hettop.tui.actions.controls import Controls, words
from hettop.tui.constants import WHOLE_SESSION_S, next_window_s
from hettop.tui.dialogs import MomentScreen
from hettop.tui.panels.scrub import ScrubBar
from hettop.tui.screens.spikes import SpikesScreen
from hettop.units import NS_PER_S


class Replaying(Controls):
    """The actions of a replay."""

    def action_seek(self, direction: int) -> None:
        if (status := self.replay_status) is not None:
            self._seek(status.position_ns + direction * NS_PER_S)

    def action_seek_start(self) -> None:
        self._seek(0)

    def action_seek_end(self) -> None:
        if (status := self.replay_status) is not None:
            self._seek(status.duration_ns)

    def _seek(self, position_ns: int) -> None:
        if self.replay is not None:
            self.send(partial(self.replay.seek, max(0, position_ns)))

    def action_go_to(self) -> None:
        self.push_screen(MomentScreen(), self._go_to)

    def _go_to(self, text: str | None) -> None:
        status = self.replay_status
        if not text or status is None:
            return
        try:
            self._seek(moment_of(text, status.position_ns, status.duration_ns))
        except HettopError as error:
            self.notify(words(error), severity="warning", markup=False)

    def action_step_window(self, direction: int) -> None:
        if self.replay is not None:
            self.send(partial(self.replay.step_window, direction))

    def action_next_mark(self, direction: int) -> None:
        if self.replay is not None:
            self.send(partial(self.replay.next_mark, direction))

    def on_spikes_screen_pointed(self, message: SpikesScreen.Pointed) -> None:
        """Show a spike where it happened: seek there in a replay, else mark it on the timeline if that reaches it."""
        self.pointed_ns = message.end_ns
        if isinstance(self.screen, SpikesScreen):
            self.pop_screen()
        status = self.replay_status
        if status is None:
            self._show_pointed(message.end_ns)
            return
        if status.playing and self.replay is not None:
            self.send(self.replay.toggle_play)
        # Samples are written to the recording up to a second later.
        self._seek(message.end_ns + NS_PER_S)

    def _show_pointed(self, moment_ns: int) -> None:
        """Lengthen the window until it contains the moment."""
        now_ns = 0 if self.feed is None else self.feed.now_ns
        while self.window_s * NS_PER_S <= now_ns - moment_ns and self.window_s < WHOLE_SESSION_S:
            self.window_s = next_window_s(self.window_s, 1, now_ns / NS_PER_S)
        self.draw()

    def action_next_spike(self, direction: int) -> None:
        if self.replay is not None:
            self.send(partial(self.replay.next_spike, direction))

    def on_events_panel_earlier(self) -> None:
        if self.replay is not None:
            self.replay.read_earlier_log()

    def action_select(self, direction: int) -> None:
        if self.replay is not None:
            self.send(partial(self.replay.select, direction))

    def action_toggle_loop(self) -> None:
        if self.replay is not None:
            self.send(self.replay.toggle_loop)

    def action_change_speed(self, direction: int) -> None:
        if self.replay is not None:
            self.send(partial(self.replay.change_speed, direction))

    def on_scrub_bar_sought(self, message: ScrubBar.Sought) -> None:
        self._seek(message.position_ns)
