"""The machine, described for the header, and looked at now and then."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from hettop import __version__, events
from hettop.sources.host import (
    INTERVAL_NS,
    LOW_POWER,
    ROSETTA,
    HostSource,
    Run,
    Weight,
    chip_name,
    clock_mhz,
    core_kinds,
    cpu_seconds,
    describe_host,
    machine_model,
    memory_pressure,
    total,
)
from hettop.text import clean
from tests.streams import S


def test_the_machine_is_described_as_far_as_it_reports() -> None:
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


def test_what_it_reports_can_be_read_back() -> None:
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


def test_what_hettop_itself_takes_is_reported_and_its_engines_apart_from_it() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as engine:
        source = HostSource(lambda: (engine.pid,))
        source.drain(0)
        (event,) = source.drain(INTERVAL_NS)
        engine.communicate(b"\n")
    assert event.own_cpu_percent is not None
    assert event.engine_cpu_percent is not None
    assert event.own_memory_mb is not None
    assert event.engine_memory_mb is not None
    assert 0 < event.engine_memory_mb < event.own_memory_mb, "a bare Python is smaller than the tests"


def test_an_engine_that_has_ended_weighs_nothing_and_a_new_one_is_counted_from_its_second_look() -> None:
    pids: list[int] = [2**22 + 1]  # beyond the largest process id of Linux
    source = HostSource(lambda: pids)
    source.drain(0)
    (gone,) = source.drain(INTERVAL_NS)
    assert (gone.engine_cpu_percent, gone.engine_memory_mb) == (None, None)
    pids[:] = [os.getpid()]
    (first,) = source.drain(2 * INTERVAL_NS)
    assert first.engine_cpu_percent is None
    assert first.engine_memory_mb is not None
    (second,) = source.drain(3 * INTERVAL_NS)
    assert second.engine_cpu_percent is not None


def test_weights_are_summed_over_what_is_known() -> None:
    weights = [Weight(10.0, 50.0), Weight(None, 25.0), Weight()]
    assert total(weights) == Weight(10.0, 75.0)
    assert total([]) == Weight()


@pytest.mark.parametrize(
    ("text", "percent"),
    [
        ("some avg10=2.53 avg60=1.00 avg300=0.12 total=99\nfull avg10=1.00 avg60=0 avg300=0 total=9\n", 2.53),
        ("some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", 0.0),
        ("some avg60=1.00\n", None),
        ("some avg10=much\n", None),
        ("", None),
    ],
)
def test_memory_pressure_is_the_share_of_the_last_ten_seconds(tmp_path: Path, text: str, percent: float | None) -> None:
    path = tmp_path / "memory"
    path.write_text(text)
    assert memory_pressure(path) == percent


def test_where_the_system_reports_no_pressure_there_is_none(tmp_path: Path) -> None:
    assert memory_pressure(tmp_path / "absent") is None


def test_on_a_mac_no_frequency_is_claimed() -> None:
    assert clock_mhz("darwin") is None


@pytest.mark.parametrize(
    ("core", "atom", "kinds"),
    [
        ("0-3", "4-5", "PPPPEE"),
        ("0,2-3", "1,4-5", "PEPPEE"),
        ("0-3", "4", ""),  # of the sixth core nothing is known
        ("0-3", "4-9999999999", ""),
        ("0-3", "many", ""),
        ("0-3", None, ""),
    ],
)
def test_kinds_of_cores_are_those_that_linux_tells(tmp_path: Path, core: str, atom: str | None, kinds: str) -> None:
    for name, cpus in (("cpu_core", core), ("cpu_atom", atom)):
        if cpus is not None:
            (tmp_path / name).mkdir()
            (tmp_path / name / "cpus").write_text(cpus + "\n")
    assert core_kinds(tmp_path, 6) == list(kinds)


def no_command(command: Sequence[str]) -> str:
    """As `command_output` where there is no such command."""
    assert command
    return ""


def test_a_mac_is_asked_for_the_name_of_its_chip() -> None:
    asked: list[Sequence[str]] = []

    def sysctl(command: Sequence[str]) -> str:
        asked.append(command)
        return "Apple M2 Pro\n"

    assert chip_name("darwin", Path("/nowhere"), sysctl) == "Apple M2 Pro"
    assert asked == [("/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string")]


def test_a_mac_has_a_model_and_other_systems_none() -> None:
    told = mac({"hw.model": "Mac14,2\n"})
    assert machine_model("darwin", told) == "Mac14,2"
    assert machine_model("linux", told) is None
    assert machine_model("darwin", no_command) is None
    assert machine_model("darwin", mac({})) is None


def test_linux_reports_its_chip_in_a_file(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: Fast \x1b[31mOne\nmodel name\t: other\n")
    assert chip_name("linux", cpuinfo, no_command) == "Fast \ufffd[31mOne"


@pytest.mark.parametrize("system", ["darwin", "linux"])
def test_a_machine_that_does_not_report_has_at_least_an_architecture(system: str) -> None:
    assert chip_name(system, Path("/nowhere"), no_command) == (platform.processor() or platform.machine())


PMSET = """System-wide power settings:
Currently in use:
 standby              1
 Sleep On Power Button 1
 womp                 1
 {setting}
 displaysleep         10
"""


def mac(printed: dict[str, str]) -> Run:
    """A Mac whose commands print what is reported for their last word."""

    def run(command: Sequence[str]) -> str:
        return printed.get(command[-1], "")

    return run


@pytest.mark.parametrize(
    ("setting", "mode"),
    [
        ("lowpowermode         1", "low power"),
        ("lowpowermode         0", "normal"),
        ("powermode            1", "low power"),
        ("powermode            2", "high power"),
        ("highpowermode        1", "high power"),
        ("hibernatemode        1", None),
    ],
)
def test_a_mac_reports_its_power_mode(setting: str, mode: str | None) -> None:
    host = describe_host("darwin", mac({"-g": PMSET.format(setting=setting)}))
    assert host.power_mode == mode
    assert [warning for warning in host.warnings if "low power mode" in warning] == [LOW_POWER] * (mode == "low power")


def test_a_python_translated_by_rosetta_is_warned_of() -> None:
    assert describe_host("darwin", mac({"sysctl.proc_translated": "1\n"})).warnings == [ROSETTA]
    assert describe_host("darwin", mac({"sysctl.proc_translated": "0\n"})).warnings == []
    assert describe_host("darwin", mac({})).warnings == []


def test_a_mac_without_these_commands_has_nothing_to_report() -> None:
    host = describe_host("darwin", no_command)
    assert (host.power_mode, host.warnings) == (None, [])


def test_elsewhere_no_mac_is_asked() -> None:
    host = describe_host("linux", mac({"-g": PMSET.format(setting="lowpowermode 1"), "sysctl.proc_translated": "1"}))
    assert (host.power_mode, host.warnings) == (None, [])


def test_seconds_of_the_cpu_are_busy_or_idle_and_guests_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux: 10 + 5 s busy, 80 idle, 5 waiting; the guest's 4 are within the user's 10."""

    class Times:
        def __init__(self, **seconds: float) -> None:
            self._asdict = lambda: seconds

    linux = Times(user=10.0, system=5.0, idle=80.0, iowait=5.0, guest=4.0)
    monkeypatch.setattr("psutil.cpu_times", lambda: linux)
    assert cpu_seconds() == (15.0, 100.0)
    monkeypatch.setattr("psutil.cpu_times", lambda: Times(user=1.0, nice=2.0, system=3.0, idle=4.0))
    assert cpu_seconds() == (6.0, 10.0)
