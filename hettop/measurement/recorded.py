"""Reads a whole recording for judging it: the folded session, its samples in order, and what was skipped.

Joins the reader to the fold; what is made of it is decided elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hettop.analysis.host_load import Surroundings
from hettop.analysis.unit_samples import Stretches
from hettop.events import HostLoad
from hettop.record.defects import Report
from hettop.record.reader import fold, open_recording, read_events
from hettop.session.session import Session

RECORDING_SUFFIXES = (".jsonl", ".zst")
BEGINNING = 16  # bytes: a byte order mark and blanks, then the brace of the header


@dataclass(frozen=True, slots=True)
class Recorded:
    """`report` has what is damaged in the file; `on_battery` are the states of the power supply there were.

    surroundings: what the machine was like meanwhile.
    """

    session: Session
    samples: Stretches
    report: Report
    on_battery: frozenset[bool]
    surroundings: Surroundings


def read_recording(path: Path) -> Recorded:
    """Raises HettopError (`recording`) when this is not a recording that can be read."""
    report, session, samples, surroundings = Report(), Session(), Stretches(), Surroundings()
    supplies: set[bool] = set()
    file, header = open_recording(path)
    with file:
        session.fold(header)
        for event in read_events(file, report, check_crc=True):
            fold(session, event, report)
            samples.add(event)
            surroundings.add(event)
            if isinstance(event, HostLoad) and event.on_battery is not None:
                supplies.add(event.on_battery)
    return Recorded(session, samples, report, frozenset(supplies), surroundings)


def looks_like_recording(name: str) -> bool:
    """Whether this names a recording rather than a model: by its suffix, or by how the file begins."""
    path = Path(name)
    if path.name.lower().endswith(RECORDING_SUFFIXES):
        return True
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(BEGINNING).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    except (OSError, ValueError):
        return False
