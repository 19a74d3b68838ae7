"""Backends are found by name, or by the dotted name of a class."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hettop.engine import backends
from hettop.engine.backend import Clock
from hettop.errors import HettopError
from tests.clocks import FakeClock


class Plugin:
    def __init__(self, clock: Clock) -> None:
        self.clock = clock


def test_a_class_of_another_package_is_made_with_the_clock() -> None:
    clock = FakeClock()
    backend = backends.create("tests.engine.backends.test_registry:Plugin", clock)
    assert type(backend).__name__ == "Plugin"
    assert backend.clock is clock


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(HettopError) as caught:
        backends.create("tensorrt\x1b[31m", FakeClock())
    assert caught.value.kind == "usage"
    assert "tensorrt" in caught.value.message
    assert "\x1b" not in caught.value.message
    assert "onnxruntime, simulated" in caught.value.hint


@pytest.mark.parametrize("name", ["no.such.module:Backend", "tests.clocks:NoSuchClass", ":Backend", "..clocks:X"])
def test_a_dotted_name_that_leads_nowhere_is_refused(name: str) -> None:
    with pytest.raises(HettopError) as caught:
        backends.create(name, FakeClock())
    assert caught.value.kind == "usage"


def test_asking_for_units_imports_no_framework() -> None:
    program = (
        "import sys; from hettop.engine import backends; from hettop.engine.clock import RealClock\n"
        "[backends.create(name, RealClock()).units() for name in backends.BACKENDS]\n"
        "print({'onnx', 'onnxruntime', 'scipy', 'coremltools'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
