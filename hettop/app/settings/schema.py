"""Every setting there is: what it is called, what it takes, what it is where nobody has set it, and what it is for.

The config file, its example, the environment variables and the help are made of this table; themes and keys are checked
by the screen that has them. All of them are about the screen: commands that measure without one read no settings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hettop.sources.power.names import FILE, NONE, SOURCES
from hettop.tui.constants import DEFAULT_WINDOW_S, PANELS, WINDOWS_S

FEWEST_FPS, MOST_FPS = 0.5, 30.0
BEST = "best"
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    name: with dots between tables. default: its value where nobody has set it.
    takes: what may stand there, in words that follow "must be".
    check: gives the value as the program has it; raises ValueError where it is none.
    from_text: makes of an environment variable's text what would stand in the file.
    option: the command line's, empty where there is none.
    """

    name: str
    default: Any
    takes: str
    words: str
    check: Callable[[Any], Any]
    from_text: Callable[[str], Any] = str
    option: str = ""

    @property
    def variable(self) -> str:
        """The environment variable that overrides the file."""
        return f"HETTOP_{self.name.replace('.', '_').upper()}"


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError  # noqa: TRY004 - one kind of error for what is no value
    return value


def _bool_of(text: str) -> Any:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else text


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _number(text: str) -> Any:
    try:
        return int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        return text


def _fps(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not FEWEST_FPS <= value <= MOST_FPS:
        raise ValueError
    return float(value)


def _window(value: Any) -> int:
    if isinstance(value, bool) or value not in WINDOWS_S:
        raise ValueError
    return int(value)


def _power(value: Any) -> str:
    source = _text(value)
    if source not in (*SOURCES, BEST, NONE) and not source.startswith(FILE):
        raise ValueError
    return source


def _panels(value: Any) -> tuple[str, ...]:
    names = list(PANELS.values())
    if not isinstance(value, list) or not all(isinstance(name, str) and name in names for name in value):
        raise ValueError
    if len(set(value)) == len(names):
        raise ValueError  # a screen of nothing
    return tuple(name for name in names if name in value)


def _panel_or_none(value: Any) -> str:
    if value == "":
        return ""
    (name,) = _panels([value])
    return name


def _unit_or_none(value: Any) -> str:
    if value == "":
        return ""
    from hettop.compute_units import CORE_ML_UNITS, parse_unit
    from hettop.sources.engine.backend import split_unit

    unit = parse_unit(_text(value))
    if split_unit(unit)[0] not in CORE_ML_UNITS:
        raise ValueError
    return unit


_PANEL_NAMES = ", ".join(PANELS.values())
SETTINGS: tuple[Setting, ...] = (
    Setting("theme", "hettop-dark", "a theme's name", "colours of the screen", _text, option="--theme"),
    Setting(
        "fps",
        4.0,
        f"a number from {FEWEST_FPS:g} to {MOST_FPS:g}",
        "redraws a second; more cost more of the machine that is measured",
        _fps,
        _number,
        option="--fps",
    ),
    Setting(
        "window",
        DEFAULT_WINDOW_S,
        f"one of {', '.join(map(str, WINDOWS_S))}",
        "seconds that the histogram and the timeline look back at first",
        _window,
        _number,
    ),
    Setting("ascii", False, "true or false", "draw with plain ASCII characters", _bool, _bool_of, option="--ascii"),
    Setting(
        "animation", True, "true or false", "let lists and messages glide; false where motion disturbs", _bool, _bool_of
    ),
    Setting(
        "power",
        BEST,
        f"one of {', '.join(SOURCES)}, {NONE}, {BEST}, or {FILE}PATH",
        "source of power of the live view",
        _power,
        option="--power",
    ),
    Setting(
        "unit",
        "",
        "a unit such as CPU_AND_NE, or empty for the first that there is",
        "the unit that the live view begins with",
        _unit_or_none,
        option="--units",
    ),
    Setting(
        "layout.hidden",
        (),
        f"a list of some of {_PANEL_NAMES}, not of all",
        "panels to leave out; H chooses them on the screen",
        _panels,
        lambda text: [name.strip() for name in text.split(",") if name.strip()],
    ),
    Setting(
        "layout.zoomed",
        "",
        f"one of {_PANEL_NAMES}, or empty",
        "the panel that has the screen to itself",
        _panel_or_none,
    ),
    Setting(
        "layout.keep",
        True,
        "true or false",
        "remember theme, hidden and zoomed panels as they are chosen on the screen",
        _bool,
        _bool_of,
    ),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}
KEYS_TABLE = "keys"
