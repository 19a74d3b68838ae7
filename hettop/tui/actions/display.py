"""The actions that change how a session is shown: panels, lists, screens, window, theme, freeze, help."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from textual.app import SystemCommand
from textual.command import CommandList, CommandPalette
from textual.css.query import NoMatches
from textual.events import Click
from textual.screen import Screen
from textual.theme import Theme

from hettop.errors import HettopError
from hettop.format import duration
from hettop.report.terminal.glyphs import to_ascii
from hettop.session.views.structs import Scale
from hettop.text import clean
from hettop.tui.actions.controls import Controls, words
from hettop.tui.constants import PANELS, PRESETS, WHOLE_SESSION_S, WINDOWS_S, next_window_s
from hettop.tui.dialogs import SMALLEST, FilterScreen, HelpScreen, IntroductionScreen
from hettop.tui.explanations import PANELS as ABOUT_PANELS
from hettop.tui.explanations import SCREENS as ABOUT_SCREENS
from hettop.tui.guarded import Guarded
from hettop.tui.keys import grouped
from hettop.tui.panels.hints import Hints
from hettop.tui.panels.panel import Panel
from hettop.tui.panels.units import UnitsPanel
from hettop.tui.pickers import PanelScreen, ThemeScreen
from hettop.tui.screens import SCREENS
from hettop.tui.screens.page_screen import PageScreen, Place
from hettop.tui.settings import SettingsScreen
from hettop.units import NS_PER_S

_PAGES = ("PgUp PgDn", "a page up or down")
"""In every screen over the panels; its bottom line is too short for them."""


_SCALES = {
    Scale.AUTO: "linear or log x, as fits the samples",
    Scale.LINEAR: "linear",
    Scale.LOG_X: "log x, for long tails and units far apart",
    Scale.LOG_Y: "log y, for rare slow calls",
    Scale.CDF: "CDF, the share of calls up to each latency",
}


class SteadyCommandList(CommandList):
    """Its commands may be replaced between a click and its handling: a click on one that is gone is ignored."""

    async def _on_click(self, event: Click) -> None:
        clicked = event.style.meta.get("option")
        if clicked is not None and clicked >= self.option_count:
            event.prevent_default()


class Palette(Guarded, CommandPalette):
    """Textual's command palette."""

    def on_mount(self) -> None:
        self.query_one(CommandList).__class__ = SteadyCommandList  # Textual makes the list itself

    def _action_command_list(self, action: str) -> None:
        """Moves in the list, once it has been laid out: a page up would raise KeyError."""
        if self.query_one(CommandList)._lines:
            super()._action_command_list(action)

    def run_worker(self, work: Any, *arguments: Any, **options: Any) -> Any:
        """Gathers commands, which ends quietly where the list is gone: the palette closes, or hettop ends."""

        async def gather() -> None:
            with suppress(NoMatches):
                await work()

        return super().run_worker(gather, *arguments, **options)


LEAST_FOR_SIDE = 100
"""Cells of the panels, below which those of the side column make room."""

LEAST_FOR_PRESETS = 18
"""Lines of the terminal, below which there is only one layout."""


class Arrangement(NamedTuple):
    """The screen over the panels with its place, and the layout of the panels, for a terminal of this size."""

    page: PageScreen | None
    place: Place
    preset: str
    width: int
    height: int


class Looking(Controls):
    """How the session is viewed. Nothing here changes what is measured."""

    preset: str = PRESETS[0]
    """The layout, one of `PRESETS`."""
    _laid_out: Arrangement | None = None

    def action_freeze(self) -> None:
        self.frozen = not self.frozen
        self.draw()

    def action_window(self, direction: int) -> None:
        elapsed_s = 0.0 if self.feed is None else self.feed.now_ns / NS_PER_S
        self.window_s = next_window_s(self.window_s, direction, elapsed_s)
        length = "whole session" if self.window_s == WHOLE_SESSION_S else duration(self.window_s * NS_PER_S)
        replay = None if self.feed is None else self.feed.replay_status()
        if replay is not None and replay.duration_ns < self.window_s * NS_PER_S and self.window_s != WHOLE_SESSION_S:
            length = f"all {duration(replay.duration_ns)}"
        rest = "" if self.window_s in WINDOWS_S else f" in the timeline, {WINDOWS_S[-1]} s elsewhere"
        self.notify(f"time window {length}{rest}", timeout=1.5, markup=False, about="window")
        self.draw()

    def action_all_units(self) -> None:
        self.all_units = not self.all_units
        shown = "all units, where several have samples" if self.all_units else "the viewed unit alone"
        self.notify(f"charts of {shown}", timeout=1.5, about="units in charts")
        self.draw()

    def action_scale(self) -> None:
        """The next scale of the distributions."""
        scales = list(Scale)
        self.scale = scales[(scales.index(self.scale) + 1) % len(scales)]
        self.notify(f"distribution: {_SCALES[self.scale]}", timeout=1.5, about="scale")
        self.draw()

    def action_panel(self, number: int) -> None:
        """Focus a panel; one that does not fit on this screen, or is behind a zoomed one, is zoomed."""
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

    def lay_out(self) -> None:
        """Give the screen over the panels its place, and arrange the panels in the rest."""
        page = next((screen for screen in self.screen_stack if isinstance(screen, PageScreen)), None)
        width, height = self.size
        place = page.place_in(width, height) if page is not None else Place()
        body = next(iter(self.main.query("#body")), None)
        if body is None:  # a last frame while the program ends
            return
        # A wide terminal has room for both columns of panels beside a screen.
        narrowed = bool(place.below) or bool(place.beside and width - place.beside < LEAST_FOR_SIDE)
        usual = narrowed or height < LEAST_FOR_PRESETS or self.main.has_class("-zoomed")
        preset = PRESETS[0] if usual or body.has_class("-no-main") or body.has_class("-no-side") else self.preset
        laid_out = Arrangement(page, place, preset, width, height)
        if laid_out == self._laid_out:
            return
        self._laid_out = laid_out
        if page is not None:
            page.move_to(place, height)
        self.main.set_class(narrowed and not place.below, "-beside")
        self.main.set_class(bool(place.below), "-below")
        for name in PRESETS[1:]:
            self.main.set_class(name == preset, f"-{name}")
        body.styles.margin = (0, place.beside, place.below, 0)
        for bar in self.main.query("#scrub"):
            bar.styles.margin = (0, place.beside, 0, 0)

    @property
    def page_screen(self) -> PageScreen | None:
        """The screen over the panels, if there is one."""
        shown = self.screen_stack[-1:]  # empty once the program ends
        return shown[0] if shown and isinstance(shown[0], PageScreen) else None

    def action_screen(self, name: str) -> None:
        """Open a screen, or close it by the same key; it replaces another one."""
        entered = self.page_screen
        if entered is not None:
            self.pop_screen()
            self.draw()
        if entered is None or not isinstance(entered, SCREENS[name]):
            self.push_screen(SCREENS[name](self.run_control, ascii=self.ascii_only))

    def action_leave(self) -> None:
        """Hide warnings, else close a screen, else the details of the focused panel, else its filter, else the zoom."""
        panel = self.main.focused
        warned = self.notices.warns
        self.notices.clear()
        self.show_notices()
        if warned:
            pass
        elif self.page_screen is not None:
            self.pop_screen()
            self.draw()
        elif isinstance(panel, Panel) and panel.close_details():
            pass
        elif isinstance(panel, Panel) and panel.filter:
            panel.set_filter("")
        else:
            self._zoom(None)

    def on_page_screen_entered(self, _: PageScreen.Entered) -> None:
        self.draw()

    def action_scroll_panel(self, direction: int) -> None:
        if self.page_screen is not None:
            self.page_screen.scroll(direction)
        elif isinstance(panel := self.main.focused, Panel):
            panel.scroll(direction)

    def action_list_edge(self, direction: int) -> None:
        """To the top (-1) or the bottom (1) of a screen, or of the list in the focused panel."""
        if self.page_screen is not None:
            self.page_screen.action_edge(direction)
        elif isinstance(panel := self.main.focused, Panel):
            panel.to_edge(direction)

    def action_sort(self) -> None:
        """Sort the list of a screen, or the table of units, by the next column."""
        if self.page_screen is None:
            self.main.query_one(UnitsPanel).sort()
        elif not self.page_screen.sort():
            self.notify(f"nothing to sort here: {self.key_of('sort')} sorts units and spikes")

    def action_filter(self) -> None:
        """Ask for a filter of the list on this screen: of the focused panel's, if it has one."""
        listed = self._listed()
        if listed is None:
            self.notify(f"nothing to filter here: {self.key_of('filter')} filters events, units and spikes")
            return
        if isinstance(listed, Panel):
            listed.focus()
        self.push_screen(
            FilterScreen(listed.LISTS, listed.filter, listed.set_filter), lambda text: listed.set_filter(text or "")
        )

    def _listed(self) -> Panel | PageScreen | None:
        page = self.page_screen
        if page is not None:
            return page if page.LISTS else None
        focused = self.main.focused
        shown = [panel for panel in self.main.query(Panel) if panel.LISTS and panel.is_on_screen]
        return focused if focused in shown and isinstance(focused, Panel) else next(iter(shown), None)

    def action_copy(self) -> None:
        """Copy what is selected on this screen, by the terminal's own clipboard sequence (OSC 52)."""
        source = self.page_screen or self.main.focused
        found = source.clipboard_text() if isinstance(source, Panel | PageScreen) else None
        if found is None:
            self.notify("nothing to copy here")
            return
        name, text = found
        self.copy_to_clipboard(text)
        self.notify(f"copied {name} to the clipboard (OSC 52, if the terminal allows it)")

    def action_save_screenshot(self) -> None:
        try:
            path = self.preferences.save_picture(portable(self.export_screenshot(title="hettop")))
        except HettopError as error:
            self.notify(words(error), severity="error")
        else:
            self.notify(f"screenshot saved: {clean(str(path))}")

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
        self.lay_out()

    def action_next_theme(self) -> None:
        names = self.theme_names
        self.theme = names[(names.index(self.theme) + 1) % len(names)] if self.theme in names else names[0]

    def action_help(self) -> None:
        own = [] if self.page_screen is None else [*self.page_screen.active_keys, _PAGES]
        self.push_screen(HelpScreen(self.keys, explained=self._explained(), own=own, ascii=self.ascii_only))

    def _explained(self) -> tuple[str, str] | None:
        """What the help begins with: the name of the screen or the focused panel, and a paragraph on it."""
        if self.page_screen is not None:
            name, about = self.page_screen.NAME, ABOUT_SCREENS.get(self.page_screen.NAME)
        elif isinstance(panel := self.main.focused, Panel):
            name, about = PANELS[panel.NUMBER], ABOUT_PANELS[PANELS[panel.NUMBER]]
        else:
            return None
        return (name, about) if about else None

    def action_help_quit(self) -> None:
        """Ctrl+C ends the program; the exit code is that of an interruption."""
        self.exit(return_code=130)

    async def on_hints_pressed(self, message: Hints.Pressed) -> None:
        await self.run_action(message.action)


class Arranging(Looking):
    """How the screen is arranged: panels, themes, settings, and the command palette."""

    hidden: tuple[str, ...] = ()
    """Names of the panels that are hidden."""

    def arrange(self) -> None:
        """Apply the preferences once the panels exist."""
        self._hide(self.preferences.hidden)
        self.preset = self.preferences.preset
        number = next((number for number, name in PANELS.items() if name == self.preferences.zoomed), None)
        if number is not None:
            super()._zoom(self.main.query_one(f"#panel-{number}", Panel))
        self.lay_out()
        size = self.main.size
        if size.width >= SMALLEST[0] and size.height >= SMALLEST[1] and self.preferences.introduce():
            self.push_screen(IntroductionScreen(self.keys, replaying=self.replaying, ascii=self.ascii_only))

    @property
    def own_themes(self) -> list[Theme]:
        """Those of hettop and of the user, without the many that come with Textual."""
        return [self.available_themes[name] for name in self.theme_names]

    def action_command_palette(self) -> None:
        if not CommandPalette.is_open(self):  # type: ignore[arg-type]
            self.push_screen(Palette(placeholder="search commands, units and themes", id="--command-palette"))

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:  # noqa: ARG002 - Textual's
        """What the palette offers: the action of each key, each unit and each theme, by names that people read."""
        for group, keys in grouped(self.keys):
            for key in keys:
                if key.id != "palette":
                    title = f"{key.words[:1].upper()}{key.words[1:]}  {key.display}"
                    yield self._command(title, group, partial(self.run_action, key.action))
        yield self._command("Messages: show the last ones again", "Display", self._last_notices)
        verb = "View" if self.replaying else "Measure on"
        for row in self.frame_state.session.units.rows if self.frame_state is not None else ():
            also = " (ANE)" if row.unit.startswith("CPU_AND_NE") else ""
            yield self._command(f"{verb} {clean(row.unit)}{also}", "Units", partial(self.choose, row.unit))
        for name in self.theme_names:
            yield self._command(f"Theme {clean(name)}", "Themes", partial(self._use_theme, name))

    def _command(self, title: str, group: str, run: Callable[[], Any]) -> SystemCommand:
        return SystemCommand(to_ascii(title) if self.ascii_only else title, group, run)

    def _last_notices(self) -> None:
        if self.notices.again():
            self.show_notices()
        else:
            self.notify("no messages yet")

    def _use_theme(self, name: str) -> None:
        self.theme = name
        self.preferences.keep("theme", name)

    def action_settings(self) -> None:
        offered = self.preferences.settings(tuple(self.theme_names))
        if offered:
            self.push_screen(SettingsScreen(offered, self._apply_setting, ascii=self.ascii_only), self._save_settings)
        else:
            self.notify("no settings can be saved here")

    def _save_settings(self, changed: Mapping[str, Any] | None) -> None:
        if not changed:
            return
        try:
            path = self.preferences.save_settings(changed)
        except HettopError as error:
            self.notify(words(error), severity="error")
        else:
            self.notify(f"settings saved: {clean(str(path))}")

    def _apply_setting(self, name: str, value: Any) -> None:
        """Show the effect of a setting; of those that are not here, at the next start."""
        match name:
            case "theme":
                self.theme = value
            case "window":
                self.window_s = value
            case "animation":
                self.animation_level = "full" if value else "none"
            case "layout.hidden":
                self._hide(value)
            case "layout.preset":
                self.preset = value
            case "layout.zoomed":
                number = next((number for number, panel in PANELS.items() if panel == value), None)
                super()._zoom(None if number is None else self.main.query_one(f"#panel-{number}", Panel))
        self.draw()

    def action_choose_theme(self) -> None:
        self.push_screen(ThemeScreen(self.own_themes, ascii=self.ascii_only), self._theme_chosen)

    def _theme_chosen(self, name: str | None) -> None:
        if name is not None:
            self.preferences.keep("theme", name)

    def action_next_theme(self) -> None:
        super().action_next_theme()
        self.preferences.keep("theme", self.theme)

    def action_next_layout(self) -> None:
        """The next layout; a zoomed panel is restored, so that it is to be seen."""
        self.preset = PRESETS[(PRESETS.index(self.preset) + 1) % len(PRESETS)]
        self._zoom(None)
        self.preferences.keep("layout.preset", self.preset)
        self.notify(f"layout: {self.preset}", timeout=1.5, about="layout")
        self.draw()

    def action_choose_panels(self) -> None:
        self.push_screen(PanelScreen(self.hidden, self._panels_chosen, ascii=self.ascii_only))

    def _panels_chosen(self, hidden: tuple[str, ...]) -> None:
        self._hide(hidden)
        self.preferences.keep("layout.hidden", hidden)
        self.draw()

    def _hide(self, hidden: tuple[str, ...]) -> None:
        """Hide these panels; a column without panels leaves its space to the other."""
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
        """The name of the zoomed panel; empty where none is."""
        return next((PANELS[panel.NUMBER] for panel in self.main.query(Panel) if panel.has_class("-zoomed")), "")


def portable(svg: str) -> str:
    """The picture as any viewer shows it alike: with local fonts only, so that nothing is loaded from the network, and
    with braille in its cells."""
    return _TEXT.sub(_with_braille_apart, re.sub(r",\s*url\([^)]*\) format\([^)]*\)", "", svg))


_TEXT = re.compile(
    r'<text (?P<ink>class="[^"]*") x="(?P<x>[\d.]+)" (?P<y>y="[\d.]+") textLength="(?P<length>[\d.]+)" '
    r"(?P<clip>[^>]*)>(?P<text>[^<]*[\u2800-\u28ff][^<]*)</text>"
)


def _with_braille_apart(text: re.Match[str]) -> str:
    """A text of braille and others as one for each run of them.

    Few fonts have braille. Another one's is of another width, and a viewer fits a text to its length by equal gaps: in
    a text of both, dots would stand beside their cells, and curves be torn from row to row.
    """
    characters = html.unescape(text["text"])
    cell = float(text["length"]) / len(characters)
    found, at = [], 0
    for run in re.findall(r"[\u2800-\u28ff]+|[^\u2800-\u28ff]+", characters):
        if run.strip():
            place = f'x="{float(text["x"]) + at * cell:.6g}" {text["y"]} textLength="{len(run) * cell:.6g}"'
            shown = html.escape(run).replace(" ", "&#160;").replace("\xa0", "&#160;")
            found.append(f"<text {text['ink']} {place} {text['clip']}>{shown}</text>")
        at += len(run)
    return "".join(found)
