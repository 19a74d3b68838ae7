"""zeus-apple-silicon: power from energies of windows, of a module that is passed in."""

from __future__ import annotations

import pytest

from hettop.sources.power.source import PowerLostError
from hettop.sources.power.zeus import ZeusSource
from tests.sources.power.machines import Driven, first, mac, zeus_module

HALF_S = 500_000_000


def zeus(energies: dict[str, int | None], chip: str = "Apple M2") -> ZeusSource:
    bench = mac(chip=chip)
    bench.modules["zeus_apple_silicon"] = zeus_module(energies)
    return ZeusSource(Driven(bench.machine).machine)


@pytest.mark.parametrize("cpu", ["cpu_total_mj", "cpu_mj"])
def test_zeus_energies_become_power(cpu: str) -> None:
    (sample,) = first(zeus({cpu: 600, "gpu_mj": 25, "ane_mj": 0, "dram_mj": None}), 1, HALF_S)
    assert sample.mw == {"cpu": 1200.0, "gpu": 50.0, "ane": 0.0, "dram": None, "package": None, "combined": None}
    assert sample.elapsed_ns == HALF_S


def test_a_cpu_that_used_no_energy_was_not_measured() -> None:
    (sample,) = first(zeus({"cpu_total_mj": 0, "gpu_mj": 0, "ane_mj": 0}), 1, HALF_S)
    assert (sample.mw["cpu"], sample.flags) == (0.0, ("suspect-zero",))


def test_zeus_is_not_believed_on_an_ultras_cpu() -> None:
    source = zeus({"cpu_total_mj": 600, "gpu_mj": 25}, "Apple M2 Ultra")
    (sample,) = first(source, 1, HALF_S)
    assert (sample.mw["cpu"], sample.mw["gpu"]) == (None, 50.0)
    assert "Ultra" in source.note


def test_zeus_is_an_extra() -> None:
    found = ZeusSource(mac().machine).probe()
    assert (found.ok, found.absent, found.fix) == (False, True, "pip install 'hettop[zeus]'")


def test_zeus_failing_is_explained() -> None:
    bench = mac()
    bench.modules["zeus_apple_silicon"] = zeus_module({}, refuses="no IOReport\nchannels")
    source = ZeusSource(bench.machine)
    assert not source.probe().absent
    assert source.probe().reason == "zeus-apple-silicon failed: RuntimeError: no IOReport"
    with pytest.raises(PowerLostError):
        first(source, 1)
