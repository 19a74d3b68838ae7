"""What each key does: passes it on to the feed's controls, or changes how the session is looked at.

Draws nothing. Actions whose controls the feed does not have are hidden and inactive.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from textual.app import App, SuspendNotSupported
from textual.screen import Screen

from hettop.errors import HettopError
from hettop.format import NS_PER_SECOND, seconds
from hettop.session.views import UnitRow
from hettop.text import clean
from hettop.tui.asking import run_on_terminal
from hettop.tui.dialogs import HelpScreen, MarkScreen
from hettop.tui.driver import TerminalDriver
from hettop.tui.feed import Feed, LiveControls, ReplayControls, ReplayStatus
from hettop.tui.keys import KEYS, applicable
from hettop.tui.panels.hints import Hints
from hettop.tui.panels.panel import Panel
from hettop.tui.panels.scrub import ScrubBar
from hettop.tui.panels.units import UnitsPanel
from hettop.tui.picture import Picture

WINDOWS_S = (5, 10, 30, 60)
_NEEDS = {key.action.partition("(")[0]: key.needs for key in KEYS if key.needs}


class Actions(App[None]):
    """The actions of the app. Its state is how the user looks at the session: window, unit, zoom, freeze."""

    def __init__(self, *, replaying: bool, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(driver_class=TerminalDriver if "TEXTUAL_DRIVER" not in os.environ else None)
        self.feed: Feed | None = None
        self.ascii_only = ascii
        self.picture: Picture | None = None
        self.window_s = 30
        self.unit: str | None = None
        self.frozen = False
        self.theme_names: list[str] = []
        self.keys = applicable(live=not replaying, replay=replaying)

    @property
    def live(self) -> LiveControls | None:
        """The controls of a live measurement; None in a replay, and until the feed is open."""
        return None if self.feed is None else self.feed.live

    @property
    def replay(self) -> ReplayControls | None:
        """The controls of a replay; None in a live measurement, and until the feed is open."""
        return None if self.feed is None else self.feed.replay

    @property
    def replay_status(self) -> ReplayStatus | None:
        return None if self.feed is None else self.feed.replay_status()

    def draw(self) -> None:
        """Draw what the feed has now (or, frozen, nothing new)."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        needs = _NEEDS.get(action)
        return needs is None or getattr(self, needs) is not None

    def tell(self, control: Callable[[], None]) -> None:
        """Use a control and draw what came of it; what it cannot do becomes a toast."""
        try:
            control()
        except HettopError as error:
            self.notify(_words(error), severity="error", markup=False)
        self.draw()

    # Measuring

    def action_pause(self) -> None:
        if self.live is not None:
            self.tell(self.live.toggle_pause)
        elif self.replay is not None:
            self.tell(self.replay.toggle_play)

    def action_next_unit(self) -> None:
        rows = self._rows()
        if not rows:
            return
        names = [row.unit for row in rows]
        current = self.unit or next((row.unit for row in rows if row.active), names[-1])
        at = names.index(current) if current in names else -1
        self.choose(names[(at + 1) % len(names)])

    def choose(self, unit: str) -> None:
        """Measure this unit; where nothing is being measured, look at it (again: at the active one)."""
        if self.live is not None:
            self.tell(partial(self.live.switch, unit))
        else:
            self.unit = None if unit == self.unit else unit
            self.draw()

    def action_interleave(self) -> None:
        """All units in turns; while they are, back to the one that is looked at."""
        if self.live is None:
            return
        view = self.picture.session if self.picture is not None else None
        if view is not None and view.header.mode == "interleave" and view.latency.unit is not None:
            self.choose(view.latency.unit)
        else:
            self.tell(self.live.interleave)

    def action_cycle_load(self) -> None:
        if self.live is not None:
            self.tell(self.live.cycle_load)

    def action_record(self) -> None:
        if self.live is not None:
            self.tell(self.live.toggle_recording)

    def action_reset(self) -> None:
        if self.live is not None:
            self.tell(self.live.reset)

    def action_restart(self) -> None:
        failed = [row for row in self._rows() if row.error is not None or row.state == "failed"]
        chosen = next((row for row in failed if row.active), next(iter(failed), None))
        if chosen is None:
            self.notify("no unit has failed", markup=False)
        elif self.live is not None:
            self.tell(partial(self.live.restart, chosen.unit))

    def action_baseline(self) -> None:
        if self.live is not None:
            self.tell(self.live.take_baseline)

    def action_power_access(self) -> None:
        """Ask for the password on the plain terminal, where sudo asks itself; then look for power again."""
        if self.live is None:
            return
        try:
            asking = self.live.power_access()
        except HettopError as error:
            self.notify(_words(error), severity="warning", markup=False)
            return
        try:
            with self.suspend():
                granted = run_on_terminal(asking)
        except SuspendNotSupported:
            self.notify("this terminal cannot be left for a moment; run sudo -v before hettop", markup=False)
            return
        if granted:
            self.tell(self.live.retry_power)
        else:
            self.notify("no access to power figures was given", severity="warning", markup=False)

    def action_mark(self) -> None:
        self.push_screen(MarkScreen(), self._mark)

    def _mark(self, text: str | None) -> None:
        if text is not None and self.live is not None:
            self.tell(partial(self.live.mark, text))

    def _rows(self) -> tuple[UnitRow, ...]:
        return self.picture.session.units.rows if self.picture is not None else ()

    # Replay

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

    # Looking

    def action_freeze(self) -> None:
        self.frozen = not self.frozen
        self.draw()

    def action_window(self, direction: int) -> None:
        at = WINDOWS_S.index(self.window_s) + direction
        self.window_s = WINDOWS_S[min(max(at, 0), len(WINDOWS_S) - 1)]
        self.notify(f"time window {seconds(self.window_s * NS_PER_SECOND)}", timeout=1.5, markup=False)
        self.draw()

    def action_panel(self, number: int) -> None:
        """Focus a panel; one that has no room on this screen, or is behind a zoomed one, is zoomed."""
        panel = self._main.query_one(f"#panel-{number}", Panel)
        if not panel.is_on_screen or self._main.has_class("-zoomed"):
            self._zoom(panel)
        panel.focus()

    def action_focus_next(self) -> None:
        self._step_focus(1)

    def action_focus_previous(self) -> None:
        self._step_focus(-1)

    def _step_focus(self, direction: int) -> None:
        """The next panel in the order of their numbers, of those that are shown."""
        shown = sorted((p for p in self._main.query(Panel) if p.is_on_screen), key=lambda panel: panel.NUMBER)
        if shown and len(self.screen_stack) == 1:
            at = shown.index(self._main.focused) if self._main.focused in shown else -direction
            shown[(at + direction) % len(shown)].focus()

    def action_scroll_panel(self, direction: int) -> None:
        if isinstance(panel := self._main.focused, Panel):
            panel.scroll(direction)

    def action_details(self) -> None:
        if isinstance(panel := self._main.focused, Panel):
            panel.toggle_details()

    def action_zoom(self) -> None:
        focused = self._main.focused
        if self._main.has_class("-zoomed"):
            self._zoom(None)
        else:
            self._zoom(focused if isinstance(focused, Panel) else self._main.query(Panel).first())

    def _zoom(self, panel: Panel | None) -> None:
        self._main.query("Panel.-zoomed").remove_class("-zoomed")
        self._main.query("Container.-zoomed").remove_class("-zoomed")
        self._main.set_class(panel is not None, "-zoomed")
        if panel is not None:
            panel.add_class("-zoomed")
            if panel.parent is not None:
                panel.parent.add_class("-zoomed")
            panel.focus()

    @property
    def _main(self) -> Screen[object]:
        """The screen with the panels, whatever stands over it."""
        return self.screen_stack[0]

    def action_next_theme(self) -> None:
        names = self.theme_names
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]

    def action_help(self) -> None:
        self.push_screen(HelpScreen(self.keys, ascii=self.ascii_only))

    def action_help_quit(self) -> None:
        """Ctrl+C: whoever presses it wants out; the exit code says that it was an interruption."""
        self.exit(return_code=130)

    # Mouse

    def on_units_panel_chosen(self, message: UnitsPanel.Chosen) -> None:
        self.choose(message.unit)

    def on_scrub_bar_sought(self, message: ScrubBar.Sought) -> None:
        self._seek(message.position_ns)

    async def on_hints_pressed(self, message: Hints.Pressed) -> None:
        await self.run_action(message.action)


def _words(error: HettopError) -> str:
    return " · ".join(clean(part) for part in (error.message, error.hint) if part)
