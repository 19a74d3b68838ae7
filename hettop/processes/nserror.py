"""Puts NSErrors, as macOS prints them, into words.

Two notations of them reach a Python program: an NSError's user info as an old-style property list, which coremltools
raises as the text of a RuntimeError, and the NSError itself (`Error Domain=… Code=… "…" UserInfo={…}`), in logs and as
a value inside the first. Everything else keeps its text: braces are common in logs and in names. So does a property
list without a key of Foundation's, or without its end. Work grows linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

DESCRIPTION = "NSLocalizedDescription"
FAILURE_REASON = "NSLocalizedFailureReason"
DEBUG_DESCRIPTION = "NSDebugDescription"
UNDERLYING = ("NSUnderlyingError", "NSMultipleUnderlyingErrorsKey")
PATHS = ("NSFilePath", "NSURL")
"""Errors about files have no description: Foundation makes one when it is asked, and nobody asks."""

MOST_NESTED = 16
"""Errors caused by errors, and values inside values; what is deeper is not read."""

NOTHING = "(null)"
VAGUE = re.compile(r"The operation couldn.t be completed\.?(?: \([\w.-]+ error -?\d+\.?\))?|[\w.-]+ error -?\d+")
"""Descriptions that only say that there was an error."""

STARTS = re.compile(r'(?P<info>\{\s*+"?[A-Za-z_][\w.-]*+"? = )|Error Domain=(?P<domain>\S++) Code=(?P<code>-?\d++)')
QUOTE = re.compile(r'(?: UserInfo=0x[0-9a-f]++)? "')
UNQUOTE = re.compile(r'"(?= UserInfo=|[);}]|,? NS|$)', re.MULTILINE)
"""Quotation marks inside an NSError's own description are not escaped: the last one is known by what follows."""

STRUCTURE = re.compile(
    r'(?<== )"[^"\\]*+(?:\\.[^"\\]*+)*+"(?=[;,)}\s]|$)|(?P<brace>[{}])|(?P<key>\bNS[A-Z]\w*+"? = )', re.DOTALL
)
"""Braces and Foundation's keys; those inside quoted values do not count."""

USER_INFO = " UserInfo={"
RAW_VALUE = r"{}=(.*?)(?:, [A-Z]\w*+=|\}}|$)"
SPACE = re.compile(r"\s*+")
STRING = re.compile(r'"(?P<inside>[^"\\]*+(?:\\.[^"\\]*+)*+)"?', re.DOTALL)
KEY = re.compile(r'[^;,=(){}"\s]*+')
UNQUOTED = re.compile(r'[^;,(){}"\n]*+')
ESCAPE = re.compile(r"\\(?:[Uu](?P<unit>[0-9a-fA-F]{4})|[Uu][0-9a-fA-F]{0,3}\Z|(?P<other>.)|\Z)", re.DOTALL)
UNIT = re.compile(r"\\U(?!00[01])([0-9a-fA-F]{4})")
"""Only property lists escape so. They write no control characters like this; Python does begin `\\U0001f600` so."""

UNIT_INSIDE = re.compile(r"\\[Uu](?:([0-9a-fA-F]{4})|[0-9a-fA-F]{0,3}\Z)")
"""In what was read of an NSError: lower case, too, and broken off at the end."""

CONTROLS = {"n": "\n", "t": "\t", "r": "\n"}
PLAIN = str.maketrans({"{": "(", "}": ")", "\\": None})
"""For what was read of an NSError: remains of the notations."""

Value = str | list["Value"] | dict[str, "Value"]


def flatten(text: str) -> str:
    """`text` with a sentence in the place of each NSError, and with its `\\Uxxxx` escapes as characters."""
    closing, infos = _braces(text)
    parts: list[str] = []
    position = 0
    for found in STARTS.finditer(text):
        begin = found.start()
        if begin < position or (found["info"] is not None and begin not in infos):
            continue
        before = text[position:begin]
        if found["info"] is not None:
            position = closing[begin]
            info = text[begin:position]
            said = _sentence(_Reader(info, 0, _braces(info)[0]).value(0), 0)
        else:
            said, position = _error(text, found, closing)
        parts += [before if said else before.rstrip(" =:"), _units(said, UNIT_INSIDE).translate(PLAIN)]
    rest = text[position:]
    if f"{DESCRIPTION} = " in rest:  # of an NSError that breaks off
        rest = _units(rest, UNIT_INSIDE)
    return _units("".join((*parts, rest)), UNIT)


def unescape(text: str) -> str:
    """What stands between the quotation marks of an old-style property list, without its escapes."""
    return _paired(ESCAPE.sub(_character, text))


class _Reader:
    """Reads one value of an old-style property list; `position` is behind what has been read of it."""

    def __init__(self, text: str, position: int, closing: dict[int, int]) -> None:
        self._text = text
        self.position = position
        self._closing = closing

    def value(self, depth: int) -> Value:
        """The value that begins here; of one that breaks off or is malformed, what comes before that."""
        here = self._next()
        if depth > MOST_NESTED:
            return ""
        if here == "{":
            return self._pairs(depth)
        if here == "(":
            return self._items(depth)
        if (error := STARTS.match(self._text, self.position)) and error["domain"]:
            said, self.position = _error(self._text, error, self._closing, depth)
            return said
        return self._word(UNQUOTED)

    def _pairs(self, depth: int) -> dict[str, Value]:
        self.position += 1
        pairs: dict[str, Value] = {}
        while self._next() not in ("", "}"):
            begin, key = self.position, self._word(KEY)
            if self._next() == "=":
                self.position += 1
                pairs[key] = self.value(depth + 1)
            if self._next() in (";", ","):
                self.position += 1
            if self.position == begin:
                return pairs
        self.position = min(self.position + 1, len(self._text))
        return pairs

    def _items(self, depth: int) -> list[Value]:
        self.position += 1
        items: list[Value] = []
        while self._next() not in ("", ")"):
            begin = self.position
            items.append(self.value(depth + 1))
            if self._next() == ",":
                self.position += 1
            if self.position == begin:
                return items
        self.position = min(self.position + 1, len(self._text))
        return items

    def _word(self, unquoted: re.Pattern[str]) -> str:
        if found := STRING.match(self._text, self.position):
            self.position = found.end()
            return unescape(found["inside"])
        if found := unquoted.match(self._text, self.position):
            self.position = found.end()
        return found[0].strip() if found else ""

    def _next(self) -> str:
        """The character that is next, or "" at the end."""
        found = SPACE.match(self._text, self.position)
        self.position = self.position if found is None else found.end()
        return self._text[self.position : self.position + 1]


def _sentence(value: Value | None, depth: int) -> str:
    """What a person can learn from a user info, a nested error, or a list of them; "" if nothing."""
    if value is None or depth > MOST_NESTED:
        return ""
    if isinstance(value, list):
        return _best(_sentence(each, depth + 1) for each in value)
    if isinstance(value, str):
        found = STARTS.search(value)
        if found is None or found["domain"] is None:
            return value
        return _error(value, found, _braces(value)[0], depth)[0]
    keys = (DESCRIPTION, FAILURE_REASON, *UNDERLYING, DEBUG_DESCRIPTION)
    said = _best(_sentence(value.get(key), depth + 1) for key in keys)
    path = "" if value.get(DESCRIPTION) else _best(_sentence(value.get(key), depth + 1) for key in PATHS)
    return ": ".join(part for part in (said, path) if part)


def _error(text: str, found: re.Match[str], closing: dict[int, int], depth: int = 0) -> tuple[str, int]:
    """The sentence of the NSError that `found` begins, and where it ends."""
    said, position = "", found.end()
    if opened := QUOTE.match(text, position):
        closed = UNQUOTE.search(text, opened.end())
        end = closed.start() if closed else len(text)
        said, position = text[opened.end() : end], closed.end() if closed else len(text)
    info = ""
    if text.startswith(USER_INFO, position):
        begin = position + len(USER_INFO) - 1
        line_end = text.find("\n", position)
        position = closing.get(begin, line_end if line_end >= 0 else len(text))
        info = text[begin:position]
    return _best((said, *_below(info, depth), f"{found['domain']} error {found['code']}")), position


def _below(info: str, depth: int) -> Iterator[str]:
    """What the user info inside an NSError adds; its values are neither quoted nor escaped there."""
    for key in (FAILURE_REASON, DEBUG_DESCRIPTION):
        if value := re.search(RAW_VALUE.format(key), info, re.DOTALL):
            yield value[1]
    nested = STARTS.search(info) if depth < MOST_NESTED else None
    if nested is not None and nested["domain"] is not None:
        yield _error(info, nested, _braces(info)[0], depth + 1)[0]


def _best(said: Iterable[str]) -> str:
    """The first that says something, else the first that says at least that there was an error."""
    known = [each for each in said if each and each != NOTHING]
    return next((each for each in known if not VAGUE.fullmatch(each)), known[0] if known else "")


def _braces(text: str) -> tuple[dict[int, int], set[int]]:
    """Where the brace that opens at each place is closed, one behind it; and the places whose braces hold an NSError.

    These are closed, and one of Foundation's keys stands directly inside.
    """
    opened: list[int] = []
    closing = {}
    keyed = set()
    for found in STRUCTURE.finditer(text):
        if found["key"] is not None:
            keyed.update(opened[-1:])
        elif found["brace"] == "{":
            opened.append(found.start())
        elif found["brace"] == "}" and opened:
            closing[opened.pop()] = found.end()
    return closing, keyed & closing.keys()


def _character(found: re.Match[str]) -> str:
    if found["unit"]:
        return chr(int(found["unit"], 16))
    return CONTROLS.get(found["other"] or "", found["other"] or "")


def _units(text: str, escape: re.Pattern[str]) -> str:
    return _paired(escape.sub(lambda found: chr(int(found[1], 16)) if found[1] else "", text))


def _paired(text: str) -> str:
    """Characters beyond the first 65,536 are written as two escapes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
