from __future__ import annotations

from array import array

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.events import PHASES
from hettop.sources.engine.frames import (
    AnyFrame,
    AnyReport,
    BrokenStreamError,
    ErrorReport,
    FrameReader,
    LostReport,
    OutputsFrame,
    ReadyReport,
    RetireReport,
    SampleFrame,
    StateReport,
    UsageReport,
    encode_outputs_frame,
    encode_report,
    encode_samples,
)
from hettop.sources.engine.published import thin

Plain = tuple[str, list[int], list[int], list[int] | None, list[int] | None]

numbers = st.integers(min_value=-(2**63), max_value=2**63 - 1)
natural = st.integers(min_value=0, max_value=2**53 - 1)


@st.composite
def windows(draw: st.DrawFn) -> Plain:
    n = draw(st.integers(1, 50))
    column = st.lists(numbers, min_size=n, max_size=n)
    return (
        draw(st.sampled_from(PHASES)),
        draw(column),
        draw(column),
        draw(st.none() | column),
        draw(st.none() | column),
    )


reports = (
    st.builds(StateReport, state=st.text(), done=st.booleans(), unfinished=st.none() | natural)
    | st.builds(ErrorReport, kind=st.text(), message=st.text(), hint=st.text())
    | st.builds(LostReport, n=natural)
    | st.builds(RetireReport, predictions=natural, steady_ns=natural, unfinished=st.none() | natural)
    | st.builds(UsageReport, minor_faults=natural, involuntary_switches=natural, resident_mb=st.none() | st.just(1.5))
    | st.builds(
        ReadyReport,
        backend=st.text(),
        simulated=st.booleans(),
        pid=natural,
        load_ns=natural,
        first_ns=natural,
        placed=st.none() | st.text(),
        note=st.text(),
        inputs=st.lists(st.text(), max_size=3),
    )
)


def encode(message: Plain | AnyReport) -> bytes:
    if not isinstance(message, tuple):
        return encode_report(message)
    phase, start, latency, native, late = message
    return encode_samples(
        phase,
        array("q", start),
        array("q", latency),
        None if native is None else array("q", native),
        None if late is None else array("q", late),
    )


def plain(frame: AnyFrame) -> Plain | AnyReport:
    assert not isinstance(frame, OutputsFrame)
    if not isinstance(frame, SampleFrame):
        return frame
    native = None if frame.native is None else frame.native.tolist()
    late = None if frame.late is None else frame.late.tolist()
    return frame.phase, frame.start.tolist(), frame.latency.tolist(), native, late


@given(st.lists(windows() | reports, max_size=8), st.lists(st.integers(1, 60), min_size=1, max_size=20))
def test_any_frames_come_back_from_pieces_of_any_size(messages: list[Plain | AnyReport], sizes: list[int]) -> None:
    stream = b"".join(map(encode, messages))
    reader, received, place, turn = FrameReader(), [], 0, 0
    while place < len(stream):
        size = sizes[turn % len(sizes)]
        received += [plain(frame) for frame in reader.feed(stream[place : place + size])]
        place, turn = place + size, turn + 1
    assert received == messages


def test_a_frame_is_16_bytes_a_sample_and_little_more() -> None:
    frame = encode_samples("steady", array("q", range(100)), array("q", range(100)), None, None)
    assert len(frame) == 1600 + 11


def test_columns_are_64_bit_integers_of_numpy() -> None:
    (frame,) = FrameReader().feed(encode_samples("first", array("q", [2**62]), array("q", [7]), None, None))
    assert isinstance(frame, SampleFrame)
    assert frame.start.dtype == np.int64
    assert int(frame.start[0]) == 2**62


@pytest.mark.parametrize(
    "garbage",
    [
        b"Hello, I am a framework\n",
        b"S\xff\xff\xff\xff",
        b"S\x06\x00\x00\x00" + b"\x00\x00\x05\x00\x00\x00",  # says five samples, holds none
        b"S\x06\x00\x00\x00" + b"\x00\x00\x00\x00\x00\x00",  # an empty window
        b"S\x16\x00\x00\x00" + b"\x09\x00\x01\x00\x00\x00" + bytes(16),  # no such phase
        b"S\x16\x00\x00\x00" + b"\x00\x04\x01\x00\x00\x00" + bytes(16),  # no such column
        b"S\x01\x00\x00\x00" + b"\x00",
        b"O\x02\x00\x00\x00" + b"{}",
        b"R\x02\x00\x00\x00" + b"{}",
        b'R\x0d\x00\x00\x00{"k":"strange"}'[:18],
    ],
)
def test_bytes_that_are_no_frame_are_refused(garbage: bytes) -> None:
    with pytest.raises(BrokenStreamError):
        list(FrameReader().feed(garbage))


def test_outputs_travel_among_the_samples() -> None:
    outputs = thin({"y": np.array([1.5, 2.5], np.float32)}, 10)
    sample = encode_samples("steady", array("q", [1]), array("q", [2]), None, None)
    frames = list(FrameReader().feed(sample + encode_outputs_frame((outputs, outputs)) + sample))
    assert [type(frame) for frame in frames] == [SampleFrame, OutputsFrame, SampleFrame]
    (_, found, _) = frames
    assert isinstance(found, OutputsFrame)
    assert [[each.values.tolist() for each in each_set] for each_set in found.sets] == [[[1.5, 2.5]], [[1.5, 2.5]]]
