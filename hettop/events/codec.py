"""The strict JSON codec of the stream: one event, one line.

Holds no behaviour beyond checking.
"""

from __future__ import annotations

import re
import zlib

import msgspec
import numpy as np

from hettop.events.base import LARGEST_EXACT, LATENCY_LIMIT_NS, LATENESS_LIMIT_NS, PHASES, WINDOW_LIMIT
from hettop.events.inference import Answer, Engine, Interrupted, Outputs, Plan, Samples, Usage
from hettop.events.keyframe import Keyframe
from hettop.events.machine import Baseline, Canary, Frame, HostLoad, Load, Power, PowerStatus
from hettop.events.session_events import Advice, Control, Dropped, End, Header, Mark
from hettop.events.studies import Study, checked

AnyEvent = (
    Header
    | Samples
    | Answer
    | Power
    | PowerStatus
    | Baseline
    | HostLoad
    | Engine
    | Plan
    | Outputs
    | Control
    | Advice
    | Load
    | Canary
    | Usage
    | Interrupted
    | Frame
    | Study
    | Mark
    | Dropped
    | Keyframe
    | End
)
LINE_CRC32 = re.compile(rb',"line_crc32":(\d{1,10})\}\s*')
"""How the line of a keyframe or an end finishes."""
LINE_CRC32_BYTES = 40

KINDS = frozenset(str(kind.__struct_config__.tag) for kind in AnyEvent.__args__)


class _Kind(msgspec.Struct):
    k: str


def encode(event: AnyEvent) -> bytes:
    """One event as JSON, without the closing line feed; a keyframe and a checked end get their `line_crc32`."""
    if isinstance(event, Keyframe) or (isinstance(event, End) and event.crc32 is not None):
        return with_line_crc32(_encoder.encode(msgspec.structs.replace(event, line_crc32=None)))
    return _encoder.encode(event)


def with_line_crc32(line: bytes) -> bytes:
    """A keyframe's or an end's line that finishes with a right `line_crc32`, whether it has had one or not."""
    held = _line_crc32(line)
    body = line.rstrip().removesuffix(b"}") if held is None else line[: held.start()]
    return b'%b,"line_crc32":%d}' % (body, zlib.crc32(body))


def line_crc32_holds(line: bytes) -> bool:
    """Whether the line ends with a `line_crc32`, and that is right."""
    held = _line_crc32(line)
    return held is not None and zlib.crc32(line[: held.start()]) == int(held[1])


def _line_crc32(line: bytes) -> re.Match[bytes] | None:
    at = line.rfind(b",", max(0, len(line) - LINE_CRC32_BYTES))
    return LINE_CRC32.fullmatch(line, at) if at >= 0 else None


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
    if isinstance(event, Study):
        return checked(event)
    if isinstance(event, Keyframe) and event.studies:
        return msgspec.structs.replace(event, studies=[checked(study) for study in event.studies])
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
