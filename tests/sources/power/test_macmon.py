"""The parser of `macmon pipe`: the names of 0.6 and 0.7, those of 0.8, and lines that are neither."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop.sources.power.macmon import LINE_LIMIT, MacmonParser
from hettop.sources.power.sample import PowerSample
from tests.sources.power.reading import one, read

POWERS = {"cpu_power": 1.25, "gpu_power": 0.5, "ane_power": 0.0, "all_power": 1.75, "ram_power": 0.25, "sys_power": 9.0}
OLD = {**POWERS, "ecpu_usage": [1200, 0.25], "pcpu_usage": [2400, 0.5], "gpu_usage": [460, 0.125], "gpu_ram_power": 0.1}
NEW = {
    **POWERS,
    "cpu_scaled_ratio": 0.1,
    "cpu_active_ratio": 0.3,
    "ecpu_freq_mhz": 1100,
    "ecpu_scaled_ratio": 0.08,
    "ecpu_active_ratio": 0.18,
    "pcpu_freq_mhz": 1800,
    "pcpu_scaled_ratio": 0.015,
    "pcpu_active_ratio": 0.04,
    "gpu_freq_mhz": 461,
    "gpu_scaled_ratio": 0.02,
    "gpu_active_ratio": 0.09,
    "ecpu_cores": [{"die_id": 0, "core_id": 0, "freq_mhz": 1600, "scaled_ratio": 0.1, "active_ratio": 0.2}],
}


def lines(*told: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in told)


def figures(sample: PowerSample) -> list[tuple[str, float | None, float | None]]:
    return [(cluster.name, cluster.mhz, cluster.busy) for cluster in sample.clusters]


@pytest.mark.parametrize("told", [OLD, NEW])
def test_watts_become_milliwatts_and_the_whole_machine_is_no_rail(told: dict[str, Any]) -> None:
    sample = one(read(MacmonParser(), lines(told)))
    assert sample.mw == {"cpu": 1250.0, "gpu": 500.0, "ane": 0.0, "dram": 250.0, "package": None, "combined": 1750.0}
    assert (sample.source, sample.thermal) == ("macmon", None)


def test_old_ratios_are_scaled_by_frequency_so_busy_is_an_estimate() -> None:
    sample = one(read(MacmonParser(), lines(OLD)))
    assert figures(sample) == [("ecpu", 1200.0, 0.25), ("pcpu", 2400.0, 0.5)]
    assert sample.gpu is not None
    assert (sample.gpu.mhz, sample.gpu.busy, sample.flags) == (460.0, 0.125, ("estimated",))


@pytest.mark.parametrize(
    "aliases", [{}, {"ecpu_usage": [1100, 0.08], "pcpu_usage": [1800, 0.015], "gpu_usage": [461, 0.02]}]
)
def test_new_active_ratios_are_busy_also_beside_the_old_names(aliases: dict[str, Any]) -> None:
    sample = one(read(MacmonParser(), lines({**aliases, **NEW})))
    assert figures(sample) == [("ecpu", 1100.0, 0.18), ("pcpu", 1800.0, 0.04)]
    assert sample.gpu is not None
    assert (sample.gpu.mhz, sample.gpu.busy, sample.flags) == (461.0, 0.09, ())


def test_a_window_is_the_time_since_the_line_before_and_the_first_is_unknown() -> None:
    seconds = ["05.250000+00:00", "06.500000+00:00", "06+00:00", "", "07", "08+00:00"]
    moments = [f"2026-01-02T03:04:{second}" for second in seconds]
    samples = read(MacmonParser(), lines(*({**OLD, "timestamp": moment} for moment in moments)))
    assert [sample.elapsed_ns for sample in samples] == [None, 1_250_000_000, None, None, None, None]


@pytest.mark.parametrize("value", [None, "1.5", [1], True, -1, 1e9])
def test_what_is_no_figure_is_absent(value: object) -> None:
    sample = one(read(MacmonParser(), lines({**OLD, "cpu_power": value, "gpu_usage": value})))
    assert (sample.mw["cpu"], sample.mw["gpu"], sample.gpu) == (None, 500.0, None)


@pytest.mark.parametrize("digits", ["9" * 400, "1e999", "9" * 5000, "-" + "9" * 400, "1." + "0" * 30 + "e400"])
def test_a_figure_beyond_all_numbers_is_absent_and_takes_nothing_along(digits: str) -> None:
    line = lines({**OLD, "cpu_power": "HERE"}).replace(b'"HERE"', digits.encode())
    parser = MacmonParser()
    first, second = read(parser, line + lines(OLD))
    assert (first.mw["cpu"], first.mw["gpu"], second.mw["gpu"]) == (None, 500.0, 500.0)
    assert parser.lost == {}


@pytest.mark.parametrize("key", ["cpu_power", "ram_power", "gpu_usage", "ecpu_usage"])
@pytest.mark.parametrize("value", [-1, 1e9, "1.5", True, [-1, -1], [10**400, 2]])
def test_what_is_reported_but_cannot_be_makes_the_sample_partial(key: str, value: object) -> None:
    assert "partial" in one(read(MacmonParser(), lines({**OLD, key: value}))).flags


def test_what_is_reported_as_null_is_absent_and_nothing_is_lacking() -> None:
    sample = one(read(MacmonParser(), lines({**NEW, "ane_power": None, "gpu_freq_mhz": None, "all_power": None})))
    assert (sample.mw["ane"], sample.flags) == (None, ())


def pretty(*told: dict[str, Any], indent: int | str = 2) -> bytes:
    """As `jq` prints it."""
    return b"".join(json.dumps(each, indent=indent).encode() + b"\n" for each in told)


@pytest.mark.parametrize("indent", [1, 2, 7, "\t"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_objects_that_jq_printed_are_read(indent: int | str, ending: bytes) -> None:
    data = pretty(OLD, NEW, indent=indent).replace(b"\n", ending)
    assert read(MacmonParser(), data) == read(MacmonParser(), lines(OLD, NEW))
    assert read(MacmonParser(), data.rstrip()) == read(MacmonParser(), lines(OLD, NEW))


def test_objects_of_jq_may_stand_among_lines_and_be_split_anywhere() -> None:
    data = lines(NEW) + pretty(OLD, NEW) + lines(OLD)
    whole = read(MacmonParser(), lines(NEW, OLD, NEW, OLD))
    for cut in range(len(data)):
        assert read(MacmonParser(), data[:cut], data[cut:]) == whole


def test_an_object_of_jq_that_does_not_end_is_torn_and_the_next_one_read() -> None:
    torn = pretty(OLD).rpartition(b'  "gpu_usage"')[0]
    for rest in (pretty(OLD), lines(OLD)):
        parser = MacmonParser()
        assert read(parser, torn + rest + torn) == read(MacmonParser(), rest)
        assert parser.lost == {"torn": 2}


def test_an_endless_object_is_dropped() -> None:
    parser = MacmonParser()
    parser.feed(b"{\n")
    for _ in range(1000):
        parser.feed(b'  "a": 1,\n' * 40)
        assert len(parser._object) <= LINE_LIMIT
    assert parser.lost["too long"] == 1
    assert len(read(parser, pretty(OLD))) == 1


def test_a_cpu_at_no_watts_is_suspect_even_where_no_busy_share_is_given() -> None:
    assert "suspect-zero" in one(read(MacmonParser(), lines({**NEW, "cpu_power": 0.0}))).flags
    assert one(read(MacmonParser(), lines({"cpu_power": 0.0, "ane_power": 0.0}))).flags == ("suspect-zero",)


def test_lines_that_are_no_sample_are_counted_and_the_rest_read() -> None:
    parser = MacmonParser()
    data = lines(OLD) + b'not json\n{"cpu_power": NaN}\n{"a": 1}\n[1]\n\n' + b"[" * 9000 + b"\n" + lines(OLD)
    assert len(read(parser, data + b'{"cpu_power": 1.')) == 2
    assert parser.lost == {"unreadable": 3, "foreign": 2, "torn": 1}


def test_a_last_line_without_its_line_feed_counts_if_it_is_whole() -> None:
    assert len(read(MacmonParser(), lines(OLD, NEW).rstrip())) == 2


def test_a_split_at_any_byte_changes_nothing() -> None:
    data = lines(OLD, NEW)
    whole = read(MacmonParser(), data)
    for cut in range(len(data)):
        assert read(MacmonParser(), data[:cut], data[cut:]) == whole


def test_an_endless_line_is_dropped_and_reading_goes_on() -> None:
    parser = MacmonParser()
    for _ in range(10):
        assert parser.feed(b"{" * LINE_LIMIT) == []
        assert len(parser._line) <= LINE_LIMIT
    assert len(read(parser, b"\n" + lines(OLD))) == 1
    assert parser.lost == {"too long": 1}


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*OLD, *NEW, "timestamp"]), st.none() | st.text() | st.floats() | st.lists(st.integers())
    )
)
def test_no_values_make_it_fail(told: dict[str, Any]) -> None:
    read(MacmonParser(), lines({"cpu_power": 1.0, **told}))
