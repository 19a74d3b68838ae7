"""The bench: coremltools' real Python code over a stand-in for its native part, in child processes or in this one.

`Bench(folder).behave("CPU_AND_NE", hang_in_predict=True).environment()` is an environment in which every Python process
finds a Core ML that hangs on that unit; `with bench.here():` is the same for this process. What it can be told is in
`site/standin_coreml/behaviour.py`.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from .site.standin_coreml import finder
from .site.standin_coreml.behaviour import EVERY_UNIT, VARIABLE, Behaviour, Settings

SITE = Path(__file__).parent / "site"

MODULES_OF_PLATFORM = ("utils", "model", "_compiled_model")
MODULES_WITH_NATIVE = ("model", "_compiled_model", "compute_device", "compute_plan")


class Bench:
    """A machine with Core ML on it, described by a file in `folder`; what is loaded later sees what is told later."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "standin-coreml.json"
        self._settings = Settings()
        self._write()

    def behave(self, unit: str = EVERY_UNIT, **behaviour: Any) -> Bench:
        """How one unit, or every unit that is not named, behaves from now on."""
        units = {**self._settings.units, unit: Behaviour(**behaviour)}
        self._settings = replace(self._settings, units=units)
        return self._write()

    def set(self, **settings: Any) -> Bench:
        """Things of the whole machine: `macos`, `devices`, the compiler."""
        self._settings = replace(self._settings, **settings)
        return self._write()

    def environment(self, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
        """For child processes; what it has on PYTHONPATH comes first there."""
        paths = filter(None, [str(SITE), inherited.get("PYTHONPATH", "")])
        return {**inherited, VARIABLE: str(self._file), "PYTHONPATH": os.pathsep.join(paths)}

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """For this process, coremltools imported or not; afterwards it is as before."""
        with _variable(VARIABLE, str(self._file)), _native_part():
            yield

    def _write(self) -> Bench:
        self._file.write_text(json.dumps(asdict(self._settings)), encoding="utf-8")
        return self


@contextlib.contextmanager
def _native_part() -> Iterator[None]:
    import coremltools  # what is imported by value can be replaced only once it is there

    hook, undo = finder.Finder(), contextlib.ExitStack()
    native = ModuleType(finder.NATIVE)
    finder.fill(native)
    with undo:
        finder.announce(hook)
        undo.callback(sys.meta_path.remove, hook)
        sys.modules[finder.NATIVE] = native
        undo.callback(sys.modules.pop, finder.NATIVE)
        undo.callback(delattr, coremltools, "libcoremlpython")
        coremltools.libcoremlpython = native
        for name in MODULES_WITH_NATIVE:
            module = importlib.import_module(f"coremltools.models.{name}")
            for proxy in vars(native).keys() & vars(module).keys():
                if proxy.startswith("_ML"):
                    undo.callback(setattr, module, proxy, getattr(module, proxy))
                    setattr(module, proxy, getattr(native, proxy))
        for name in MODULES_OF_PLATFORM:
            module = importlib.import_module(f"coremltools.models.{name}")
            for value in finder.VALUES_OF_PLATFORM:
                if hasattr(module, value):
                    undo.callback(setattr, module, value, getattr(module, value))
            finder.become_macos(module)
        yield


@contextlib.contextmanager
def _variable(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
