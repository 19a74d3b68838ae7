"""Keys that change how the screen shows a session: panels, zoom, screens, window, theme, freeze, help."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from textual.app import SystemCommand
from textual.command import CommandPalette
from textual.screen import Screen
from textual.theme import Theme

from hettop.format import seconds
from hettop.report.terminal.glyphs import to_ascii
from hettop.tui.actions.controls import Controls
from hettop.tui.constants import PANELS, WINDOWS_S
from hettop.tui.dialogs import SMALLEST, HelpScreen, IntroductionScreen
from hettop.tui.explanations import PANELS as ABOUT_PANELS
from hettop.tui.explanations import SCREENS as ABOUT_SCREENS
from hettop.tui.panels.hints import Hints
from hettop.tui.panels.panel import Panel
from hettop.tui.pickers import PanelScreen, ThemeScreen
from hettop.tui.screens import SCREENS
from hettop.tui.screens.page_screen import PageScreen
from hettop.units import NS_PER_S

_PAGES = ("PgUp PgDn", "a page up or down")
"""In every room; its bottom line has no room for them."""


class Looking(Controls):
    """How the session is looked at. Nothing here changes what is measured."""

    def action_freeze(self) -> None:
        self.frozen = not self.frozen
        self.draw()

    def action_window(self, direction: int) -> None:
        at = WINDOWS_S.index(self.window_s) + direction
        self.window_s = WINDOWS_S[min(max(at, 0), len(WINDOWS_S) - 1)]
        self.notify(f"time window {seconds(self.window_s * NS_PER_S)}", timeout=1.5, markup=False)
        self.draw()

    def action_panel(self, number: int) -> None:
        """Focus a panel; one that has no room on this screen, or is behind a zoomed one, is zoomed."""
        panel = self.main.query_one(f"#panel-{number}", Panel)
        if not panel.is_on_screen or self.main.has_class("-zoomed"):
            self._zoom(panel)
        panel.focus()

    def action_focus_next(self) -> None:
        self._step_focus(1)

    def action_focus_previous(self) -> None:
        self._step_focus(-1)

    def _step_focus(self, direction: int) -> None:
        """The next panel in the order of their numbers, of those that are shown."""
        shown = sorted((p for p in self.main.query(Panel) if p.is_on_screen), key=lambda panel: panel.NUMBER)
        if shown and len(self.screen_stack) == 1:
            at = shown.index(self.main.focused) if self.main.focused in shown else -direction
            shown[(at + direction) % len(shown)].focus()

    @property
    def page_screen(self) -> PageScreen | None:
        """The screen that stands over the panels, if one does."""
        shown = self.screen_stack[-1:]  # empty once the program is ending
        return shown[0] if shown and isinstance(shown[0], PageScreen) else None

    def action_screen(self, name: str) -> None:
        """Open a screen, or leave it by the same key; one takes the place of another."""
        entered = self.page_screen
        if entered is not None:
            self.pop_screen()
        if entered is None or not isinstance(entered, SCREENS[name]):
            self.push_screen(SCREENS[name](self.run_control, ascii=self.ascii_only))

    def action_leave(self) -> None:
        """Close what stands open: a room, else the details of a panel, else the zoom."""
        panel = self.main.focused
        if self.page_screen is not None:
            self.pop_screen()
            self.draw()
        elif not (isinstance(panel, Panel) and panel.close_details()):
            self._zoom(None)

    def on_page_screen_entered(self, _: PageScreen.Entered) -> None:
        self.draw()

    def action_scroll_panel(self, direction: int) -> None:
        if self.page_screen is not None:
            self.page_screen.scroll(direction)
        elif isinstance(panel := self.main.focused, Panel):
            panel.scroll(direction)

    def action_details(self) -> None:
        if self.page_screen is not None:
            self.page_screen.choose()
        elif isinstance(panel := self.main.focused, Panel):
            panel.toggle_details()

    def action_zoom(self) -> None:
        focused = self.main.focused
        if self.main.has_class("-zoomed"):
            self._zoom(None)
        else:
            self._zoom(focused if isinstance(focused, Panel) else self.main.query(Panel).first())

    def _zoom(self, panel: Panel | None) -> None:
        self.main.query("Panel.-zoomed").remove_class("-zoomed")
        self.main.query("Container.-zoomed").remove_class("-zoomed")
        self.main.set_class(panel is not None, "-zoomed")
        if panel is not None:
            panel.add_class("-zoomed")
            if panel.parent is not None:
                panel.parent.add_class("-zoomed")
            panel.focus()

    def action_next_theme(self) -> None:
        names = self.theme_names
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]

    def action_help(self) -> None:
        own = [] if self.page_screen is None else [*self.page_screen.told_keys, _PAGES]
        self.push_screen(HelpScreen(self.keys, explained=self._explained(), own=own, ascii=self.ascii_only))

    def _explained(self) -> tuple[str, str] | None:
        """What the help begins with: the room, or the panel in focus, and a paragraph on it."""
        if self.page_screen is not None:
            name, words = self.page_screen.NAME, ABOUT_SCREENS.get(self.page_screen.NAME)
        elif isinstance(panel := self.main.focused, Panel):
            name, words = PANELS[panel.NUMBER], ABOUT_PANELS[PANELS[panel.NUMBER]]
        else:
            return None
        return (name, words) if words else None

    def action_help_quit(self) -> None:
        """Ctrl+C: whoever presses it wants out; the exit code says that it was an interruption."""
        self.exit(return_code=130)

    async def on_hints_pressed(self, message: Hints.Pressed) -> None:
        await self.run_action(message.action)


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
