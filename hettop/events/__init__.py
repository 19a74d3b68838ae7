"""The event stream: every kind of line a recording can hold, and the strict JSON codec for them.

This is the one thing all parts share, so it imports nothing of hettop and holds no behaviour beyond checking.
Times are nanoseconds since the session began; every number below 2**53 so that any JSON reader keeps it exactly.
"""

from __future__ import annotations

from hettop.events.base import Event, Failure
from hettop.events.codec import KINDS, AnyEvent, decode, encode
from hettop.events.course import Control, Dropped, End, Header, Host, Mark, ModelInfo
from hettop.events.inference import (
    Engine,
    OutputDifference,
    Outputs,
    Plan,
    PlannedDevice,
    PlannedOp,
    Samples,
    Usage,
)
from hettop.events.keyframe import (
    ConditionState,
    EnergyState,
    Keyframe,
    LogEntry,
    PendingPower,
    RailState,
    SeriesState,
    SpanState,
    UnitState,
)
from hettop.events.limits import (
    ENGINE_STATES,
    FORMAT,
    LARGEST_EXACT,
    LATENCY_LIMIT_NS,
    LATENESS_LIMIT_NS,
    LINE_LIMIT,
    LOAD_STATES,
    NAMED_LIMIT,
    NO_LOAD,
    PHASES,
    POWER_STATES,
    TEXT_LIMIT,
    VERSION,
    WINDOW_LIMIT,
    Column,
)
from hettop.events.machine import Baseline, Canary, Cluster, Frame, Gpu, HostLoad, Load, Power, PowerStatus

__all__ = [
    "ENGINE_STATES",
    "FORMAT",
    "KINDS",
    "LARGEST_EXACT",
    "LATENCY_LIMIT_NS",
    "LATENESS_LIMIT_NS",
    "LINE_LIMIT",
    "LOAD_STATES",
    "NAMED_LIMIT",
    "NO_LOAD",
    "PHASES",
    "POWER_STATES",
    "TEXT_LIMIT",
    "VERSION",
    "WINDOW_LIMIT",
    "AnyEvent",
    "Baseline",
    "Canary",
    "Cluster",
    "Column",
    "ConditionState",
    "Control",
    "Dropped",
    "End",
    "EnergyState",
    "Engine",
    "Event",
    "Failure",
    "Frame",
    "Gpu",
    "Header",
    "Host",
    "HostLoad",
    "Keyframe",
    "Load",
    "LogEntry",
    "Mark",
    "ModelInfo",
    "OutputDifference",
    "Outputs",
    "PendingPower",
    "Plan",
    "PlannedDevice",
    "PlannedOp",
    "Power",
    "PowerStatus",
    "RailState",
    "Samples",
    "SeriesState",
    "SpanState",
    "UnitState",
    "Usage",
    "decode",
    "encode",
]
