"""Takes out of a text, or of a whole document, what names people and machines: paths, host names, long ids.

Pure; the words to take out besides come from the caller. Chip, OS and versions stay: without them nobody could judge.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

GONE = "…"
SHORTEST_WORD = 3  # a user called `me` would take the middle out of half of all words
_PATH = re.compile(r"(?:(?<![\w.:/])(?:~|[A-Za-z]:)?[/\\]{1,2}|file://)[^\s'\"<>|,;:)\]]+")
_ID = re.compile(
    r"\b(?=[0-9a-f-]*[0-9])(?:[0-9a-f]{16,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\b", re.I
)
_DROPPED = frozenset({"id", "pid", "sha256"})


def anonymous(text: str, words: Sequence[str] = ()) -> str:
    """`text` without absolute paths (their last part stays), ids, and `words`."""
    text = _PATH.sub(lambda found: _last_part(found[0]), text)
    text = _ID.sub(GONE, text)
    for word in words:
        if len(word) >= SHORTEST_WORD:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", GONE, text, flags=re.I)
    return text


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


def _last_part(path: str) -> str:
    return re.split(r"[/\\]", path.rstrip("/\\"))[-1] or GONE
