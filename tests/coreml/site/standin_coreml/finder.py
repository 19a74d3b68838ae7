"""The import hook: finds the native binding, and makes coremltools take this system for a macOS.

Which macOS it is coremltools asks `sw_vers`, which the bench has put on PATH; `sys.platform` cannot be changed for
coremltools alone, so what reads that is replaced.

It is there in every process of a test, so it imports only what an interpreter has loaded anyway: neither `typing` nor
`importlib.util`.
"""

from __future__ import annotations

import sys
from _frozen_importlib import ModuleSpec
from _frozen_importlib_external import PathFinder

NATIVE = "coremltools.libcoremlpython"
PLATFORM = "coremltools.models.utils"
IS_MACOS = "_is_macos"
"""Other modules of coremltools import it by value, so it is replaced as soon as its own module has run."""


class Finder:
    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if name == NATIVE:
            return ModuleSpec(name, NativeLoader())  # type: ignore[arg-type]
        spec = PathFinder.find_spec(name, path, target) if name == PLATFORM else None
        if spec is not None:
            spec.loader = PlatformLoader(spec.loader)  # type: ignore[assignment]
        return spec


class NativeLoader:
    """Gives the stand-in's names to a module of the native one's name."""

    def create_module(self, spec: object) -> None:
        return None

    def exec_module(self, module: object) -> None:
        fill(module)


class PlatformLoader:
    """Runs a module as its own loader does, and then replaces what it says of the system."""

    def __init__(self, loader) -> None:  # type: ignore[no-untyped-def]
        self._loader = loader

    def create_module(self, spec: object) -> object:
        return self._loader.create_module(spec)

    def exec_module(self, module: object) -> None:
        self._loader.exec_module(module)
        become_macos(module)

    def __getattr__(self, name: str) -> object:
        return getattr(self._loader, name)


def fill(module: object) -> None:
    from . import native

    for name in native.NAMES:
        setattr(module, name, getattr(native, name))


def become_macos(module: object) -> None:
    if hasattr(module, IS_MACOS):
        setattr(module, IS_MACOS, lambda: True)


def announce(finder: Finder) -> None:
    sys.meta_path.insert(0, finder)
