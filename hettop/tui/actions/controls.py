"""What all actions of the app stand on: the feed and its controls, and how what went wrong is said.

Draws nothing. Actions whose controls the feed does not have are hidden and inactive.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from textual.app import App
from textual.notifications import SeverityLevel
from textual.screen import Screen

from hettop.errors import HettopError
from hettop.report.terminal.glyphs import to_ascii
from hettop.text import clean
from hettop.tui.driver import TerminalDriver
from hettop.tui.feed import Feed, LiveControls, ReplayControls, ReplayStatus
from hettop.tui.frame_state import FrameState
from hettop.tui.keymap import with_keymap
from hettop.tui.keys import KEYS, applicable
from hettop.tui.preferences import Preferences

_NEEDS = {key.action: key.needs for key in KEYS if key.needs}


class Controls(App[None]):
    """An app with a feed. Its state is how the user looks at the session: window, unit, freeze."""

    def __init__(
        self,
        *,
        replaying: bool,
        ascii: bool = False,  # noqa: A002 - the option's name
        preferences: Preferences | None = None,
    ) -> None:
        super().__init__(driver_class=TerminalDriver if "TEXTUAL_DRIVER" not in os.environ else None)
        self.feed: Feed | None = None
        self.ascii_only = ascii
        self.set_class(ascii, "-ascii")  # for what Textual draws itself
        self.frame_state: FrameState | None = None
        self.preferences = preferences or Preferences()
        self.replaying = replaying
        self.window_s = self.preferences.window_s
        self.unit: str | None = None
        self.frozen = False
        self.pointed_ns: int | None = None
        self.theme_names: list[str] = []
        self.keys = with_keymap(applicable(live=not replaying, replay=replaying), self.preferences.keymap)
        self.set_keymap(dict(self.preferences.keymap))

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Tell the user something now; words are words here, never markup."""
        said = to_ascii(message) if self.ascii_only else message
        super().notify(said, title=title, severity=severity, timeout=timeout, markup=markup)

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

    @property
    def main(self) -> Screen[object]:
        """The screen with the panels, whatever stands over it."""
        return self.screen_stack[0]

    def draw(self) -> None:
        """Draw what the feed has now (or, frozen, nothing new)."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        written = f"{action}({', '.join(repr(parameter) for parameter in parameters)})" if parameters else action
        needs = _NEEDS.get(written)
        return needs is None or getattr(self, needs) is not None

    def run_control(self, change: Callable[[LiveControls], None]) -> None:
        """Use a control of the live measurement; in a replay there is none."""
        live = self.live
        if live is not None:
            self.send(lambda: change(live))

    def send(self, control: Callable[[], None]) -> None:
        """Use a control and draw what came of it; what it cannot do becomes a toast."""
        try:
            control()
        except HettopError as error:
            self.notify(words(error), severity="error", markup=False)
        self.draw()


def words(error: HettopError) -> str:
    """An error as one line for a toast."""
    return " · ".join(clean(part) for part in (error.message, error.hint) if part)
