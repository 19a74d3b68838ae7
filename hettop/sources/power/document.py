"""Reads one XML property list into plain values, forgiving single figures but nothing that could hurt.

Knows the format only, not what powermetrics means by it. Stricter than plistlib on what a stranger's file may do
(entities, depth) and milder on figures: `nan`, a locale's comma or a garbled number is absent, the rest survives.
"""

from __future__ import annotations

import re
from typing import TypeAlias
from xml.parsers import expat

from hettop.sources.power.sample import number

Value: TypeAlias = "float | str | bool | dict[str, Value] | list[Value] | None"

DEPTH_LIMIT = 64  # powermetrics nests eight deep
TOP_FREQUENCY = "top_mhz"
# Names of processes and boot arguments may hold bytes that XML forbids; no figure does.
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Four fifths of a document are residencies per frequency, of which only the highest frequency is of use here.
# A list with another one in it is not the list it used to be: it is left to the reader. Nothing is read twice: a list
# ends at the next bracket of any list, and what has matched is not given back (`*+`).
_RESIDENCIES = re.compile(
    rb"<key>(dvfm_states|sw_requested_state|sw_state|requested_freq)</key>\s*+<array>"
    rb"([^<]*+(?:<(?!/?array)[^<]*+)*+)</array>"
)
_FREQUENCY = re.compile(rb"<key>freq</key>\s*<integer>([0-9]{1,6})</integer>")


def read_document(data: bytes) -> Value:
    """The root value of a property list.

    `dvfm_states` becomes `top_mhz`, its highest frequency. Raises ValueError, with a reason in words, for what is no
    XML property list, nests deeper than DEPTH_LIMIT or declares entities (which can expand without bound).
    """
    small = _RESIDENCIES.sub(_highest, _FORBIDDEN.sub(b"", data))
    reader = _Reader()
    try:
        reader.attached_to(expat.ParserCreate()).Parse(small.decode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise ValueError(f"no sound XML: {error}") from None
    return reader.root


def _highest(found: re.Match[bytes]) -> bytes:
    kind, states = found.groups()
    top = max(map(int, _FREQUENCY.findall(states)), default=0) if kind == b"dvfm_states" else 0
    return b"<key>%s</key><integer>%d</integer>" % (TOP_FREQUENCY.encode(), top) if top else b""


class _Reader:
    """Builds values as the parser meets them; `root` is the outermost."""

    def __init__(self) -> None:
        self.root: Value = None
        self._stack: list[dict[str, Value] | list[Value]] = []
        self._key: str | None = None
        self._text: list[str] = []

    def attached_to(self, parser: expat.XMLParserType) -> expat.XMLParserType:
        """The parser, which holds the reader and not the other way round: no cycle waits for garbage collection."""
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.EntityDeclHandler = _refuse_entity
        return parser

    def _start(self, tag: str, _attributes: dict[str, str]) -> None:
        self._text.clear()
        if tag not in ("dict", "array"):
            return
        if len(self._stack) >= DEPTH_LIMIT:
            raise ValueError(f"nests deeper than {DEPTH_LIMIT}")
        container: dict[str, Value] | list[Value] = {} if tag == "dict" else []
        self._add(container)
        self._stack.append(container)

    def _end(self, tag: str) -> None:
        text = "".join(self._text)
        self._text.clear()
        match tag:
            case "dict" | "array":
                self._stack.pop()
                self._key = None
            case "key":
                self._key = text
            case "integer" | "real":
                self._add(number(text))
            case "string" | "date":
                self._add(text)
            case "true" | "false":
                self._add(tag == "true")
            case "data":
                self._add(None)

    def _add(self, value: Value) -> None:
        if not self._stack:
            self.root = value
            return
        parent = self._stack[-1]
        if isinstance(parent, list):
            parent.append(value)
        elif self._key is not None:  # a value without its key says nothing
            parent[self._key] = value
        self._key = None


def _refuse_entity(*_declaration: object) -> None:
    raise ValueError("declares entities, which powermetrics never does")
