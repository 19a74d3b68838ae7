"""The codec takes what the format allows and says in words why it refuses the rest."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from tests.streams import window

LINE = (
    b'{"k":"samples","t":9,"unit":"A","condition":"none","phase":"steady","t0":1,"n":2,"gap_ns":[0,3],"lat_ns":[4,5]}'
)


def test_starts_follow_from_gaps_and_latencies() -> None:
    event = events.decode(LINE)
    assert isinstance(event, events.Samples)
    assert event.starts_ns().tolist() == [1, 8]  # 1 + 4 + 3


def test_a_window_survives_being_written_and_read() -> None:
    event = events.decode(LINE)
    assert event is not None
    assert events.encode(event) == LINE


@given(st.lists(st.integers(0, events.LATENCY_LIMIT_NS), min_size=1, max_size=50))
def test_latencies_are_lossless(latencies: list[int]) -> None:
    again = events.decode(events.encode(window(latencies)))
    assert isinstance(again, events.Samples)
    assert again.lat_ns.tolist() == latencies


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (LINE.replace(b"[4,5]", b"[4,5.5]"), "whole numbers"),
        (LINE.replace(b"[4,5]", b"[4,true]"), "whole numbers"),
        (LINE.replace(b"[4,5]", b'[4,"5"]'), "whole numbers"),
        (LINE.replace(b"[4,5]", b"[4,NaN]"), "malformed"),
        (LINE.replace(b"[4,5]", b"[4,-5]"), "out of range"),
        (LINE.replace(b"[4,5]", b"[4,3600000000001]"), "out of range"),
        (LINE.replace(b"[4,5]", b"[4,99999999999999999999]"), "whole|range|int|large"),
        (LINE.replace(b"[4,5]", b"[4]"), "n says 2"),
        (LINE.replace(b"[4,5]", b"7"), "array"),
        (LINE.replace(b'"n":2', b'"n":0'), "n"),
        (LINE.replace(b'"n":2', b'"n":1000000000'), "n"),
        (LINE.replace(b'"t":9', b'"t":-1'), "t"),
        (LINE.replace(b'"t":9', b'"t":true'), "int"),
        (LINE.replace(b'"steady"', b'"bouncy"'), "phase"),
        (LINE.replace(b'"unit":"A"', b'"unit":"' + b"A" * 201 + b'"'), "length"),
        (b'{"k":"power","t":1,"source":"x","elapsed_ns":1,"mw":{"cpu":-4.0}}', "cpu|mw|>= 0"),
        (b"[" * 100_000, "array|deep"),
        (b"\x00" * 64, "malformed"),
        (b'{"t":1}', "k"),
        (b"\xff\xfe", "malformed|utf|UTF"),
    ],
)
def test_what_is_wrong_is_refused_with_a_reason(line: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        events.decode(line)


def test_a_kind_from_a_newer_minor_version_is_no_error() -> None:
    assert events.decode(b'{"k":"martian","t":1,"color":"green"}') is None


def test_an_unknown_field_is_ignored() -> None:
    event = events.decode(b'{"k":"mark","t":1,"text":"here","mood":"good"}')
    assert isinstance(event, events.Mark)
    assert event.text == "here"


def test_a_rail_that_was_not_measured_stays_unknown() -> None:
    event = events.decode(b'{"k":"power","t":1,"source":"x","elapsed_ns":5,"mw":{"cpu":12.5,"ane":null}}')
    assert isinstance(event, events.Power)
    assert event.mw == {"cpu": 12.5, "ane": None}


def test_required_fields_are_written_even_when_they_hold_their_usual_value() -> None:
    text = events.encode(window([5]))
    for name in (b'"unit"', b'"condition"', b'"phase"', b'"t0"', b'"n"', b'"gap_ns"', b'"lat_ns"'):
        assert name in text


def test_the_kinds_listed_are_the_kinds_decoded() -> None:
    tags = {struct.__struct_config__.tag for struct in events.AnyEvent.__args__}
    assert tags == events.KINDS


def test_a_window_may_hold_twenty_thousand_samples_and_no_more() -> None:
    whole = window([7] * events.WINDOW_LIMIT)
    assert events.decode(events.encode(whole)) is not None
    fat = events.encode(window([7] * (events.WINDOW_LIMIT + 1)))
    with pytest.raises(ValueError, match="20000"):
        events.decode(fat)


def test_starts_are_exact_far_from_zero() -> None:
    far = window([3, 4, 5], t0=2**52, gap=2)
    assert far.starts_ns().tolist() == [2**52, 2**52 + 5, 2**52 + 11]
    assert far.starts_ns().dtype == np.int64


def study(found: Any) -> bytes:
    return json.dumps(
        {"k": "study", "t": 1, "name": "sweep", "state": "done", "elapsed_ns": 1, "found": found}
    ).encode()


@pytest.mark.parametrize(
    "found",
    [
        {"a": [[[[[[1]]]]]]},
        {"points": list(range(20_000))},
        {"text": "x" * 201},
        {"x" * 201: 1},
    ],
)
def test_what_a_study_found_is_of_a_limited_depth_size_and_length_of_text(found: Any) -> None:
    with pytest.raises(ValueError, match="what a study found"):
        events.decode(study(found))


def test_what_a_study_found_is_kept_as_it_is_but_for_control_characters() -> None:
    read = events.decode(study({"of": "sweep", "new\x1b": [{"deep": ["a\u202eb", 1, 2.5, None, True]}]}))
    assert isinstance(read, events.Study)
    assert read.found == {"of": "sweep", "new\ufffd": [{"deep": ["a\ufffdb", 1, 2.5, None, True]}]}
