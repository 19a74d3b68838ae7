"""Which source is chosen, and what is said of those that are not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.sources.power.choice import Choice, chooser
from hettop.sources.power.simulated import SimulatedSource
from hettop.sources.power.source import Availability
from tests.sources.power.devices import intel_npu
from tests.sources.power.machines import HWMON_FILES, RAPL_FILES, Bench, mac, pc, write_tree, zeus_module

LINUX = {"powermetrics": "macOS only", "macmon": "macOS only", "zeus": "macOS only"}


def chosen(bench: Bench, name: str | None = None, **known: str) -> Choice:
    return chooser(name, bench.machine)({source: Availability(False, why) for source, why in known.items()})


def name_of(choice: Choice) -> str | None:
    return None if choice.source is None else choice.source.name


def test_on_a_mac_powermetrics_comes_first_then_what_needs_no_password() -> None:
    assert name_of(chosen(mac())) == "powermetrics"
    choice = chosen(mac(sudo="password"))
    assert name_of(choice) == "macmon"
    assert set(choice.refused) == {"powermetrics"}
    assert choice.needs_access
    bench = mac(sudo="password")
    bench.missing.add("macmon")
    bench.modules["zeus_apple_silicon"] = zeus_module({})
    assert name_of(chosen(bench)) == "zeus"


def test_on_linux_counters_come_before_sensors(tmp_path: Path) -> None:
    write_tree(tmp_path, HWMON_FILES)
    choice = chosen(pc(tmp_path))
    assert (name_of(choice), choice.refused) == (
        "hwmon",
        {**LINUX, "rapl": f"no energy counters in {tmp_path}/class/powercap"},
    )
    write_tree(tmp_path, RAPL_FILES)
    choice = chosen(pc(tmp_path))
    assert (name_of(choice), choice.refused) == ("rapl", LINUX)


def test_without_any_every_source_has_its_reason_and_the_first_repair_is_offered(tmp_path: Path) -> None:
    choice = chosen(pc(tmp_path))
    assert (choice.source, choice.state, choice.name) == (None, "unavailable", "none")
    assert set(choice.refused) == {*LINUX, "rapl", "hwmon", "accelerators"}
    assert "macOS" not in choice.reason
    assert "no energy counters" in choice.reason
    bench = mac(sudo="password")
    bench.missing.add("macmon")
    assert chosen(bench).fix == "run sudo -v in this terminal"


def test_utilization_alone_comes_with_the_repair_of_a_better_source(tmp_path: Path) -> None:
    choose = chooser(None, pc(intel_npu(tmp_path)).machine)
    choice = choose({"rapl": Availability(False, "only root can", "sudo chmod a+r")})
    assert (name_of(choice), choice.reason, choice.fix) == (
        "accelerators",
        "utilization only: no device reports power of its own now",
        "sudo chmod a+r",
    )


def test_a_source_that_is_named_is_the_only_one_asked(tmp_path: Path) -> None:
    assert name_of(chosen(mac(), "macmon")) == "macmon"
    choice = chosen(pc(write_tree(tmp_path, RAPL_FILES)), "powermetrics")
    assert (choice.source, choice.name, choice.reason) == (None, "powermetrics", "macOS only")
    assert choice.refused == {"powermetrics": "macOS only"}


def test_a_source_that_has_failed_is_passed_over_with_what_it_said() -> None:
    choice = chosen(mac(), None, powermetrics="it stalled")
    assert (name_of(choice), choice.refused) == ("macmon", {"powermetrics": "it stalled"})


def test_none_is_none_and_no_fault() -> None:
    choice = chosen(mac(), "none")
    assert (choice.source, choice.state, choice.refused) == (None, "stopped", {})


def test_a_file_is_played_as_it_was_made(tmp_path: Path) -> None:
    choice = chosen(mac(), f"file:{tmp_path / 'nothing'}")
    assert (choice.source, choice.reason) == (None, "file not found: nothing")


def test_a_simulated_machine_has_simulated_power_and_a_real_one_never() -> None:
    source = SimulatedSource(time.monotonic_ns)
    machine = mac().machine
    for name in (None, "simulated"):
        assert chooser(name, machine, source)({}).source is source
    assert chooser("none", machine, source)({}).source is None
    for name in ("powermetrics", "file:x"):
        with pytest.raises(HettopError, match="a simulated machine has simulated power"):
            chooser(name, machine, source)
    with pytest.raises(HettopError, match="is only available for the simulated machine"):
        chooser("simulated", machine)


@pytest.mark.parametrize("name", ["", "battery", "file:", "FILE:x", "a\x1b[31m"])
def test_a_name_that_is_none_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(HettopError) as refused:
        chooser(name, mac().machine)
    assert refused.value.kind == "usage"
    assert "powermetrics, macmon, zeus, rapl, hwmon, accelerators, none, file:PATH" in refused.value.hint
    assert "\x1b" not in refused.value.message
