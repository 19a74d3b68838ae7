"""Runs ONNX models on ONNX Runtime's CPU engine and execution providers, ML Programs by their translation.

onnxruntime is imported when a model is loaded.
"""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil

from hettop.compute_units import CORE_ML_UNITS
from hettop.errors import HettopError
from hettop.models.cache import ModelCache, default_cache
from hettop.models.inputs import make_inputs
from hettop.models.package_ports import described
from hettop.models.ports import Feed, InputOptions, Port
from hettop.models.resolve import ON_CPU, is_core_ml, model_file, translated_note
from hettop.models.translated import NOTES_KEY, translated_file
from hettop.processes.framework_errors import reason
from hettop.processes.scratch import scratch_folder
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions, split_unit
from hettop.sources.engine.backends import onnx_core_ml
from hettop.sources.engine.backends.onnx_core_ml import FATAL
from hettop.sources.engine.coreml.availability import (
    Host,
    load_limit,
    this_host,
    units_on_request,
    why_not,
)
from hettop.sources.engine.custom_ops import EXTENSIONS_DOMAIN, INSTALL_EXTENSIONS, register_custom_ops
from hettop.sources.engine.providers.devices import (
    assigned_nodes,
    check_strict,
    left_note,
    placed_on,
    select_device,
)
from hettop.sources.engine.providers.known import Provider, provider_of
from hettop.sources.engine.providers.probe import Found, find_providers, provider_units
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.models.mil.ports import Port as Described

UNIT = "CPU_ONLY"
PROVIDER = "CPUExecutionProvider"
PLACED = f"CPU (ONNX Runtime {PROVIDER})"
NOT_HERE = "ONNX Runtime has only its CPU engine here; needs Core ML on a Mac"

SCRATCH = "hettop-onnx-"
"""How the names of the scratch folders of engine processes begin."""

STATE_NOTE = "its state is created once when loading and kept between calls"
FRESH_STATE_NOTE = "its state is created before each call, outside the measured time"

AFTER_CALL = "/after"
"""How a translation names the output that holds a state after a call."""

DTYPES = {
    "float": "float32",
    "double": "float64",
    "float16": "float16",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "bool": "bool",
    "string": "string",
}
"""ONNX Runtime's names of element types, and numpy's."""


def thread_units(cores: int) -> list[str]:
    """`CPU_ONLY` and its thread variants: powers of two up to the number of cores."""
    return [UNIT, *(f"{UNIT}@{1 << power}" for power in range(max(cores, 1).bit_length()))]


def _import_runtime() -> Any:
    return importlib.import_module("onnxruntime")


class OnnxRuntimeBackend:
    """One session of ONNX Runtime. `CPU_ONLY` has the framework's own number of threads, `CPU_ONLY@N` has N.

    On a Mac the units of Core ML are ONNX Runtime's Core ML provider; those of other execution providers are named
    `OV:CPU`. What a provider does not take stays on the CPU, which is said.
    find_runtime: imports onnxruntime, in the engine process. find_providers: as the function of that name.
    """

    name = "onnxruntime"
    simulated = False
    has_native = False

    def __init__(
        self,
        clock: Clock,
        cache: ModelCache | None = None,
        host: Host | None = None,
        find_runtime: Callable[[], Any] = _import_runtime,
        find_providers: Callable[[], Sequence[Found]] = find_providers,
    ) -> None:
        self.clock = clock
        self._cache = default_cache() if cache is None else cache
        self._host = this_host() if host is None else host
        self._find_runtime = find_runtime
        self._find_providers = find_providers
        self._run: Callable[[list[str], Feed], list[Any]] = _nothing_loaded
        self._inputs: tuple[Port, ...] = ()
        self._outputs: list[str] = []
        self._last: list[Any] = []
        self._session: Any = None
        self._runtime: Any = None
        self._pairs: dict[str, str] = {}
        self._state: dict[str, Any] = {}
        self._states: tuple[Port, ...] = ()
        """Inputs that carry the state of a translated model, which Core ML would carry itself."""
        self._kept = contextlib.ExitStack()  # until this process ends

    def units(self) -> dict[str, str | None]:
        """Without importing ONNX Runtime: Core ML's by the system alone, those of providers as they were listed."""
        return self._core_ml_units() | provider_units(self._find_providers())

    def _core_ml_units(self) -> dict[str, str | None]:
        """By the system: the package for macOS has the Core ML provider."""
        if not self._host.is_mac:
            return {unit: None if unit == UNIT else NOT_HERE for unit in CORE_ML_UNITS}
        return {unit: why_not(unit, self._host) for unit in CORE_ML_UNITS}

    def units_on_request(self) -> dict[str, str]:
        return units_on_request(self._host)

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        """Loads a file, or a built network by its name; only making the session is timed.

        What has to be built or translated first is, and kept in the cache. Raises HettopError: `unsupported-unit`,
        `missing`, `format`, `input` (an unknown function), `unsupported-op`, `load`, `io`, `usage`.
        """
        threads = self._threads(unit, options)
        path = model_file(model, self._cache)
        source = _source(path, options.function, self._cache, fresh_state=options.fresh_state)
        source = replace(source, custom_ops=options.custom_ops)
        runtime = self._runtime = self._find_runtime()
        runtime.set_default_logger_severity(FATAL)  # for what belongs to no session, such as its threads
        self._run = _nothing_loaded
        provider = provider_of(unit)
        if provider is not None:
            return self._load_on_provider(runtime, path, source, unit, provider, strict=options.strict)
        if split_unit(unit)[0] == UNIT:
            return self._load_on_cpu(runtime, path, source, unit, threads)
        return self._load_on_core_ml(runtime, path, source, unit, strict=options.strict)

    def _load_on_cpu(self, runtime: Any, path: Path, source: _Source, unit: str, threads: int | None) -> Loaded:
        own_process = psutil.Process()
        threads_before = own_process.num_threads()
        session, load_ns = self._open(runtime, path, source, _session_options(runtime, threads), [PROVIDER])
        # The calling thread works, too.
        pool = own_process.num_threads() - threads_before + 1
        outputs = self._take(runtime, session, path, source)
        placed = PLACED if session.get_providers() == [PROVIDER] else None
        notes = (*source.notes(session, ON_CPU), "" if threads else _default_threads(pool))
        return Loaded(unit, placed, load_ns, self._inputs, outputs, "; ".join(filter(None, notes)))

    def _load_on_provider(
        self, runtime: Any, path: Path, source: _Source, unit: str, provider: Provider, *, strict: bool
    ) -> Loaded:
        """Loads the model for one device of a provider, whatever was remembered of it, and counts the nodes it got."""
        options = _session_options(runtime, None)
        device = select_device(runtime, provider, unit, options)
        try:
            session, load_ns = self._open(runtime, path, source, options, None)
        except HettopError as error:
            hint = error.hint or f"{provider.name} cannot run this model; use {UNIT}"
            raise HettopError(error.kind, error.message, hint) from error
        outputs = self._take(runtime, session, path, source)
        assigned = assigned_nodes(session, provider.ep)
        if strict:
            check_strict(
                provider.name, None if assigned is None else assigned.taken, 0 if assigned is None else assigned.all
            )
        version = clean(str(device.ep_metadata.get("version", "")), 40)
        named = f"{provider.name} {version}" if version else ""
        notes = (*source.notes(session), named, left_note(assigned))
        return Loaded(
            unit,
            placed_on(provider, unit, assigned),
            load_ns,
            self._inputs,
            outputs,
            "; ".join(filter(None, notes)),
            provider_nodes=None if assigned is None else assigned.by_provider,
        )

    def _load_on_core_ml(self, runtime: Any, path: Path, source: _Source, unit: str, *, strict: bool) -> Loaded:
        if onnx_core_ml.PROVIDER not in runtime.get_available_providers():
            raise HettopError(
                "unsupported-unit",
                f"{unit}: this ONNX Runtime has no Core ML provider",
                f"pip install --force-reinstall onnxruntime, or use {UNIT}",
            )
        onnx_core_ml.check_units_option(runtime, unit)
        folder = onnx_core_ml.compiled_folder(source.file, unit, runtime.__version__, self._cache)
        if folder is None:  # not the system's temporary one: what is there stays if this process is killed
            folder = Path(self._kept.enter_context(scratch_folder(None, SCRATCH)))
        options = _session_options(runtime, None)
        with scratch_folder(None, SCRATCH) as scratch, load_limit(unit, self._host):
            counting = onnx_core_ml.count_by(runtime, options, Path(scratch))
            session, load_ns = self._open(runtime, path, source, options, onnx_core_ml.providers(unit, folder))
            outputs = self._take(runtime, session, path, source)
            counted = counting(session, lambda: make_inputs(self._inputs, InputOptions()))
        if strict:
            counts = {} if counted.share is None else counted.share.counts
            check_strict("Core ML", counts.get(onnx_core_ml.PROVIDER, 0) if counts else None, sum(counts.values()))
        placed = onnx_core_ml.placed(session.get_providers(), counted.share)
        notes = (*source.notes(session), onnx_core_ml.permission(unit), counted.note)
        return Loaded(unit, placed, load_ns, self._inputs, outputs, "; ".join(filter(None, notes)))

    def _open(
        self, runtime: Any, path: Path, source: _Source, options: Any, providers: Sequence[Any] | None
    ) -> tuple[Any, int]:
        """The session, and how long making it took, in ns. providers: None if the options name a device."""
        register_custom_ops(options, Path(source.file), source.custom_ops)
        start = self.clock.now()
        try:
            # Without its fallback: a provider that fails is to fail, not to become another one.
            session = runtime.InferenceSession(source.file, options, providers=providers, enable_fallback=0)
        except Exception as error:
            raise load_error(path, error) from error
        return session, self.clock.now() - start

    def _take(self, runtime: Any, session: Any, path: Path, source: _Source) -> tuple[Port, ...]:
        """Runs this session from now on; returns its outputs."""
        self._inputs = tuple(source.described(_input_port(node, path)) for node in session.get_inputs())
        outputs = tuple(_port(node) for node in session.get_outputs())
        self._outputs, self._session = [port.name for port in outputs], session
        as_they_are = any(port.dtype == NO_NUMPY_TYPE for port in outputs)
        self._run = _OrtValues(runtime, session).run if as_they_are else session.run
        names = set(self._outputs)
        self._states = tuple(
            port for port in self._inputs if port.kind == "state" and f"{port.name}{AFTER_CALL}" in names
        )
        if self._states:
            self._run = self._run_on
            self.renew_state()
        return outputs

    # -- state --------------------------------------------------------------------------------------------------

    def renew_state(self) -> None:
        """Zeros, for a translated model that has a state; what the calls before left is forgotten."""
        if self._states:
            self.carry({port.name: f"{port.name}{AFTER_CALL}" for port in self._states})
            self.begin_state(make_inputs(self._states, InputOptions()))

    def carry(self, pairs: Mapping[str, str]) -> None:
        """Feed these inputs, from the next call on, what these outputs gave in the call before."""
        self._pairs = dict(pairs)

    def begin_state(self, state: Feed) -> None:
        """What the next call is fed."""
        self._state = {name: self._value(array) for name, array in state.items()}

    def advance(self, feed: Feed) -> Mapping[str, Any]:
        """One call with the state that it carries, which stays the framework's own value and is not copied."""
        found = self._step(feed)
        kept = set(self._pairs.values())
        return {name: value.numpy() for name, value in found.items() if name not in kept}

    def _step(self, feed: Feed) -> dict[str, Any]:
        fed = {name: self._value(array) for name, array in feed.items() if name not in self._pairs}
        values = self._session.run_with_ort_values(self._outputs, {**fed, **self._state})
        found = dict(zip(self._outputs, values, strict=True))
        self._state = {name: found[output] for name, output in self._pairs.items()}
        return found

    def _run_on(self, _outputs: list[str], feed: Feed) -> list[Any]:
        """As `run` of a session, with the state that it carries in place of that in the feed."""
        return [value.numpy() for value in self._step(feed).values()]

    def _value(self, array: Any) -> Any:
        return self._runtime.OrtValue.ortvalue_from_numpy(array)

    def _threads(self, unit: str, options: LoadOptions) -> int | None:
        """The number of threads asked for, None for the framework's own; the unit is one that can run here."""
        try:
            name, threads = split_unit(unit)
        except ValueError as error:
            raise HettopError("unsupported-unit", clean(str(error))) from error
        threads = options.threads if threads is None else threads
        provider = provider_of(name)
        why = None if provider is not None else self._core_ml_units().get(name, NOT_HERE)
        if why is not None:
            raise HettopError("unsupported-unit", f"{clean(unit)}: {why}", f"use {UNIT}, or {UNIT}@N for N threads")
        if threads is not None and name != UNIT:
            raise HettopError("unsupported-unit", f"{clean(unit)}: only {UNIT} has a number of threads", f"use {name}")
        return threads

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        return make_inputs(ports, options)

    def predict(self, feed: Feed) -> None:
        """One run, outputs included. Raises HettopError: `predict`."""
        try:
            self._last = self._run(self._outputs, feed)
        except HettopError:
            raise
        except Exception as error:
            takes = ", ".join(port.describe() for port in self._inputs)
            raise HettopError(
                "predict",
                f"cannot run the model: {reason(error)}",
                clean(f"set its inputs with --shape or --input; they are {takes}"),
            ) from error

    def outputs(self) -> Mapping[str, Any]:
        return {
            name: value if isinstance(value, np.ndarray) or not hasattr(value, "numpy") else value.numpy()
            for name, value in zip(self._outputs, self._last, strict=False)
            if not _is_bfloat16(value)
        }

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        pass


NO_NUMPY_TYPE = "tensor(bfloat16)"


def _is_bfloat16(value: Any) -> bool:
    return hasattr(value, "data_type") and value.data_type() == NO_NUMPY_TYPE


class _OrtValues:
    """Runs a session whose outputs numpy has no type for, and leaves them as ONNX Runtime made them.

    Inputs are handed over once: those of one feed stay the same.
    """

    def __init__(self, runtime: Any, session: Any) -> None:
        self._runtime = runtime
        self._session = session
        self._feed: Feed | None = None
        self._values: dict[str, Any] = {}

    def run(self, outputs: list[str], feed: Feed) -> list[Any]:
        if feed is not self._feed:
            make = self._runtime.OrtValue.ortvalue_from_numpy
            self._feed, self._values = feed, {name: make(array) for name, array in feed.items()}
        found: list[Any] = self._session.run_with_ort_values(outputs, self._values)
        return found


@dataclass(frozen=True, slots=True)
class _Source:
    """The ONNX file to load, and what is known of its inputs beyond what it says itself.

    translated: what it was translated from, in words; empty for an ONNX model.
    """

    file: Path
    ports: Mapping[str, Described] = field(default_factory=dict)
    translated: str = ""
    fresh_state: bool = False
    custom_ops: Sequence[str] = ()

    def described(self, port: Port) -> Port:
        found = self.ports.get(port.name)
        return port if found is None else described(port, found)

    def notes(self, session: Any, where: str = "") -> tuple[str, ...]:
        """What is to be known of it; `where` is said of a translation."""
        if not self.translated:
            return ()
        states = any(port.kind == "state" for port in self.ports.values())
        remarks = session.get_modelmeta().custom_metadata_map.get(NOTES_KEY, "").splitlines()
        return (
            f"{self.translated}{where}",
            *([FRESH_STATE_NOTE if self.fresh_state else STATE_NOTE] if states else []),
            *remarks,
        )


def _source(path: Path, function: str | None, cache: ModelCache, *, fresh_state: bool) -> _Source:
    if not is_core_ml(path):
        if function is not None:
            raise HettopError(
                "input", f"{clean(path.name)} has no functions: it is an ONNX model", "leave out --function"
            )
        return _Source(path)
    from hettop.models.mil.package import open_package

    ports = open_package(path).function(function)
    file = translated_file(path, function, cache)
    return _Source(
        file, {port.name: port for port in (*ports.inputs, *ports.states)}, translated_note(path), fresh_state
    )


def _nothing_loaded(_outputs: list[str], _feed: Feed) -> list[Any]:
    raise HettopError("predict", "no model is loaded")


def _default_threads(count: int) -> str:
    return f"ONNX Runtime default: {count} thread{'' if count == 1 else 's'}" if count > 0 else ""


def _session_options(runtime: Any, threads: int | None) -> Any:
    options = runtime.SessionOptions()
    options.log_severity_level = FATAL
    options.intra_op_num_threads = threads or 0  # 0: its own choice
    # A spinning pool takes the cores from whatever else runs, and loses its own turn later.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options


def _port(node: Any) -> Port:
    """The port of a tensor, with numpy's name of its type; one of another type has none and keeps its own."""
    found = re.fullmatch(r"tensor\((\w+)\)", node.type)
    if found is None or found[1] not in DTYPES:
        return Port(node.name, clean(node.type), (), kind="other")
    # Some exporters write -1 for an axis of any length.
    shape = tuple(None if isinstance(axis, int) and axis < 0 else axis for axis in node.shape)
    return Port(node.name, DTYPES[found[1]], shape)


def _input_port(node: Any, path: Path) -> Port:
    port = _port(node)
    if port.kind == "other":
        raise HettopError("format", f"{clean(path.name)}: input {clean(port.name)} is a {port.dtype}, not an array")
    return port


UNSUPPORTED_OP = (
    r"No Op registered for (\S+)",
    r"(\S+?)\(-?\d+\) is not a registered function/op",
    r"Could not find an implementation for (\S+?)\(",
)
OWN_DOMAINS = ("ai.onnx", "com.microsoft")
CUSTOM_OPS = "pass the library with this operator: --custom-ops LIB"
MISSING_WEIGHTS = (
    r'does not exist: "([^"]+)"',
    r'filesystem error: .*No such file or directory \["?([^"\]]+)',  # ONNX Runtime 1.21
)
LONGEST_PATH = 1000
NOT_A_MODEL = frozenset({"InvalidProtobuf", "InvalidGraph", "InvalidArgument", "NoModel"})


def _operator_hint(operator: str) -> str:
    """What to do about an operator without an implementation, by the domain before its name."""
    if operator.startswith(EXTENSIONS_DOMAIN):
        return INSTALL_EXTENSIONS
    return CUSTOM_OPS if ":" in operator and not operator.startswith(OWN_DOMAINS) else ""


def load_error(path: Path, error: Exception) -> HettopError:
    """The error for the user, by the runtime's exception class and, where necessary, its text."""
    text, name, kind = str(error), clean(path.name), type(error).__name__
    for pattern in UNSUPPORTED_OP:
        if found := re.search(pattern, text):
            hint = _operator_hint(found[1])
            return HettopError(
                "unsupported-op", f"{name}: ONNX Runtime cannot run the operator {clean(found[1])}", hint
            )
    file = next(filter(None, (re.search(pattern, text) for pattern in MISSING_WEIGHTS)), None)
    if file is not None or "external data" in text.lower():
        what = clean(file[1], LONGEST_PATH) if file else reason(error)
        hint = "the model stores them in a separate file: copy that file to this path"
        return HettopError("missing", f"{name}: its weights are missing: {what}", hint)
    if "Unsupported model IR version" in text or "released onnx opset" in text:
        hint = "update onnxruntime, or export the model for an older opset"
        return HettopError("format", f"{name} is too new: {reason(error)}", hint)
    if kind in NOT_A_MODEL:
        return HettopError("format", f"not a valid ONNX model: {name}: {reason(error)}", "copy or export it again")
    return HettopError("load", f"cannot load {name}: {reason(error)}")
