"""Every key of the screen: its id, the action it runs, its description, and where it applies.

The bindings, the help, the command palette and the line of hints are made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Key:
    """A binding. `keys` are Textual's names, comma between alternatives; `display` is what a user reads.

    `hint` is the short word for the bottom line (empty: not shown there). `needs` is `live` or `replay` when the
    action applies to that feed alone.
    """

    id: str
    keys: str
    display: str
    action: str
    words: str
    hint: str = ""
    needs: str = ""


GROUPS: tuple[tuple[str, tuple[Key, ...]], ...] = (
    (
        "Measuring",
        (
            Key("pause", "space", "space", "pause", "pause or resume inference; in a replay: playback", "pause"),
            Key("unit.next", "c", "c", "next_unit", "switch to the next compute unit", "unit"),
            Key(
                "interleave", "i", "i", "interleave", "interleave all units, or stop interleaving", "interleave", "live"
            ),
            Key("screen.load", "l", "l", "screen('load')", "competing load: set it and see its effect", "load"),
            Key("record", "r", "r", "record", "start or stop recording to a file", "record", "live"),
            Key("mark", "m", "m", "mark", "add a note at this moment", "mark", "live"),
            Key("restart", "R", "R", "restart", "restart a unit that failed or does not answer", "", "live"),
            Key("power.access", "p", "p", "power_access", "grant access to power readings", "power", "live"),
            Key("power.baseline", "b", "b", "baseline", "measure an idle baseline, for net energy", "idle", "live"),
            Key("reset", "x", "x", "reset", "reset the statistics; asks first while recording", "reset", "live"),
        ),
    ),
    (
        "Replay",
        (
            Key("seek.back", "left", "←", "seek(-1)", "back one second", "", "replay"),
            Key("seek.forward", "right", "→", "seek(1)", "forward one second", "1 s", "replay"),
            Key("seek.start", "home", "Home", "seek_start", "to the beginning", "", "replay"),
            Key("seek.end", "end", "End", "seek_end", "to the end", "", "replay"),
            Key("seek.to", "g", "g", "go_to", "go to 90s, 1:30, 50% or +10s; g again: the start", "go to", "replay"),
            Key("step.back", "left_square_bracket", "[", "step_window(-1)", "back one window", "", "replay"),
            Key("step.forward", "right_square_bracket", "]", "step_window(1)", "forward one window", "step", "replay"),
            Key("mark.next", "n", "n", "next_mark(1)", "to the next mark", "next mark", "replay"),
            Key("mark.previous", "N", "N", "next_mark(-1)", "to the previous mark", "", "replay"),
            Key("spike.next", "shift+right", "Shift+→", "next_spike(1)", "to the next spike", "", "replay"),
            Key("spike.previous", "shift+left", "Shift+←", "next_spike(-1)", "to the previous spike", "", "replay"),
            Key(
                "select.start",
                "left_parenthesis",
                "(",
                "select(-1)",
                "start a selection here; again: clear it",
                "",
                "replay",
            ),
            Key(
                "select.end",
                "right_parenthesis",
                ")",
                "select(1)",
                "end the selection here and show its statistics",
                "",
                "replay",
            ),
            Key("select.loop", "o", "o", "toggle_loop", "play the selection in a loop", "", "replay"),
            Key("speed.down", "less_than_sign", "<", "change_speed(-1)", "play slower", "slower", "replay"),
            Key("speed.up", "greater_than_sign", ">", "change_speed(1)", "play faster", "faster", "replay"),
        ),
    ),
    (
        "Lists",
        (
            Key("scroll.up", "up,k", "↑ k", "scroll_panel(-1)", "up: the previous unit, row or event"),
            Key("scroll.down", "down,j", "↓ j", "scroll_panel(1)", "down: the next unit, row or event"),
            Key("list.top", "g", "g", "list_edge(-1)", "to the top of the list", "", "live"),
            Key("list.bottom", "G", "G", "list_edge(1)", "to the bottom of the list"),
            Key("details", "enter", "Enter", "details", "show or hide details of the selected unit"),
            Key("filter", "slash", "/", "filter", "filter events, units or spikes", "filter"),
            Key("sort", "S", "S", "sort", "sort units or spikes by the next column", "sort"),
            Key("copy", "Y", "Y", "copy", "copy the selected row, the verdict or its code", "copy"),
        ),
    ),
    (
        "View",
        (
            Key("freeze", "f", "f", "freeze", "freeze the display; measuring continues", "freeze"),
            Key("zoom", "z", "z", "zoom", "enlarge the focused panel, or restore it", "zoom"),
            Key("panel.next", "tab", "Tab", "app.focus_next", "focus the next panel"),
            Key("panel.previous", "shift+tab", "Shift+Tab", "app.focus_previous", "focus the previous panel"),
            Key("panel.1", "1", "1", "panel(1)", "focus the latency panel"),
            Key("panel.2", "2", "2", "panel(2)", "focus the timeline"),
            Key("panel.3", "3", "3", "panel(3)", "focus the units"),
            Key("panel.4", "4", "4", "panel(4)", "focus the events"),
            Key("panel.5", "5", "5", "panel(5)", "focus power"),
            Key("panel.6", "6", "6", "panel(6)", "focus the machine"),
            Key("screen.verdict", "v", "v", "screen('verdict')", "verdict: which unit to use, and why", "verdict"),
            Key(
                "screen.studies",
                "y",
                "y",
                "screen('studies')",
                "studies of the model: layers, roofline and six more",
                "inside",
            ),
            Key("screen.spikes", "s", "s", "screen('spikes')", "spikes and correlated events", "spikes"),
            Key("screen.tokens", "A", "A", "screen('tokens')", "answers token by token: first tokens, gaps, stalls"),
            Key("leave", "escape", "Esc", "leave", "close details, filter, zoomed panel or screen"),
            Key(
                "window.longer",
                "plus,equals_sign",
                "+",
                "window(1)",
                "show a longer time window, up to the whole session",
                "window",
            ),
            Key("window.shorter", "minus", "-", "window(-1)", "show a shorter time window"),
            Key("layout", "w", "w", "next_layout", "next layout: overview, compare, power, presentation", "layout"),
            Key("units.all", "a", "a", "all_units", "charts of all units, or of the viewed one", "all units"),
            Key("scale", "h", "h", "scale", "distribution: automatic, linear, log x, log y, CDF", "scale"),
            Key("panels", "H", "H", "choose_panels", "choose which panels are shown"),
            Key("theme", "t", "t", "next_theme", "next colour theme", "theme"),
            Key("theme.choose", "T", "T", "choose_theme", "choose a colour theme, with a preview"),
        ),
    ),
    (
        "Program",
        (
            Key("help", "question_mark,f1", "?", "help", "show or close this help (also F1)", "help"),
            Key("palette", "ctrl+p", "Ctrl+P", "command_palette", "search all commands"),
            Key("settings", "f2", "F2", "settings", "change settings and save them to the config file", "settings"),
            Key("screenshot", "P", "P", "save_screenshot", "save a screenshot as SVG"),
            Key("quit", "q", "q", "quit", "quit; a recording is completed first", "quit"),
        ),
    ),
)
KEYS: tuple[Key, ...] = tuple(key for _, keys in GROUPS for key in keys)
# The bottom line in the order of importance: the first stay on the narrowest screen.
HINT_ORDER = (
    "quit",
    "help",
    "pause",
    "seek.forward",
    "unit.next",
    "screen.load",
    "record",
    "mark",
    "freeze",
    "screen.verdict",
    "zoom",
)

# What the bottom line shows before everything else while a panel is zoomed.
PANEL_HINTS: dict[str, tuple[tuple[str, str], ...]] = {
    "latency": (
        ("units.all", "all units"),
        ("scale", "scale"),
        ("unit.next", "unit"),
        ("window.longer", "longer"),
        ("window.shorter", "shorter"),
    ),
    "timeline": (
        ("units.all", "all units"),
        ("window.longer", "longer"),
        ("window.shorter", "shorter"),
        ("spike.previous", "spike before"),
        ("spike.next", "spike after"),
        ("screen.spikes", "spikes"),
        ("mark", "mark"),
    ),
    "units": (
        ("scroll.up", "up"),
        ("scroll.down", "down"),
        ("details", "details"),
        ("sort", "sort"),
        ("filter", "filter"),
        ("copy", "copy"),
    ),
    "events": (("scroll.up", "up"), ("scroll.down", "down"), ("filter", "filter"), ("list.bottom", "newest")),
    "power": (("power.baseline", "idle"), ("power.access", "access"), ("window.longer", "longer")),
    "machine": (("screen.load", "load"), ("screen.spikes", "spikes")),
}


def bindings() -> list[Binding]:
    """The bindings of the app; every one has an id by which it can be remapped."""
    from textual.binding import Binding  # so that the command line can list keys without a screen

    return [
        Binding(key.keys, key.action, key.words, id=key.id, key_display=key.display, show=bool(key.hint))
        for key in KEYS
    ]


def applicable(*, live: bool, replay: bool) -> list[Key]:
    """The keys that do something with such a feed."""
    there = {"": True, "live": live, "replay": replay}
    return [key for key in KEYS if there[key.needs]]


def hinted(keys: list[Key]) -> list[Key]:
    """Those of `keys` that the bottom line shows, most important first."""
    ranks = {name: i for i, name in enumerate(HINT_ORDER)}
    return sorted((key for key in keys if key.hint), key=lambda key: ranks.get(key.id, len(ranks)))


def hinted_zoomed(keys: list[Key], panel: str) -> list[Key]:
    """The same while this panel is zoomed: how to leave it, then its own keys, each with its word for that panel."""
    given = {key.id: key for key in keys}
    own = [(name, word) for name, word in (("zoom", "restore"), *PANEL_HINTS.get(panel, ())) if name in given]
    first = [replace(given[name], hint=word) for name, word in own]
    named = {key.id for key in first}
    return [*first, *(key for key in hinted(keys) if key.id not in named)]


def grouped(keys: list[Key]) -> list[tuple[str, list[Key]]]:
    """`keys` under their headings, without headings that have none."""
    given = {key.id: key for key in keys}
    kept = [(name, [given[key.id] for key in group if key.id in given]) for name, group in GROUPS]
    return [(name, group) for name, group in kept if group]
