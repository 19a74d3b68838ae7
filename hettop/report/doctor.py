"""The words of `hettop doctor`: findings as a page of text, or as plain values for JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hettop.format import size
from hettop.report.document import head
from hettop.text import clean

WIDTH = 80
LONGEST_ROW = 2000
SHORTEST_LINE = 20  # narrower, sentences fall apart

_MARKS = {True: "✓", False: "✗", None: "·"}
_ASCII_MARKS = {True: "+", False: "x", None: "."}
_LEGEND = "{} works   {} broken or denied   {} absent, or for information"


class Finding(Protocol):
    """One thing that was looked at: whether it works (None: it is so, or not there), in words, and what fixes it."""

    @property
    def what(self) -> str: ...

    @property
    def works(self) -> bool | None: ...

    @property
    def words(self) -> str: ...

    @property
    def fix(self) -> str: ...


def doctor_page(groups: Mapping[str, Sequence[Finding]], *, width: int = WIDTH, ascii_only: bool = False) -> str:
    """A heading for each group, a line for each finding, below it what fixes or adds it; at the end the marks.

    As wide as `width`, but for a command that is longer.
    """
    marks = _ASCII_MARKS if ascii_only else _MARKS
    lines: list[str] = []
    for name, findings in groups.items():
        lines += [*([""] if lines else []), name]
        for finding in findings:
            words = f": {clean(finding.words)}" if finding.words else ""
            wrapped_lines = _wrapped(f"{marks[finding.works]} {clean(finding.what)}{words}", width - 2, indent="  ")
            lines += [f"  {line}" for line in wrapped_lines]
            if finding.fix and not finding.works:
                lines += [f"      {line}" for line in _wrapped(clean(finding.fix), width - 6, indent="  ")]
    lines += ["", *_wrapped(_LEGEND.format(*marks.values()), width, indent="  ")] if lines else []
    return "".join(f"{line}\n" for line in lines)


def doctor_document(groups: Mapping[str, Sequence[Finding]], *, measures: bool) -> dict[str, Any]:
    """`{"measures", "findings": {group: [{"what", "works", "words", "fix"}]}}`."""
    return {
        **head("doctor"),
        "measures": measures,
        "findings": {
            name: [{"what": f.what, "works": f.works, "words": f.words, "fix": f.fix} for f in findings]
            for name, findings in groups.items()
        },
    }


def report_page(document: Mapping[str, Any], path: str, nbytes: int) -> str:
    """What `hettop doctor --report` wrote, from the archive's own document: its files, what is missing, and the row."""
    lines = [f"wrote {path}, {size(nbytes)}", ""]
    lines += [f"  {each['name']:<20} {each['content']}" for each in document["files"]]
    lines += [f"  {each['name']:<20} not included: {each['why']}" for each in document["missing"]]
    lines += ["", "Checked: no names of user, host or home folder, no serial numbers, ids or tokens are left."]
    lines += ["Read it before you attach it to an issue: unzip it, all files are text.", ""]
    lines += ["Row for the table of machines in docs/reference/tried.md:", "", str(document["row"])]
    return "".join(f"{clean(line, LONGEST_ROW)}\n" for line in lines)


def _wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    """A sentence in lines of at most `width`, all but the first indented."""
    return textwrap.wrap(text, max(width, SHORTEST_LINE), subsequent_indent=indent, break_on_hyphens=False)
