"""Recordings for the exports: a small one with everything in it, a simulated one, an empty one, and a hostile one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hettop import events
from hettop.events import AnyEvent
from hettop.record.opened import Recording, open_recording
from hettop.record.writer import Writer
from tests.record.stories import MS, SECOND, header, window

NASTY = "\x1b]52;c;x\x07</script><img src=x onerror=alert(1)>\u202e\"',=1+1[/bold]\r\n"
"""What a hostile recording may have for a name: escapes, bidi, markup, quotes, a formula, line breaks."""

EVERYTHING: Sequence[AnyEvent] = (
    events.Engine(t=0, unit="CPU_ONLY", state="running", load_ns=90 * MS, first_ns=9 * MS, placed="CPU"),
    events.Control(t=0, action="switch", units=["CPU_ONLY"]),
    window(MS, [9 * MS], phase="first"),
    window(SECOND, [5 * MS, 6 * MS, 7_000_001], gaps=[0, 1_000, 2_000]),
    events.Power(
        t=2 * SECOND, source="macmon", elapsed_ns=SECOND, mw={"cpu": 1500.0, "gpu": 20.0, "ane": None},
        clusters=[events.Cluster(name="E-Cluster", mhz=1200.0, busy=0.25)], gpu=events.Gpu(mhz=444.0, busy=0.5),
    ),
    events.Load(t=2 * SECOND, what="cpu", state="confirmed", condition="cpu:1", level=1),
    window(3 * SECOND, [4 * MS, 8 * MS], unit="CPU_AND_NE", condition="cpu:1", thermal="Fair", native=[3 * MS, 7 * MS]),
    events.Mark(t=4 * SECOND, text="opened the browser"),
    events.Load(t=4 * SECOND, what="cpu", state="stopped", condition="none"),
    events.Power(t=12 * SECOND, source="macmon", elapsed_ns=SECOND, mw={"cpu": 500.0, "ane": 250.0}, flags=["partial"]),
    window(12 * SECOND, [5 * MS] * 3),
)  # fmt: skip


def written(path: Path, stream: Sequence[AnyEvent], **changes: object) -> Recording:
    """A recording of these events, opened."""
    writer = Writer(path, header(**changes))
    for event in stream:
        writer.write(event)
    writer.close("done", 14 * SECOND)
    return open_recording(path)


def everything(folder: Path) -> Recording:
    model = events.ModelInfo(name="mobilenetv2", backend="coreml", inputs=["image float32[1,3,224,224]"])
    host = events.Host(chip="Apple M2", os="macOS 26", frameworks={"coremltools": "9.0"})
    return written(
        folder / "everything.jsonl", EVERYTHING, model=model, host=host, wall="2026-01-31T12:00:00.250Z", id="e1"
    )


def simulated(folder: Path) -> Recording:
    return written(folder / "simulated.jsonl", EVERYTHING, simulated=True)


def empty(folder: Path) -> Recording:
    return written(folder / "empty.jsonl", ())


def hostile(folder: Path) -> Recording:
    """Every text that a file may hold is nasty; lines are also damaged."""
    stream: list[AnyEvent] = [
        events.Engine(t=0, unit=NASTY, state="running", placed=NASTY, note=NASTY),
        events.Control(t=0, action=NASTY, units=[NASTY]),
        window(MS, [9 * MS] * 70, unit=NASTY, condition=NASTY, thermal=NASTY),
        events.Load(t=SECOND, what=NASTY, state="confirmed", condition=NASTY),
        events.Power(t=SECOND, source=NASTY, elapsed_ns=SECOND, mw={NASTY: 1.0, "cpu": 5.0}, thermal=NASTY,
                     flags=[NASTY], clusters=[events.Cluster(name=NASTY, mhz=1.0)]),
        events.Engine(t=SECOND, unit="ALL", state="failed", error=events.Failure(kind="x", message=NASTY, hint=NASTY)),
        events.Mark(t=SECOND, text=NASTY),
        events.Dropped(t=SECOND, n=3, why=NASTY),
    ]  # fmt: skip
    model = events.ModelInfo(name=NASTY, backend=NASTY, note=NASTY, inputs=[NASTY])
    host = events.Host(chip=NASTY, os=NASTY, frameworks={NASTY: NASTY})
    made = written(
        folder / "hostile.jsonl", stream, model=model, host=host, wall=NASTY, id=NASTY, settings={NASTY: NASTY}
    )
    with made.path.open("ab") as file:
        file.write(b'{"k":"\x1b[31m","t":1\n{"k":"martian","t":99}\n{"k":')
    return made
