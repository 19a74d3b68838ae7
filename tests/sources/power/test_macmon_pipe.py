"""`macmon pipe` as a source: its options, its ends, and where its CPU power is not to be trusted."""

from __future__ import annotations

import pytest

from hettop.sources.power.macmon import MacmonSource
from hettop.sources.power.source import PowerLostError
from tests.processes.waiting import wait_for
from tests.sources.power.machines import Reading, first, mac


@pytest.mark.parametrize(("asked_ns", "told"), [(500_000_000, "500"), (1_000_000, "100")])
def test_the_interval_is_passed_on_in_milliseconds_of_at_least_100(asked_ns: int, told: str) -> None:
    bench = mac(interval="0.01")
    source = MacmonSource(bench.machine)
    first(source, 1, interval_ns=asked_ns)
    assert bench.started == [["macmon", "pipe", "-i", told]]
    assert source.granted_ns(asked_ns) == int(told) * 10**6


@pytest.mark.parametrize(
    ("release", "flags"),
    [("15.1", ()), ("26.0", ()), ("16.0", ()), ("27.0", ("estimated",)), ("17.0", ("estimated",)), ("", ())],
)
def test_from_macos_27_on_its_figures_are_marked(release: str, flags: tuple[str, ...]) -> None:
    source = MacmonSource(mac(release=release, interval="0.01").machine)
    (sample,) = first(source, 1)
    assert sample.flags == flags
    assert ("unreliable" in source.note) == bool(flags)


def test_old_names_are_marked_once() -> None:
    (sample,) = first(MacmonSource(mac(release="27.1", interval="0.01", macmon="old").machine), 1)
    assert sample.flags == ("estimated",)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("killed", "macmon ended (exit -9)"),
        ("broken", 'macmon ended (exit 1) without a sample: Error: "failed to find DVFS table"'),
        ("damaged", "invalid output from macmon"),
    ],
)
def test_why_it_ended_is_said_in_words(mode: str, words: str) -> None:
    with pytest.raises(PowerLostError) as caught:
        first(MacmonSource(mac(macmon=mode, interval="0.005").machine), 50)
    assert (caught.value.message, caught.value.state) == (words, "failed")


def test_without_the_program_the_fix_is_to_install_it() -> None:
    bench = mac()
    bench.missing.add("macmon")
    source = MacmonSource(bench.machine)
    found = source.probe()
    assert (found.ok, found.reason, found.fix) == (False, "macmon is not installed", "brew install macmon")
    with pytest.raises(PowerLostError, match="macmon was removed"):
        first(source, 1)


@pytest.mark.parametrize("mode", ["new", "stuck", "deaf"])
def test_nothing_is_left_after_a_stop(mode: str) -> None:
    bench = mac(macmon=mode, interval="0.01")
    source = MacmonSource(bench.machine)
    reading = Reading(source)
    wait_for(lambda: bool(reading.samples), "a sample comes")
    source.stop()
    wait_for(lambda: reading.ended, "it ends")
    assert (bench.alive, reading.error) == ([], None)
