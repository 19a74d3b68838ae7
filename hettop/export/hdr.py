"""An HdrHistogram log of the steady latencies: an interval histogram for each unit and load, every ten seconds.

The log's tags are `UNIT` or `UNIT[load]`; values are ns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.events import NO_LOAD, AnyEvent, Column, Header, Samples
from hettop.export.formats import Target, needed
from hettop.record.opened import Recording
from hettop.text import clean
from hettop.units import NS_PER_MS

EXTRA = "hdr"
WHAT = "an HdrHistogram log"
INTERVAL_NS = 10 * 10**9
LARGEST_NS = 3_600 * 10**9
DIGITS = 3
SUB_BUCKET_BITS = 11  # of HdrHistogram at three digits: values are distinguished by their highest 11 bits
_SEPARATORS = re.compile(r"[\s,\"]")  # what ends a tag


def export(recording: Recording, target: Target) -> None:
    """One pass over the recording. Raises HettopError `missing` without the hdrhistogram package."""
    histogram_of = needed("hdrh.histogram", EXTRA, WHAT).HdrHistogram
    file = target.main()
    file.write("".join(f"{line}\n" for line in _heading(recording.header)).encode())
    for key, start, end, latencies in intervals(recording.events()):
        histogram = histogram_of(1, LARGEST_NS, DIGITS)
        _count(histogram, latencies)
        largest = histogram.get_max_value() / NS_PER_MS
        text = histogram.encode().decode("ascii")
        file.write(f"Tag={key},{start / 1e9:.3f},{(end - start) / 1e9:.3f},{largest:.3f},{text}\n".encode())


def intervals(events: Iterator[AnyEvent]) -> Iterator[tuple[str, int, int, Column]]:
    """(tag, start, end, latencies) of every tag in every ten seconds, by the moment the windows were written."""
    held: dict[str, list[Column]] = {}
    began = last = 0
    for event in events:
        if event.t >= began + INTERVAL_NS:
            yield from _intervals(held, began, began + INTERVAL_NS)
            held = {}
            began = event.t - event.t % INTERVAL_NS
        last = event.t
        if isinstance(event, Samples) and event.phase == "steady":
            held.setdefault(tag(event), []).append(event.lat_ns)
    yield from _intervals(held, began, max(last, began + 1))


def tag(window: Samples) -> str:
    """The name of a condition in the log."""
    load = "" if window.condition == NO_LOAD else f"[{window.condition}]"
    heat = "" if window.thermal is None else f"({window.thermal})"
    return _SEPARATORS.sub("_", clean(f"{window.unit}{load}{heat}"))


def _intervals(held: dict[str, list[Column]], start: int, end: int) -> Iterator[tuple[str, int, int, Column]]:
    for key, columns in held.items():
        yield key, start, end, np.concatenate(columns)


def _count(histogram: Any, latencies: Column) -> None:
    """Count values that fall together together: one call a sample would take a microsecond each."""
    lengths = np.frexp(latencies.astype(np.float64))[1]
    shifts = np.maximum(lengths - SUB_BUCKET_BITS, 0)
    values, counts = np.unique(latencies >> shifts << shifts, return_counts=True)
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        if not histogram.record_value(value, count):
            raise HettopError("input", f"latency out of range for an HdrHistogram: {value} ns")
    # The highest is written exactly, as the library would have kept it.
    histogram.max_value = max(histogram.max_value, int(latencies.max()))


def _heading(header: Header) -> Iterator[str]:
    yield "#[HdrHistogram hettop export" + (": SIMULATED]" if header.simulated else "]")
    yield "#[Histogram log format version 1.3]"
    model, chip = clean(header.model.name or "model"), clean(header.host.chip or "unknown chip")
    yield f"#[{model} on {chip}; steady latencies in ns, tags are UNIT[load]]"
    seconds = _epoch_s(header.wall)
    if seconds is not None:
        yield f"#[StartTime: {seconds:.3f} (seconds since epoch), {clean(header.wall)}]"
    yield '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


def _epoch_s(wall: str) -> float | None:
    try:
        return datetime.fromisoformat(wall).timestamp()
    except ValueError:
        return None
