"""Validates a recording: what the reader skips, checksums, and keyframes that contradict their lines.

Time grows with the file, memory does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hettop.events import AnyEvent, ConditionState, End, Header, Keyframe
from hettop.record.defects import Report
from hettop.record.reader import fold, open_recording, read_placed
from hettop.session.condition import ConditionKey
from hettop.session.session import Session

# A sound recording has none, a damaged one a few; a comparison of millions would take too long.
CONTRADICTIONS_COMPARED = 100

KEYFRAME = "keyframe"
TOTALS = "totals"


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found in a recording. `session` is folded from the lines alone; `report` has the reader's counts."""

    header: Header
    session: Session
    report: Report
    keyframe_errors: int
    wrong_totals: int

    @property
    def ok(self) -> bool:
        """Whether all of it can be used and nothing contradicts. A file that ends between two lines is not damaged."""
        report = self.report
        found = (report.bad_lines, report.backwards, report.torn_bytes, report.joined, report.crc_errors)
        return not any((*found, self.keyframe_errors, self.wrong_totals))

    def document(self) -> dict[str, Any]:
        """As `hettop verify --json` prints it."""
        report = self.report
        return {
            "ok": self.ok,
            "lines": report.lines,
            "samples": report.samples,
            "dropped": self.session.dropped,
            "torn_bytes": report.torn_bytes,
            "bad_lines": report.bad_lines,
            "out_of_order": report.backwards,
            "blank_lines": report.blank,
            "unknown_kinds": report.unknown_kinds,
            "joined": report.joined,
            "keyframes": report.keyframes,
            "crc_errors": report.crc_errors,
            "uncovered_bytes": report.uncovered_bytes,
            "keyframe_errors": self.keyframe_errors,
            "wrong_totals": self.wrong_totals,
            "ended": report.ended,
            "simulated": self.header.simulated,
            "newer_minor": report.newer_minor,
            "defects": [{"byte": defect.byte, "what": defect.what} for defect in report.defects],
        }


def verify(path: Path) -> Verification:
    """Read and check all of `path`. Raises HettopError `recording` if this hettop cannot read it."""
    report = Report()
    checks = Checks(report)
    file, header = open_recording(path)
    with file:
        checks.session.fold(header)
        for placed in read_placed(file, report, check_crc=True):
            checks.check(placed.offset, placed.event)
    report.defects.sort()
    return Verification(header, checks.session, report, checks.keyframe_errors, checks.wrong_totals)


class Checks:
    """Folds the lines, and compares with what keyframes and the end say of them.

    Where they differ, either may be wrong. Lines may have been lost that the keyframe knows of, or it is the
    keyframe that is damaged: so the fold goes on from both, and the next keyframe shows which it was. Thus each damage
    is reported once.
    """

    def __init__(self, report: Report) -> None:
        self.session = Session(raw_limit=0, trailing=False)
        self.keyframe_errors = 0
        self.wrong_totals = 0
        self._report = report
        self._by_keyframe: Session | None = None

    def check(self, offset: int, event: AnyEvent) -> None:
        """Take in the next event, which stands at byte `offset`."""
        match event:
            case Keyframe():
                self._check_keyframe(offset, event)
            case End():
                self._check_totals(offset, event)
        fold(self.session, event, self._report, offset)
        if self._by_keyframe is not None:
            fold(self._by_keyframe, event, Report())  # reported once

    def _check_keyframe(self, offset: int, keyframe: Keyframe) -> None:
        if self.keyframe_errors >= CONTRADICTIONS_COMPARED:
            return
        followed = self._by_keyframe
        what = contradiction(self.session, keyframe)
        if what is None:
            self._by_keyframe = None
        elif followed is None or contradiction(followed, keyframe) is not None:
            self.keyframe_errors += 1
            self._report.note(offset, KEYFRAME, what)
            self._by_keyframe = self._restored(offset, keyframe)

    def _restored(self, offset: int, keyframe: Keyframe) -> Session | None:
        try:
            return Session.restored(self.session.header or Header(t=0, format="", version=(1, 0)), keyframe)
        except ValueError as error:
            self._report.note(offset, KEYFRAME, error)
            return None

    def _check_totals(self, offset: int, end: End) -> None:
        known = [self.session] if self._by_keyframe is None else [self.session, self._by_keyframe]
        if not any(end.samples in (None, one.samples) and end.dropped in (None, one.dropped) for one in known):
            self.wrong_totals += 1
            held = f"the lines contain {self.session.samples} and {self.session.dropped}"
            self._report.note(
                offset, TOTALS, f"the end line states {end.samples} samples, {end.dropped} dropped; {held}"
            )


def contradiction(session: Session, keyframe: Keyframe) -> str | None:
    """Where a keyframe differs from the fold of the lines before it, in words; None when it agrees.

    Only what the format defines is compared, not what a fold makes of it (spike thresholds, energy, the log), which
    another version of hettop may do otherwise.
    """
    return next(_contradictions(session, keyframe), None)


def _contradictions(session: Session, keyframe: Keyframe) -> Iterator[str]:
    for name, said, held in (
        ("samples", keyframe.samples, session.samples),
        ("dropped samples", keyframe.dropped, session.dropped),
        ("units", len(keyframe.units), len(session.units)),
        ("conditions", len(keyframe.conditions), len(session.conditions)),
        ("load", keyframe.load, session.load),
    ):
        if said != held:
            yield f"states {name}: {said}; the lines before it give {held}"
    for unit in keyframe.units:
        known = session.units.get(unit.unit)
        if known is None or (unit.state, unit.apart) != (known.state, known.apart):
            yield f"differs from the lines before it in unit {unit.unit}"
    for condition in keyframe.conditions:
        if _differs(session, condition):
            yield f"differs from the lines before it in {condition.unit} under {condition.load}"


def _differs(session: Session, said: ConditionState) -> bool:
    known = session.conditions.get(ConditionKey(said.unit, said.load, said.thermal))
    # Counts first: hostile files can name hundreds of conditions, and making their histograms' text takes long.
    if known is None or known.wall.n != said.wall.n:
        return True
    held = known.state()
    return (held.wall, held.native, held.response) != (said.wall, said.native, said.response)
