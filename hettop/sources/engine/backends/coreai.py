"""Runs Core AI's model assets (`.aimodel`) by coreai-core: the system's Core AI from macOS 27 on, else its own runtime.

A unit is a preference; only `cpu_only` excludes devices, and what ran a model is not reported.
coreai is imported when a model is loaded, in the engine process alone: without a running event loop, or with a loop
that is closed during a call, it ends the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import tempfile
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from hettop.compute_units import CORE_AI_UNITS, wanted_device
from hettop.errors import HettopError
from hettop.models.core_ai import INSTALL, check_asset, is_core_ai, read_metadata
from hettop.models.inputs import make_inputs
from hettop.models.ports import Feed, InputOptions, Port
from hettop.processes.framework_errors import reason
from hettop.processes.scratch import scratch_folder
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions, split_unit
from hettop.sources.engine.coreml.availability import Host, this_host
from hettop.text import clean

PACKAGE = "coreai-core"
NOT_INSTALLED = f"Core AI needs {PACKAGE}: {INSTALL}"
NEEDS_SYSTEM = "needs Core AI of macOS 27; the runtime in coreai-core has no units"
SYSTEM_MACOS = (27,)

PLACED = "CPU (Core AI's in-package runtime)"
PREFERENCE_NOTE = "prefers the {device}; Core AI does not report where it ran"
STATE_NOTE = "its state is created once when loading and kept between calls"
FRESH_STATE_NOTE = "its state is created before each call, outside the measured time"

SCRATCH = "hettop-coreai-"
"""How the names of the scratch folders begin in which the runtime keeps a compiled copy while it loads."""

MAIN = "main"
"""The function that is run if there are several and none is named."""

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class CoreAi:
    """The two modules of coreai-core that run a model."""

    runtime: Any
    authoring: Any

    @property
    def has_units(self) -> bool:
        """Whether the system's Core AI runs models, which alone has units."""
        return bool(self.runtime.SpecializationOptions.is_supported())

    def options(self, unit: str) -> Any:
        """How to specialise for the unit; None where there is nothing to choose."""
        options = self.runtime.SpecializationOptions
        match unit:
            case _ if not self.has_units:
                return None
            case "COREAI:default":
                return options.default()
            case "COREAI:cpu_only":
                return options.cpu_only()
        kinds = self.runtime.ComputeUnitKind
        kind = kinds.gpu() if unit == "COREAI:prefers_gpu" else kinds.neural_engine()
        return options.from_preferred_compute_unit_kind(kind)


def _import_core_ai() -> CoreAi:
    try:
        return CoreAi(importlib.import_module("coreai.runtime"), importlib.import_module("coreai.authoring"))
    except ImportError as error:
        raise HettopError("unsupported-unit", f"Core AI cannot be imported: {reason(error)}", INSTALL) from error


def _is_installed() -> bool:
    try:
        return importlib.util.find_spec("coreai") is not None
    except (ImportError, ValueError):  # a module half imported
        return False


class CoreAiBackend:
    """One function of one asset, run by an event loop in a thread of its own.

    The wall time of a call includes the way into that thread and back; `native_ns` is the time of the call in it.
    """

    name = "coreai"
    simulated = False
    has_native = True

    def __init__(
        self,
        clock: Clock,
        host: Host | None = None,
        find_core_ai: Callable[[], CoreAi] = _import_core_ai,
        is_installed: Callable[[], bool] = _is_installed,
    ) -> None:
        self.clock = clock
        self._host = this_host() if host is None else host
        self._find_core_ai = find_core_ai
        self._is_installed = is_installed
        self._loop: EventLoop | None = None
        self._core_ai: CoreAi | None = None
        self._model: Any = None
        self._opened: Any = None
        self._function: Any = None
        self._states: dict[str, Any] = {}
        self._inputs: tuple[Port, ...] = ()
        self._last: Mapping[str, Any] = {}
        self._native_ns: int | None = None

    def units(self) -> dict[str, str | None]:
        """Without importing Core AI: by the system and the packages that are installed."""
        if not self._is_installed():
            return dict.fromkeys(CORE_AI_UNITS, NOT_INSTALLED)
        system = self._host.is_mac and self._host.macos >= SYSTEM_MACOS
        return {unit: None if system or "prefers" not in unit else NEEDS_SYSTEM for unit in CORE_AI_UNITS}

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        """Specialises the asset for the unit, loads it, and looks up the function.

        Raises HettopError: `unsupported-unit`, `missing`, `format`, `io`, `input` (an unknown function), `load`.
        """
        self._check_unit(unit, options)
        self.close()
        path = Path(model)
        if not is_core_ai(path):
            raise HettopError("format", f"{clean(path.name)} is not an .aimodel, which alone Core AI loads")
        check_asset(path)
        core_ai = self._core_ai = self._find_core_ai()
        if "prefers" in unit and not core_ai.has_units:
            raise HettopError("unsupported-unit", f"{unit} cannot run here: {NEEDS_SYSTEM}", "use COREAI:default")
        options.tell("loading" if core_ai.has_units else "compiling")
        self._loop = EventLoop()
        start = self.clock.now()
        try:
            with _own_temporary_folder():
                compile_ns = self._open(core_ai, path, unit)
                self._function = self._find_function(path, options.function)
        except HettopError:
            raise
        except Exception as error:
            raise load_error(path, error) from error
        load_ns = self.clock.now() - start - (compile_ns or 0)
        note = self._describe(core_ai, path, unit, options)
        about = self._function.desc
        return Loaded(
            unit,
            PLACED if not core_ai.has_units and not self._host.is_mac else None,  # a preference is not a placement
            load_ns,
            self._inputs,
            tuple(port_of(name, about.output_descriptor(name)) for name in about.output_names),
            note,
            compile_ns,
            None if compile_ns is None else False,
        )

    def _open(self, core_ai: CoreAi, path: Path, unit: str) -> int | None:
        """Makes the model executable; returns what specialising it took, None where the runtime does not show it."""
        assert self._loop is not None  # noqa: S101 (the caller has just made it)
        asset = core_ai.authoring.AIModelAsset.load(path)
        took: list[int] = []
        specialise = None if core_ai.has_units else getattr(asset, "_write_odix", None)
        if specialise is not None:

            def timed(*args: Any, **options: Any) -> Any:
                start = self.clock.now()
                try:
                    return specialise(*args, **options)
                finally:
                    took.append(self.clock.now() - start)

            asset._write_odix = timed
        opened = asset.executable(core_ai.options(unit))
        self._model = self._loop.run(opened.__aenter__())
        self._opened = opened
        return took[0] if took else None

    def _find_function(self, path: Path, wanted: str | None) -> Any:
        names = list(self._model.function_names)
        chosen = wanted if wanted is not None else MAIN if MAIN in names or len(names) != 1 else names[0]
        if chosen not in names:
            known = f"its functions are {', '.join(clean(name, 60) for name in names)}"
            raise HettopError("input", f"{clean(path.name)} has no function {clean(chosen)!r}", f"{known}; --function")
        return self._model.load_function(chosen)

    def _describe(self, core_ai: CoreAi, path: Path, unit: str, options: LoadOptions) -> str:
        """Takes the inputs and the state from the loaded function; returns what is to be known of it."""
        about = self._function.desc
        self._inputs = tuple(port_of(name, about.input_descriptor(name), path) for name in about.input_names)
        if about.state_names:
            self.renew_state()
        device = wanted_device(unit) if "prefers" in unit else None
        whose = "Core AI of this macOS" if core_ai.has_units else f"runtime of {PACKAGE}"
        notes = (
            f"{whose} {_version()}".strip(),
            PREFERENCE_NOTE.format(device=device) if device else "",
            "" if not about.state_names else FRESH_STATE_NOTE if options.fresh_state else STATE_NOTE,
        )
        return clean("; ".join(filter(None, notes)))

    def _check_unit(self, unit: str, options: LoadOptions) -> None:
        hint = f"use one of {', '.join(CORE_AI_UNITS)}"
        try:
            name, threads = split_unit(unit)
        except ValueError as error:
            raise HettopError("unsupported-unit", clean(str(error)), hint) from error
        if name not in CORE_AI_UNITS:
            raise HettopError("unsupported-unit", f"unknown unit {clean(unit)} for Core AI", hint)
        if threads is not None or options.threads is not None:
            raise HettopError(
                "unsupported-unit", f"{clean(unit)}: Core AI chooses its number of threads", f"use {name}"
            )
        why_not = self.units()[name]
        if why_not is not None:
            raise HettopError("unsupported-unit", f"{unit} cannot run here: {why_not}")

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        feed = CoreAiFeed(make_inputs(ports, options))
        if self._core_ai is not None:
            array = self._core_ai.runtime.NDArray
            feed.native = {name: array(np.require(value, requirements=["C"])) for name, value in feed.items()}
        return feed

    def predict(self, feed: Feed) -> None:
        """One call of inputs from `make_inputs`, outputs included. Raises HettopError: `predict`."""
        if self._loop is None or self._function is None:
            raise HettopError("predict", "no model is loaded")
        if not isinstance(feed, CoreAiFeed):
            raise HettopError("predict", "these inputs were not created for Core AI")
        try:
            self._last, self._native_ns = self._loop.run(self._call(feed.native))
        except Exception as error:
            takes = ", ".join(port.describe() for port in self._inputs)
            raise HettopError(
                "predict",
                f"Core AI cannot run the model: {reason(error)}",
                clean(f"its inputs are {takes}; set them with --shape or --input"),
            ) from error

    @property
    def has_state(self) -> bool:
        """Whether the loaded function keeps a state."""
        return bool(self._states)

    def profiler(self, feed: Feed) -> Profiler:
        """Calls of the loaded function under Core AI's own profiler, each with the inputs of `feed`."""
        if self._core_ai is None or self._loop is None or not isinstance(feed, CoreAiFeed):
            raise HettopError("predict", "no model is loaded")
        return Profiler(self._core_ai.runtime, self._model, self._function.desc.name, self._loop, feed.native)

    async def _call(self, native: Mapping[str, Any]) -> tuple[Mapping[str, Any], int]:
        start = self.clock.now()
        found = await self._function(dict(native), self._states)
        return found, max(1, self.clock.now() - start)

    def renew_state(self) -> None:
        """A state of zeros, for a model that has one; what the calls before left is forgotten."""
        if self._function is None or self._core_ai is None:
            return
        about, array = self._function.desc, self._core_ai.runtime.NDArray
        described = {name: about.state_descriptor(name) for name in about.state_names}
        self._states = {
            name: array(np.zeros([axis or 1 for axis in each.shape], each.dtype)) for name, each in described.items()
        }

    def outputs(self) -> Mapping[str, Any]:
        return {name: _output_array(value) for name, value in self._last.items()}

    def native_ns(self) -> int | None:
        return self._native_ns

    def told_load(self, condition: str) -> None:
        pass

    def close(self) -> None:
        """Releases the model and ends its thread; what is still in a call goes on and is left alone."""
        opened, self._opened = self._opened, None
        self._function = self._model = None
        self._states, self._last, self._native_ns = {}, {}, None
        if self._loop is not None:
            if opened is not None and not self._loop.busy:
                with contextlib.suppress(Exception):  # its temporary folder is gone already
                    self._loop.run(opened.__aexit__(None, None, None))
            self._loop.close()
            self._loop = None


class CoreAiFeed(Feed):
    """Arrays by name, as every backend's, and in `native` the same ones as Core AI takes them."""

    __slots__ = ("native",)
    native: dict[str, Any]

    def __init__(self, feed: Mapping[str, Any]) -> None:
        super().__init__(feed)
        self.native = {}


@dataclass(frozen=True, slots=True)
class RanOp:
    """An operation that ran once in a call. number: Core AI's own, the same in each call."""

    number: int
    op: str
    ns: int


OPERATION = "call."
"""How the names of events begin that are an operation's."""


class Profiler:
    """Times of operations, by the callbacks of a second instance of the function that is profiled."""

    def __init__(self, runtime: Any, model: Any, name: str, loop: EventLoop, native: Mapping[str, Any]) -> None:
        self._begun: list[tuple[str, int, int]] = []
        self._ran: list[RanOp] = []
        self._loop, self._native = loop, native
        observer = runtime.Profiler(on_log_event_begin=self._begin, on_log_event_end=self._end)
        self._function = model.load_function(name, profiler=observer)

    def _begin(self, event: Any) -> int:
        self._begun.append((event.event_id, event.compile_ids.id, event.timestamp))
        return len(self._begun) - 1

    def _end(self, event: Any, index: int) -> None:
        name, number, start = self._begun[index]
        if event.phase == "inference" and name.startswith(OPERATION):
            self._ran.append(RanOp(number, name.removeprefix(OPERATION), event.timestamp - start))

    def call(self) -> list[RanOp]:
        """One call; its operations in the order in which they ended. Raises HettopError: `predict`."""
        self._begun, self._ran = [], []
        try:
            self._loop.run(self._run())
        except Exception as error:
            raise HettopError("predict", f"Core AI cannot profile the model: {reason(error)}") from error
        return self._ran

    async def _run(self) -> None:
        await self._function(dict(self._native))


class EventLoop:
    """An event loop that runs in a thread of its own until it is closed, so that no call finds it at rest."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="coreai", daemon=True)
        self._thread.start()
        self._busy = False

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run `work` and return its result. One caller at a time."""
        self._busy = True  # before the loop has the call: whoever closes meanwhile finds it running
        return asyncio.run_coroutine_threadsafe(self._tracked(work), self._loop).result()

    async def _tracked(self, work: Coroutine[Any, Any, R]) -> R:
        try:
            return await work
        finally:
            self._busy = False

    @property
    def busy(self) -> bool:
        """Whether a call is still running, as after an interrupt."""
        return self._busy

    def close(self) -> None:
        """Ends thread and loop, unless a call is still running, whose end needs the loop."""
        if self.busy:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@contextlib.contextmanager
def _own_temporary_folder() -> Iterator[None]:
    """Python's temporary folder is one of hettop's own meanwhile, gone afterwards.

    The runtime compiles into a copy there and removes it only when the model is released, so never in a process that is
    killed; once the function is loaded, it has read the copy. What a kill during the load leaves, the next removes.
    """
    with scratch_folder(None, SCRATCH) as folder:
        before, tempfile.tempdir = tempfile.tempdir, folder
        try:
            yield
        finally:
            tempfile.tempdir = before


def port_of(name: str, described: Any, path: Path | None = None) -> Port:
    """A port by Core AI's description of it. `path`: of the model whose input it is, which needs values.

    Raises HettopError: `format`, for an input that no values can be made for.
    """
    dtype, shape = getattr(described, "dtype", None), getattr(described, "shape", None)
    if dtype is None or shape is None:
        if path is not None:
            raise HettopError(
                "format", f"{clean(path.name)}: input {clean(name)} is an image; only arrays are supported"
            )
        return Port(name, kind="image")
    if path is not None and not _is_numpy_type(str(dtype)):
        raise HettopError(
            "format", f"{clean(path.name)}: no values can be made for input {clean(name)} of type {dtype}"
        )
    return Port(name, str(dtype), tuple(axis if axis is not None and axis >= 0 else None for axis in shape))


def _is_numpy_type(name: str) -> bool:
    try:
        return np.dtype(name).kind in "fiub"
    except TypeError:
        return False


def _output_array(value: Any) -> Any:
    """As numpy's own types: half precisions that it lacks become float32."""
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    return array.astype(np.float32) if array.dtype.kind not in "fiubc" else np.array(array)


def _version() -> str:
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return ""


def load_error(path: Path, error: Exception) -> HettopError:
    """The error for the user; who wrote the asset, if that was another version: betas' assets have become invalid."""
    name, here = clean(path.name), f"{PACKAGE} {_version()}".strip()
    with contextlib.suppress(HettopError, OSError):
        about = read_metadata(path)
        if about.producer != here:
            wrote = about.producer or "an unknown version"
            hint = f"export it again with {here}, or install the version that wrote it"
            return HettopError("format", f"{here} cannot load {name}, written by {wrote}: {reason(error)}", hint)
    return HettopError("load", f"cannot load {name}: {reason(error)}", "export it again")
