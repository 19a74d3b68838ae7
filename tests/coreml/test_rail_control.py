"""The positive control of power rails, over the stand-in for Core ML and a source whose rails follow what runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("coremltools", reason="coremltools is not installed")

from hettop.app.rail_control import control_options, prepare_control
from hettop.cli.doctor import measure_and_keep, run_control
from hettop.console.measuring import measure
from hettop.measurement.headless import Headless
from hettop.measurement.power import PowerHere
from hettop.measurement.setup import Setup
from hettop.measurement.validated_rails import Sighting, ValidatedRails
from hettop.session.statistics import statistics
from tests.coreml.bench import SITE, Bench
from tests.sources.power.machines import mac

pytestmark = pytest.mark.slow

OPTIONS = control_options(duration_ns=2_000_000_000)  # windows of half a second: three lie within a unit's running
WORKING = {"CPU_AND_NE": {"ane_mj": 320}, "CPU_AND_GPU": {"gpu_mj": 2_050}}
"""In half a second: 640 and 4,100 mW."""


class Meter:
    """A library of energies: it counts what `drew` says of the unit that runs in `headless`, and 500 mJ of the CPU."""

    def __init__(self, drew: Mapping[str, Mapping[str, int]]) -> None:
        self._drew = drew
        self.headless: Headless | None = None

    def begin_window(self, key: str) -> None:
        pass

    def end_window(self, key: str) -> Any:
        control = self.headless.session.control if self.headless is not None else None
        running = control.units[0] if control is not None and control.units else ""
        return SimpleNamespace(**{"cpu_mj": 500, "gpu_mj": 0, "ane_mj": 0, **self._drew.get(running, {})})


@pytest.fixture
def core_ml(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Bench]:
    """This process and those that it starts have Core ML; what is compiled goes to a folder of the test."""
    for name, value in bench.environment({"PYTHONPATH": str(SITE.parents[2])}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with bench.here():
        yield bench


def metered(meter: Meter, rails: ValidatedRails) -> PowerHere:
    """A Mac whose only power source is the meter."""
    machine = mac(sudo="forbidden")
    machine.missing.add("macmon")
    machine.modules["zeus_apple_silicon"] = SimpleNamespace(AppleEnergyMonitor=lambda: meter)
    return PowerHere(machine.machine, rails)


@contextmanager
def begun(
    package: Path, drew: Mapping[str, Mapping[str, int]], rails: ValidatedRails, units: tuple[str, ...] = ()
) -> Iterator[tuple[Headless, Setup]]:
    """A control on a Mac whose only power source is the meter; of these units where they are given."""
    meter = Meter(drew)
    here = metered(meter, rails)
    setup = prepare_control(here.machine, model=str(package))
    setup = replace(setup, units=units or setup.units)
    meter.headless = Headless(setup, OPTIONS, raw_limit=0, here=here)
    try:
        yield meter.headless, setup
    finally:
        meter.headless.close("done")


@pytest.fixture
def rails(tmp_path: Path) -> ValidatedRails:
    return ValidatedRails(tmp_path / "rails.json", "Mac14,2", "24A335")


def test_the_command_forgets_a_rail_that_reads_the_same_whatever_runs(
    core_ml: Bench, package: Path, rails: ValidatedRails, capsys: pytest.CaptureFixture[str]
) -> None:
    core_ml.behave(latency_ms=2.0)
    remembered = Sighting(
        rail="ane",
        machine="Mac14,2",
        build="24A335",
        source="zeus",
        seen="2026-01-31T12:00:00.000Z",
        model="a model",
        unit="CPU_AND_NE",
        mw=640.0,
    )
    rails.remember([remembered])
    here = metered(Meter({"": {"ane_mj": 320}}), rails)
    hidden = [package.name]
    assert run_control(as_json=True, hidden=hidden, here=here, options=OPTIONS, model=str(package)) == 0
    printed = capsys.readouterr().out
    assert package.name not in printed
    found = {each["rail"]: each["validated"] for each in json.loads(printed)["rails"]}
    assert found["ane"] is False
    assert rails.all() == ()


def test_rails_that_rise_with_their_unit_are_validated_and_remembered(
    core_ml: Bench, package: Path, rails: ValidatedRails, capsys: pytest.CaptureFixture[str]
) -> None:
    core_ml.behave(latency_ms=2.0)
    with begun(package, WORKING, ValidatedRails()) as (headless, setup):
        assert measure_and_keep(headless, setup, OPTIONS, rails, as_json=True) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["source"], document["machine"], document["build"]) == ("zeus", "Mac14,2", "24A335")
    assert document["remembered"] == ["ane", "gpu"]
    found = {each["rail"]: each for each in document["rails"]}
    assert [found["ane"]["validated"], found["gpu"]["validated"]] == [True, True]
    # The energy of a window is fixed, its length is what it is: only that power was drawn is certain.
    assert found["ane"]["mw"] > 10
    assert found["gpu"]["mw"] > 10
    assert (found["ane"]["cpu_only_mw"], found["gpu"]["cpu_only_mw"]) == (0.0, 0.0)
    assert {each.rail: (each.unit, each.source) for each in rails.all()} == {
        "ane": ("CPU_AND_NE", "zeus"),
        "gpu": ("CPU_AND_GPU", "zeus"),
    }


def test_a_rail_that_reads_zero_while_its_unit_works_is_no_evidence_and_is_forgotten(
    core_ml: Bench, package: Path, rails: ValidatedRails, capsys: pytest.CaptureFixture[str]
) -> None:
    core_ml.behave(latency_ms=2.0)
    with begun(package, WORKING, rails, ("CPU_AND_NE",)) as (headless, _):  # a session like any other remembers, too
        measure(headless, lambda: False, lambda: None)
        assert list(rails.of("zeus")) == ["ane"]
    with begun(package, {}, rails, ("CPU_AND_NE", "CPU_ONLY")) as (headless, setup):
        assert measure_and_keep(headless, setup, OPTIONS, rails, as_json=False) == 0
        assert headless.session.energy.validated == {"ane", "cpu"}, "the stream says what is remembered"
        (row,) = [row for row in statistics(headless.session) if row.unit == "CPU_AND_NE"]
        assert row.evidence == "plan: 100% Neural Engine; ANE 0 mW while running: probably on the CPU"
    assert " ".join(capsys.readouterr().out.split()) == (
        "power rails, by zeus, while linear.mlpackage ran "
        "✗ ANE rail: reads 0 mW under load: not validated (Core ML planned 100% of the model for it) "
        "· GPU rail: not tested: no power sample of it while CPU_AND_GPU ran "
        "✓ works ✗ broken or denied · absent, or for information no validated rails"
    )
    assert rails.all() == ()


def test_a_unit_that_fails_leaves_its_rail_untried_and_where_all_do_it_has_failed(
    core_ml: Bench, package: Path, rails: ValidatedRails, capsys: pytest.CaptureFixture[str]
) -> None:
    core_ml.behave(raise_in_load="no")
    with begun(package, WORKING, ValidatedRails()) as (headless, setup):
        assert measure_and_keep(headless, setup, OPTIONS, rails, as_json=True) == 3
    words = [each["explanation"] for each in json.loads(capsys.readouterr().out)["rails"]]
    assert [
        each.startswith(f"not tested: {unit} failed: ") for each, unit in zip(words, setup.units, strict=False)
    ] == [
        True,
        True,
    ]
