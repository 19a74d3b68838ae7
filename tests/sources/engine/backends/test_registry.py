"""Backends are found by name, or by the dotted name of a class."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hettop.errors import HettopError
from hettop.sources.engine import backends
from hettop.sources.engine.backend import Backend, Clock
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from tests.clocks import FakeClock


class Plugin(OnnxRuntimeBackend):
    """A backend of another package, as far as the registry can tell."""


class Half:
    """Has a clock and a name, and nothing to run a model with."""

    name, simulated, has_native, predict = "half", False, False, "not callable"

    def __init__(self, clock: Clock) -> None:
        self.clock = clock


def test_a_class_of_another_package_is_made_with_the_clock() -> None:
    clock = FakeClock()
    backend = backends.create("tests.sources.engine.backends.test_registry:Plugin", clock)
    assert type(backend).__name__ == "Plugin"
    assert backend.clock is clock


def test_what_lacks_the_parts_of_a_backend_is_refused_with_their_names() -> None:
    with pytest.raises(HettopError) as caught:
        backends.create("tests.sources.engine.backends.test_registry:Half", FakeClock())
    assert caught.value.kind == "usage"
    assert caught.value.message.endswith(": it lacks units, load, make_inputs, predict, outputs, native_ns, told_load")


@pytest.mark.parametrize("name", ["os:getpid", "os:sep", "pathlib:Path"])
def test_what_cannot_be_made_from_a_clock_is_refused_in_words(name: str) -> None:
    with pytest.raises(HettopError, match="cannot create") as caught:
        backends.create(name, FakeClock())
    assert caught.value.kind == "usage"


def test_every_part_that_the_seam_names_is_asked_for() -> None:
    named = {name for name in (*vars(Backend), *Backend.__annotations__) if not name.startswith("_")}
    assert named == {*backends.PARTS, *backends.METHODS}


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
        "import sys; from hettop.sources.engine import backends, names\n"
        "from hettop.sources.engine.backend import RealClock\n"
        "[backends.create(name, RealClock()).units() for name in names.BACKENDS]\n"
        "print({'onnx', 'onnxruntime', 'scipy', 'coremltools'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
