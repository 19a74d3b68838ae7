"""The keys that arrange the screen to somebody's taste: themes, hidden and zoomed panels; and the first look at it.

What was chosen is handed to the preferences' `keep`; where that goes is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.app import SystemCommand
from textual.command import CommandPalette
from textual.screen import Screen
from textual.theme import Theme

from hettop.report.terminal.glyphs import to_ascii
from hettop.tui.actions.looking import Looking
from hettop.tui.constants import PANELS
from hettop.tui.introduction import SMALLEST, IntroductionScreen
from hettop.tui.panels.panel import Panel
from hettop.tui.pickers import PanelScreen, ThemeScreen


class Arranging(Looking):
    """How the screen is arranged. Nothing here changes what is measured or what is drawn of it."""

    hidden: tuple[str, ...] = ()
    """Names of the panels that are left out."""

    def arrange(self) -> None:
        """Put the preferences in force, once the panels are there."""
        self._hide(self.preferences.hidden)
        number = next((number for number, name in PANELS.items() if name == self.preferences.zoomed), None)
        if number is not None:
            super()._zoom(self.main.query_one(f"#panel-{number}", Panel))
        size = self.main.size
        if size.width >= SMALLEST[0] and size.height >= SMALLEST[1] and self.preferences.introduce():
            self.push_screen(IntroductionScreen(self.keys, replaying=self.replaying, ascii=self.ascii_only))

    @property
    def own_themes(self) -> list[Theme]:
        """Those of hettop and of the user, without the many that come with Textual."""
        return [self.available_themes[name] for name in self.theme_names]

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):  # type: ignore[arg-type]
            self.push_screen(CommandPalette(placeholder="search all keys by what they do", id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:  # noqa: ARG002 - Textual's
        """What the palette offers: everything that a key does here, found by its words or by its id."""
        for key in self.keys:
            if key.id != "palette":
                title = f"{key.words}  {key.display}"
                shown = to_ascii(title) if self.ascii_only else title
                yield SystemCommand(shown, key.id, partial(self.run_action, key.action))

    def action_choose_theme(self) -> None:
        self.push_screen(ThemeScreen(self.own_themes, ascii=self.ascii_only), self._theme_chosen)

    def _theme_chosen(self, name: str | None) -> None:
        if name is not None:
            self.preferences.keep("theme", name)

    def action_next_theme(self) -> None:
        super().action_next_theme()
        self.preferences.keep("theme", self.theme)

    def action_choose_panels(self) -> None:
        self.push_screen(PanelScreen(self.hidden, self._panels_chosen, ascii=self.ascii_only))

    def _panels_chosen(self, hidden: tuple[str, ...]) -> None:
        self._hide(hidden)
        self.preferences.keep("layout.hidden", hidden)
        self.draw()

    def _hide(self, hidden: tuple[str, ...]) -> None:
        """Leave these panels out; a column with none left gives its room to the other."""
        self.hidden = hidden
        for number, name in PANELS.items():
            self.main.query_one(f"#panel-{number}", Panel).set_class(name in hidden, "-hidden")
        for column, numbers in (("main", (1, 2, 3)), ("side", (4, 5, 6))):
            empty = all(PANELS[number] in hidden for number in numbers)
            self.main.query_one("#body").set_class(empty, f"-no-{column}")
        focused = self.main.focused
        if isinstance(focused, Panel) and focused.has_class("-hidden"):
            shown = [panel for panel in self.main.query(Panel) if not panel.has_class("-hidden")]
            min(shown, key=lambda panel: panel.NUMBER).focus()

    def _zoom(self, panel: Panel | None) -> None:
        before = self.zoomed
        super()._zoom(panel)
        if self.zoomed != before:
            self.preferences.keep("layout.zoomed", self.zoomed)

    @property
    def zoomed(self) -> str:
        """The name of the panel that has the screen to itself; empty where none does."""
        return next((PANELS[panel.NUMBER] for panel in self.main.query(Panel) if panel.has_class("-zoomed")), "")
