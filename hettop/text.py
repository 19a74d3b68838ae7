"""Cleans text that came from a file, a model or a process before it may reach a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

REPLACEMENT = "\ufffd"
# Controls (ESC, C1, CR/LF), format characters (bidi overrides, zero-width), surrogates, private use and
# unassigned code points, line and paragraph separators: all of them can move the cursor or lie about order.
UNSAFE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def clean(text: str, limit: int = 200) -> str:
    """`text` with every unsafe character replaced by U+FFFD, at most `limit` characters long."""
    return safe(text if len(text) <= limit else text[: limit - 1] + "…")


def safe(text: str) -> str:
    """The whole of it, with every unsafe character replaced by U+FFFD: for sentences of ours with names in them."""
    return "".join(REPLACEMENT if unicodedata.category(c) in UNSAFE_CATEGORIES else c for c in text)


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean 'X'?` for the known word that is spelled most like `word`; empty where none is near."""
    import difflib  # only after a mistake

    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(word.lower(), by_lower, 1)
    return f"did you mean {clean(by_lower[near[0]])!r}?" if near else ""
