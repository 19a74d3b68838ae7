"""Takes out of a text, or of a whole document, what names people and machines: paths, hosts, long ids, tokens.

Pure; the words to take out besides come from the caller. Chip, OS and versions stay: without them nobody could judge.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from hettop.events import with_line_crc32

GONE = "…"
ANCHORS = "/\\@"
"""What a word begins with that is looked for only behind it: a part of a path, or the name of a host."""
SHORTEST_WORD = 3  # a user called `me` would take the middle out of half of all words
# A folder may have single spaces in its name; behind the name of a file none is looked for, for that is prose.
_PART = r"[^\s'\"<>|,;:)\]/\\]"
_FILE = r"(?<!\.onnx)(?<!\.json)(?<!\.jsonl)(?<!\.mlpackage)(?<!\.mlmodelc)(?<!\.mlmodel)(?<!\.py)(?<!\.txt)"
_PATH = re.compile(
    r"(?:(?P<option>(?<![\w-])-[A-Za-z]{1,20})(?=/)|(?<=:)(?=/[^/])|(?<![\w.:/\\]))"
    r"(?:(?:~[\w.-]{0,64}|…|[A-Za-z]:)?[/\\]{1,2}|file://)"
    rf"(?:{_PART}*(?:{_FILE}[ ]{_PART}+){{0,8}}[/\\]+)*{_PART}*"
)
_QUOTED_PATH = re.compile(
    r"(?P<quote>[\"'])(?:~[\w.-]{0,64}|…|[A-Za-z]:|file:/)?[/\\]"
    r"(?:\\[^\n]|(?!(?P=quote))[^\n\\]){0,4096}(?P=quote)"
)
"""A path in quotes ends where they end, whatever characters it has; a backslash before a quote escapes it."""
_BYTE = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]{1,2})"
_ADDRESS = re.compile(
    r"(?<![\w.:-])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?![\w:-]|\.[0-9])"
    rf"|(?<![a-z0-9.-])(?:{_BYTE}\.){{3}}{_BYTE}(?![a-z0-9-]|\.[0-9])"
    r"|(?<![\w:.])(?:(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}"
    r"|(?=[0-9a-f:]*::)(?:[23][0-9a-f]{3}|f[cdef][0-9a-f]{2}|64)(?::[0-9a-f]{0,4}){2,7})(?!\w|:[0-9a-f])",
    re.I,
)
"""Addresses of network cards, IPv4, and IPv6: with eight groups, or with `::` and the beginnings that are assigned."""
_ID = re.compile(
    # digits alone are a number: keyframes have exact sums as text
    r"(?<![^\W_])(?=[0-9a-f-]{0,64}[0-9])(?=[0-9-]{0,64}[a-f])"
    r"(?:[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![^\W_])",
    re.I,
)
_HOST = re.compile(
    r"(?<=://)(?!localhost\b)(?:[^\s/'\"<>|@]+@[^\s/'\"<>|,;)\]]+|[\w-]+(?:\.[\w-]+)*(?::[0-9]+"
    r"|(?<=\.local)|(?<=\.lan)|(?<=\.home)|(?<=\.internal)|(?<=\.corp))(?![\w.:-])|[\w-]+(?![\w.:-]))",
    re.I,
)
"""The host of a URL with a user or a port, or one that only a local network knows; not that of a public page."""
_PRIVATE_HOST = re.compile(
    r"(?<![\w.-])(?!threading\.local\b)(?:[\w-]+\.){1,8}"
    r"(?:ts\.net|intranet|internal|lan|local|home\.arpa|corp|private)(?![\w-]|\.\w)",
    re.I,
)
"""A name whose ending only private networks use."""
_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.(?!onnx|jsonl?\b|ml|aimodel|zst|py\b|txt|csv|html|toml)[a-z]{2,}\b",
    re.I,
)
_SERIAL = re.compile(r"\b(?=(?:[A-Z]*[0-9]){2})(?=(?:[0-9]*[A-Z]){2})[A-Z0-9]{10,12}\b")
"""Serial numbers as Apple writes them: 12 characters, since 2021 ten."""
_BEHIND_NAME = (
    r"(?:(?<=key)|(?<=token)|(?<=secret)|(?<=pass)|(?<=password)|(?<=passwd)|(?<=passphrase)|(?<=pwd)|(?<=pw))"
)
_AMOUNT = r"[^\S\n]*[0-9][0-9.,]*(?:[^\w.,]|$)"
"""A number behind a colon, as in `first token: 12 ms`."""
_TOKEN = re.compile(
    r"\b(?:[sp]k-[\w-]{16,}|[sprw]k_(?:live|test)_\w{8,}|(?:lin_api|glsa|dop_v1)_\w{16,}|gh[opusr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|hf_\w{20,}|npm_\w{20,}"
    r"|pypi-[\w-]{20,}|xox[a-z]-[\w-]{10,}|A[KS]IA[A-Z0-9]{16}|AIza[\w-]{30,}|eyJ[\w-]+\.[\w-]+(?:\.[\w-]+)?)"
    r"|(?i:(?<=\bbearer )[\w.~+/=-]{6,})"
    r"|(?<![A-Za-z0-9])[A-Za-z]{2,20}(?=[0-9A-Fa-f]{0,31}[0-9])[0-9A-Fa-f]{32,}(?![A-Za-z0-9])"
    r"|(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9]{0,15}_){1,3}(?=(?:[0-9]*[A-Za-z]+[0-9]+){3})[A-Za-z0-9]{20,}(?![A-Za-z0-9])"
    r"|(?i:(?<=authorization)[\"'\\]{0,2}[^\S\n]*[=:][^\S\n]*[\"'\\]{0,2}(?:[a-z]+[^\S\n]+)?[^\s\"',;…]{4,})"
    r"|(?<=\b[Bb]asic )(?=[A-Za-z0-9+/]*[a-z0-9+/][A-Z]|[A-Za-z+/]*[0-9])[A-Za-z0-9+/]{8,}={0,2}"
    rf"|(?i:{_BEHIND_NAME}(?![a-z])[\w-]{{0,32}}[\"'\\]{{0,2}}[^\S\n]*(?:=|:(?!{_AMOUNT}))[^\S\n]*"
    r"(?:\\?\"[^\"\n…]{4,}\"|\\?'[^'\n…]{4,}'|[\"'\\]{0,2}[^\s\"',;&…]{4,}))"
)
"""Tokens by the prefixes that services give them, or as a word before random letters and digits; and values by names.

Such a name has a word like `key` in it, but not one like `keys`: `AWS_SECRET_ACCESS_KEY=`, `token:`, `?key=`.
"""
_SECRET_FIELD = re.compile(rf"(?i:{_BEHIND_NAME}(?![a-z]))")
SECRETS = {
    "URL of a local host": _HOST,
    "mail address": _MAIL,
    "id": _ID,
    "network address": _ADDRESS,
    "host of a private network": _PRIVATE_HOST,
    "serial number": _SERIAL,
    "token": _TOKEN,
}
"""What identifies a person or machine and is recognized by its form alone."""
_UNIT = r"(?P<unit>\bCPU_(?:ONLY|AND_GPU|AND_NE)\b)"
"""A machine may be called gpu."""
_KEYFRAME = '{"k":"keyframe",'
_DROPPED = frozenset({"id", "pid", "sha256"})
_MARKUP = frozenset({"tone", "language", "svg"})
"""Fields of blocks that are no texts but say how something is drawn."""

V = TypeVar("V")


def anonymous(text: str, words: Sequence[str] = ()) -> str:
    """`text` without `words`, absolute paths (their last part stays), and what SECRETS lists."""
    text = without_format_characters(text)
    for word in words:  # before paths: a word may be a folder with spaces in its name, where a path would seem to end
        if len(word) >= SHORTEST_WORD:
            begins = "" if word[0] in ANCHORS else r"(?<![^\W_])"
            found = rf"{_UNIT}|{begins}{re.escape(word)}(?![^\W_])"  # also in `name_model.onnx`
            text = re.sub(found, lambda each: each["unit"] or GONE, text, flags=re.I)
    text = _TOKEN.sub(GONE, text)  # before paths, at whose separators it would be cut
    text = _QUOTED_PATH.sub(lambda found: f"{found['quote']}{_last_part(found[0][1:-1])}{found['quote']}", text)
    text = _PATH.sub(lambda found: (found["option"] or "") + _last_part(found[0]), text)
    for pattern in SECRETS.values():
        text = pattern.sub(GONE, text)
    return text


def anonymous_document(value: Any, words: Sequence[str] = (), key_words: Sequence[str] = ()) -> Any:
    """The same document with all of its texts and keys made anonymous, and ids unknown.

    `key_words` are taken out of keys: none by default, for keys are mostly names of fields.

    Also of units and settings, which hold nothing of that kind.
    """
    match value:
        case str():
            return anonymous(value, words)
        case list() | tuple():
            return [anonymous_document(each, words, key_words) for each in value]
        case dict():
            made: dict[str, Any] = {}
            for key, each in value.items():
                if key in _DROPPED:
                    new = None
                else:
                    new = GONE if is_secret(key, each) else anonymous_document(each, words, key_words)
                made[_new_key(anonymous(key, key_words), made)] = new
            return made
    return value


def is_secret(key: str, value: Any) -> bool:
    """Whether the name of a field says that its value, a text, is a secret."""
    return isinstance(value, str) and value not in ("", GONE) and _SECRET_FIELD.search(key) is not None


def without_format_characters(text: str) -> str:
    """The text without characters that nobody sees, such as a soft hyphen in the middle of a name."""
    return text if text.isascii() else "".join(each for each in text if unicodedata.category(each) != "Cf")


def anonymous_data(value: V, words: Sequence[str] = ()) -> V:
    """The same data, such as the blocks of a page, with all texts in it made anonymous: before anything renders it.

    A renderer escapes and wraps texts: in what it made, names would not be found, and escapes would be lost.
    """
    made: Any = value
    match value:
        case str():
            made = anonymous(value, words)
        case list() | tuple():
            made = type(value)(anonymous_data(each, words) for each in value)
        case dict():
            made = {anonymous(key, words): anonymous_data(each, words) for key, each in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            texts = [each.name for each in fields(value) if each.name not in _MARKUP]
            made = replace(value, **{name: anonymous_data(getattr(value, name), words) for name in texts})
    return cast(V, made)


def anonymous_file(text: str, words: Sequence[str] = ()) -> str:
    """The text of a file, made anonymous: a JSON document, JSON Lines such as a recording, or anything else."""
    try:
        document = _parsed(text)
        if document is not None and not (isinstance(document, dict) and "k" in document):
            return json.dumps(anonymous_document(document, words, words), indent=2) + "\n"
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        pass
    return _anonymous_lines(text, words)  # also a recording of one line


def _anonymous_lines(text: str, words: Sequence[str]) -> str:
    """Checksums are computed anew for the new lines; use `verify` on the original to check its own."""
    lines: list[str] = []
    crc32 = 0
    for line in text.split("\n"):
        lines.append(_anonymous_line(line, words, crc32))
        crc32 = 0 if lines[-1].startswith(_KEYFRAME) else zlib.crc32(f"{lines[-1]}\n".encode(), crc32)
    return "\n".join(lines)


def _anonymous_line(line: str, words: Sequence[str], crc32: int) -> str:
    """A line of any file; one of a recording stays valid: its kind is kept, and ids are left out."""
    try:
        value = _parsed(line)
        recorded = isinstance(value, dict) and "k" in value
        key_words = () if recorded else words  # a user may be called Model, which is also the name of a field
        found = anonymous_document(_without_ids(value), words, key_words)
    except (ValueError, RecursionError):
        return anonymous(line, words)
    if recorded:
        found["k"] = value["k"]  # a user may be called Mark
        if "crc32" in value:
            found["crc32"] = crc32
    text = json.dumps(found, separators=(",", ":"), ensure_ascii=False)
    return with_line_crc32(text.encode()).decode() if recorded and "line_crc32" in value else text


def _parsed(text: str) -> Any:
    """The JSON value; a number that JSON cannot write again, such as 1e400, is null."""
    return json.loads(text, parse_constant=lambda _: None, parse_float=_finite)


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _new_key(key: str, used: Mapping[str, Any]) -> str:
    """`key`, numbered where two keys became the same: `m.onnx (2)`."""
    numbers = (f"{key} ({n})" for n in itertools.count(2))
    return key if key not in used else next(each for each in numbers if each not in used)


def _without_ids(value: Any) -> Any:
    match value:
        case list():
            return [_without_ids(each) for each in value]
        case dict():
            return {key: _without_ids(each) for key, each in value.items() if key not in _DROPPED}
    return value


def _last_part(path: str) -> str:
    return re.split(r"/|\\(?![\"'])", path.rstrip("/\\"))[-1] or GONE
