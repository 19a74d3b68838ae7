"""powermetrics through sudo: the command, what is said when either refuses, and that nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop.processes.child_process import ChildProcess, ProcessGuard
from hettop.sources.power.child import ChildOutput
from hettop.sources.power.powermetrics import COMMAND as POWERMETRICS_COMMAND
from hettop.sources.power.powermetrics import LiveReading, PowermetricsSource
from hettop.sources.power.source import PowerLostError
from tests.processes.waiting import gone, wait_for
from tests.sources.power.captures import CHIPS, intel_text, plist, stream, truth_of, virtual_machine
from tests.sources.power.machines import Reading, first, mac

OPTIONS = "-s cpu_power,gpu_power,thermal -f plist -i 500 -a 0 -b 0 -n 7200"
COMMAND = ["/usr/bin/sudo", "-n", "/usr/bin/powermetrics", *OPTIONS.split(" ")]


def lost(**modes: str) -> PowerLostError:
    """Why a source that runs into its end has ended."""
    source = PowermetricsSource(mac(**modes).machine)
    with pytest.raises(PowerLostError) as caught:
        first(source, 50)
    return caught.value


def test_the_command_is_constant_whatever_interval_is_asked_for() -> None:
    bench = mac()
    first(PowermetricsSource(bench.machine), 1, interval_ns=100_000_000)
    assert bench.started == [COMMAND]
    assert PowermetricsSource(bench.machine).granted_ns(100_000_000) == 500_000_000


@pytest.mark.parametrize("way", ["steady", "slow", "split", "noise", "chatty"])
def test_samples_are_those_of_the_machine_however_they_are_printed(way: str) -> None:
    truth = truth_of(CHIPS["M2 Pro"])
    (sample,) = first(PowermetricsSource(mac(powermetrics=way).machine), 1)
    assert (sample.mw["cpu"], sample.mw["gpu"], sample.mw["ane"]) == (1500.0, 250.0, 40.0)
    assert [cluster.name for cluster in sample.clusters] == list(CHIPS["M2 Pro"].slowest_first)
    assert sample.elapsed_ns == truth.elapsed_ns


def test_a_locales_commas_are_read() -> None:
    (sample,) = first(PowermetricsSource(mac(powermetrics="commas").machine), 1)
    assert (sample.mw["cpu"], sample.gpu and sample.gpu.busy) == (1500.0, 0.25)


@pytest.mark.parametrize(
    ("modes", "state", "words"),
    [
        ({"sudo": "password"}, "expired", "power access expired"),
        ({"sudo": "forbidden"}, "unavailable", "sudo does not allow you to run powermetrics"),
        ({"powermetrics": "superuser"}, "unavailable", "powermetrics was not started as root"),
        ({"powermetrics": "sampler"}, "unavailable", "does not have a sampler: unrecognized sampler: gpu_power"),
        ({"powermetrics": "gone"}, "unavailable", "/usr/bin/powermetrics was removed"),
        ({"powermetrics": "intel"}, "unavailable", "as on an Intel Mac"),
        ({"powermetrics": "virtual"}, "unavailable", "as in a virtual machine"),
        ({"powermetrics": "binary"}, "unavailable", "does not print a property list"),
        ({"powermetrics": "damaged"}, "failed", "invalid output from powermetrics (unreadable)"),
        ({"powermetrics": "empty"}, "failed", "powermetrics ended (exit 0) without a sample"),
        ({"powermetrics": "finite"}, "failed", "powermetrics ended (exit 0)"),
        ({"powermetrics": "killed"}, "failed", "powermetrics ended (exit 247)"),
    ],
)
def test_why_it_ended_is_said_in_words(modes: dict[str, str], state: str, words: str) -> None:
    error = lost(interval="0.002", **modes)
    assert error.state == state
    assert words in error.message
    assert error.hint or state == "failed" or "Intel" in words or "machine" in words or "property" in words


def test_a_sudo_that_cannot_be_started_has_a_remedy() -> None:
    def spawn(
        command: Sequence[str], environment: Mapping[str, str] | None, guard: ProcessGuard | None
    ) -> ChildProcess:
        raise PermissionError(13, "Permission denied")

    source = PowermetricsSource(replace(mac().machine, spawn=spawn))
    found = source.probe()
    assert (found.ok, found.reason) == (False, "cannot start sudo: Permission denied")
    assert "macmon" in found.fix
    with pytest.raises(PowerLostError) as caught:
        first(source, 1)
    assert "macmon" in caught.value.hint


@pytest.mark.parametrize("figure", [b"-12.5", b"nan", b"1e308"])
def test_powers_that_cannot_be_are_no_virtual_machine(figure: bytes) -> None:
    document = re.sub(rb"<real>[^<]*</real>", b"<real>" + figure + b"</real>", plist(truth_of(CHIPS["M2 Pro"])))
    reading = LiveReading()
    with pytest.raises(PowerLostError, match="impossible powers") as caught:
        list(reading.samples(document * 5))
    assert caught.value.hint


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_text_instead_of_documents_is_noticed_however_it_is_split(size: int) -> None:
    reading, data = LiveReading(), intel_text().encode()
    parts = [data[at : at + size] for at in range(0, len(data), size)]
    with pytest.raises(PowerLostError, match="prints text"):
        list(chain.from_iterable(map(reading.samples, parts)))


def test_after_its_last_sample_it_only_has_to_be_started_again() -> None:
    with pytest.raises(PowerLostError, match="printed all 3 samples") as caught:
        first(PowermetricsSource(mac(powermetrics="finite").machine, in_all=3), 4)
    assert caught.value.state == "starting"


@pytest.mark.parametrize(
    ("modes", "ok", "words"),
    [
        ({}, True, ""),
        ({"sudo": "rule"}, True, ""),
        ({"sudo": "password"}, False, "macOS reports power to root only"),
        ({"sudo": "forbidden"}, False, "sudo does not allow you to run powermetrics"),
    ],
)
def test_it_asks_sudo_whether_it_may_without_being_asked(modes: dict[str, str], ok: bool, words: str) -> None:
    bench = mac(**modes)
    found = PowermetricsSource(bench.machine).probe()
    assert (found.ok, found.reason, bool(found.fix)) == (ok, words, not ok)
    assert all(command[:2] == ["/usr/bin/sudo", "-n"] for command in bench.started)
    assert bench.alive == []


def test_an_exact_rule_is_enough_to_run_it() -> None:
    assert first(PowermetricsSource(mac(sudo="rule").machine), 1)


@pytest.mark.parametrize("missing", ["/usr/bin/powermetrics", "/usr/bin/sudo"])
def test_a_mac_without_its_parts_is_reported(missing: str) -> None:
    bench = mac()
    bench.missing.add(missing)
    found = PowermetricsSource(bench.machine).probe()
    assert (found.ok, found.reason) == (False, f"file not found: {missing}")


def test_a_program_that_disappears_between_probe_and_start_is_reported() -> None:
    bench = mac()
    source = PowermetricsSource(bench.machine)
    assert source.probe().ok
    bench.missing.add("/usr/bin/sudo")
    with pytest.raises(PowerLostError, match="cannot start sudo: No such file") as caught:
        first(source, 1)
    assert caught.value.state == "unavailable"


@pytest.mark.parametrize("way", ["steady", "stuck", "silent", "deaf"])
def test_nothing_is_left_after_a_stop_even_of_what_stands_still(way: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    bench = mac(powermetrics=way, pids=str(pids))
    source = PowermetricsSource(bench.machine)
    reading = Reading(source)
    wait_for(lambda: pids.exists() and len(pids.read_text().split()) == 2, "it is started")
    assert bench.guard.pids == [int(pids.read_text().split()[0])]
    source.stop()
    wait_for(lambda: reading.ended, "it ends")
    assert bench.alive == []
    assert (bench.guard.pids, bench.guard.closed) == ([], True)
    powermetrics = int(pids.read_text().split()[1])
    if way == "deaf":  # sudo could be killed and could not pass that on: this one ends with its next sample
        with contextlib.suppress(ProcessLookupError):  # or has ended by now
            os.kill(powermetrics, signal.SIGKILL)
    wait_for(lambda: gone([powermetrics]), "powermetrics ends")


def test_it_stays_in_the_session_that_the_ticket_was_given_to() -> None:
    bench = mac()
    source = PowermetricsSource(bench.machine)
    reading = Reading(source)
    wait_for(lambda: bool(reading.samples), "a sample comes")
    (pid,) = bench.alive
    assert (os.getsid(pid), os.getpgid(pid)) == (os.getsid(0), os.getpgid(0))
    source.stop()
    wait_for(lambda: reading.ended, "it ends")


def refuse(_pid: int, _number: int) -> None:
    """As for a child that runs as root."""
    raise PermissionError(1, "Operation not permitted")


def test_a_root_child_ends_by_its_closed_pipe_alone() -> None:
    bench = mac(powermetrics="steady")
    bench.kill = refuse
    child = ChildOutput(POWERMETRICS_COMMAND, bench.machine, farewell_s=60)
    with closing(child.chunks()) as chunks:
        assert next(chunks)
    assert (child.left_pid, bench.alive, bench.guard.pids) == (None, [], [])
    assert child.exit is not None


def test_a_root_child_that_cannot_be_signalled_is_tolerated_and_reported() -> None:
    bench = mac(powermetrics="silent")
    bench.kill = refuse
    child = ChildOutput(POWERMETRICS_COMMAND, bench.machine, farewell_s=0.05)
    child.stop()
    assert list(child.chunks()) == []
    (process,) = bench.processes
    assert (child.left_pid, child.exit) == (process.pid, None)
    assert bench.guard.pids == [process.pid]  # whose own process may have better luck
    os.kill(process.pid, signal.SIGTERM)
    assert process.ended(60)


STREAM = stream(*[b"Second underflow occured.\n" + plist(truth_of(CHIPS["M1"]))] * 3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_however_its_output_is_split_the_samples_are_the_same(cuts: list[int]) -> None:
    reading = LiveReading()
    edges = [0, *sorted(cuts), len(STREAM)]
    samples = [sample for start, end in pairwise(edges) for sample in reading.samples(STREAM[start:end])]
    assert [sample.mw["cpu"] for sample in samples] == [1500.0] * 3
    assert reading.n == 3


def test_a_machine_that_reports_no_power_now_and_then_is_not_given_up() -> None:
    reading = LiveReading()
    for _ in range(5):
        assert len(list(reading.samples(virtual_machine() * 3 + plist(truth_of(CHIPS["M1"]))))) == 4
    with pytest.raises(PowerLostError, match="virtual machine"):
        list(reading.samples(virtual_machine() * 4))
