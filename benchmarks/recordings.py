"""What benchmarks ask of a recording: its samples, and how many bytes each takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hettop.events import AnyEvent, Column, Engine, Samples
from hettop.record.defects import Report
from hettop.record.reader import open_recording, read_events


def events_of(path: Path) -> Iterator[AnyEvent]:
    """All events that are committed by now."""
    file, _ = open_recording(path)
    with file:
        yield from read_events(file, Report())


def windows_of(path: Path) -> list[Samples]:
    """All windows of samples, in the order of the file."""
    return [event for event in events_of(path) if isinstance(event, Samples)]


def units_that_ran(path: Path) -> set[str]:
    """The units whose engine has been running."""
    return {event.unit for event in events_of(path) if isinstance(event, Engine) and event.state == "running"}


def samples_of(path: Path) -> tuple[Column, Column]:
    """Starts and latencies of all samples of all units, ns of the session, in the order of the starts."""
    found = windows_of(path)
    starts = np.concatenate([window.starts_ns() for window in found])
    latencies = np.concatenate([window.lat_ns for window in found])
    order = np.argsort(starts, kind="stable")
    return starts[order], latencies[order]
