"""RAPL: power from energy counters that wrap, are summed, or are for root only; values worked out by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop.sources.power.rapl import RaplSource, Zone, energy_uj, zones_in
from hettop.sources.power.sample import PowerSample
from hettop.sources.power.source import PowerLostError
from tests.sources.power.machines import RAPL_FILES, Driven, first, pc, write_tree

HALF_S = 500_000_000
RAPL = "class/powercap/intel-rapl"


def rapl(
    folder: Path, files: Mapping[str, object], *changes: Mapping[str, object]
) -> tuple[RaplSource, list[PowerSample]]:
    driven = Driven(pc(write_tree(folder, files)).machine)
    driven.changes = iter(changes)
    source = RaplSource(driven.machine)
    return source, first(source, len(changes), HALF_S)


def test_rapl_power_is_the_counters_rise_over_time(tmp_path: Path) -> None:
    _, (sample,) = rapl(tmp_path, RAPL_FILES, {f"{RAPL}:0/energy_uj": 6_000_000, f"{RAPL}:0:0/energy_uj": 1_500_000})
    # 5 J and 1 J in half a second.
    assert (sample.mw["package"], sample.mw["cpu"]) == (10_000.0, 2_000.0)
    assert (sample.elapsed_ns, sample.mw["dram"], sample.mw["combined"]) == (HALF_S, None, None)


def test_rapl_counters_wrap(tmp_path: Path) -> None:
    files = {**RAPL_FILES, f"{RAPL}:0/energy_uj": 900_000, f"{RAPL}:0/max_energy_range_uj": 1_000_000}
    _, (sample,) = rapl(tmp_path, files, {f"{RAPL}:0/energy_uj": 400_000})
    assert sample.mw["package"] == 1000.0  # 0.1 J to the end and 0.4 J from the start, in half a second


def test_rapl_names_every_rail_and_leaves_the_whole_platform_out(tmp_path: Path) -> None:
    names = {":0": "package-0", ":0:0": "core", ":0:1": "uncore", ":0:2": "dram", ":1": "psys", "-mmio:0": "package-0"}
    write_tree(tmp_path, {f"{RAPL}{zone}/name": name for zone, name in names.items()})
    found = {zone.counter.parent.name: zone.rail for zone in zones_in(tmp_path / "class/powercap")}
    assert found == {
        "intel-rapl:0": "package",
        "intel-rapl:0:0": "cpu",
        "intel-rapl:0:1": "gpu",
        "intel-rapl:0:2": "dram",
    }


def test_rapl_packages_are_summed_and_that_is_said(tmp_path: Path) -> None:
    second = {name.replace("rapl:0", "rapl:1"): value for name, value in RAPL_FILES.items()}
    files = {**RAPL_FILES, **second, f"{RAPL}:1/name": "package-1"}
    rises = {f"{RAPL}:0/energy_uj": 2_000_000, f"{RAPL}:1/energy_uj": 4_000_000}
    source, (sample,) = rapl(tmp_path, files, rises)
    assert (sample.mw["package"], sample.mw["cpu"]) == (8000.0, 0.0)  # 1 J and 3 J
    assert source.note == "package is the sum of 2 packages"


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_rapl_counters_for_root_only_come_with_the_repair(tmp_path: Path) -> None:
    write_tree(tmp_path, RAPL_FILES)
    (tmp_path / f"{RAPL}:0/energy_uj").chmod(0)
    found = RaplSource(pc(tmp_path).machine).probe()
    assert (found.ok, found.reason) == (False, "only root can read the energy counters")
    assert "sudo chmod a+r /sys/class/powercap/" in found.fix


def test_rapl_rails_whose_counters_cannot_be_read_are_absent(tmp_path: Path) -> None:
    write_tree(tmp_path, RAPL_FILES)
    counter = tmp_path / f"{RAPL}:0/energy_uj"
    counter.unlink()
    counter.mkdir()  # unreadable for root as well, who may run these tests
    source = RaplSource(pc(tmp_path).machine)
    assert not source.probe().ok
    assert "cannot read" in source.probe().reason
    samples = first(source, 1)
    assert (samples[0].mw["package"], samples[0].mw["cpu"]) == (None, 0.0)
    assert samples[0].flags == ("suspect-zero", "partial")  # nor does the other counter move


def test_rapl_without_any_counter_left_is_lost(tmp_path: Path) -> None:
    driven = Driven(pc(write_tree(tmp_path, RAPL_FILES)).machine)
    source = RaplSource(driven.machine)
    samples = source.samples(HALF_S)
    next(samples)
    for path in (tmp_path / "class/powercap").glob("*/energy_uj"):
        path.unlink()
    with pytest.raises(PowerLostError, match="only root can read") as caught:
        next(samples)
    assert (caught.value.state, "chmod" in caught.value.hint) == ("unavailable", True)


def test_a_pc_without_counters_says_where_it_looked(tmp_path: Path) -> None:
    assert RaplSource(pc(tmp_path).machine).probe().reason == f"no energy counters in {tmp_path}/class/powercap"


@given(st.integers(0, 10**12), st.integers(0, 10**12), st.integers(1, 10**12))
def test_energy_over_a_wrap_is_never_negative_nor_more_than_the_range(before: int, after: int, range_uj: int) -> None:
    zone = Zone("package", Path(), range_uj)
    energy = energy_uj(zone, before % (range_uj + 1), after % (range_uj + 1))
    assert energy is not None
    assert 0 <= energy <= range_uj
    assert energy_uj(replace(zone, range_uj=None), 5, 4) is None
