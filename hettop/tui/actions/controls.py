"""The base of all actions of the app: the feed, its controls, and how errors are shown.

Actions whose controls the feed does not have are hidden and inactive.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from textual.app import App
from textual.notifications import SeverityLevel
from textual.screen import Screen

from hettop.errors import HettopError
from hettop.session.views.structs import Scale
from hettop.text import clean
from hettop.tui.driver import driver_class
from hettop.tui.feed import Feed, LiveControls, ReplayControls, ReplayStatus
from hettop.tui.frame_state import FrameState
from hettop.tui.keymap import with_keymap
from hettop.tui.keys import KEYS, applicable
from hettop.tui.notices import Notices
from hettop.tui.preferences import Preferences

_NEEDS = {key.action: key.needs for key in KEYS if key.needs}


class Controls(App[None]):
    """An app with a feed. Its state is how the session is viewed: window, unit, all units or one, scale, freeze."""

    def __init__(
        self,
        *,
        replaying: bool,
        ascii: bool = False,  # noqa: A002 - the option's name
        preferences: Preferences | None = None,
    ) -> None:
        super().__init__(driver_class=driver_class(os.environ.get("TEXTUAL_DRIVER", "")))
        self.feed: Feed | None = None
        self.ascii_only = ascii
        self.set_class(ascii, "-ascii")  # for widgets of Textual
        self.frame_state: FrameState | None = None
        self.preferences = preferences or Preferences()
        self.notices = Notices()
        self.replaying = replaying
        self.window_s = self.preferences.window_s
        self.unit: str | None = None
        self.all_units = True
        self.scale = Scale.AUTO
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
        markup: bool = False,  # noqa: ARG002 - Textual's
    ) -> None:
        """Show a message in the line of hints; its text is never read as markup."""
        self.notices.add(f"{title}: {message}" if title else message, severity, timeout)
        self.show_notices()

    def show_notices(self) -> None:
        """Draw the messages that there are now, where they are seen."""
        raise NotImplementedError

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
        """The screen with the panels, below all others."""
        return self.screen_stack[0]

    def draw(self) -> None:
        """Draw what the feed has now (or, frozen, nothing new)."""
        raise NotImplementedError

    def choose(self, unit: str) -> None:
        """Measure this unit, or view it in a replay."""
        raise NotImplementedError

    def key_of(self, name: str) -> str:
        """The key with this id as it is shown to the user."""
        return next((key.display for key in self.keys if key.id == name), "")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        written = f"{action}({', '.join(repr(parameter) for parameter in parameters)})" if parameters else action
        needs = _NEEDS.get(written)
        return needs is None or getattr(self, needs) is not None

    def run_control(self, change: Callable[[LiveControls], None]) -> None:
        """Use a control of the live measurement; does nothing in a replay."""
        live = self.live
        if live is not None:
            self.send(lambda: change(live))

    def send(self, control: Callable[[], None]) -> None:
        """Use a control and draw the result; an error becomes a message."""
        try:
            control()
        except HettopError as error:
            self.notify(words(error), severity="error", markup=False)
        self.draw()


def words(error: HettopError) -> str:
    """An error as one line for a message."""
    return " · ".join(clean(part) for part in (error.message, error.hint) if part)
