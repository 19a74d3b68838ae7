"""Finds what still names people or machines in files that are about to be sent: the last check, on their bytes.

`anonymize` removes names before texts are rendered, wrapped and escaped; this reads what came of it, by wider patterns.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from hettop.report.anonymize import ANCHORS, SECRETS, SHORTEST_WORD, is_secret, without_format_characters

LONG_WORD = 6
"""From this length on, a name is looked for inside longer words too: `ada` stands in `metadata`."""

KIND = "k"
"""The field with the kind of a recording's line, such as `mark`, whose values are hettop's own words."""

_OWN_WORDS = re.compile(r"\bcpu_(?:only|and_gpu|and_ne)\b|(?<=[0-9]\.)dev(?=[0-9])")
"""Units, which stay although a machine may be called gpu, and the `dev` of versions."""
_HOME = re.compile(r"[/\\](?:home|users)[/\\][^\s/\\\"']+", re.I)
_RANDOM = re.compile(r"[\w+/=-]{20,}", re.ASCII)
_BESIDE_DIGIT = re.compile(r"(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])")
MOST_BESIDE_DIGITS = 3
"""Changes between letter and digit; 32 random characters have 8, `standard-WSL2-x86_64-with-glibc2` has 3."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Where something was found, and what kind of thing it is; never what it is."""

    place: str
    kind: str


def find_leaks(
    files: Mapping[str, bytes], names: Mapping[str, Sequence[str]], fields: Set[str] = frozenset()
) -> list[Leak]:
    """What is left in `files`, by name: `names` (by what they are), paths into home folders, addresses, ids and tokens.

    fields: keys of JSON objects that hettop's code defines. They identify nobody, even if a user is called so.
    """
    patterns = {kind: _any_of(words) for kind, words in names.items()}
    return [
        Leak(place, kind)
        for name, data in files.items()
        for place, text in _texts(name, data.decode("utf-8", "replace"), fields)
        for kind in _kinds_in(text, patterns)
    ]


def _any_of(words: Sequence[str]) -> re.Pattern[str] | None:
    """Finds the words in a plain text, also where they are broken over lines; too short ones cannot be looked for."""
    found = []
    for word in map(_plain, words):
        if len(word) >= SHORTEST_WORD:
            middle = r"\s+".join(map(re.escape, word.split()))
            anchored = word[0] in ANCHORS and not set(ANCHORS) & set(word[1:])
            inside = not anchored and (len(word) >= LONG_WORD or "/" in word)
            begins = "" if anchored else r"(?<![^\W\d_])"
            found.append(middle if inside else rf"{begins}{middle}(?![^\W\d_])")
    return re.compile("|".join(found)) if found else None


def _plain(text: str) -> str:
    """The text without differences of case and of Unicode's forms: a Mac decomposes the names of files."""
    return unicodedata.normalize("NFKC", text).casefold()


_ESCAPE = re.compile(r"\\u([0-9a-f]{4})|\\x([0-9a-f]{2})", re.I)


def _forms(text: str) -> Iterator[str]:
    """The text without invisible characters, and if it has escapes (`%41`, `\\u0041`) also what they stand for."""
    text = without_format_characters(text)
    yield text
    decoded = _ESCAPE.sub(lambda found: chr(int(found[1] or found[2], 16)), unquote(text))
    if decoded != text:
        yield without_format_characters(decoded)


def _kinds_in(text: str, patterns: Mapping[str, re.Pattern[str] | None]) -> Iterator[str]:
    yield from dict.fromkeys(kind for form in _forms(text) for kind in _kinds_in_form(form, patterns))


def _kinds_in_form(text: str, patterns: Mapping[str, re.Pattern[str] | None]) -> Iterator[str]:
    plain = _OWN_WORDS.sub("", _plain(text))
    yield from (kind for kind, pattern in patterns.items() if pattern is not None and pattern.search(plain))
    if _HOME.search(text):
        yield "path of a home folder"
    yield from (kind for kind, pattern in SECRETS.items() if pattern.search(text))
    if any(_is_random(found) for found in _RANDOM.findall(text)):
        yield "text like a token"


def _is_random(text: str) -> bool:
    """Whether it mixes upper case, lower case and digits more than any word does."""
    return text.lower() != text != text.upper() and len(_BESIDE_DIGIT.findall(text)) > MOST_BESIDE_DIGITS


def _texts(name: str, text: str, fields: Set[str]) -> Iterator[tuple[str, str]]:
    """Each text of a file with its place: of JSON and JSON Lines what it says rather than how that is escaped."""
    if name.endswith(".json"):
        yield from _of_json(name, _parsed(text), fields)
        return
    lines = text.splitlines()
    for number, (before, line) in enumerate(zip(["", *lines], lines, strict=False), 1):
        place = f"{name}, line {number}"
        if name.endswith(".jsonl"):
            yield from _of_json(place, _parsed(line), fields)
        else:
            yield place, f"{before}\n{line}"  # a name may be broken over two lines


def _parsed(text: str) -> Any:
    """The JSON value, or the text where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _of_json(place: str, value: Any, fields: Set[str]) -> Iterator[tuple[str, str]]:
    """Each text in a JSON value with its place; keys are texts unless hettop defines them."""
    match value:
        case str():
            yield place, value
        case list():
            for number, each in enumerate(value):
                yield from _of_json(f"{place}[{number}]", each, fields)
        case dict():
            for key, each in value.items():
                known = key in fields
                if known and key == KIND:
                    continue
                if not known:
                    yield f"{place}, a key", key
                if not known and is_secret(key, each):
                    yield f"{place}, a key", f"password={each}"
                yield from _of_json(f"{place}, {key}" if known else place, each, fields)
