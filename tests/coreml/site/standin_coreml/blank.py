"""Blank modules in place of the part of coremltools that makes models: it is most of what its import costs.

What loads and runs models (`coremltools.models`) stays as it is; of the part that converts and compresses it uses names
only, most of them to ask whether a value is an instance of them. A process that makes models needs
`Bench(folder).set(makes_models=True)`, and who calls a blank name without it is told so.

It is there in every process of a test: see `finder` for what it may import.
"""

from __future__ import annotations

import sys
from _frozen_importlib import ModuleSpec

MAKING = ("coremltools.converters", "coremltools.optimize")
DEPENDENCIES = "coremltools._deps"
HAS_SCIPY = "_HAS_SCIPY"
"""Whether sparse matrices are taken as inputs: that alone imports `scipy.sparse`, and coremltools does without."""


class BlankFinder:
    """Finds a blank module for each that only makes models; for this process, if it is not to make any."""

    def find_spec(self, name, path=None, target=None):  # type: ignore[no-untyped-def]
        if not name.startswith(MAKING):
            return None
        from .behaviour import settings

        return None if settings().makes_models else ModuleSpec(name, BlankLoader(), is_package=True)  # type: ignore[arg-type]


class BlankLoader:
    def create_module(self, spec):  # type: ignore[no-untyped-def]
        if (dependencies := sys.modules.get(DEPENDENCIES)) is not None:
            setattr(dependencies, HAS_SCIPY, False)
        return BlankModule(spec.name)

    def exec_module(self, module: object) -> None:
        pass


class Blank(type):
    """A class without content: nothing is an instance of it, its attributes are as blank, and it makes nothing."""

    def __getattr__(cls, name: str) -> Blank:
        return blank(f"{cls.__name__}.{name}")

    def __call__(cls, *given: object, **named: object) -> object:
        if len(given) == 1 and type(given[0]) is type(blank):
            return given[0]  # as a decorator, which is called on import, it changes nothing
        raise RuntimeError(f"{cls.__name__} is blank: this process needs Bench.set(makes_models=True)")


class BlankModule(type(sys)):  # type: ignore[misc]
    def __getattr__(self, name: str) -> Blank:
        return blank(f"{self.__name__}.{name}")


def blank(name: str) -> Blank:
    if name.rpartition(".")[2].startswith("__"):
        raise AttributeError(name)
    return Blank(name, (), {})
