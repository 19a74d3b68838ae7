"""Looks at what hettop can do on this machine, and gathers it as findings: what works, what does not, why, the remedy.

Starts nothing that measures and imports no framework; everything it looks at can be passed in.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hettop.app.rail_control import COMMAND
from hettop.compute_units import USED_BY
from hettop.errors import HettopError
from hettop.events import Host
from hettop.format import size
from hettop.measurement.validated_rails import ValidatedRails
from hettop.models.cache import ModelCache
from hettop.models.compiled import CompiledModels, Entry
from hettop.models.system_caches import Folders, Usage, system_usage
from hettop.processes.call import call
from hettop.processes.child_process import module_command
from hettop.processes.scratch import remove_forgotten
from hettop.sources.engine.backend import RealClock, units_on_request
from hettop.sources.engine.backends import create
from hettop.sources.engine.coreml.framework import NEEDS
from hettop.sources.engine.names import BACKENDS, CORE_ML
from hettop.sources.load.parts import KINDS_OF_LOAD
from hettop.sources.load.source import why_no_model
from hettop.sources.power.choice import make_source
from hettop.sources.power.names import SOURCES
from hettop.sources.power.source import Machine

OPTIONAL = {
    "PIL": ("images as inputs", "pip install 'hettop[images]'"),
    "textual_serve": ("the screen in a browser", "pip install 'hettop[serve]'"),
    "zstandard": ("compressed recordings", "pip install 'hettop[zst]'"),
    "pyarrow": ("Parquet exports", "pip install 'hettop[parquet]'"),
    "hdrh": ("HdrHistogram logs", "pip install 'hettop[hdr]'"),
    "prometheus_client": ("metrics for Prometheus", "pip install 'hettop[prometheus]'"),
    "sklearn": ("weights of few values (palettes)", "pip install 'hettop[palettes]'"),
    "pandas": ("data frames from Python", "pip install 'hettop[frames]'"),
    "zeus_apple_silicon": ("power by zeus, on Apple chips", "pip install 'hettop[zeus]'"),
}
"""Modules that hettop runs without, what each is for, and how to have it."""

MAC_ONLY = frozenset({"zeus_apple_silicon"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `fix` mends it, or adds it, if anything does.

    works: None where it neither works nor fails: it is so, this system cannot have it, or an optional part is not
        installed. False is for what is broken or denied alone.
    """

    what: str
    works: bool | None
    words: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings under their headings; `measures` says whether anything can be measured here by something real."""

    groups: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    measures: bool = False


@dataclass(frozen=True, slots=True)
class Devices:
    """`names` are `CPU`, `GPU`, `Neural Engine`; None where nobody answered, for the reason in `why`."""

    names: tuple[str, ...] | None
    why: str = ""


NOT_ASKED = Devices(None, "not asked")


def examine(
    *,
    host: Host,
    machine: Machine,
    cache: ModelCache,
    compiled: CompiledModels,
    folder: Path,
    terminal: Terminal,
    folders: Folders,
    has_module: Callable[[str], bool] = lambda name: importlib.util.find_spec(name) is not None,
    core_ml_units: Callable[[], Mapping[str, str | None]] = lambda: create(CORE_ML, RealClock()).units(),
    ask: Callable[[], Devices] = lambda: NOT_ASKED,
    rails: ValidatedRails = ValidatedRails(),  # noqa: B008 (immutable)
) -> Findings:
    """Everything, in the order in which one would ask. `folder` is where recordings go.

    folders: where the caches of Core ML and others are looked for, on a Mac.
    core_ml_units: which units Core ML has by what is known without it; ask: which devices by its own word, asked only
    where it has any unit. rails: what is remembered of power rails.
    """
    core_ml = core_ml_units()
    devices = ask() if None in core_ml.values() else None
    units = {name: _units(name, has_module, core_ml, devices, is_mac=machine.is_mac) for name in BACKENDS}
    return Findings(
        groups={
            "machine": _machine(host),
            "units": [finding for found in units.values() for finding in found],
            "power": [*_power(machine), *(_rails(rails) if machine.is_mac else [])],
            "competing load": _loads(core_ml, is_mac=machine.is_mac),
            "terminal": _terminal(terminal, machine.find("tmux") is not None),
            "optional parts": _optional(machine, has_module),
            "files": _files(cache, compiled, folder) + (_system_caches(folders) if machine.is_mac else []),
        },
        measures=any(unit.works for name, found in units.items() if not BACKENDS[name].simulated for unit in found),
    )


def _machine(host: Host) -> list[Finding]:
    memory = "" if host.memory_mb is None else f", {host.memory_mb / 1024:.0f} GB"
    found = [
        Finding("chip", None, f"{host.chip or 'n/a'}, {host.cores or 'n/a'} cores{memory}"),
        Finding("system", None, host.os or "n/a"),
        Finding("hettop", None, host.hettop or "n/a"),
        Finding("python", None, host.python or "n/a"),
    ]
    found += [Finding("frameworks", None, ", ".join(f"{name} {version}" for name, version in host.frameworks.items()))]
    return found + [Finding("attention", False, warning) for warning in host.warnings]


def _units(
    name: str,
    has_module: Callable[[str], bool],
    core_ml: Mapping[str, str | None],
    devices: Devices | None,
    *,
    is_mac: bool,
) -> list[Finding]:
    """A line for each reason of the backend, so that four units with one reason take one."""
    framework = BACKENDS[name].framework
    if framework is not None and not has_module(framework):
        return [Finding(name, False, "not installed", f"pip install {framework}")]
    reasons: dict[str | None, list[str]] = {}
    backend = create(name, RealClock())
    known = _by_device(core_ml, devices) if name == CORE_ML else backend.units()
    on_request = units_on_request(backend)
    for unit, why in known.items():
        reasons.setdefault(why or on_request.get(unit), []).append(unit)
    broken = _is_broken(known, is_mac=is_mac)
    found = [
        Finding(f"{name}: {', '.join(units)}", _works(why, broken=broken), why or "") for why, units in reasons.items()
    ]
    if name == CORE_ML and devices is not None:
        told = f"no answer: {devices.why}" if devices.names is None else ", ".join(devices.names)
        found.append(Finding(f"{name}: devices", None, told))
    return found


def _is_broken(units: Mapping[str, str | None], *, is_mac: bool) -> bool:
    """What all units of a Mac lack is a package; what one of them lacks is a device, and elsewhere nothing adds it."""
    return is_mac and None not in units.values()


def _works(why: str | None, *, broken: bool) -> bool | None:
    return True if why is None else False if broken else None


def _by_device(core_ml: Mapping[str, str | None], devices: Devices | None) -> Mapping[str, str | None]:
    """A unit whose device is not there cannot run, whatever the system says of units."""
    if devices is None or devices.names is None:
        return core_ml
    lacking = {unit: device for unit, device in NEEDS.items() if device not in devices.names}
    missing = {unit: f"Core ML has no {device} here" for unit, device in lacking.items()}
    return {unit: why or missing.get(unit) for unit, why in core_ml.items()}


def _power(machine: Machine) -> list[Finding]:
    found = []
    for name in SOURCES:
        there = make_source(name, machine).probe()
        works = None if there.absent else there.ok
        found.append(Finding(name, works, there.reason, there.fix))
    return found


def _rails(rails: ValidatedRails) -> list[Finding]:
    """A line for each accelerator's rail: only of a validated one a zero says that nothing ran there."""
    found = []
    for rail in USED_BY:
        seen = [
            f"{each.mw:,.0f} mW by {each.source} on {each.seen[:10]}, with {each.model} on {each.unit}"
            for each in rails.all()
            if each.rail == rail
        ]
        words = f"validated: {'; '.join(seen)}" if seen else "not validated on this system: a zero of it is no evidence"
        found.append(Finding(f"{rail.upper()} rail", True if seen else None, words, COMMAND))
    return found


def _loads(core_ml: Mapping[str, str | None], *, is_mac: bool) -> list[Finding]:
    reasons: dict[str | None, list[str]] = {}
    for kind in KINDS_OF_LOAD:
        why = why_no_model(kind, core_ml)
        reasons.setdefault(why and f"is {why}", []).append(kind)
    broken = _is_broken(core_ml, is_mac=is_mac)
    return [Finding(", ".join(kinds), _works(why, broken=broken), why or "") for why, kinds in reasons.items()]


def _terminal(terminal: Terminal, has_tmux: bool) -> list[Finding]:
    return [
        _size(terminal),
        Finding(
            "TERM", not terminal.is_dumb, terminal.kind or "not set", "the live view needs: export TERM=xterm-256color"
        ),
        Finding("colours", None, "none: NO_COLOR is set" if terminal.wants_no_colour else terminal.colours),
        Finding(
            "characters",
            terminal.speaks_unicode,
            terminal.encoding if terminal.speaks_unicode else f"{terminal.encoding} lacks those that charts are of",
            "export LANG=C.UTF-8, or: hettop --ascii",
        ),
        Finding(
            "tmux",
            None,
            f"this is a window of {terminal.inside}"
            if terminal.inside
            else ("installed" if has_tmux else "not installed; only hettop's own end-to-end tests need it"),
        ),
    ]


def _size(terminal: Terminal) -> Finding:
    if terminal.size is None:
        return Finding("size", None, "the output is no terminal: commands print, the live view needs one")
    columns, rows = terminal.size
    if not columns * rows:
        return Finding("size", False, "this terminal does not tell its size", "stty cols 120 rows 40")
    fix = f"make it {SMALLEST[0]}x{SMALLEST[1]} or larger; all panels have room from {ROOMY[0]}x{ROOMY[1]} on"
    return Finding("size", not terminal.is_small, f"{columns}x{rows}", fix)


def _optional(machine: Machine, has_module: Callable[[str], bool]) -> list[Finding]:
    wanted = {name: told for name, told in OPTIONAL.items() if machine.is_mac or name not in MAC_ONLY}
    return [
        Finding(words, True, "") if has_module(name) else Finding(words, None, "not installed", fix)
        for name, (words, fix) in wanted.items()
    ]


def _files(cache: ModelCache, compiled: CompiledModels, folder: Path) -> list[Finding]:
    built, ready = cache.entries(), compiled.entries()
    writable = os.access(folder, os.W_OK)
    return [
        Finding("recordings here", writable, "" if writable else f"{folder} cannot be written", "go to another folder"),
        Finding("model cache", None, f"{_models(len(built))}, {size(sum(e.size_bytes for e in built))}"),
        Finding("compiled models", None, f"{_models(len(ready))}, {size(sum(e.nbytes for e in ready))}"),
    ]


def _system_caches(folders: Folders) -> list[Finding]:
    """What Core ML and its like keep outside of hettop's caches; nothing of it can be told to be hettop's."""
    return [
        Finding(found.cache.name, None, f"{_found_size(found)}; {found.cache.shared}", found.command)
        for found in system_usage(folders)
    ]


def _found_size(found: Usage) -> str:
    if found.denied and not found.nbytes:
        return "size unknown, permission denied"
    more = "" if found.complete and not found.denied else "more than "
    return f"{more}{size(found.nbytes)}{', permission denied for some of it' if found.denied else ''}"


def _models(n: int) -> str:
    return f"{n} model{'' if n == 1 else 's'}"


def kept_in_use(compiled: CompiledModels) -> list[Entry]:
    """What cannot be removed now, because some process has it loaded."""
    return [entry for entry in compiled.entries() if entry.in_use]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was removed: models and their bytes, and scratch folders that killed processes had left."""

    models: int
    nbytes: int
    scratch_folders: int


def clear(cache: ModelCache, compiled: CompiledModels, temporary: Path) -> Cleared:
    """Removes both caches, but for compiled models in use, and scratch folders in `temporary` that no process uses.

    A model file that a process is about to read is built again by the next one.
    """
    built, ready = cache.clear(), compiled.clear()
    freed = sum(entry.size_bytes for entry in built) + sum(entry.nbytes for entry in ready)
    return Cleared(len(built) + len(ready), freed, remove_forgotten(temporary))


ASKER = module_command("hettop.sources.engine.coreml.devices_child")
PATIENCE_S = 20.0
"""Importing coremltools takes a second or two, on a machine that swaps ten."""


def ask_devices(environment: Mapping[str, str], argv: Sequence[str] = ASKER, patience_s: float = PATIENCE_S) -> Devices:
    """The devices, or why nobody knows them."""
    try:
        called = call(
            argv, None, tuple[str, ...], name="Core ML query", environment=environment, time_limit_s=patience_s
        )
    except HettopError as error:
        return Devices(None, error.message)
    return Devices(called.answer) if called.answer else Devices(None, "this system does not tell")


SMALLEST = (80, 24)
"""Columns and rows below which some of the four charts and tables that matter most have no room."""

ROOMY = (110, 34)
"""From here on all panels are there at once."""

DUMB = ("", "dumb", "unknown")


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where output goes. `size`: columns and rows, None if it is no terminal; `encoding` of what is printed."""

    size: tuple[int, int] | None = None
    encoding: str = "utf-8"
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.environment.get("TERM", "")

    @property
    def is_dumb(self) -> bool:
        return self.kind in DUMB

    @property
    def is_small(self) -> bool:
        return self.size is not None and (self.size[0] < SMALLEST[0] or self.size[1] < SMALLEST[1])

    @property
    def speaks_unicode(self) -> bool:
        return self.encoding.lower().replace("-", "").startswith("utf")

    @property
    def wants_no_colour(self) -> bool:
        """NO_COLOR with any value but an empty one, as no-color.org has it."""
        return bool(self.environment.get("NO_COLOR"))

    @property
    def colours(self) -> str:
        """How many it says it has; more than it says is not assumed."""
        if self.environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") or self.kind.endswith("-direct"):
            return "16 million"
        return "256" if "256color" in self.kind else "16"

    @property
    def inside(self) -> str | None:
        """The multiplexer it is a window of."""
        if self.environment.get("TMUX"):
            return "tmux"
        return "screen" if self.environment.get("STY") else None
