"""Takes out of a text, or of a whole document, what names people and machines: paths, host names, long ids.

Pure; the words to take out besides come from the caller. Chip, OS and versions stay: without them nobody could judge.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from typing import Any

GONE = "…"
SHORTEST_WORD = 3  # a user called `me` would take the middle out of half of all words
_PATH = re.compile(r"(?:(?<![\w.:/])(?:~|…|[A-Za-z]:)?[/\\]{1,2}|file://)[^\s'\"<>|,;:)\]]+")
_ID = re.compile(
    r"\b(?=[0-9a-f-]*[0-9])(?=[0-9-]*[a-f])"  # digits alone are a number: keyframes have exact sums as text
    r"(?:[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b",
    re.I,
)
_KEYFRAME = '{"k":"keyframe",'
_DROPPED = frozenset({"id", "pid", "sha256"})


def anonymous(text: str, words: Sequence[str] = ()) -> str:
    """`text` without absolute paths (their last part stays), ids, and `words`."""
    for word in words:  # before paths: a word may be a folder with spaces in its name, where a path would seem to end
        if len(word) >= SHORTEST_WORD:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", GONE, text, flags=re.I)
    text = _PATH.sub(lambda found: _last_part(found[0]), text)
    return _ID.sub(GONE, text)


def anonymous_document(value: Any, words: Sequence[str] = ()) -> Any:
    """The same document with all of its texts made anonymous and ids unknown; keys stay, for they are names of fields.

    Also of units and settings, which hold nothing of that kind.
    """
    match value:
        case str():
            return anonymous(value, words)
        case list() | tuple():
            return [anonymous_document(each, words) for each in value]
        case dict():
            return {key: None if key in _DROPPED else anonymous_document(each, words) for key, each in value.items()}
    return value


def anonymous_file(text: str, words: Sequence[str] = ()) -> str:
    """The text of a file, made anonymous: a JSON document, JSON Lines such as a recording, or anything else."""
    try:
        document = json.loads(text)
    except ValueError:
        document = None
    if document is None or (isinstance(document, dict) and "k" in document):  # also a recording of one line
        return _anonymous_lines(text, words)
    return json.dumps(anonymous_document(document, words), indent=2) + "\n"


def _anonymous_lines(text: str, words: Sequence[str]) -> str:
    """The checksums of a recording are made to fit its new lines; whether they fitted the old ones, `verify` tells."""
    lines: list[str] = []
    crc32 = 0
    for line in text.split("\n"):
        lines.append(_anonymous_line(line, words, crc32))
        crc32 = 0 if lines[-1].startswith(_KEYFRAME) else zlib.crc32(f"{lines[-1]}\n".encode(), crc32)
    return "\n".join(lines)


def _anonymous_line(line: str, words: Sequence[str], crc32: int) -> str:
    """A line of any file; one of a recording stays valid: its kind is kept, and ids are left out."""
    try:
        value = json.loads(line)
    except ValueError:
        return anonymous(line, words)
    found = anonymous_document(_without_ids(value), words)
    if isinstance(value, dict) and "k" in value:
        found["k"] = value["k"]  # a user may be called Mark
        if "crc32" in value:
            found["crc32"] = crc32
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False)


def _without_ids(value: Any) -> Any:
    match value:
        case list():
            return [_without_ids(each) for each in value]
        case dict():
            return {key: _without_ids(each) for key, each in value.items() if key not in _DROPPED}
    return value


def _last_part(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or GONE
