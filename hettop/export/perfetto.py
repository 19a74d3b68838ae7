"""Chrome's JSON trace events, which the Perfetto UI opens: a slice for each inference, counters of power and frequency.

Times are microseconds with three decimals, so nothing is rounded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from hettop.events import NO_LOAD, AnyEvent, Control, Dropped, Engine, Header, Load, Mark, Power, Samples, is_capture
from hettop.export.formats import Target
from hettop.record.opened import Recording
from hettop.text import clean

INFERENCE, POWER = 1, 2  # process ids: the tracks of one process stand together
SESSION_TRACK, LOAD_TRACK, FIRST_UNIT_TRACK = 1, 2, 10
LINES_A_WRITE = 4096


def export(recording: Recording, target: Target) -> None:
    """One pass, one line a trace event."""
    file = target.main()
    header = recording.header
    about = {"recorded by": "hettop", "simulated": header.simulated, "wall": clean(header.wall), **_model(header)}
    file.write(b'{"displayTimeUnit":"ms","otherData":' + _json(about) + b',"traceEvents":[\n')
    _write_lines(file, Trace(header).lines(recording.events()))
    file.write(b"\n]}\n")


class Trace:
    """Turns events into trace events, as lines of JSON."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._tracks: dict[str, int] = {}
        self._load: str = NO_LOAD
        self._last_us = "0"

    def lines(self, events: Iterator[AnyEvent]) -> Iterator[str]:
        simulated = "SIMULATED · " if self._header.simulated else ""
        yield _named("process_name", INFERENCE, 0, f"{simulated}{clean(self._header.model.name or 'model')}")
        yield _named("process_name", POWER, 0, f"{simulated}power and frequency")
        yield _named("thread_name", INFERENCE, SESSION_TRACK, "session")
        yield _named("thread_name", INFERENCE, LOAD_TRACK, "competing load")
        for event in events:
            yield from self._of(event)
            self._last_us = _us(event.t)
        yield from self._end_of_load(self._last_us)

    def _of(self, event: AnyEvent) -> Iterator[str]:
        match event:
            case Samples():
                yield from self._slices(event)
            case Power():
                yield from _counters(event)
            case Load():
                yield from self._load_changed(event)
            case Mark():
                yield _instant(event.t, clean(event.text) or "mark", "mark")
            case Control():
                yield _instant(event.t, clean(f"{event.action} {' '.join(event.units)}"), "control")
            case Engine(error=error) if error is not None:
                yield _instant(event.t, clean(f"{event.unit} failed: {error.message}"), "engine")
            case Dropped():
                yield _instant(event.t, clean(f"{event.n} samples dropped: {event.why}"), "dropped")

    def _slices(self, window: Samples) -> Iterator[str]:
        track = self._tracks.get(window.unit)
        if track is None:
            track = self._tracks[window.unit] = FIRST_UNIT_TRACK + len(self._tracks)
            yield _named("thread_name", INFERENCE, track, clean(window.unit))
        about = {"phase": window.phase, "load": clean(window.condition)}
        if window.thermal is not None:
            about["thermal"] = clean(window.thermal)
        head = f'{{"ph":"X","pid":{INFERENCE},"tid":{track},"cat":"inference","name":"{window.phase}"'
        more = json.dumps(about)[:-1]
        natives = [None] * window.n if window.native_ns is None else window.native_ns.tolist()
        lates = [None] * window.n if window.late_ns is None else window.late_ns.tolist()
        for start, latency, native, late in zip(
            window.starts_ns().tolist(), window.lat_ns.tolist(), natives, lates, strict=True
        ):
            native_us = "" if native is None else f',"native_us":{_us(native)}'
            late_us = "" if late is None else f',"late_us":{_us(late)}'
            yield f'{head},"ts":{_us(start)},"dur":{_us(latency)},"args":{more}{native_us}{late_us}}}}}'

    def _load_changed(self, event: Load) -> Iterator[str]:
        """The active load as a slice on a track of its own, from one change to the next."""
        if event.condition == self._load:
            return
        yield from self._end_of_load(_us(event.t))
        self._load = event.condition
        if event.condition != NO_LOAD:
            name = _text(clean(event.condition) + (" (simulated)" if event.simulated else ""))
            yield f'{{"ph":"B","pid":{INFERENCE},"tid":{LOAD_TRACK},"cat":"load","name":{name},"ts":{_us(event.t)}}}'

    def _end_of_load(self, at_us: str) -> Iterator[str]:
        if self._load != NO_LOAD:
            yield f'{{"ph":"E","pid":{INFERENCE},"tid":{LOAD_TRACK},"ts":{at_us}}}'
            self._load = NO_LOAD


def _counters(event: Power) -> Iterator[str]:
    """A power sample is the mean of the time before it, which is where its step begins. What is unknown has none."""
    at = _us(max(0, event.t - event.elapsed_ns))
    mark = "CAPTURE · " if is_capture(event.source) else ""
    rails = {clean(rail): mw for rail, mw in event.mw.items() if mw is not None}
    for rail, mw in rails.items():
        yield _counter(f"{mark}{rail} mW", at, {"mW": mw})
    for cluster in event.clusters:
        if cluster.mhz is not None:
            yield _counter(f"{mark}{clean(cluster.name)} MHz", at, {"MHz": cluster.mhz})
    for each in event.accelerators:
        if each.busy is not None:
            yield _counter(f"{mark}{clean(each.name)} busy %", at, {"%": 100 * each.busy})
    if event.gpu is not None and event.gpu.mhz is not None:
        yield _counter(f"{mark}GPU MHz", at, {"MHz": event.gpu.mhz})


def _counter(name: str, at_us: str, values: dict[str, float]) -> str:
    return f'{{"ph":"C","pid":{POWER},"tid":0,"name":{_text(name)},"ts":{at_us},"args":{json.dumps(values)}}}'


def _instant(t: int, name: str, category: str) -> str:
    head = f'{{"ph":"i","s":"p","pid":{INFERENCE},"tid":{SESSION_TRACK},"cat":"{category}"'
    return f'{head},"name":{_text(name)},"ts":{_us(t)}}}'


def _named(what: str, process: int, track: int, name: str) -> str:
    return f'{{"ph":"M","pid":{process},"tid":{track},"name":"{what}","args":{{"name":{_text(name)}}}}}'


def _model(header: Header) -> dict[str, Any]:
    found = {
        "model": header.model.name,
        "backend": header.model.backend,
        "chip": header.host.chip,
        "os": header.host.os,
    }
    return {name: clean(text) for name, text in found.items() if text}


def _us(ns: int) -> str:
    """Nanoseconds as microseconds, exactly."""
    sign, ns = ("-", -ns) if ns < 0 else ("", ns)
    return f"{sign}{ns // 1000}.{ns % 1000:03}"


def _text(text: str) -> str:
    return json.dumps(text)


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _write_lines(file: BinaryIO, lines: Iterator[str]) -> None:
    """Separated by commas, some at a time."""
    held: list[str] = []
    written = False
    for line in lines:
        held.append(line)
        if len(held) >= LINES_A_WRITE:
            file.write(((",\n" if written else "") + ",\n".join(held)).encode())
            held, written = [], True
    if held:
        file.write(((",\n" if written else "") + ",\n".join(held)).encode())
