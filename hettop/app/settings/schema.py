"""The schema of settings: name, valid values, default and description of each.

The config file, its example, the environment variables and the help are made from this table; themes and keys are
validated by the screen. All settings are about the screen: commands without one read none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hettop.compute_units import CORE_ML_UNITS
from hettop.sources.power.names import FILE, NONE, SOURCES
from hettop.tui.constants import CHARTS, DEFAULT_WINDOW_S, PANELS, PRESETS, WINDOWS_S

FEWEST_FPS, MOST_FPS = 0.5, 30.0
BEST = "best"
_BOTH = (True, False)
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    name: with dots between tables. default: its value where it is not set.
    takes: the valid values, as text that follows "must be".
    check: converts and validates a value; raises ValueError for an invalid one.
    from_text: converts the text of an environment variable to the value in the file.
    option: the option of the command line, empty where there is none.
    choices: the values that the dialog of settings steps through; themes and panels are added there.
    """

    name: str
    default: Any
    takes: str
    words: str
    check: Callable[[Any], Any]
    from_text: Callable[[str], Any] = str
    option: str = ""
    choices: tuple[Any, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that overrides the file."""
        return f"HETTOP_{self.name.replace('.', '_').upper()}"


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError  # noqa: TRY004 - one kind of error for invalid values
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


def _charts(value: Any) -> str:
    if value not in CHARTS:
        raise ValueError
    return str(value)


def _panels(value: Any) -> tuple[str, ...]:
    names = list(PANELS.values())
    if not isinstance(value, list) or not all(isinstance(name, str) and name in names for name in value):
        raise ValueError
    if len(set(value)) == len(names):
        raise ValueError  # an empty screen
    return tuple(name for name in names if name in value)


def _panel_or_none(value: Any) -> str:
    if value == "":
        return ""
    (name,) = _panels([value])
    return name


def _preset(value: Any) -> str:
    if value not in PRESETS:
        raise ValueError
    return str(value)


def _unit_or_none(value: Any) -> str:
    if value == "":
        return ""
    from hettop.compute_units import is_provider_unit, parse_unit
    from hettop.sources.engine.backend import split_unit

    unit = parse_unit(_text(value))
    if split_unit(unit)[0] not in CORE_ML_UNITS and not is_provider_unit(unit):
        raise ValueError
    return unit


_PANEL_NAMES = ", ".join(PANELS.values())
SETTINGS: tuple[Setting, ...] = (
    Setting("theme", "hettop-dark", "a theme's name", "colours of the screen", _text, option="--theme"),
    Setting(
        "fps",
        4.0,
        f"a number from {FEWEST_FPS:g} to {MOST_FPS:g}",
        "redraws per second; more redraws disturb the measurement more",
        _fps,
        _number,
        option="--fps",
        choices=(1.0, 2.0, 4.0, 8.0, 15.0, 30.0),
    ),
    Setting(
        "window",
        DEFAULT_WINDOW_S,
        f"one of {', '.join(map(str, WINDOWS_S))}",
        "time window of histogram and timeline at the start, in seconds",
        _window,
        _number,
        choices=WINDOWS_S,
    ),
    Setting(
        "ascii",
        False,
        "true or false",
        "draw with plain ASCII characters",
        _bool,
        _bool_of,
        option="--ascii",
        choices=_BOTH,
    ),
    Setting(
        "charts",
        CHARTS[0],
        f"one of {', '.join(CHARTS)}",
        "draw charts in braille dots or in blocks; auto: braille, but blocks on a Linux console",
        _charts,
        choices=CHARTS,
    ),
    Setting(
        "animation",
        True,
        "true or false",
        "animate lists and messages",
        _bool,
        _bool_of,
        choices=_BOTH,
    ),
    Setting(
        "power",
        BEST,
        f"one of {', '.join(SOURCES)}, {NONE}, {BEST}, or {FILE}PATH",
        "power source of the live view",
        _power,
        option="--power",
        choices=(BEST, *SOURCES, NONE),
    ),
    Setting(
        "unit",
        "",
        "a unit such as CPU_AND_NE, or empty for the first available",
        "the unit that the live view starts with",
        _unit_or_none,
        option="--units",
    ),
    Setting(
        "layout.hidden",
        (),
        f"a list of some of {_PANEL_NAMES}, not all",
        "hidden panels; H chooses them on the screen",
        _panels,
        lambda text: [name.strip() for name in text.split(",") if name.strip()],
    ),
    Setting(
        "layout.zoomed",
        "",
        f"one of {_PANEL_NAMES}, or empty",
        "the panel that is zoomed at the start",
        _panel_or_none,
        choices=("", *PANELS.values()),
    ),
    Setting(
        "layout.preset",
        PRESETS[0],
        f"one of {', '.join(PRESETS)}",
        "the layout; w steps through them on the screen",
        _preset,
        choices=PRESETS,
    ),
    Setting(
        "layout.keep",
        True,
        "true or false",
        "keep themes and panels that are chosen on the screen for the next start",
        _bool,
        _bool_of,
        choices=_BOTH,
    ),
)
BY_NAME = {setting.name: setting for setting in SETTINGS}
KEYS_TABLE = "keys"
