"""`hettop config`: where the settings lie, what is in force, and where each value came from."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from hettop.app.settings.example import example
from hettop.app.settings.load import NO_COLOUR, Mine, my_settings, screen_keymap, with_theme
from hettop.app.settings.resolve import Value, shown
from hettop.cli.screen import has_theme, whole_name
from hettop.errors import HettopError
from hettop.exits import EXIT_WRONG_USE
from hettop.measurement.user_files import my_places
from hettop.text import clean
from hettop.tui.keymap import Keymap
from hettop.tui.keys import KEYS

EXAMPLE_KEYS = ("unit.next", "room.load", "freeze")


def run(arguments: argparse.Namespace) -> int:
    if arguments.init:
        return _init()
    if arguments.forget:
        return _forget()
    return _tell(arguments)


def _init() -> int:
    path = my_places().config
    if path is None:
        raise HettopError("usage", "this user has no home for a config file", "export HETTOP_CONFIG=/some/config.toml")
    shown = [(key.id, key.display, key.words) for key in KEYS if key.id in EXAMPLE_KEYS]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(example(shown))
    except FileExistsError:
        raise HettopError("io", f"{clean(str(path))} is there already", "edit it, or move it away first") from None
    except OSError as error:
        raise HettopError("io", f"{clean(str(path))} cannot be written: {error.strerror}") from None
    sys.stdout.write(f"wrote {clean(str(path))}\n")
    return 0


def _forget() -> int:
    kept = my_settings().kept
    if kept is not None:
        try:
            kept.forget()
        except OSError as error:
            raise HettopError("io", f"{clean(str(kept.path))} cannot be removed: {error.strerror}") from None
    sys.stdout.write("forgotten: what was chosen on the screen\n")
    return 0


def _tell(arguments: argparse.Namespace) -> int:
    arguments.theme = whole_name(arguments.theme)
    options = {name: getattr(arguments, name) for name in ("theme", "fps", "ascii", "power", "unit")}
    mine, no_theme = with_theme(my_settings(options), has_theme)
    keymap = screen_keymap(mine.force.keys)
    faults = [
        *mine.force.faults,
        *no_theme,
        *(f"{mine.force.keys[name].where}: {clean(name, 60)}: {clean(why)}" for name, why in keymap.faults.items()),
    ]
    if arguments.as_json:
        sys.stdout.write(json.dumps(_document(mine, keymap, faults), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(_page(mine, keymap, faults))
    return EXIT_WRONG_USE if faults else 0


def _document(mine: Mine, keymap: Keymap, faults: list[str]) -> dict[str, Any]:
    def told(value: Value) -> dict[str, Any]:
        return {"value": value.value, "from": value.source, "where": value.where or None}

    return {
        "files": {name: _file(path) for name, path in _files(mine)},
        "settings": {name: told(value) for name, value in mine.force.values.items()},
        "keys": {name: told(value) for name, value in mine.force.keys.items() if name in keymap.keys},
        "faults": faults,
        "notes": _notes(mine, keymap),
    }


def _notes(mine: Mine, keymap: Keymap) -> list[str]:
    without_hues = mine.force.values["theme"].where == NO_COLOUR
    told = f"{NO_COLOUR} is set, so the usual theme gives way to one without hues; one that you name does not"
    return [*([told] if without_hues else []), *keymap.notes]


def _files(mine: Mine) -> list[tuple[str, Path | None]]:
    places = mine.places
    return [("config", places.config), ("themes", places.themes), ("state", places.state)]


def _file(path: Path | None) -> dict[str, Any]:
    return {"path": None if path is None else str(path), "exists": path is not None and path.exists()}


def _page(mine: Mine, keymap: Keymap, faults: list[str]) -> str:
    lines = []
    words = {"config": "config file", "themes": "own themes", "state": "chosen on the screen"}
    for name, path in _files(mine):
        absent = "" if path is not None and path.exists() else "  (not there)"
        lines.append(f"{words[name]:<21} {'n/a: no home' if path is None else clean(str(path))}{absent}")
    lines += ["", f"{'setting':<21} {'value':<22} from"]
    for name, value in mine.force.values.items():
        lines.append(f"{name:<21} {shown(value.value):<22} {value.where or value.source}")
    kept = {name: value for name, value in mine.force.keys.items() if name in keymap.keys}
    if kept:
        lines += ["", f"{'key':<21} {'now':<22} from"]
        lines += [f"{clean(name):<21} {clean(value.value):<22} {value.where}" for name, value in kept.items()]
    notes = _notes(mine, keymap)
    lines += ["", *(f"note: {note}" for note in notes)] if notes else []
    lines += ["", *(f"wrong: {fault}" for fault in faults)] if faults else []
    if mine.places.config is not None and not mine.places.config.exists() and "HETTOP_CONFIG" not in os.environ:
        lines += ["", "hettop config --init writes an example."]
    return "\n".join(lines) + "\n"
