"""Looks at what hettop can do on this machine, and gathers it as findings: what works, what does not, why, the remedy.

Starts nothing that measures and imports no framework; everything it looks at can be passed in.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence, Set
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
from hettop.sources.counters import why_no_counters
from hettop.sources.engine.backend import RealClock, units_on_request
from hettop.sources.engine.backends import create
from hettop.sources.engine.coreml.framework import NEEDS
from hettop.sources.engine.names import BACKENDS, CORE_ML
from hettop.sources.engine.providers.known import PROVIDERS, Hardware, Provider, why_it_fits
from hettop.sources.engine.providers.probe import LEFT_OUT, Found
from hettop.sources.load.parts import KINDS_OF_LOAD
from hettop.sources.load.source import why_no_model
from hettop.sources.power.accelerators import Accelerators
from hettop.sources.power.choice import make_source
from hettop.sources.power.names import SOURCES
from hettop.sources.power.source import Machine

OPTIONAL = {
    "coremltools": ("variants of Core ML packages", "pip install 'hettop[coreml]'"),
    "httpx": ("answers of servers, token by token", "pip install 'hettop[http]'"),
    "PIL": ("images as inputs", "pip install 'hettop[images]'"),
    "textual_serve": ("the screen in a browser", "pip install 'hettop[serve]'"),
    "zstandard": ("compressed recordings", "pip install 'hettop[zst]'"),
    "pyarrow": ("Parquet exports", "pip install 'hettop[parquet]'"),
    "hdrh": ("HdrHistogram logs", "pip install 'hettop[hdr]'"),
    "prometheus_client": ("metrics for Prometheus", "pip install 'hettop[prometheus]'"),
    "sklearn": ("palettized weights", "pip install 'hettop[palettes]'"),
    "pandas": ("data frames from Python", "pip install 'hettop[frames]'"),
    "onnxruntime_extensions": ("operators of onnxruntime-extensions", "pip install 'hettop[ops]'"),
    "pynvml": ("power and utilization of NVIDIA GPUs", "pip install 'hettop[nvidia]'"),
    "zeus_apple_silicon": ("power by zeus, on Apple chips", "pip install 'hettop[zeus]'"),
}
"""Optional modules: what each is for, and the command that installs it."""

MAC_ONLY = frozenset({"zeus_apple_silicon"})
LINUX_ONLY = frozenset({"pynvml"})


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `fix`: the command that repairs or installs it, if there is one.

    works: None for information, for what this system cannot have, and for an optional part that is not installed;
        False only for what is broken or denied.
    """

    what: str
    works: bool | None
    words: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings by heading; `measures`: whether any real backend can measure here."""

    groups: Mapping[str, Sequence[Finding]] = field(default_factory=dict)
    measures: bool = False


@dataclass(frozen=True, slots=True)
class Providers:
    """The execution providers of ONNX Runtime that are installed, and the hardware that others would fit.

    allowed: the prefixes of those that were looked for; None: all.
    """

    found: Sequence[Found] = ()
    hardware: Hardware | None = None
    allowed: Set[str] | None = None


@dataclass(frozen=True, slots=True)
class Devices:
    """`names` are `CPU`, `GPU`, `Neural Engine`; None where there was no answer, for the reason in `why`."""

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
    providers: Providers = Providers(),
    no_counters: Callable[[], str] = why_no_counters,
) -> Findings:
    """All checks. `folder`: the folder of recordings.

    folders: the caches of Core ML and others, on a Mac.
    core_ml_units: the units of Core ML as far as known without it; ask: the devices that Core ML itself reports,
    called only where it has any unit. rails: the stored results of power rails. providers: those of ONNX Runtime.
    no_counters: why cache misses cannot be counted, empty if they can.
    """
    core_ml = core_ml_units()
    devices = ask() if None in core_ml.values() else None
    units = {name: _units(name, has_module, core_ml, devices, is_mac=machine.is_mac) for name in BACKENDS}
    return Findings(
        groups={
            "machine": _machine(host),
            "units": [finding for found in units.values() for finding in found],
            "execution providers": _providers(providers),
            **({} if machine.is_mac else {"accelerators": _accelerators(machine)}),
            "power": [*_power(machine), *(_rails(rails) if machine.is_mac else [])],
            "counters": [_counters(no_counters())],
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
    """A line for each reason of the backend, so that units with one reason share a line."""
    framework, extra = BACKENDS[name].framework, BACKENDS[name].extra
    if framework is not None and not has_module(framework):
        if extra is not None:
            return [Finding(name, None, "not installed; optional", f"pip install 'hettop[{extra}]'")]
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
        names = f"no answer: {devices.why}" if devices.names is None else ", ".join(devices.names)
        found.append(Finding(f"{name}: devices", None, names))
    return found


def _providers(providers: Providers) -> list[Finding]:
    """A line for each device, each provider that failed, and each that the hardware here calls for."""
    known = {found.prefix: found for found in providers.found}
    lines = []
    for provider in PROVIDERS:
        found = known.get(provider.prefix)
        if found is not None:
            lines += _provider(provider, found)
        elif providers.hardware is not None and (why := why_it_fits(provider, providers.hardware)):
            left_out = providers.allowed is not None and provider.prefix not in providers.allowed
            state, fix = (LEFT_OUT, "") if left_out else ("not installed", provider.install)
            lines.append(Finding(provider.name, None, f"{state}; it is for {why}, which is here", fix))
    return lines or [Finding("none", None, "not installed, and none is for the hardware found here")]


def _provider(provider: Provider, found: Found) -> list[Finding]:
    if found.error:
        # Without a hint nothing is broken: there is no device.
        return [Finding(f"{provider.name} {found.version}", False if found.hint else None, found.error, found.hint)]
    return [
        Finding(f"{device.unit} {device.name}", True, f"{provider.name} {device.version or found.version}")
        for device in found.devices
    ]


def _is_broken(units: Mapping[str, str | None], *, is_mac: bool) -> bool:
    """Whether a package is missing: on a Mac where no unit works. A missing device cannot be fixed."""
    return is_mac and None not in units.values()


def _works(why: str | None, *, broken: bool) -> bool | None:
    return True if why is None else False if broken else None


def _by_device(core_ml: Mapping[str, str | None], devices: Devices | None) -> Mapping[str, str | None]:
    """The units with a reason for those whose device is missing."""
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


def _accelerators(machine: Machine) -> list[Finding]:
    """A line for each GPU and NPU: what can be read of it, and why not the rest. A suspended one is not woken."""
    with Accelerators(machine) as accelerators:
        looks = [(device, device.look()) for device in accelerators.devices]
        nvidia = accelerators.nvidia
    found = []
    for device, raw in looks:
        readable = {
            "power": raw.energy_uj is not None or raw.mw is not None,
            "utilization": raw.busy is not None or raw.busy_us is not None,
            "clock": raw.mhz is not None,
            "temperature": raw.temperature_c is not None,
        }
        words = [", ".join(what for what, there in readable.items() if there) or "nothing can be read"]
        words += [why if what == "device" else f"no {what}: {why}" for what, why in raw.why.items()]
        what = f"{device.rail} ({device.driver}, {device.slot})"
        found.append(Finding(what, True if any(readable.values()) else None, "; ".join(words)))
    if nvidia.lacking:
        found.append(Finding("NVIDIA", None, nvidia.lacking, nvidia.fix))
    return found or [Finding("none", None, "no GPU or NPU whose driver is known")]


def _rails(rails: ValidatedRails) -> list[Finding]:
    """A line for each accelerator's rail: a zero of it is evidence only if it was validated."""
    found = []
    for rail in USED_BY:
        seen = [
            f"{each.mw:,.0f} mW by {each.source} on {each.seen[:10]}, with {each.model} on {each.unit}"
            for each in rails.all()
            if each.rail == rail
        ]
        words = (
            f"validated: {'; '.join(seen)}" if seen else "not validated on this system: a reading of 0 is not evidence"
        )
        found.append(Finding(f"{rail.upper()} rail", True if seen else None, words, COMMAND))
    return found


def _counters(why: str) -> Finding:
    return Finding("cache misses (hettop roofline)", None if why else True, why)


def _loads(core_ml: Mapping[str, str | None], *, is_mac: bool) -> list[Finding]:
    reasons: dict[str | None, list[str]] = {}
    for kind in KINDS_OF_LOAD:
        why = why_no_model(kind, core_ml)
        reasons.setdefault(why, []).append(kind)
    broken = _is_broken(core_ml, is_mac=is_mac)
    return [Finding(", ".join(kinds), _works(why, broken=broken), why or "") for why, kinds in reasons.items()]


def _terminal(terminal: Terminal, has_tmux: bool) -> list[Finding]:
    return [
        _size(terminal),
        Finding("TERM", not terminal.is_dumb, terminal.kind or "not set", "export TERM=xterm-256color"),
        Finding("colours", None, "none: NO_COLOR is set" if terminal.wants_no_colour else terminal.colours),
        Finding(
            "characters",
            terminal.speaks_unicode,
            terminal.encoding if terminal.speaks_unicode else f"{terminal.encoding} lacks the characters of charts",
            "export LANG=C.UTF-8, or: hettop --ascii",
        ),
        Finding(
            "tmux",
            None,
            f"running in {terminal.inside}"
            if terminal.inside
            else ("installed" if has_tmux else "not installed; only required by hettop's end-to-end tests"),
        ),
    ]


def _size(terminal: Terminal) -> Finding:
    if terminal.size is None:
        return Finding("size", None, "output is not a terminal; the live view requires one")
    columns, rows = terminal.size
    if not columns * rows:
        return Finding("size", False, "the terminal does not report its size", "stty cols 120 rows 40")
    fix = f"enlarge it to at least {SMALLEST[0]}x{SMALLEST[1]}; all panels fit from {ROOMY[0]}x{ROOMY[1]} on"
    return Finding("size", not terminal.is_small, f"{columns}x{rows}", fix)


def _optional(machine: Machine, has_module: Callable[[str], bool]) -> list[Finding]:
    foreign = LINUX_ONLY if machine.is_mac else MAC_ONLY
    wanted = {name: part for name, part in OPTIONAL.items() if name not in foreign}
    return [
        Finding(words, True, "") if has_module(name) else Finding(words, None, "not installed", fix)
        for name, (words, fix) in wanted.items()
    ]


def _files(cache: ModelCache, compiled: CompiledModels, folder: Path) -> list[Finding]:
    built, ready = cache.entries(), compiled.entries()
    writable = os.access(folder, os.W_OK)
    return [
        Finding(
            "recordings here", writable, "" if writable else f"{folder} is not writable", "change to another folder"
        ),
        Finding("model cache", None, f"{_models(len(built))}, {size(sum(e.size_bytes for e in built))}"),
        Finding("compiled models", None, f"{_models(len(ready))}, {size(sum(e.nbytes for e in ready))}"),
    ]


def _system_caches(folders: Folders) -> list[Finding]:
    """The caches of Core ML and others, which cannot be attributed to hettop or other programs."""
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
    """The models that cannot be removed now, because a process has them loaded."""
    return [entry for entry in compiled.entries() if entry.in_use]


@dataclass(frozen=True, slots=True)
class Cleared:
    """What was removed: models with their bytes, and scratch folders of killed processes."""

    models: int
    nbytes: int
    scratch_folders: int


def clear(cache: ModelCache, compiled: CompiledModels, temporary: Path) -> Cleared:
    """Remove both caches except compiled models in use, and the scratch folders in `temporary` that no process uses.

    A removed model file is built again by the next process that needs it.
    """
    built, ready = cache.clear(), compiled.clear()
    freed = sum(entry.size_bytes for entry in built) + sum(entry.nbytes for entry in ready)
    return Cleared(len(built) + len(ready), freed, remove_forgotten(temporary))


ASKER = module_command("hettop.sources.engine.coreml.devices_child")
PATIENCE_S = 20.0
"""Importing coremltools takes a second or two, on a busy machine up to ten."""


def ask_devices(environment: Mapping[str, str], argv: Sequence[str] = ASKER, patience_s: float = PATIENCE_S) -> Devices:
    """The devices, or why they are unknown."""
    try:
        called = call(
            argv, None, tuple[str, ...], name="Core ML query", environment=environment, time_limit_s=patience_s
        )
    except HettopError as error:
        return Devices(None, error.message)
    return Devices(called.answer) if called.answer else Devices(None, "not reported by this system")


SMALLEST = (80, 24)
"""Columns and rows below which some of the main charts and tables do not fit."""

ROOMY = (110, 34)
"""Columns and rows from which all panels fit at once."""

DUMB = ("", "dumb", "unknown")


@dataclass(frozen=True, slots=True)
class Terminal:
    """The terminal of the output. `size`: columns and rows, None if it is not a terminal; `encoding` of the output."""

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
        """NO_COLOR with any value but an empty one, as no-color.org defines."""
        return bool(self.environment.get("NO_COLOR"))

    @property
    def colours(self) -> str:
        """The number of colours by the environment."""
        if self.environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") or self.kind.endswith("-direct"):
            return "16 million"
        return "256" if "256color" in self.kind else "16"

    @property
    def inside(self) -> str | None:
        """The terminal multiplexer that it runs in."""
        if self.environment.get("TMUX"):
            return "tmux"
        return "screen" if self.environment.get("STY") else None
