"""Runs ONNX models on ONNX Runtime's CPU engine, and ML Programs by their translation to ONNX.

Knows nothing of timing beyond the load; onnxruntime is imported when a model is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from hettop.engine.backend import CORE_ML_UNITS, Clock, Feed, InputOptions, Loaded, LoadOptions, Port, split_unit
from hettop.engine.inputs import make_inputs
from hettop.engine.package_ports import described
from hettop.errors import HettopError
from hettop.models.cache import ModelCache, default_cache
from hettop.models.resolve import TRANSLATED_NOTE, is_core_ml, model_file
from hettop.models.translated import NOTES_KEY, translated_file
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.mil.ports import Port as Described

UNIT = "CPU_ONLY"
PROVIDER = "CPUExecutionProvider"
PLACED = f"CPU (ONNX Runtime {PROVIDER})"
NOT_HERE = "ONNX Runtime has only its CPU engine here; needs Core ML on a Mac"

STATE_NOTE = "its state is zeros at each call"

FATAL = 4
"""Log severity: what goes wrong comes back as an exception; nothing is to be printed as well."""

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

UNSUPPORTED_OP = (
    r"No Op registered for (\S+)",
    r"(\S+?)\(-?\d+\) is not a registered function/op",
    r"Could not find an implementation for (\S+?)\(",
)
NOT_A_MODEL = frozenset({"InvalidProtobuf", "InvalidGraph", "InvalidArgument", "NoModel"})


def thread_units(cores: int) -> list[str]:
    """`CPU_ONLY` and its thread variants: powers of two up to the number of cores."""
    return [UNIT, *(f"{UNIT}@{1 << power}" for power in range(max(cores, 1).bit_length()))]


class OnnxRuntimeBackend:
    """One session of ONNX Runtime. `CPU_ONLY` has the framework's own number of threads, `CPU_ONLY@N` has N."""

    name = "onnxruntime"
    simulated = False
    has_native = False

    def __init__(self, clock: Clock, cache: ModelCache | None = None) -> None:
        self.clock = clock
        self._cache = default_cache() if cache is None else cache
        self._run: Callable[[list[str], Feed], list[Any]] = _nothing_loaded
        self._inputs: tuple[Port, ...] = ()
        self._outputs: list[str] = []
        self._last: list[Any] = []

    def units(self) -> dict[str, str | None]:
        return {unit: None if unit == UNIT else NOT_HERE for unit in CORE_ML_UNITS}

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        """Loads a file, or the default model by its name; only making the session is timed.

        What has to be built or translated first is, and kept in the cache. Raises HettopError: `unsupported-unit`,
        `missing`, `format`, `input` (an unknown function), `unsupported-op`, `load`, `io`, `usage`.
        """
        threads = _threads(unit, options)
        path = model_file(model, self._cache)
        source = _source(path, options.function, self._cache)
        import onnxruntime

        onnxruntime.set_default_logger_severity(FATAL)  # for what belongs to no session, such as its threads
        self._run = _nothing_loaded
        own_process = psutil.Process()
        threads_before, start = own_process.num_threads(), self.clock.now()
        try:
            session = onnxruntime.InferenceSession(source.file, _session_options(threads), providers=[PROVIDER])
        except Exception as error:
            raise _load_error(path, error) from error
        load_ns = self.clock.now() - start
        # The calling thread works, too.
        pool = own_process.num_threads() - threads_before + 1
        self._inputs = tuple(source.described(_input_port(node, path)) for node in session.get_inputs())
        outputs = tuple(_port(node) for node in session.get_outputs())
        self._run, self._outputs = session.run, [port.name for port in outputs]
        placed = PLACED if session.get_providers() == [PROVIDER] else None
        notes = (*source.notes(session), "" if threads else _default_threads(pool))
        return Loaded(unit, placed, load_ns, self._inputs, outputs, "; ".join(filter(None, notes)))

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
                f"the model refuses to run: {_reason(error)}",
                clean(f"set its inputs with --shape or --input; it takes {takes}"),
            ) from error

    def outputs(self) -> Mapping[str, Any]:
        return dict(zip(self._outputs, self._last, strict=False))

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        pass


@dataclass(frozen=True, slots=True)
class _Source:
    """The ONNX file to load, and what is known of its inputs beyond what it says itself."""

    file: Path
    ports: Mapping[str, Described] = field(default_factory=dict)
    translated: bool = False

    def described(self, port: Port) -> Port:
        found = self.ports.get(port.name)
        return port if found is None else described(port, found)

    def notes(self, session: Any) -> tuple[str, ...]:
        if not self.translated:
            return ()
        states = any(port.kind == "state" for port in self.ports.values())
        remarks = session.get_modelmeta().custom_metadata_map.get(NOTES_KEY, "").splitlines()
        return (TRANSLATED_NOTE, *([STATE_NOTE] if states else []), *remarks)


def _source(path: Path, function: str | None, cache: ModelCache) -> _Source:
    if not is_core_ml(path):
        if function is not None:
            raise HettopError(
                "input", f"{clean(path.name)} has no functions: it is an ONNX model", "leave out --function"
            )
        return _Source(path)
    from hettop.mil.package import open_package

    ports = open_package(path).function(function)
    file = translated_file(path, function, cache)
    return _Source(file, {port.name: port for port in (*ports.inputs, *ports.states)}, translated=True)


def _nothing_loaded(_outputs: list[str], _feed: Feed) -> list[Any]:
    raise HettopError("predict", "no model is loaded")


def _threads(unit: str, options: LoadOptions) -> int | None:
    """The number of threads asked for, None for the framework's own."""
    try:
        name, threads = split_unit(unit)
    except ValueError as error:
        raise HettopError("unsupported-unit", clean(str(error))) from error
    if name != UNIT:
        raise HettopError("unsupported-unit", f"{clean(unit)}: {NOT_HERE}", f"use {UNIT}, or {UNIT}@N for N threads")
    return options.threads if threads is None else threads


def _default_threads(count: int) -> str:
    return f"ONNX Runtime default: {count} thread{'' if count == 1 else 's'}" if count > 0 else ""


def _session_options(threads: int | None) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
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


def _load_error(path: Path, error: Exception) -> HettopError:
    """The error in the user's words, told apart by the runtime's class of exception and, where it must be, its text."""
    text, name, kind = str(error), clean(path.name), type(error).__name__
    for pattern in UNSUPPORTED_OP:
        if found := re.search(pattern, text):
            return HettopError("unsupported-op", f"{name}: ONNX Runtime cannot run the operator {clean(found[1])}")
    if "external data" in text.lower():
        file = re.search(r'does not exist: "(?:[^"]*/)?([^"/]+)"', text)
        what = clean(file[1]) if file else _reason(error)
        hint = "the model keeps them in a file beside it: copy that, too"
        return HettopError("missing", f"{name}: its weights are missing: {what}", hint)
    if "Unsupported model IR version" in text or "released onnx opset" in text:
        hint = "update onnxruntime, or export the model for an older opset"
        return HettopError("format", f"{name} is too new: {_reason(error)}", hint)
    if kind in NOT_A_MODEL:
        return HettopError("format", f"{name} is no valid ONNX model: {_reason(error)}", "copy or export it again")
    return HettopError("load", f"{name} cannot be loaded: {_reason(error)}")


def _reason(error: Exception) -> str:
    """The first line of a message without the runtime's codes, source files and function signatures.

    Of an error that went through nested graphs, the innermost node's.
    """
    text = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : (Load model from .*? failed:)?", "", str(error))
    text = re.sub(r"\S+\.(?:h|cc|cpp):\d+ (?:[^()]*\([^()]*\) )?", "", text)
    *_, innermost = text.split("while running ")
    if found := re.match(r"(\S+) node\. Name:'(.*?)' Status Message: ", innermost):
        text = f"node {found[2]} ({found[1]}): {innermost[found.end() :]}"
    return clean((text.strip().splitlines() or [type(error).__name__])[0])
