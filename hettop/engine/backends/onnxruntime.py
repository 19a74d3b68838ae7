"""Runs ONNX models on ONNX Runtime's CPU engine.

Knows nothing of timing beyond the load; onnxruntime is imported when a model is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from hettop.engine.backend import CORE_ML_UNITS, Clock, Feed, InputOptions, Loaded, LoadOptions, Port, split_unit
from hettop.engine.inputs import make_inputs
from hettop.errors import HettopError
from hettop.models.cache import ModelCache, default_cache
from hettop.models.resolve import model_file
from hettop.text import clean

UNIT = "CPU_ONLY"
PROVIDER = "CPUExecutionProvider"
PLACED = f"CPU (ONNX Runtime {PROVIDER})"
NOT_HERE = "ONNX Runtime has only its CPU engine here; needs Core ML on a Mac"

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
        self._run: Callable[[list[str], Feed], object] = _nothing_loaded
        self._inputs: tuple[Port, ...] = ()
        self._outputs: list[str] = []

    def units(self) -> dict[str, str | None]:
        return {unit: None if unit == UNIT else NOT_HERE for unit in CORE_ML_UNITS}

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        """Loads a file, or the default model by its name, building it if need be; only making the session is timed.

        Raises HettopError: `unsupported-unit`, `missing`, `format`, `unsupported-op`, `load`, `io`, `usage`.
        """
        threads = _threads(unit, options)
        path = model_file(model, self._cache)
        import onnxruntime

        onnxruntime.set_default_logger_severity(FATAL)  # for what belongs to no session, such as its threads
        self._run = _nothing_loaded
        own_process = psutil.Process()
        threads_before, start = own_process.num_threads(), self.clock.now()
        try:
            session = onnxruntime.InferenceSession(path, _session_options(threads), providers=[PROVIDER])
        except Exception as error:
            raise _load_error(path, error) from error
        load_ns = self.clock.now() - start
        # The calling thread works, too.
        pool = own_process.num_threads() - threads_before + 1
        self._inputs = tuple(_input_port(node, path) for node in session.get_inputs())
        outputs = tuple(_port(node) for node in session.get_outputs())
        self._run, self._outputs = session.run, [port.name for port in outputs]
        placed = PLACED if session.get_providers() == [PROVIDER] else None
        return Loaded(unit, placed, load_ns, self._inputs, outputs, "" if threads else _default_threads(pool))

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        return make_inputs(ports, options)

    def predict(self, feed: Feed) -> None:
        """One run, outputs included. Raises HettopError: `predict`."""
        try:
            self._run(self._outputs, feed)
        except HettopError:
            raise
        except Exception as error:
            takes = ", ".join(port.describe() for port in self._inputs)
            raise HettopError(
                "predict",
                f"the model refuses to run: {_reason(error)}",
                clean(f"set its inputs with --shape or --input; it takes {takes}"),
            ) from error

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        pass


def _nothing_loaded(_outputs: list[str], _feed: Feed) -> None:
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
    return Port(node.name, DTYPES[found[1]], tuple(node.shape))


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
