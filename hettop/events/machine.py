"""What the machine was doing meanwhile: power, host, competing load, and the screen that watches.

A figure that was not measured is None, never 0.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from hettop.events.base import NO_LOAD, SPANS_LIMIT, Count, Event, Failure, Milliwatts, Nanoseconds, Ratio, Share, Text

CAPTURE = "file"
"""The source of power that plays a file: of some machine at some time, whatever runs meanwhile."""


def is_capture(source: str) -> bool:
    """Whether power of this source says nothing of what runs now: no energy, no placement, no thermal state."""
    return source == CAPTURE


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """One CPU cluster: its frequency and the share of time its cores were busy, 0..1."""

    name: Text
    mhz: Ratio | None = None
    busy: Share | None = None


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """The GPU's frequency and busy share, 0..1."""

    mhz: Ratio | None = None
    busy: Share | None = None


class Accelerator(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A GPU or NPU beside the CPU: what its driver reports of it, None where it does not.

    `name` is its rail in `mw`, too. `busy` is the share of time it worked for whomever, `engine_busy` the share that
    its busiest engine worked for the processes of units. `why` says what could not be read, `estimated` that its power
    is a reading at the end of the window and not the mean.
    """

    name: Text
    driver: Text
    mw: Milliwatts | None = None
    busy: Share | None = None
    engine_busy: Share | None = None
    mhz: Ratio | None = None
    temperature_c: Annotated[float, msgspec.Meta(ge=-100, le=1000)] | None = None
    why: Text = ""
    estimated: bool = False


class Power(Event, frozen=True, kw_only=True, tag="power", eq=False):
    """One power sample over the `elapsed_ns` before it. A rail that was not measured is None, never 0.

    Rails beside `cpu`, `gpu`, `ane`, `dram`, `package` and `combined` are those of `accelerators`, by name.
    """

    source: Text
    elapsed_ns: Nanoseconds
    mw: dict[Text, Milliwatts | None] = {}
    clusters: list[Cluster] = []
    gpu: Gpu | None = None
    thermal: Text | None = None
    flags: list[Text] = []
    accelerators: Annotated[list[Accelerator], msgspec.Meta(max_length=32)] = []


class PowerStatus(Event, frozen=True, kw_only=True, tag="power-source", eq=False):
    """Which source of power there is now, or why there is none, and what would fix that.

    `interval_ns` is what was asked for; windows are what they are. `resolution_mj` is the step of the source's energy
    counters, None where they are not known. `refused` maps the sources that were passed over to the reason. `validated`
    are the rails that this source was seen to read above 0 before on this machine and OS build: there a 0 is a reading.
    `needs_access`: it, or a better source, lacks nothing but the access that the user can give.
    """

    source: Text
    state: Text
    reason: Text = ""
    fix: Text = ""
    interval_ns: Nanoseconds | None = None
    resolution_mj: Ratio | None = None
    refused: dict[Text, Text] = {}
    validated: list[Text] = []
    needs_access: bool = False


class Baseline(Event, frozen=True, kw_only=True, tag="baseline", eq=False):
    """Mean power of each rail while no inference ran: what net energy is counted above.

    `load` is the competing load under which it was taken, `n` the power samples it is the mean of.
    """

    source: Text
    elapsed_ns: Nanoseconds
    mw: dict[Text, Milliwatts | None]
    n: Count
    load: Text = NO_LOAD


class HostLoad(Event, frozen=True, kw_only=True, tag="host", eq=False):
    """What the rest of the machine was doing: CPU percent per core, memory, battery; and what hettop itself took.

    `mhz` is the mean frequency of the cores, `temperature_c` the hottest sensor of the processor,
    `pressure_percent` the share of the last ten seconds in which some process waited for memory.
    `own_` is the process that draws and records, `engine_` all engine processes together: 100% is one core, and the
    memory is resident.
    """

    cpu_percent: list[Annotated[float, msgspec.Meta(ge=0, le=100)]] = []
    memory_percent: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    swap_mb: Ratio | None = None
    pressure_percent: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    mhz: Ratio | None = None
    temperature_c: Annotated[float, msgspec.Meta(ge=-100, le=1000)] | None = None
    own_cpu_percent: Ratio | None = None
    own_memory_mb: Ratio | None = None
    engine_cpu_percent: Ratio | None = None
    engine_memory_mb: Ratio | None = None
    battery_percent: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    on_battery: bool | None = None


class Load(Event, frozen=True, kw_only=True, tag="load", eq=False):
    """Competing load changed. `condition` is the load string that is active from here on; `simulated` load moves no
    core."""

    what: Text
    state: Text
    condition: Text
    level: Count | None = None
    duty: Share | None = None
    simulated: bool = False
    error: Failure | None = None


class Canary(Event, frozen=True, kw_only=True, tag="canary", eq=False):
    """The 60 Hz canary: frames due, missed, the worst delay; the throttle canary's kernel time."""

    due: Count
    missed: Count
    worst_ns: Nanoseconds
    kernel_ns: Nanoseconds | None = None


class Frame(Event, frozen=True, kw_only=True, tag="frame", eq=False):
    """Time that redraws of the screen took, a candidate cause of spikes; `spans` are (start, end) of each in ms."""

    redraws: Count
    total_ns: Nanoseconds
    worst_ns: Nanoseconds
    spans: Annotated[list[tuple[Count, Count]], msgspec.Meta(max_length=SPANS_LIMIT)] = []
