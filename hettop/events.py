"""The event stream: every kind of line a recording can hold, and the strict JSON codec for them.

This is the one thing all parts share, so it imports nothing of hettop and holds no behaviour beyond checking.
Times are nanoseconds since the session began; every number below 2**53 so that any JSON reader keeps it exactly.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import numpy as np
import numpy.typing as npt

FORMAT = "hettop"
VERSION = (1, 0)

LARGEST_EXACT = 2**53 - 1  # beyond it a JSON reader that uses doubles rounds
LINE_LIMIT = 1 << 20
WINDOW_LIMIT = 20_000
TEXT_LIMIT = 200
LATENCY_LIMIT_NS = 3_600 * 10**9  # an inference of over an hour is a damaged number, not a latency

LATENESS_LIMIT_NS = 30 * 24 * 3_600 * 10**9  # of a backlog; with the latency it still is a number JSON keeps

PHASES = ("first", "warmup", "steady", "resume", "transition")
ENGINE_STATES = ("spawning", "loading", "compiling", "warming", "running", "paused", "failed", "stopped")
LOAD_STATES = ("started", "changed", "confirmed", "stopped", "failed")
NO_LOAD = "none"

Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_EXACT)]
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_EXACT)]
Text = Annotated[str, msgspec.Meta(max_length=TEXT_LIMIT)]
Milliwatts = Annotated[float, msgspec.Meta(ge=0, le=1e7)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Ratio = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
# Counts of consecutive histogram buckets; a negative number -k skips k empty ones (stats.histogram).
Runs = Annotated[list[int], msgspec.Meta(max_length=WINDOW_LIMIT)]
Column = npt.NDArray[np.int64]


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="k", eq=False):
    """One line of the stream. `t` is the moment of its commit and never decreases in a file."""

    t: Nanoseconds


class Host(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The machine and the software on it, as far as known."""

    chip: Text | None = None
    os: Text | None = None
    cores: Count | None = None
    memory_mb: Count | None = None
    python: Text | None = None
    hettop: Text | None = None
    frameworks: dict[Text, Text] = {}
    power_mode: Text | None = None


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
    """First line. `wall` is RFC 3339 UTC; `settings` are the options in force, free-form."""

    format: str
    version: tuple[int, int]
    id: Text = ""
    wall: Text = ""
    simulated: bool = False
    host: Host = Host()
    model: ModelInfo = ModelInfo()
    settings: dict[Text, Any] = {}


class Samples(Event, frozen=True, kw_only=True, tag="samples", eq=False):
    """One unit's window: `n` consecutive samples of one condition and phase.

    `t0` is the start of the first sample. `gap_ns[i]` is the start of sample i minus the unit's previous end
    (`gap_ns[0]` is informative: `t0` rules); `lat_ns` is service time; `native_ns` the framework's own time;
    `late_ns` the actual minus the planned start of a paced sample.
    """

    unit: Text
    condition: Text
    phase: Text
    t0: Nanoseconds
    n: Annotated[int, msgspec.Meta(ge=1, le=WINDOW_LIMIT)]
    gap_ns: Column
    lat_ns: Column
    native_ns: Column | None = None
    late_ns: Column | None = None
    thermal: Text | None = None

    def starts_ns(self) -> Column:
        """Start of every sample on the session clock, exactly as measured."""
        starts = np.empty(self.n, dtype=np.int64)
        starts[0] = self.t0
        starts[1:] = self.gap_ns[1:] + self.lat_ns[:-1]
        return np.cumsum(starts)


class Cluster(msgspec.Struct, frozen=True, kw_only=True):
    """One CPU cluster: its frequency and the share of time its cores were busy, 0..1."""

    name: Text
    mhz: Ratio | None = None
    busy: Share | None = None


class Gpu(msgspec.Struct, frozen=True, kw_only=True):
    """The GPU's frequency and busy share, 0..1."""

    mhz: Ratio | None = None
    busy: Share | None = None


class Power(Event, frozen=True, kw_only=True, tag="power", eq=False):
    """One power sample over the `elapsed_ns` before it. A rail that was not measured is None, never 0."""

    source: Text
    elapsed_ns: Nanoseconds
    mw: dict[Text, Milliwatts | None] = {}
    clusters: list[Cluster] = []
    gpu: Gpu | None = None
    thermal: Text | None = None
    flags: list[Text] = []


class HostLoad(Event, frozen=True, kw_only=True, tag="host", eq=False):
    """What the rest of the machine was doing: CPU percent per core, memory, battery."""

    cpu_percent: list[Annotated[float, msgspec.Meta(ge=0, le=100)]] = []
    memory_percent: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    swap_mb: Ratio | None = None
    battery_percent: Annotated[float, msgspec.Meta(ge=0, le=100)] | None = None
    on_battery: bool | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why something did not work, in the words of `HettopError`, with the last lines of its log."""

    kind: Text
    message: Text
    hint: Text = ""
    log: Annotated[list[Text], msgspec.Meta(max_length=20)] = []


class Engine(Event, frozen=True, kw_only=True, tag="engine", eq=False):
    """A unit's engine process changed state, or told something new about itself.

    `placed` says what is known to run the model; None until a plan or counters say. `unfinished` counts paced
    arrivals that were due but never started when the unit stopped. `inputs` are the loaded model's, as
    `name dtype[shape]`.
    """

    unit: Text
    state: Text
    backend: Text | None = None
    load_ns: Nanoseconds | None = None
    first_ns: Nanoseconds | None = None
    placed: Text | None = None
    note: Text | None = None
    peak_memory_mb: Ratio | None = None
    unfinished: Count | None = None
    pid: Count | None = None
    inputs: list[Text] = []
    error: Failure | None = None


class Control(Event, frozen=True, kw_only=True, tag="control", eq=False):
    """What the user or the schedule did (`action`), and all that is in force after it."""

    action: Text
    units: list[Text] = []
    mode: Text = "single"
    paused: bool = False
    rate_hz: Ratio | None = None
    limit_ns: Nanoseconds | None = None


class Load(Event, frozen=True, kw_only=True, tag="load", eq=False):
    """Competing load changed. `condition` is the load string in force from here on; `simulated` load moves no core."""

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


class Usage(Event, frozen=True, kw_only=True, tag="usage", eq=False):
    """What the operating system charged an engine process since its last report."""

    unit: Text
    minor_faults: Count = 0
    major_faults: Count = 0
    voluntary_switches: Count = 0
    involuntary_switches: Count = 0
    collections: Count = 0


class Frame(Event, frozen=True, kw_only=True, tag="frame", eq=False):
    """Time that redraws of the screen took, a candidate cause of spikes."""

    redraws: Count
    total_ns: Nanoseconds
    worst_ns: Nanoseconds


class Mark(Event, frozen=True, kw_only=True, tag="mark", eq=False):
    """The user's note at a moment."""

    text: Text = ""


class Dropped(Event, frozen=True, kw_only=True, tag="dropped", eq=False):
    """Samples that could not be kept: how many and why."""

    n: Count
    why: Text
    unit: Text | None = None


class SeriesState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Moments and histogram of one series of nanoseconds. `sum` and `sum_sq` are exact, as decimal text."""

    n: Count
    sum: Text
    sum_sq: Text
    min_ns: Nanoseconds
    max_ns: Nanoseconds
    runs: Runs


class ConditionState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that was folded of one condition: enough to go on folding."""

    unit: Text
    load: Text
    wall: SeriesState
    thermal: Text | None = None
    native: SeriesState | None = None
    response: SeriesState | None = None
    active_ns: Nanoseconds = 0
    misses: Count = 0
    limit_ns: Nanoseconds | None = None
    fence_ns: Nanoseconds | None = None
    spikes: Count = 0
    recent_spikes: Annotated[list[tuple[Nanoseconds, Nanoseconds]], msgspec.Meta(max_length=64)] = []


class UnitState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that was folded of one unit: its engine's state, first call and warm-up, and where its clock stands.

    `apart` counts the samples of every phase that does not enter the distribution.
    """

    unit: Text
    state: Text
    backend: Text | None = None
    load_ns: Nanoseconds | None = None
    first_ns: Nanoseconds | None = None
    warmup_ns: Annotated[list[Nanoseconds], msgspec.Meta(max_length=1000)] = []
    placed: Text | None = None
    note: Text | None = None
    peak_memory_mb: Ratio | None = None
    unfinished: Count | None = None
    error: Failure | None = None
    apart: dict[Text, Count] = {}
    last_end_ns: Nanoseconds | None = None
    last_phase: Text | None = None
    last_load: Text | None = None
    last_thermal: Text | None = None


class LogEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the event log: when, how grave (`info`, `warning`, `error`), the kind of event, and what."""

    t: Nanoseconds
    level: Text
    text: Text
    kind: Text = ""


class Keyframe(Event, frozen=True, kw_only=True, tag="keyframe", eq=False):
    """The whole folded state, from which folding can go on.

    `crc32` covers all bytes, line feeds included, after the previous keyframe line (or from the file's start).
    """

    crc32: Count
    samples: Count = 0
    dropped: Count = 0
    load: Text = NO_LOAD
    thermal: Text | None = None
    units: list[UnitState] = []
    conditions: list[ConditionState] = []
    control: Control | None = None
    power: Power | None = None
    log: list[LogEntry] = []


class End(Event, frozen=True, kw_only=True, tag="end", eq=False):
    """A clean close: why, and how many samples and dropped samples there were."""

    why: Text = ""
    samples: Count | None = None
    dropped: Count | None = None


AnyEvent = (
    Header
    | Samples
    | Power
    | HostLoad
    | Engine
    | Control
    | Load
    | Canary
    | Usage
    | Frame
    | Mark
    | Dropped
    | Keyframe
    | End
)
KINDS = frozenset(
    {
        "header",
        "samples",
        "power",
        "host",
        "engine",
        "control",
        "load",
        "canary",
        "usage",
        "frame",
        "mark",
        "dropped",
        "keyframe",
        "end",
    }
)


class _Kind(msgspec.Struct):
    k: str


def encode(event: AnyEvent) -> bytes:
    """One event as JSON, without the closing line feed."""
    return _encoder.encode(event)


def decode(line: bytes) -> AnyEvent | None:
    """The event on one line, or None for a kind that a newer minor version added.

    Raises ValueError, with a reason in words, for everything else: bad JSON, wrong types, numbers out of range,
    columns of the wrong length.
    """
    try:
        event: AnyEvent = _decoder.decode(line)
    except RecursionError:
        raise ValueError("nesting too deep") from None
    except (msgspec.MsgspecError, UnicodeDecodeError, OverflowError) as error:
        if _unknown_kind(line):
            return None
        raise ValueError(str(error)) from None
    if isinstance(event, Samples):
        _check_window(event)
    return event


def _unknown_kind(line: bytes) -> bool:
    try:
        return _kind_decoder.decode(line).k not in KINDS
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False


def _check_window(window: Samples) -> None:
    if window.phase not in PHASES:
        raise ValueError(f"unknown phase {window.phase[:20]!r}")
    for name, column, lowest in (
        ("lat_ns", window.lat_ns, 0),
        ("gap_ns", window.gap_ns, -LARGEST_EXACT),
        ("native_ns", window.native_ns, 0),
        ("late_ns", window.late_ns, -LARGEST_EXACT),
    ):
        if column is None:
            continue
        if len(column) != window.n:
            raise ValueError(f"{name} has {len(column)} numbers, n says {window.n}")
        highest = LATENESS_LIMIT_NS if name == "late_ns" else LATENCY_LIMIT_NS if lowest == 0 else LARGEST_EXACT
        if int(column.min()) < lowest or int(column.max()) > highest:
            raise ValueError(f"{name} out of range")


def _column_to_list(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise NotImplementedError(f"cannot write {type(value).__name__}")


def _list_to_column(_wanted: type, value: object) -> object:
    # numpy would quietly take True as 1 and 1.5 as a float array: look at the types first.
    if type(value) is not list or set(map(type, value)) - {int}:
        raise ValueError("expected an array of whole numbers")
    if len(value) > WINDOW_LIMIT:
        raise ValueError(f"window of over {WINDOW_LIMIT} samples")
    return np.array(value, dtype=np.int64)


_encoder = msgspec.json.Encoder(enc_hook=_column_to_list)
_decoder = msgspec.json.Decoder(AnyEvent, dec_hook=_list_to_column)
_kind_decoder = msgspec.json.Decoder(_Kind)
