"""The commented example of a config file, made of the table of settings.

All of it is in comments, so that it sets nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from hettop.app.settings.resolve import shown
from hettop.app.settings.schema import SETTINGS, Setting

_WIDTH = 100
_HEAD = """\
# hettop's settings. Take away the # before a line to put it in force; `hettop config` tells what is.
# Options of the command line and environment variables (HETTOP_THEME, HETTOP_FPS, …) override this file.
"""
_KEYS = """\
# Other keys for what the screen does, by the ids that `hettop help keys` lists; comma between alternatives.
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
