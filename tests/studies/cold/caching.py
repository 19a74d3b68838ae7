"""A backend that compiles what it loads, and keeps the compilation: the model is the folder to keep it in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hettop.sources.engine.backend import Loaded, LoadOptions
from tests.sources.engine.faulty import FaultyBackend

NAME = "tests.studies.cold.caching:CachingBackend"
COMPILE_NS = 5_000_000


class CachingBackend(FaultyBackend):
    """Says whether an earlier compilation was used; each unit has its own."""

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        loaded = super().load("", unit, options)
        kept = Path(model) / unit
        cached = kept.exists()
        kept.touch()
        return replace(loaded, compile_ns=None if cached else COMPILE_NS, cached=cached)
