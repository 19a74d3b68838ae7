"""Whether Core ML can run here is known without importing it, and why not is said in words."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from hettop.sources.engine.coreml.availability import Host, core_ml_units, find_native, units_on_request
from tests.coreml.bench import Bench

pytest.importorskip("coremltools", reason="coremltools is not installed")

APPLE = Host("darwin", "arm64", "Darwin Kernel Version 24.1.0: RELEASE_ARM64_T8112", (15, 1), (3, 12))
INTEL = Host("darwin", "x86_64", "Darwin Kernel Version 23.6.0: RELEASE_X86_64", (14, 6), (3, 12))
ROSETTA = replace(APPLE, processor="x86_64")
LINUX = Host("linux", "x86_64", "#1 SMP", (), (3, 12))

ALL_UNITS = {"CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"}


def reasons(host: Host, *, native: bool | None) -> set[str | None]:
    units = core_ml_units(host, lambda: native)
    assert set(units) == ALL_UNITS
    return set(units.values())


@pytest.mark.parametrize("host", [APPLE, ROSETTA, LINUX])
def test_where_the_native_part_is_every_unit_may_run(host: Host) -> None:
    assert reasons(host, native=True) == {None}


def test_an_intel_mac_lacks_the_neural_engine_alone() -> None:
    units = core_ml_units(INTEL, lambda: True)
    assert units.pop("CPU_AND_NE") == "an Intel Mac has no Neural Engine"
    assert set(units.values()) == {None}


def test_the_neural_engine_by_itself_needs_macos_13() -> None:
    units = core_ml_units(replace(APPLE, macos=(12, 7)), lambda: True)
    assert units.pop("CPU_AND_NE") == "CPU_AND_NE needs macOS 13"
    assert set(units.values()) == {None}


VIRTUAL = replace(APPLE, virtual=True)


@pytest.mark.parametrize(
    ("host", "units", "reason"),
    [(APPLE, (), ""), (ROSETTA, (), ""), (replace(LINUX, virtual=True), (), ""),
     (VIRTUAL, ("CPU_AND_NE", "ALL"), "a virtual machine has no Neural Engine"),
     (INTEL, ("ALL",), "an Intel Mac has no Neural Engine")],
)  # fmt: skip
def test_without_a_neural_engine_units_that_want_one_can_run_but_only_on_request(
    host: Host, units: tuple[str, ...], reason: str
) -> None:
    found = units_on_request(host)
    assert tuple(found) == units
    assert all(core_ml_units(host, lambda: True)[unit] is None for unit in found)
    assert all(why.startswith(reason) and "hang for minutes" in why for why in found.values())


@pytest.mark.parametrize(
    ("host", "native", "reason"),
    [
        (LINUX, False, "Core ML needs macOS"),
        (LINUX, None, "Core ML needs macOS"),
        (APPLE, None, "Core ML needs coremltools: pip install coremltools"),
        (APPLE, False, "this coremltools lacks its native part: pip install --force-reinstall coremltools"),
        (
            replace(APPLE, python=(3, 14)),
            None,
            "Core ML needs coremltools, which has no release for Python 3.14: use 3.13",
        ),
    ],
)
def test_what_is_missing_is_said_of_every_unit(host: Host, native: bool | None, reason: str) -> None:
    assert reasons(host, native=native) == {reason}


class OneModule:
    """A finder that has one module, as an import hook may."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name: str, path: object, target: object = None) -> ModuleSpec | None:
        return ModuleSpec(name, None) if name == self.name else None


def test_any_finder_of_modules_can_have_the_native_part() -> None:
    assert find_native([OneModule("coremltools.other"), OneModule("coremltools.libcoremlpython")]) is True
    assert find_native([OneModule("coremltools.other")]) is False


ASK = """
import sys
from hettop.sources.engine import backends
from hettop.sources.engine.backend import RealClock
print(sorted(map(str, set(backends.create("coreml", RealClock()).units().values()))))
print(sorted(name for name in sys.modules if name.startswith(("coremltools.", "onnx", "PIL"))))
"""


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has Core ML without a bench")
def test_a_new_process_sees_core_ml_on_the_bench_only_and_imports_nothing_for_it(tmp_path: Path) -> None:
    on_bench = Bench(tmp_path).environment()
    for environment, expected in ((None, "['Core ML needs macOS']"), (on_bench, "['None']")):
        done = subprocess.run(
            [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stdout.splitlines() == [expected, "[]"]
