"""The actions that control a replay: its position in the recording and its speed."""

from __future__ import annotations

import re
from functools import partial

from hettop.errors import HettopError
from hettop.text import clean
from hettop.tui.actions.controls import Controls, words
from hettop.tui.constants import WINDOWS_S
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
        age_ns = 0 if self.feed is None else self.feed.now_ns - moment_ns
        longer = [seconds for seconds in WINDOWS_S if seconds * NS_PER_S > age_ns and seconds >= self.window_s]
        if longer:
            self.window_s = longer[0]
        else:
            self.notify(f"that spike was {age_ns // NS_PER_S} s ago, before the longest time window", markup=False)
        self.draw()

    def action_next_spike(self, direction: int) -> None:
        if self.replay is not None:
            self.send(partial(self.replay.next_spike, direction))

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


_SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_LENGTH = re.compile(r"(\d{1,12}(?:\.\d{1,12})?) ?(ms|s|m|min|h|%)?", re.ASCII)
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d{1,12})?)", re.ASCII)


def moment_of(text: str, position_ns: int, duration_ns: int) -> int:
    """Nanoseconds of the recording: `90s`, `2m`, `1:30`, `1:02:03.5`, plain seconds, or `50%` of the whole.

    With a sign it counts from `position_ns`: `+10s`. Clamped to the recording. Raises HettopError (`usage`) for
    anything else.
    """
    entered = text.strip().lower()
    sign = entered[:1] if entered[:1] in ("+", "-") else ""
    length = _length(entered.removeprefix(sign).strip(), duration_ns)
    if length is None:
        raise HettopError("usage", f"invalid moment {clean(text, 40)!r}", "enter 90s, 1:30, 1:02:03, 50% or +10s")
    moment = position_ns + length * (1 if sign == "+" else -1) if sign else length
    return max(0, min(moment, duration_ns))


def _length(text: str, duration_ns: int) -> int | None:
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        hours, minutes, seconds = clock.groups()
        return round((int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)) * NS_PER_S)
    found = _LENGTH.fullmatch(text)
    if found is None:
        return None
    value, unit = float(found[1]), found[2] or ""
    if unit == "%":
        return round(value / 100 * duration_ns)
    return round(value * _SECONDS[unit] * NS_PER_S)
