"""What every source of power keeps, whatever it reads: one suite that all of them pass."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hettop.events import TEXT_LIMIT
from hettop.sources.power.accelerators import AcceleratorSource
from hettop.sources.power.file import FileSource
from hettop.sources.power.hwmon import HwmonSource
from hettop.sources.power.macmon import MacmonSource
from hettop.sources.power.powermetrics import PowermetricsSource
from hettop.sources.power.rapl import RaplSource
from hettop.sources.power.sample import RAILS
from hettop.sources.power.simulated import SimulatedSource
from hettop.sources.power.source import Machine, PowerSource
from hettop.sources.power.zeus import ZeusSource
from hettop.text import clean
from tests.processes.waiting import wait_for
from tests.sources.power.captures import Truth, plist, stream
from tests.sources.power.devices import amd_card
from tests.sources.power.machines import (
    HWMON_FILES,
    RAPL_FILES,
    Bench,
    Reading,
    first,
    mac,
    pc,
    write_tree,
    zeus_module,
)


@dataclass
class Case:
    """A source on a machine where it works."""

    source: PowerSource
    bench: Bench | None = None


def file(folder: Path) -> Case:
    path = folder / "capture"
    path.write_bytes(stream(*[plist(Truth(elapsed_ns=20_000_000))] * 200))
    return Case(FileSource(path, speed=1.0))


def zeus(_folder: Path) -> Case:
    bench = mac()
    bench.modules["zeus_apple_silicon"] = zeus_module({"cpu_total_mj": 100, "gpu_mj": 3, "ane_mj": None, "dram_mj": 1})
    return Case(ZeusSource(bench.machine), bench)


def on(make: Callable[[Machine], PowerSource], bench: Bench) -> Case:
    return Case(make(bench.machine), bench)


CASES: dict[str, Callable[[Path], Case]] = {
    "powermetrics": lambda _: on(PowermetricsSource, mac()),
    "macmon": lambda _: on(MacmonSource, mac(interval="0.02")),
    "macmon before 0.8": lambda _: on(MacmonSource, mac(interval="0.02", macmon="old")),
    "zeus": zeus,
    "rapl": lambda folder: on(RaplSource, pc(write_tree(folder, RAPL_FILES))),
    "hwmon": lambda folder: on(HwmonSource, pc(write_tree(folder, HWMON_FILES))),
    "rapl and a card": lambda folder: on(RaplSource, pc(amd_card(write_tree(folder, RAPL_FILES)))),
    "accelerators": lambda folder: on(AcceleratorSource, pc(amd_card(folder))),
    "simulated": lambda _: Case(SimulatedSource(time.monotonic_ns)),
    "file": file,
}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Case]:
    case = CASES[request.param](tmp_path)
    yield case
    bench = case.bench
    if bench is not None:
        wait_for(lambda: not bench.alive, "its processes end")
        assert bench.guard.pids == []


def test_it_works_where_it_says_so(case: Case) -> None:
    assert case.source.probe().ok
    samples = first(case.source, 3)
    for sample in samples:
        assert tuple(sample.mw) == (*RAILS, *(each.name for each in sample.accelerators))
        assert any(value is not None for value in sample.mw.values())
        assert sample.elapsed_ns is None or sample.elapsed_ns > 0
        assert case.source.name in (sample.source, "file")
    assert all(sample.elapsed_ns for sample in samples[1:])


def test_its_words_and_figures_fit_the_stream(case: Case) -> None:
    first(case.source, 1)
    for text in (case.source.name, case.source.note):
        assert len(text) <= TEXT_LIMIT
        assert text == clean(text)
    assert case.source.resolution_mj is None or case.source.resolution_mj > 0


def test_an_absurd_interval_is_not_granted(case: Case) -> None:
    for asked in (0, 1):
        granted = case.source.granted_ns(asked)
        assert granted is None or granted >= 50_000_000
    assert first(case.source, 1, interval_ns=0)


def test_stopping_in_another_thread_ends_it_in_peace(case: Case) -> None:
    reading = Reading(case.source)
    wait_for(lambda: bool(reading.samples), "a sample comes")
    case.source.stop()
    case.source.stop()
    wait_for(lambda: reading.ended, "it ends")
    assert reading.error is None


def test_after_a_stop_it_can_be_asked_again(case: Case) -> None:
    case.source.stop()
    assert first(case.source, 1)
    case.source.stop()
    assert first(case.source, 1)


def test_it_leaves_no_thread(case: Case) -> None:
    before = threading.active_count()
    first(case.source, 2)
    assert threading.active_count() == before


@pytest.mark.parametrize("make", [PowermetricsSource, MacmonSource, ZeusSource])
def test_what_needs_a_mac_says_so_elsewhere(make: Callable[[Machine], PowerSource], tmp_path: Path) -> None:
    bench = pc(tmp_path)
    found = make(bench.machine).probe()
    assert (found.ok, found.reason, bench.started) == (False, "macOS only", [])


@pytest.mark.parametrize("make", [RaplSource, HwmonSource, AcceleratorSource])
def test_what_needs_linux_says_so_on_a_mac(make: Callable[[Machine], PowerSource]) -> None:
    found = make(mac().machine).probe()
    assert (found.ok, found.reason) == (False, "Linux only")
