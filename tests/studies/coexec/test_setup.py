"""Which units co-execute by default, and what energy an inference takes while all of them work."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from hettop.errors import HettopError
from hettop.events import Power, PowerStatus
from hettop.measurement.options import ModelOptions
from hettop.studies.coexec.options import usual_units
from hettop.studies.coexec.setup import energy, make_job, prepare_units
from tests.studies.coexec.test_measure import RESULT

S = 10**9
TOGETHER = replace(RESULT, together_per_s=100.0, together_ns=((10 * S, 12 * S), (20 * S, 22 * S)))


def power(end_s: float, mw: float) -> Power:
    return Power(t=round(end_s * S), source="rapl", elapsed_ns=S // 2, mw={"package": mw})


def test_energy_is_the_mean_power_of_samples_within_blocks_of_all_by_the_rate_there() -> None:
    """10 and 20 W inside, 90 across a border, 1 outside: 15 W at 100 a second are 150 mJ."""
    found = energy(TOGETHER, [power(5, 1_000), power(10.6, 10_000), power(21, 20_000), power(12.1, 90_000)])
    assert found.mj == pytest.approx(150)
    assert found.mw == pytest.approx(15_000)
    assert found.source == "rapl"


def test_without_a_sample_within_such_a_block_energy_is_unknown() -> None:
    found = energy(TOGETHER, [power(5, 1_000), power(12.1, 90_000)])
    assert found.mj is None
    assert "no power sample" in found.why


def test_the_sources_own_reason_is_reported() -> None:
    status = PowerStatus(t=0, source="none", state="unavailable", reason="rapl: no permission")
    assert energy(TOGETHER, [status]).why == "rapl: no permission"


def test_a_unit_that_is_named_twice_takes_part_twice() -> None:
    options = ModelOptions(backend="simulated")
    setup = prepare_units(options, ("CPU_AND_NE", "CPU_AND_NE", "ALL"), 2)
    assert setup.units == ("CPU_AND_NE", "CPU_AND_NE#2", "ALL")
    assert len(prepare_units(options, ("all",), 2).units) == 4
    with pytest.raises(HettopError) as caught:
        prepare_units(options, ("CPU_AND_NE", "CPU_AND_NE#2"), 2)
    assert "unknown unit" in caught.value.message


def test_suspect_power_is_no_power() -> None:
    event = Power(t=11 * S, source="rapl", elapsed_ns=S // 2, mw={"package": 0.0}, flags=["suspect-zero"])
    assert energy(TOGETHER, [event]).mj is None


@pytest.mark.parametrize(
    ("available", "usual"),
    [
        (("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"), ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE")),
        (("CPU_ONLY", "CPU_ONLY@1", "CPU_ONLY@2", "CPU_ONLY@4"), ("CPU_ONLY@1", "CPU_ONLY@2")),
        (("CPU_ONLY", "CPU_ONLY@1"), ("CPU_ONLY@1", "CPU_ONLY")),
        (("CPU_ONLY", "OV:CPU", "CPU_ONLY@1", "CPU_ONLY@2"), ("CPU_ONLY@1", "CPU_ONLY@2")),
        (("CPU_ONLY", "OV:CPU", "OV:GPU", "CPU_ONLY@1"), ("CPU_ONLY", "OV:GPU")),
    ],
)
def test_each_kind_of_processor_takes_part_once(available: tuple[str, ...], usual: tuple[str, ...]) -> None:
    assert usual_units(available) == usual


def test_a_capture_is_no_power_of_these_units() -> None:
    captured = [replace_source(power(5, 1_000)), replace_source(power(10.6, 10_000))]
    found = energy(TOGETHER, captured)
    assert (found.mj, found.source) == (None, None)
    assert found.why.startswith("power is from a capture, not from this run")


def replace_source(event: Power) -> Power:
    return msgspec.structs.replace(event, source="file")


def test_strict_reaches_the_workers() -> None:
    options = ModelOptions(model="mobilenetv2:32x32", strict=True)
    setup = prepare_units(options, ("CPU_ONLY@1", "CPU_ONLY@2"), 2)
    assert make_job(setup, options, duration_ns=None, warmup=1, depth=2, powered=False).work.strict
