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

from tests.coreml.conversion import built
from tests.coreml.site.standin_coreml import finder
from tests.coreml.site.standin_coreml.behaviour import EVERY_UNIT, VARIABLE, Behaviour, Settings

SITE = Path(__file__).parent / "site"

SW_VERS = """#!/bin/sh
echo "$*" >> "$0.calls"
case "$1" in
  -productVersion) echo {version} ;;
  -productName) echo macOS ;;
  -buildVersion) echo 24A335 ;;
  *) printf 'ProductName:\\t\\tmacOS\\nProductVersion:\\t\\t{version}\\nBuildVersion:\\t\\t24A335\\n' ;;
esac
"""
"""coremltools starts it to learn the version of macOS."""

MODULES_OF_PLATFORM = ("utils", "model", "_compiled_model")
MODULES_WITH_NATIVE = ("model", "_compiled_model", "compute_device", "compute_plan")


class Bench:
    """A machine with Core ML on it, described by a file in `folder`; what is loaded later sees what is set later."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "standin-coreml.json"
        self._programs = folder / "standin-programs"
        path = built().path
        self._settings = Settings(conversion="" if path is None else str(path))
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
        """For child processes; what it has on PYTHONPATH and PATH comes first there."""
        paths = filter(None, [str(SITE), inherited.get("PYTHONPATH", "")])
        programs = [str(self._programs), inherited.get("PATH") or os.environ.get("PATH", os.defpath)]
        return {
            **inherited,
            VARIABLE: str(self._file),
            "PYTHONPATH": os.pathsep.join(paths),
            "PATH": os.pathsep.join(programs),
        }

    @contextlib.contextmanager
    def here(self) -> Iterator[None]:
        """For this process, coremltools imported or not; afterwards it is as before."""
        path = self.environment()["PATH"]
        with _variable(VARIABLE, str(self._file)), _variable("PATH", path), _native_part():
            yield

    def _write(self) -> Bench:
        self._file.write_text(json.dumps(asdict(self._settings)), encoding="utf-8")
        self._programs.mkdir(exist_ok=True)
        program = self._programs / "sw_vers"
        program.write_text(SW_VERS.format(version=".".join(map(str, self._settings.macos))), encoding="utf-8")
        program.chmod(0o755)
        return self

    @property
    def sw_vers_calls(self) -> list[str]:
        """What it was asked, by whatever process."""
        calls = self._programs / "sw_vers.calls"
        return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []


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
            if hasattr(module, finder.IS_MACOS):
                undo.callback(setattr, module, finder.IS_MACOS, getattr(module, finder.IS_MACOS))
            finder.become_macos(module)
        version: Any = importlib.import_module("coremltools.models.utils")._macos_version
        version.cache_clear()
        undo.callback(version.cache_clear)
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
