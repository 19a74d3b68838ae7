"""Every native name that hettop relies on is in coremltools' binding for macOS, which no test here can run.

The wheel is looked for in the folder that HETTOP_MACOS_COREMLTOOLS names, unpacked; without it these tests are skipped.
"""

from __future__ import annotations

import ast
import importlib.metadata
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hettop.compute_units import CORE_ML_UNITS
from hettop.sources.engine.coreml.framework import DEVICES, LOW_PRECISION, RESHAPE, STRATEGY
from tests.coreml.conversion import SOURCE
from tests.coreml.site.standin_coreml import native
from tests.processes.waiting import PACKAGE

VARIABLE = "HETTOP_MACOS_COREMLTOOLS"
REPOSITORY = Path(__file__).resolve().parents[2]
STAND_IN = Path(__file__).parent / "site" / "standin_coreml"

USED_MODULES = ("_compiled_model", "compute_device", "compute_plan", "model", "utils")
"""Of coremltools.models: those whose code runs between hettop and the binding."""

PROXIES = frozenset({"_MLModelProxy", "__proxy__", "_proxy", "proxy"})
"""What coremltools' Python calls the binding's objects."""


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The package's folder in the wheel for macOS."""
    if VARIABLE not in os.environ:
        pytest.skip(f"{VARIABLE} names no folder with coremltools' wheel for macOS")
    return Path(os.environ[VARIABLE]) / "coremltools"


@pytest.fixture(scope="module")
def binary(wheel: Path) -> bytes:
    return (wheel / "libcoremlpython.so").read_bytes()


def holds(binary: bytes, text: str) -> bool:
    """Whether it is there as a constant of its own, and not as a part of another."""
    return b"\0" + text.encode() + b"\0" in binary


def missing(binary: bytes, names: set[str]) -> list[str]:
    assert names, "nothing was compared"
    return sorted(name for name in names if not holds(binary, name))


def called_by_coremltools(source: Path) -> Iterator[str]:
    """Names that one of its modules imports of the binding, or asks an object of the binding for."""
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "libcoremlpython":
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if name in PROXIES:
                yield node.attr


def asked_for_by_hettop() -> set[str]:
    """What hettop looks for in coremltools' objects by a string, and does without where it is not there."""
    sources = [
        *(PACKAGE / "sources/engine/coreml").glob("*.py"),
        PACKAGE / "sources/engine/backends/coreml.py",
    ]
    found: set[str] = set()
    for source in sources:
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and len(node.args) == 3:
                name = node.args[1]
                if isinstance(name, ast.Constant):  # the other names are modules of coremltools, which is no binding
                    found.add(str(name.value))
    return found


def of_the_stand_in() -> set[str]:
    """Classes, and what can be called on them, as far as they stand in for the binding's."""
    classes = [getattr(native, name) for name in native.NAMES]
    methods = {name for each in classes for name, value in vars(each).items() if callable(value) or is_static(value)}
    return {*native.NAMES, *(name for name in methods if not name.startswith("_"))}


def is_static(value: object) -> bool:
    return isinstance(value, staticmethod)


@pytest.mark.parametrize("module", USED_MODULES)
def test_what_coremltools_calls_is_in_the_binding(module: str, wheel: Path, binary: bytes) -> None:
    names = set(called_by_coremltools(wheel / "models" / f"{module}.py"))
    assert missing(binary, names) == []


def test_what_hettop_asks_for_by_name_is_in_the_wheel(wheel: Path, binary: bytes) -> None:
    python = (wheel / "models" / "_compiled_model.py").read_text(encoding="utf-8")
    names = {name for name in asked_for_by_hettop() if f"self.{name} = " not in python}
    assert "get_last_predict_duration_in_nano_seconds" in names
    assert missing(binary, names) == []


def test_the_stand_in_has_no_name_that_the_binding_has_not(binary: bytes) -> None:
    assert missing(binary, of_the_stand_in()) == []


def test_devices_hints_and_units_have_the_bindings_names(wheel: Path, binary: bytes) -> None:
    classes = (wheel / "models" / "compute_device.py").read_text(encoding="utf-8")
    assert [name for name in DEVICES if f"class {name}(" not in classes] == []
    assert [name for name in DEVICES if f"_OBJC_CLASS_$_{name}".encode() not in binary] == []
    assert missing(binary, {LOW_PRECISION, RESHAPE, STRATEGY}) == []
    enumeration = (wheel / "__init__.py").read_text(encoding="utf-8")
    assert [unit for unit in CORE_ML_UNITS if not re.search(rf"^    {unit} = ", enumeration, re.MULTILINE)] == []


def test_the_stand_in_fails_in_the_bindings_words(binary: bytes) -> None:
    """Those of its own conversions, and of systems that are too old."""
    source, sources = SOURCE.read_text(encoding="utf-8"), [path.read_text() for path in STAND_IN.glob("*.py")]
    rules = re.findall(r'"((?:Error: )?value type not convertible:?|Unsupported (?:image|array) type:? )"', source)
    old = {text for each in sources for text in re.findall(r'"([^"]* on macOS >=[^"]*)"', each)}
    assert (len(set(rules)), len(old)) == (4, 2)
    assert missing(binary, {*rules, *old}) == []


@pytest.mark.parametrize("module", USED_MODULES)
def test_the_python_that_runs_here_is_what_runs_on_a_mac(module: str, wheel: Path) -> None:
    installed = pytest.importorskip("coremltools", reason="coremltools is not installed")
    (info,) = wheel.parent.glob("coremltools-*.dist-info")
    if info.name != f"coremltools-{importlib.metadata.version('coremltools')}.dist-info":
        pytest.skip("another version is installed")
    here = Path(installed.__file__).parent / "models" / f"{module}.py"
    assert here.read_bytes() == (wheel / "models" / f"{module}.py").read_bytes()
