"""The user's own keys: validated against all bindings, and shown in help and hints.

Pure functions: bindings in, bindings out; the app applies them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from textual.binding import Binding
from textual.keys import KEY_ALIASES, Keys, _character_to_key, format_key

from hettop.text import clean, nearest
from hettop.tui.keys import Key

_SHOWN = {
    "space": "space",
    "left": "←",
    "right": "→",
    "up": "↑",
    "down": "↓",
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "home": "Home",
    "end": "End",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "backspace": "Backspace",
    "delete": "Del",
    "insert": "Ins",
}
_MODIFIERS = ("ctrl", "shift", "alt", "super", "meta", "hyper")
_SAME = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+j": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
}
"""Keys that a terminal cannot distinguish from others."""
_RESERVED = {"ctrl+c": "interrupts", "ctrl+z": "suspends", "ctrl+q": "ends the program at once"}
_PREFIXES = {"ctrl+b": "tmux", "ctrl+a": "screen"}
"""The default prefix keys of terminal multiplexers."""
_NAMED = {key.value for key in Keys} | set(KEY_ALIASES)


@dataclass(frozen=True, slots=True)
class Scope:
    """Bindings that are active together: no two may have the same key. `name` is for messages."""

    name: str
    bindings: tuple[Binding, ...]


@dataclass(frozen=True, slots=True)
class Keymap:
    """The valid keys by id, in Textual's names; the errors of the invalid ones by id; and notes on valid ones."""

    keys: Mapping[str, str]
    faults: Mapping[str, str]
    notes: tuple[str, ...] = ()


def make_keymap(wanted: Mapping[str, str], scopes: Sequence[Scope]) -> Keymap:
    """Validates the wanted keys. One that would give a key two meanings is refused; the other keeps it."""
    ids = {binding.id for scope in scopes for binding in scope.bindings if binding.id}
    taken: dict[str, str] = {}
    faults: dict[str, str] = {}
    notes = []
    for name, text in wanted.items():
        if name not in ids:
            faults[name] = "; ".join(filter(None, ("no key has this id", nearest(name, sorted(ids)))))
            continue
        try:
            taken[name] = ",".join(textual_keys(text))
        except ValueError as error:
            faults[name] = str(error)
            continue
        notes += [
            f"{key} is the prefix key of {program}: press it twice there"
            for key in taken[name].split(",")
            if (program := _PREFIXES.get(key))
        ]
    while (clash := _first_clash(taken, scopes)) is not None:
        name, why = clash
        faults[name] = why
        del taken[name]
    return Keymap(taken, faults, tuple(notes))


def _first_clash(taken: Mapping[str, str], scopes: Sequence[Scope]) -> tuple[str, str] | None:
    """The last of the wanted keys that would have a second meaning, and the error."""
    for name in reversed(list(taken)):
        for scope in scopes:
            if name not in {binding.id for binding in scope.bindings}:
                continue
            for other in scope.bindings:
                held = taken.get(other.id or "", other.key).split(",")
                both = [key for key in taken[name].split(",") if key in held]
                if other.id != name and both:
                    return name, f"{shown_key(both[0])} is already the key of {other.id}: {other.description}"
    return None


def textual_keys(text: str) -> list[str]:
    """The keys in `text` by Textual's names: `[` is `left_square_bracket`. Raises ValueError with a message."""
    if text == ",":
        return ["comma"]
    names = [_textual_key(part.strip() or part) for part in text.split(",")]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"{shown_key(twice[0])} is listed twice")
    return names


def _textual_key(text: str) -> str:
    if not text:
        raise ValueError("a key is missing; use a character, or a name such as space, f1 or ctrl+x")
    if len(text) == 1:
        if not text.isprintable():
            raise ValueError(f"invalid key {clean(text)!r}")
        return _character_to_key(text)
    *modifiers, last = text.split("+") if not text.endswith("++") else [*text[:-2].split("+"), "+"]
    modifiers = [modifier.lower() for modifier in modifiers]
    if not set(modifiers) <= set(_MODIFIERS) or not last:
        raise ValueError(f"invalid key {clean(text)!r}; use a character, or a name such as space, f1 or ctrl+x")
    named = _character_to_key(last) if len(last) == 1 else last.lower() if last.lower() in _NAMED else last
    key = "+".join([*modifiers, named])
    if len(last) > 1 and named not in _NAMED and not _is_character_name(named):
        raise ValueError(f"invalid key {clean(text)!r}; use a character, or a name such as space, f1 or ctrl+x")
    if key in _RESERVED:
        raise ValueError(f"{key} is reserved: it {_RESERVED[key]}")
    if key in _SAME:
        raise ValueError(f"terminals send the same for {key} as for {_SAME[key]}")
    return key


def _is_character_name(name: str) -> bool:
    """Whether Textual has this name for a character, as `left_square_bracket`."""
    return any(_character_to_key(chr(number)) == name for number in range(33, 127))


def shown_key(key: str) -> str:
    """A key by Textual's name as a user reads it: `ctrl+x` is `Ctrl+X`, `left_square_bracket` is `[`."""
    *modifiers, last = key.split("+")
    shown = _SHOWN.get(last) or (format_key(last) if len(last) > 1 else last)
    if last[0] == "f" and last[1:].isdecimal():
        shown = last.upper()
    if not modifiers:
        return shown
    return "+".join([*(modifier.capitalize() for modifier in modifiers), shown.upper() if len(shown) == 1 else shown])


def with_keymap(keys: Iterable[Key], keymap: Mapping[str, str]) -> list[Key]:
    """`keys` as they are shown with the user's own keys."""
    return [
        replace(key, keys=keymap[key.id], display=shown_key(keymap[key.id].split(",")[0])) if key.id in keymap else key
        for key in keys
    ]
