"""The machine, described for the header, and looked at now and then."""

from __future__ import annotations

import os

from hettop import __version__, events
from hettop.host import INTERVAL_NS, HostSource, describe_host
from hettop.text import clean
from tests.streams import S


def test_the_machine_is_described_as_far_as_it_tells() -> None:
    host = describe_host()
    assert host.hettop == __version__
    assert host.cores == os.cpu_count()
    assert host.chip
    assert host.os
    assert host.memory_mb is not None
    assert host.memory_mb > 100
    assert "numpy" in host.frameworks
    assert host.power_mode is None, "unknown is not made up"


def test_what_the_machine_calls_itself_is_clean_and_can_be_recorded() -> None:
    host = describe_host()
    for text in (host.chip, host.os, *host.frameworks.values()):
        assert text == clean(text or "")
    opening = events.Header(t=0, format=events.FORMAT, version=events.VERSION, host=host)
    read = events.decode(events.encode(opening))
    assert isinstance(read, events.Header)
    assert read.host == host


def test_it_is_looked_at_every_five_seconds_and_not_before() -> None:
    source = HostSource()
    moments = [0, S, INTERVAL_NS - 1, INTERVAL_NS, INTERVAL_NS + 1, 2 * INTERVAL_NS - 1, 2 * INTERVAL_NS]
    told = [event.t for moment in moments for event in source.drain(moment)]
    assert told == [INTERVAL_NS, 2 * INTERVAL_NS], "the first look only begins the first interval"


def test_what_it_tells_can_be_read_back() -> None:
    source = HostSource()
    source.drain(0)
    (event,) = source.drain(INTERVAL_NS)
    assert len(event.cpu_percent) == os.cpu_count()
    assert all(0 <= percent <= 100 for percent in event.cpu_percent)
    assert event.memory_percent is not None
    assert 0 < event.memory_percent <= 100
    read = events.decode(events.encode(event))
    assert isinstance(read, events.HostLoad)
    assert read.cpu_percent == event.cpu_percent


def test_after_a_long_sleep_it_does_not_catch_up() -> None:
    source = HostSource()
    source.drain(0)
    assert len(source.drain(100 * INTERVAL_NS)) == 1
    assert source.drain(100 * INTERVAL_NS + S) == []
