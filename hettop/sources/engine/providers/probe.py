"""Finds the execution providers that are installed and their devices, without importing ONNX Runtime.

What is installed is known by names of files. Devices are listed by a child process, once for each set of versions and
hardware: the answer is remembered in the cache folder.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import msgspec

from hettop.errors import HettopError
from hettop.models.cache import default_cache
from hettop.processes.call import ChildLostError, call
from hettop.processes.child_process import module_command
from hettop.sources.engine.providers.known import PROVIDERS, Hardware, Provider, provider_of, this_hardware
from hettop.text import clean
from hettop.version import __version__

VARIABLE = "HETTOP_PROVIDERS"
"""Names the providers to look for by their prefixes, such as `OV,CUDA`; `none` for none. Unset: all."""

LEFT_OUT = f"left out by {VARIABLE}"

FILE = "execution-providers.json"
LARGEST_BYTES = 100_000
PROBE = module_command("hettop.sources.engine.providers.probe_child")
VARIANTS = ("cu13", "cu12")
"""Ends of packages' names that contain the library for one version of CUDA."""

PATIENCE_S = 20.0
"""Loading a provider takes half a second; a driver that initializes a device takes a few seconds."""


class ProbeJob(msgspec.Struct, frozen=True, kw_only=True):
    """Which provider to load, by the prefix of its units."""

    prefix: str


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """A device that a provider lists: its unit, its name, and the provider's version."""

    unit: str
    name: str
    version: str = ""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A provider that is installed: its devices, or why there are none, with what fixes it."""

    prefix: str
    version: str
    devices: tuple[Device, ...] = ()
    error: str = ""
    hint: str = ""


class _File(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    found: tuple[Found, ...]


Ask = Callable[[Provider], tuple[Device, ...]]
"""Lists the devices of a provider. Raises HettopError."""


@dataclass(frozen=True, slots=True)
class Installation:
    """The ONNX Runtime of this Python, by package and version, and the versions of the providers, by prefix."""

    runtime: str
    versions: Mapping[str, str]


def allowed_providers(environment: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The prefixes of the providers that `VARIABLE` allows. Raises HettopError (`usage`) for one that there is not."""
    known = [each.prefix for each in PROVIDERS]
    wanted = environment.get(VARIABLE)
    if wanted is None:
        return frozenset(known)
    named = {part.strip().upper() for part in wanted.split(",")} - {"", "NONE"}
    for name in sorted(named.difference(known)):
        hint = f"known: {', '.join(known)}; none leaves all of them out"
        raise HettopError("usage", f"{VARIABLE}: unknown provider {clean(name, 40)}", hint)
    return frozenset(named)


def installation(environment: Mapping[str, str] = os.environ) -> Installation:
    """What is installed of what `VARIABLE` allows, by names of files and packages. Raises HettopError (`usage`)."""
    prefixes, folder = allowed_providers(environment), _runtime_folder()
    if folder is None or not prefixes:
        return Installation("", {})
    runtime, built_in = _version_of(folder), _built_in(folder)
    versions = {
        each.prefix: _plugin_version(each) if _has_module(each.module) else f"built into {runtime}"
        for each in PROVIDERS
        if each.prefix in prefixes and (_has_module(each.module) or each.library in built_in)
    }
    return Installation(runtime, versions)


def _runtime_folder() -> Path | None:
    with suppress(ImportError, ValueError):  # a module half imported
        spec = importlib.util.find_spec("onnxruntime")
        if spec is not None and spec.origin is not None:
            return Path(spec.origin).parent / "capi"
    return None


def _version_of(folder: Path) -> str:
    """Package and version, such as `onnxruntime-gpu 1.32.0`, from what the build wrote beside the library."""
    try:
        text = (folder / "build_and_package_info.py").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "onnxruntime"
    values = [re.search(rf"^{name} *= *['\"]([^'\"]*)", text, re.MULTILINE) for name in ("package_name", "__version__")]
    return clean(" ".join(match[1] for match in values if match), 80) or "onnxruntime"


def _built_in(folder: Path) -> set[str]:
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError:
        return set()
    found = (re.match(r"(?:lib)?onnxruntime_providers_(\w+?)(?:_plugin)?\.(?:so|dylib)", name) for name in names)
    return {match[1] for match in found if match}


def _has_module(name: str) -> bool:
    try:
        return bool(name) and importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _plugin_version(provider: Provider) -> str:
    for package in (provider.package, *(f"{provider.package}-{variant}" for variant in VARIANTS)):
        with suppress(metadata.PackageNotFoundError):
            return clean(metadata.version(package), 40)
    return "of unknown version"


def ask_child(provider: Provider, argv: Sequence[str] = PROBE, patience_s: float = PATIENCE_S) -> tuple[Device, ...]:
    """The devices, listed by a child process of its own. Raises HettopError."""
    job = ProbeJob(prefix=provider.prefix)
    name = f"probe of {provider.name}"
    return call(argv, job, tuple[Device, ...], name=name, time_limit_s=patience_s).answer


def find_providers(
    *,
    file: Path | None = None,
    here: Installation | None = None,
    hardware: Hardware | None = None,
    ask: Ask = ask_child,
    anew: bool = False,
) -> tuple[Found, ...]:
    """The installed providers with their devices, as remembered in `file` for these versions and this hardware.

    anew: asks again whatever is remembered, as after a device or a driver was changed.
    """
    here = installation() if here is None else here
    if not here.versions:
        return ()
    file = default_cache().folder / FILE if file is None else file
    key = _key(here, this_hardware() if hardware is None else hardware)
    if not anew and (known := _read(file, key)) is not None:
        return known
    found = tuple(_asked(each, here.versions[each.prefix], ask) for each in PROVIDERS if each.prefix in here.versions)
    _write(file, _File(key=key, found=found))
    return found


def _asked(provider: Provider, version: str, ask: Ask) -> Found:
    try:
        devices = ask(provider)
    except ChildLostError as error:
        message = f"{provider.name} was lost while it was loaded: {error.ending}"
        package = provider.package or "onnxruntime-gpu"
        hint = f"pip install --upgrade {package}, or update the driver; {VARIABLE}=none leaves all providers out"
        return Found(prefix=provider.prefix, version=version, error=message, hint=hint)
    except HettopError as error:
        return Found(prefix=provider.prefix, version=version, error=error.message, hint=error.hint)
    if not devices:
        message = f"{provider.name} lists no device on this machine"
        return Found(prefix=provider.prefix, version=version, error=message, hint=f"it needs {provider.hardware}")
    return Found(prefix=provider.prefix, version=version, devices=devices)


def _key(here: Installation, hardware: Hardware) -> str:
    """The messages that are kept are of this version of hettop."""
    known = (__version__, here.runtime, sorted(here.versions.items()), hardware)
    return hashlib.sha256(repr(known).encode()).hexdigest()


def _read(file: Path, key: str) -> tuple[Found, ...] | None:
    try:
        with file.open("rb") as opened:
            known = msgspec.json.decode(opened.read(LARGEST_BYTES), type=_File)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return known.found if known.key == key else None


def _write(file: Path, content: _File) -> None:
    """Where it cannot be written, nothing is remembered."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(msgspec.json.encode(content))
        beside.replace(file)


def provider_units(found: Sequence[Found]) -> dict[str, str | None]:
    """The units of installed providers: None for one that can run, else the reason it cannot."""
    units: dict[str, str | None] = {}
    for each in found:
        provider = provider_of(f"{each.prefix}:")
        if provider is None:
            continue
        units |= {device.unit: None for device in each.devices}
        for kind in provider.devices:
            failed = f"{each.error} (hettop doctor shows a fix)" if each.hint else each.error
            missing = failed or f"{provider.name} has no {'device' if provider.numbered else kind} here"
            units.setdefault(f"{provider.prefix}:{kind}", missing)
    return units
