"""Make docs/reference/keys.md and packaging/hettop.1 from the program itself: `python tools/pages.py`."""

from __future__ import annotations

from pathlib import Path

from hettop.cli.help import manual
from hettop.tui.keymap import shown_key
from hettop.tui.keys import GROUPS, KEYS
from hettop.tui.scopes import scopes

REPOSITORY = Path(__file__).resolve().parents[1]

_HEAD = """\
# Keys

Made by `python tools/pages.py` from the program itself. Each key has an id; in the config file it can have another
key, or several: [screen.md](../guide/screen.md#settings). `?` on the screen tells those that apply, with your own keys
in force; `hettop help keys` prints them all.
"""
_ROOMS = """
## In rooms and lists

While one of these is open, its keys go before those of the panels; the others go on working in rooms, so that one can
pause, record and mark from everywhere.
"""
_POINTING = """
## With the mouse

A click on a unit's row runs it (in a replay: looks at it), twice opens all that is known of it. A click or a drag on
the scrub bar seeks. In rooms a click chooses a dial or a spike, on the same spike again it goes there; the wheel
scrolls. A click on a word of the bottom line presses its key, in rooms too. Text can be selected with the mouse, and
copied.
"""


def keys_page() -> str:
    """The whole page, in Markdown."""
    parts = [_HEAD]
    for group, keys in GROUPS:
        parts.append(f"\n## {group}\n\n| key | does | id |\n|---|---|---|\n")
        parts += [f"| `{_cell(key.display)}` | {_cell(key.words)} | `{key.id}` |\n" for key in keys]
    parts.append(_ROOMS)
    panels = {key.id for key in KEYS}
    rows = {
        binding.id: f"| `{_shown(binding.key)}` | {_cell(binding.description.lower())} | `{binding.id}` |\n"
        for scope in scopes()
        for binding in scope.bindings
        if binding.id and binding.id not in panels
    }
    parts += ["\n| key | does | id |\n|---|---|---|\n", *rows.values(), _POINTING]
    return "".join(parts)


def _shown(keys: str) -> str:
    return _cell(" ".join(map(shown_key, keys.split(","))))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


PAGES = {"docs/reference/keys.md": keys_page, "packaging/hettop.1": manual}

if __name__ == "__main__":
    for name, make in PAGES.items():
        (REPOSITORY / name).write_text(make(), encoding="utf-8")
