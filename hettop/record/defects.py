"""What a reader met that it could not use: counts that are exact, and the first defects by position."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from hettop.text import clean

DEFECTS_KEPT = 100
WORDS_KEPT = 120

BAD_LINE = "bad line"
OVERSIZE = "line over 1 MiB"
BLANK = "blank line"
UNKNOWN_KIND = "unknown kind"
BACKWARDS = "time out of order"
TORN = "torn last line"
JOINED = "second recording"
UNFOLDABLE = "line that cannot be folded"


class Defect(NamedTuple):
    """Where (byte offset of the line) and what."""

    byte: int
    what: str


@dataclass(slots=True)
class Report:
    """Filled in while a recording is read. `lines` counts all committed lines, the header and skipped ones too."""

    lines: int = 0
    samples: int = 0
    torn_bytes: int = 0
    crc_errors: int = 0
    uncovered_bytes: int = 0
    """Those that no checksum covers: after the last keyframe, and lines of keyframes without one of their own."""
    keyframes: int = 0
    ended: bool = False
    newer_minor: bool = False
    skipped: Counter[str] = field(default_factory=Counter)
    """Kind of defect -> lines that were skipped for it."""
    defects: list[Defect] = field(default_factory=list)
    """The first `DEFECTS_KEPT` of them; text from the file is cleaned."""

    @property
    def bad_lines(self) -> int:
        """Lines that hold no event that can be used: broken, too long, or out of range."""
        return self.skipped[BAD_LINE] + self.skipped[OVERSIZE] + self.skipped[UNFOLDABLE]

    def warnings(self) -> Iterator[str]:
        """What the user of results must know: lines that are missing from them, and lines that were changed."""
        yield from (f"skipped {lines:,} lines: {kind}" for kind, lines in self.skipped.items())
        if self.crc_errors:
            yield f"{self.crc_errors:,} checksums do not match: the recording was changed after it was written"

    @property
    def unknown_kinds(self) -> int:
        return self.skipped[UNKNOWN_KIND]

    @property
    def blank(self) -> int:
        return self.skipped[BLANK]

    @property
    def joined(self) -> int:
        """1 when a second recording follows, of which nothing is read."""
        return self.skipped[JOINED]

    @property
    def backwards(self) -> int:
        return self.skipped[BACKWARDS]

    def skip(self, byte: int, kind: str, what: object = "") -> None:
        """Count a skipped line. `what` is only put into words while there is room for them."""
        self.skipped[kind] += 1
        self.note(byte, kind, what)

    def note(self, byte: int, kind: str, what: object = "") -> None:
        """Keep a defect that skips no line."""
        if len(self.defects) < DEFECTS_KEPT:
            words = str(what)
            self.defects.append(Defect(byte, clean(f"{kind}: {words}" if words else kind, WORDS_KEPT)))
