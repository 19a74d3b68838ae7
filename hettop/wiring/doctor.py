"""Looks at what hettop can do on this machine, and gathers it as findings: what works, what does not, why, the remedy.

Starts nothing that measures and imports no framework; everything it looks at can be passed in.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hettop.engine.backends import BACKENDS, create
from hettop.engine.clock import RealClock
from hettop.events import Host
from hettop.models.cache import ModelCache
from hettop.models.compiled import CompiledModels
from hettop.power.choice import SOURCES
from hettop.power.machine import Machine

OPTIONAL = {
    "PIL": ("images as inputs", "pip install 'hettop[images]'"),
    "zstandard": ("compressed recordings", "pip install 'hettop[zst]'"),
    "pyarrow": ("Parquet exports", "pip install 'hettop[parquet]'"),
    "hdrh": ("HdrHistogram logs", "pip install 'hettop[hdr]'"),
    "pandas": ("data frames from Python", "pip install 'hettop[frames]'"),
}
"""Modules that hettop runs without, what each is for, and how to have it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `works` None: it neither works nor fails, it is so. `fix` mends it, if anything."""

    what: str
    works: bool | None
    words: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings under their headings; `measures` says whether anything can be measured here by something real."""

    groups: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    measures: bool = False


def look(
    *,
    host: Host,
    machine: Machine,
    cache: ModelCache,
    compiled: CompiledModels,
    folder: Path,
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
) -> Findings:
    """Everything, in the order in which one would ask. `folder` is where recordings go."""
    units = _units()
    return Findings(
        groups={
            "machine": _machine(host),
            "units": units,
            "power": _power(machine),
            "competing load": (
                Finding("cpu, memory", True, "child processes"),
                Finding("gpu, ane", False, "need a second Core ML model on a Mac"),
            ),
            "optional parts": [
                Finding(words, has_module(name), "" if has_module(name) else "not installed", fix)
                for name, (words, fix) in OPTIONAL.items()
            ],
            "files": _files(cache, compiled, folder),
        },
        measures=any(unit.works and not unit.what.startswith("simulated") for unit in units),
    )


def _machine(host: Host) -> list[Finding]:
    memory = "" if host.memory_mb is None else f", {host.memory_mb / 1024:.0f} GB"
    found = [
        Finding("chip", None, f"{host.chip or 'n/a'}, {host.cores or 'n/a'} cores{memory}"),
        Finding("system", None, host.os or "n/a"),
        Finding("python", None, host.python or "n/a"),
    ]
    found += [Finding("frameworks", None, ", ".join(f"{name} {version}" for name, version in host.frameworks.items()))]
    return found + [Finding("attention", False, warning) for warning in host.warnings]


def _units() -> list[Finding]:
    """A line for each backend and reason, so that four units with one reason take one."""
    found = []
    for name in BACKENDS:
        reasons: dict[str | None, list[str]] = {}
        for unit, why in create(name, RealClock()).units().items():
            reasons.setdefault(why, []).append(unit)
        found += [Finding(f"{name}: {', '.join(units)}", why is None, why or "") for why, units in reasons.items()]
    return found


def _power(machine: Machine) -> list[Finding]:
    found = []
    for name, make in SOURCES.items():
        there = make(machine).probe()
        found.append(Finding(name, there.ok, there.reason, there.fix))
    return found


def _files(cache: ModelCache, compiled: CompiledModels, folder: Path) -> list[Finding]:
    built, ready = cache.entries(), compiled.entries()
    writable = os.access(folder, os.W_OK)
    return [
        Finding("recordings here", writable, "" if writable else f"{folder} cannot be written", "go to another folder"),
        Finding("model cache", None, f"{len(built)} models, {sum(e.size_bytes for e in built) / 1e6:.1f} MB"),
        Finding("compiled models", None, f"{len(ready)} models, {sum(e.nbytes for e in ready) / 1e6:.1f} MB"),
    ]


def clear(cache: ModelCache, compiled: CompiledModels) -> tuple[int, int]:
    """Empties both caches; how many models are gone, and how many bytes."""
    built, ready = cache.clear(), compiled.clear()
    freed = sum(entry.size_bytes for entry in built) + sum(entry.nbytes for entry in ready)
    return len(built) + len(ready), freed
