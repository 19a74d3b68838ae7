"""The history of a session: its header, what the user or the schedule did, what got lost, and how it ended."""

from __future__ import annotations

from typing import Any

import msgspec

from hettop.events.base import Count, Event, Nanoseconds, Ratio, Text


class Host(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The machine and the software on it, as far as known.

    `cpus` that the process was restricted to (`0-3,8`), None: all; `cpu_quota` of its control group, in CPUs, None: no
    limit. `core_kinds`: of each core, `P` (fast) or `E` (efficient); empty where they are unknown. `warnings`: what
    about them distorts measurements, or kept the usual backend from being used.
    """

    chip: Text | None = None
    os: Text | None = None
    cores: Count | None = None
    cpus: Text | None = None
    cpu_quota: Ratio | None = None
    core_kinds: list[Text] = []
    memory_mb: Count | None = None
    python: Text | None = None
    hettop: Text | None = None
    frameworks: dict[Text, Text] = {}
    power_mode: Text | None = None
    warnings: list[Text] = []


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The model that ran. `inputs` are shown as `name dtype[shape]`."""

    name: Text | None = None
    sha256: Text | None = None
    inputs: list[Text] = []
    parameters: Count | None = None
    macs: Count | None = None
    backend: Text | None = None
    note: Text | None = None


class Header(Event, frozen=True, kw_only=True, tag="header", eq=False):
    """First line. `wall` is RFC 3339 UTC; `settings` are the active options, free-form."""

    format: str
    version: tuple[int, int]
    id: Text = ""
    wall: Text = ""
    simulated: bool = False
    host: Host = Host()
    model: ModelInfo = ModelInfo()
    settings: dict[Text, Any] = {}


class Control(Event, frozen=True, kw_only=True, tag="control", eq=False):
    """What the user or the schedule did (`action`), and all that is active after it."""

    action: Text
    units: list[Text] = []
    mode: Text = "single"
    paused: bool = False
    rate_hz: Ratio | None = None
    limit_ns: Nanoseconds | None = None


class Advice(Event, frozen=True, kw_only=True, tag="advice", eq=False):
    """Another unit was found to do better under this load, and is advised instead of `over`; `unit` None takes it back.

    The P90s (ns) are of the last seconds that each of the two was measured under the load.
    """

    load: Text
    unit: Text | None = None
    p90_ns: Nanoseconds | None = None
    over: Text | None = None
    over_p90_ns: Nanoseconds | None = None


class Mark(Event, frozen=True, kw_only=True, tag="mark", eq=False):
    """The user's note at a moment."""

    text: Text = ""


class Dropped(Event, frozen=True, kw_only=True, tag="dropped", eq=False):
    """Samples that could not be kept: how many and why."""

    n: Count
    why: Text
    unit: Text | None = None


class End(Event, frozen=True, kw_only=True, tag="end", eq=False):
    """A clean close: why, and how many samples and dropped samples there were.

    `crc32` covers all bytes, line feeds included, after the last keyframe line (or from the file's start), and
    `line_crc32`, the last field, the end's own line up to that field.
    """

    why: Text = ""
    samples: Count | None = None
    dropped: Count | None = None
    crc32: Count | None = None
    line_crc32: Count | None = None
