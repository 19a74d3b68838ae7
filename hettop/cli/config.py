"""`hettop config`: the effective settings, and where each value comes from."""

from __future__ import annotations

import argparse
import json
import os
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hettop.app.settings.resolve import NO_COLOUR, UserSettings, Value, load_settings, screen_keymap, shown, with_theme
from hettop.app.settings.schema import SETTINGS, Setting
from hettop.cli.commands import refuse
from hettop.cli.screen import has_theme, whole_name
from hettop.errors import HettopError
from hettop.exits import EXIT_WRONG_USE
from hettop.measurement.user_files import user_places
from hettop.report.document import head
from hettop.text import clean
from hettop.tui.keymap import Keymap
from hettop.tui.keys import KEYS

EXAMPLE_KEYS = ("unit.next", "freeze")


def run(arguments: argparse.Namespace) -> int:
    if arguments.init or arguments.forget:
        shown_only = ("theme", "fps", "ascii", "power", "units", "format")
        refuse(arguments, shown_only, f"with {'--init' if arguments.init else '--forget'}")
    if arguments.init:
        return _init()
    if arguments.forget:
        return _forget()
    return _show(arguments)


def _init() -> int:
    path = user_places().config
    if path is None:
        raise HettopError("usage", "no home folder for a config file", "export HETTOP_CONFIG=/path/config.toml")
    keys = [(key.id, key.display, key.words) for key in KEYS if key.id in EXAMPLE_KEYS]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(example(keys))
    except FileExistsError:
        raise HettopError("io", f"config file exists: {clean(str(path))}", "edit it, or move it away") from None
    except OSError as error:
        raise HettopError(
            "io", f"cannot write: {clean(str(path))}: {error.strerror}", "export HETTOP_CONFIG=/path/config.toml"
        ) from None
    sys.stdout.write(f"wrote {clean(str(path))}\n")
    return 0


def _forget() -> int:
    ui_state = load_settings().ui_state
    if ui_state is not None:
        try:
            ui_state.forget()
        except OSError as error:
            raise HettopError("io", f"cannot remove: {clean(str(ui_state.path))}: {error.strerror}") from None
    sys.stdout.write("removed the choices made on the screen\n")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    arguments.theme = whole_name(arguments.theme)
    options = {name: getattr(arguments, name) for name in ("theme", "fps", "ascii", "power")}
    options["unit"] = arguments.units[0] if arguments.units else None
    user, keymap, faults = _effective(options)
    if arguments.as_json:
        sys.stdout.write(json.dumps(_document(user, keymap, faults), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(_page(user, keymap, faults))
    return EXIT_WRONG_USE if faults else 0


def _effective(options: Mapping[str, Any]) -> tuple[UserSettings, Keymap, list[str]]:
    """The settings, the keys, and what is wrong with either."""
    user, no_theme = with_theme(load_settings(options), has_theme)
    keymap = screen_keymap(user.settings.keys)
    bad_keys = (
        f"{user.settings.keys[name].where}: {clean(name, 60)}: {clean(why)}" for name, why in keymap.faults.items()
    )
    return user, keymap, [*user.settings.faults, *no_theme, *bad_keys]


def config_document() -> dict[str, Any]:
    """The effective settings without options, as `hettop config --json` prints them."""
    return _document(*_effective({}))


def _document(user: UserSettings, keymap: Keymap, faults: list[str]) -> dict[str, Any]:
    def described(value: Value) -> dict[str, Any]:
        return {"value": value.value, "from": value.source, "where": value.where or None}

    return {
        **head("config"),
        "files": {name: _file(path) for name, path in _files(user)},
        "settings": {name: described(value) for name, value in user.settings.values.items()},
        "keys": {name: described(value) for name, value in user.settings.keys.items() if name in keymap.keys},
        "faults": faults,
        "notes": _notes(user, keymap),
    }


def _notes(user: UserSettings, keymap: Keymap) -> list[str]:
    without_hues = user.settings.values["theme"].where == NO_COLOUR
    note = f"{NO_COLOUR} is set, so the default theme is one without colours; --theme overrides it"
    return [*([note] if without_hues else []), *keymap.notes]


def _files(user: UserSettings) -> list[tuple[str, Path | None]]:
    places = user.places
    return [("config", places.config), ("themes", places.themes), ("state", places.state)]


def _file(path: Path | None) -> dict[str, Any]:
    return {"path": None if path is None else str(path), "exists": path is not None and path.exists()}


def _page(user: UserSettings, keymap: Keymap, faults: list[str]) -> str:
    lines = []
    words = {"config": "config file", "themes": "own themes", "state": "chosen on the screen"}
    for name, path in _files(user):
        absent = "" if path is not None and path.exists() else "  (does not exist)"
        lines.append(f"{words[name]:<21} {'n/a: no home folder' if path is None else clean(str(path))}{absent}")
    values = {name: shown(value.value) if value.value != "" else "none" for name, value in user.settings.values.items()}
    cells = max(22, *map(len, values.values()))
    lines += ["", f"{'setting':<21} {'value':<{cells}} from"]
    for name, value in user.settings.values.items():
        lines.append(f"{name:<21} {values[name]:<{cells}} {value.where or value.source}")
    keys = {name: value for name, value in user.settings.keys.items() if name in keymap.keys}
    if keys:
        lines += ["", f"{'key':<21} {'now':<22} from"]
        lines += [f"{clean(name):<21} {clean(value.value):<22} {value.where}" for name, value in keys.items()]
    notes = _notes(user, keymap)
    lines += ["", *(f"note: {note}" for note in notes)] if notes else []
    lines += ["", *(f"error: {fault}" for fault in faults)] if faults else []
    if user.places.config is not None and not user.places.config.exists() and "HETTOP_CONFIG" not in os.environ:
        lines += ["", "hint: hettop config --init writes an example"]
    return "\n".join(lines) + "\n"


_WIDTH = 100
_HEAD = """\
# hettop's settings. Remove the # before a line to activate it; `hettop config` shows the effective settings.
# Command-line options and environment variables (HETTOP_THEME, HETTOP_FPS, …) override this file.
"""
_KEYS = """\
# Keys of the screen by id (`hettop help keys` lists them); a comma separates alternatives.
# Keys are single characters, or names: space, enter, tab, up, f1, ctrl+x, shift+left.
# [keys]
"""


def example(keys: Iterable[tuple[str, str, str]] = ()) -> str:
    """The file's text. `keys`: id, key and words of some keys of the screen."""
    parts = [_HEAD]
    table = ""
    for setting in SETTINGS:
        head, _, _name = setting.name.rpartition(".")
        if head != table:
            parts.append(f"# [{head}]\n")
            table = head
        parts.append(_entry(setting))
    lines = [f'# "{name}" = "{key}"   # {words}\n' for name, key, words in keys]
    return "\n".join([*parts, _KEYS + "".join(lines)])


def _entry(setting: Setting) -> str:
    words = textwrap.wrap(f"{setting.words} ({setting.takes})", _WIDTH, initial_indent="# ", subsequent_indent="# ")
    name = setting.name.rpartition(".")[2]
    return "\n".join([*words, f"# {name} = {shown(setting.default)}"]) + "\n"
