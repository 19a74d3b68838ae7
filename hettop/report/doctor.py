"""The words of `hettop doctor`: findings as a page of text, or as plain values for JSON.

Knows nothing of where findings come from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hettop.text import clean

_MARKS = {True: "✓", False: "✗", None: "·"}
_ASCII_MARKS = {True: "+", False: "x", None: "."}


class Finding(Protocol):
    """One thing that was looked at: whether it works (None: it is so), in which words, and what mends it."""

    @property
    def what(self) -> str: ...

    @property
    def works(self) -> bool | None: ...

    @property
    def words(self) -> str: ...

    @property
    def fix(self) -> str: ...


def doctor_page(groups: Mapping[str, Sequence[Finding]], *, ascii_only: bool = False) -> str:
    """A heading for each group, a line for each finding, and below it what mends what does not work."""
    marks = _ASCII_MARKS if ascii_only else _MARKS
    lines: list[str] = []
    for name, findings in groups.items():
        lines += ["" if not lines else "\n", f"{name}\n"]
        for finding in findings:
            words = f": {clean(finding.words)}" if finding.words else ""
            lines.append(f"  {marks[finding.works]} {clean(finding.what)}{words}\n")
            if finding.fix and not finding.works:
                lines.append(f"      {clean(finding.fix)}\n")
    return "".join(lines)


def doctor_document(groups: Mapping[str, Sequence[Finding]], *, measures: bool) -> dict[str, Any]:
    """`{"measures", "findings": {group: [{"what", "works", "words", "fix"}]}}`."""
    return {
        "measures": measures,
        "findings": {
            name: [{"what": f.what, "works": f.works, "words": f.words, "fix": f.fix} for f in findings]
            for name, findings in groups.items()
        },
    }
