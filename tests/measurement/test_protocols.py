"""Protocols: what each stands for, what overrides it, and what cannot be had together."""

from __future__ import annotations

from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.measurement.options import PROTOCOLS, MeasureOptions, under_protocol

S = 10**9
USUAL = MeasureOptions(runs=100)


def test_without_a_protocol_what_was_given_stands_as_it_is() -> None:
    options = under_protocol(None, {"runs": 7, "rate_hz": 30.0}, USUAL)
    assert (options.runs, options.rate_hz, options.warmup, options.protocol) == (7, 30.0, 10, None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m2", (10, 100, None, 0, 0)),
        ("embench", (10, 50, None, 0, 2 * S)),
        ("mlperf", (10, None, 60 * S, 64, 0)),
    ],
)
def test_each_protocol_is_what_its_paper_says(name: str, expected: tuple[Any, ...]) -> None:
    found = under_protocol(name, {}, USUAL)
    assert (found.warmup, found.runs, found.duration_ns, found.least_runs, found.rest_ns) == expected
    assert found.protocol is not None
    assert (found.protocol["name"], found.protocol["overridden"]) == (name, {})


def test_an_option_overrides_the_protocol_and_that_is_reported() -> None:
    found = under_protocol("embench", {"runs": 20, "rest_ns": 0}, USUAL)
    assert (found.warmup, found.runs, found.rest_ns) == (10, 20, 0)
    assert found.protocol is not None
    assert found.protocol["overridden"] == {"runs": 20, "rest_ns": 0}


def test_saying_what_the_protocol_says_overrides_nothing() -> None:
    found = under_protocol("m2", {"runs": 100, "warmup": 10}, USUAL)
    assert found.protocol is not None
    assert found.protocol["overridden"] == {}


def test_a_number_of_runs_replaces_a_duration_and_the_other_way_round() -> None:
    by_runs = under_protocol("mlperf", {"runs": 30}, USUAL)
    assert (by_runs.runs, by_runs.duration_ns, by_runs.least_runs) == (30, None, 0)
    by_time = under_protocol("m2", {"duration_ns": S}, USUAL)
    assert (by_time.runs, by_time.duration_ns) == (None, S)
    shorter = under_protocol("mlperf", {"duration_ns": S}, USUAL)
    assert (shorter.duration_ns, shorter.least_runs) == (S, 64), "the 64 samples stand: without them there is no P90"


@pytest.mark.parametrize("given", [{"interleave": True}, {"rate_hz": 30.0}])
def test_rests_leave_no_room_for_turns_or_a_rate(given: dict[str, Any]) -> None:
    with pytest.raises(HettopError) as caught:
        under_protocol("embench", given, USUAL)
    assert caught.value.kind == "usage"
    assert under_protocol("embench", {**given, "rest_ns": 0}, USUAL).rest_ns == 0


def test_the_figures_of_a_protocol_are_those_of_the_statistics_object() -> None:
    from hettop.session.statistics import Statistics

    for protocol in PROTOCOLS.values():
        assert set(protocol.figures) <= set(Statistics.__struct_fields__)
