"""Runs a model under ONNX Runtime's profiler in turns with plain calls, and makes a row of each layer.

For the measuring process: it holds two sessions of the model, and needs no other process to be quiet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from msgspec.structs import replace

from hettop.errors import HettopError
from hettop.models.inspection.graph import Layer, total_macs
from hettop.models.ports import Feed
from hettop.models.resolve import is_core_ml, model_file
from hettop.models.translated import translated_file
from hettop.processes.framework_errors import reason
from hettop.sources.counters import LINE_BYTES, CacheCounters, why_no_counters
from hettop.sources.engine.backend import Clock, LoadOptions, split_unit
from hettop.sources.engine.custom_ops import register_custom_ops
from hettop.studies.layers.graph import INSERTED, Node, lead_back, named_copy, read_layers, read_wiring
from hettop.studies.layers.job import LayersJob
from hettop.studies.layers.profile import RanNode, mean_of_the_middle, read_profile
from hettop.studies.layers.result import CacheUse, LayerRow, LayersResult, Roofs, total
from hettop.text import clean
from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    from hettop.models.cache import ModelCache
    from hettop.studies.layers.graph import Node

MOST_EVENTS = 500_000
"""ONNX Runtime's profiler keeps a million at most, and each takes half a kilobyte in the file."""

PROFILED = "CPU_ONLY"
"""A provider fuses what it takes, so that a profile would show it as one layer."""

SILENT = 4  # log severity: what goes wrong comes back as an exception

RoofsOf = Callable[[int], Roofs]


def measure(
    job: LayersJob,
    folder: Path,
    cache: ModelCache,
    clock: Clock,
    roofs_of: RoofsOf,
    *,
    most_events: int = MOST_EVENTS,
    count: Callable[[], CacheCounters] = CacheCounters,
) -> LayersResult:
    """Layers of the job's model, and with `job.roofs` the roofs for as many threads. Raises HettopError.

    folder: for scratch files. most_events: what a profile may hold; there are fewer runs if they would not fit. count:
    opens the counters of cache misses; an OSError says why there are none.
    """
    # Before any session: only threads that begin later are counted.
    why = why_no_counters(count)
    counters = None if why else count()
    try:
        measured = _layers(job, folder, cache, clock, most_events=most_events, counters=counters)
    finally:
        if counters is not None:
            counters.close()
    measured = replace(measured, cache_why=why or measured.cache_why)
    # Its sessions are gone by now: the roofs need the memory.
    return measured.under(roofs_of(measured.threads or 1)) if job.roofs else measured


def _layers(
    job: LayersJob,
    folder: Path,
    cache: ModelCache,
    clock: Clock,
    *,
    most_events: int,
    counters: CacheCounters | None,
) -> LayersResult:
    from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend

    name, threads = split_unit(job.unit)
    if name != PROFILED:
        raise HettopError(
            "unsupported-unit",
            f"{job.unit}: layers are profiled on ONNX Runtime's CPU engine",
            f"use {PROFILED}, or {PROFILED}@N for N threads",
        )
    backend = OnnxRuntimeBackend(clock, cache)
    loaded = backend.load(job.model, name, LoadOptions(threads, job.function, custom_ops=job.custom_ops))
    feed = backend.make_inputs(loaded.inputs, job.inputs())
    file = named_copy(_onnx_file(job, cache), folder)
    profiled = _Profiled(file, threads, folder, [port.name for port in loaded.outputs], job.custom_ops)
    runs = profiled.affordable(job.runs, job.warmup, most_events)
    plain = partial(backend.predict, feed)
    end_to_end = _in_turns(plain, partial(profiled.call, feed), job.warmup, runs, clock=clock, counters=counters)
    shapes = {port: tuple(array.shape) for port, array in feed.items()}
    layers, outputs = read_layers(file, shapes, feed)
    rows, unused = join(layers, outputs, read_profile(profiled.finish(), job.warmup), profiled.wiring)
    use = _cache_use(counters, job.warmup + runs, rows)
    fewer = "" if runs == job.runs else f"{runs} runs instead of {job.runs}: the profile holds no more"
    return LayersResult.of_layers(
        rows,
        unit=job.unit,
        threads=threads or profiled.added_threads + 1,  # the one that calls works, too
        end_to_end_ms=end_to_end,
        runs=runs,
        unused=unused,
        notes=[note for note in (fewer, clean(loaded.note)) if note],
        shapes=[f"{clean(port)} {'x'.join(map(str, shape))}" for port, shape in shapes.items()],
        cache=use,
        cache_why=None if use is not None else NEVER_COUNTED,
    )


NEVER_COUNTED = "the processor's counters were busy all the time"


def _cache_use(counters: CacheCounters | None, calls: int, rows: Sequence[LayerRow]) -> CacheUse | None:
    """Of a call; None where nothing was counted."""
    traffic = None if counters is None else counters.traffic()
    if traffic is None:
        return None
    macs = total(row.macs for row in rows)
    return CacheUse.of_counts(traffic.references / calls, traffic.misses / calls, LINE_BYTES, macs)


class _Profiled:
    """A session whose calls are profiled, set up as the engine's; it writes down the graph that it made, too."""

    def __init__(
        self, file: Path, threads: int | None, folder: Path, outputs: list[str], custom_ops: Sequence[str]
    ) -> None:
        import onnxruntime

        options = session_options(threads)
        register_custom_ops(options, file, custom_ops)
        options.enable_profiling = True
        options.profile_file_prefix = str(folder / "profile")
        optimised = folder / "optimised.onnx"
        options.optimized_model_filepath = str(optimised)
        options.add_session_config_entry("session.optimized_model_external_initializers_file_name", "weights.bin")
        before = psutil.Process().num_threads()
        try:
            self._session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise HettopError("load", f"the model cannot be profiled: {reason(error)}") from error
        self.added_threads: int = psutil.Process().num_threads() - before
        self._outputs = outputs
        self.wiring: Mapping[str, Node] = read_wiring(optimised)

    def affordable(self, runs: int, warmup: int, most_events: int) -> int:
        """As many runs as asked for, or as fit in a profile; at least one."""
        return max(1, min(runs, most_events // max(1, len(self.wiring)) - warmup))

    def call(self, feed: Feed) -> None:
        self._session.run(self._outputs, feed)

    def finish(self) -> bytes:
        """The profile."""
        return Path(self._session.end_profiling()).read_bytes()


def session_options(threads: int | None) -> Any:
    """As the engine's sessions have them: `threads` None is the framework's own number, and none of them spins."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = SILENT
    options.intra_op_num_threads = threads or 0
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options


def _in_turns(
    plain: Callable[[], None],
    profiled: Callable[[], None],
    warmup: int,
    runs: int,
    *,
    clock: Clock,
    counters: CacheCounters | None,
) -> float:
    """Calls both `warmup` and then `runs` times, one after the other; the plain one's mean time in ms.

    All plain calls are counted; the counters are read outside the time that is taken.
    """
    times = []
    for turn in range(warmup + runs):
        if counters is not None:
            counters.begin()
        begin = clock.now()
        plain()
        times.append(clock.now() - begin)
        if counters is not None:
            counters.end()
        profiled()
        if turn == warmup - 1:
            times.clear()
    return mean_of_the_middle(times) / NS_PER_MS


def _onnx_file(job: LayersJob, cache: ModelCache) -> Path:
    path = model_file(job.model, cache)
    return translated_file(path, job.function, cache) if is_core_ml(path) else path


REARRANGING = INSERTED | {"Identity", "Reshape", "Squeeze", "Unsqueeze", "QuantizeLinear", "DequantizeLinear"}
"""They have no MACs, as in the model itself; other operations that a runtime adds are unknown."""


INTEGER = "QLinear"
"""How the runtime's names of operations on quantised values begin."""


def join(
    layers: Sequence[Layer],
    outputs: Collection[str],
    ran: Sequence[RanNode],
    wiring: Mapping[str, Node],
) -> tuple[tuple[LayerRow, ...], int]:
    """Rows in the order in which they ran, and how many operations of the model did not run.

    outputs: the values that the model gives out. wiring: of the runtime's nodes by name, as far as it is known.
    """
    nodes = [Node(each.name, each.op, *_ends(wiring.get(each.name))) for each in ran]
    claims, unused = lead_back(layers, nodes)
    readers, integers = _readers(layers), _integer_sizes(layers)
    whole = math.fsum(each.ms for each in ran)
    rows = []
    for index, each in enumerate(ran):
        share = each.ms / whole if whole > 0 else 0.0
        parts = [layers[claim] for claim in claims[index]]
        if not parts:
            macs = 0 if each.op in REARRANGING else None
            rows.append(
                LayerRow(clean(each.name), clean(each.op), each.ms, share, macs, each.nbytes, ran_as=clean(each.name))
            )
            continue
        heart, op = _heart(parts, each.op)
        # What the inspection takes for computed at load moves nothing, yet here it ran: the runtime's bytes are known.
        counted = _moved(parts, outputs, readers, integers if each.op.startswith(INTEGER) else {})
        moved = each.nbytes if counted == 0 else counted
        others = tuple(part.name for part in parts if part is not heart)
        macs, ran_as = total_macs(parts), clean(each.name)
        rows.append(LayerRow(heart.name, op, each.ms, share, macs, moved, fused=others, ran_as=ran_as))
    return tuple(rows), unused


def _heart(parts: Sequence[Layer], ran_op: str) -> tuple[Layer, str]:
    """The operation that a row is called after, and its type: the one with the most MACs, or of the type that ran.

    Of operations that became one of another type (a layer normalisation of nine) the last one and that type.
    """
    working = [part for part in parts if part.macs != 0]
    if working:
        heart = max(working, key=lambda part: (part.macs is None, part.macs or 0))
        return heart, heart.op
    same = next((part for part in parts if part.op == ran_op), None)
    return (same, same.op) if same is not None else (parts[-1], clean(ran_op))


def _ends(node: Node | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return ((), ()) if node is None else (node.reads, node.writes)


def _readers(layers: Sequence[Layer]) -> dict[str, set[int]]:
    """Who reads each value, by the identity of the layer."""
    found: dict[str, set[int]] = {}
    for layer in layers:
        for value, _ in layer.reads:
            found.setdefault(value, set()).add(id(layer))
    return found


def _integer_sizes(layers: Sequence[Layer]) -> dict[str, int | None]:
    """Bytes of the integers that stand for a value: what is quantised from it, or it is dequantised from.

    An operation on integers reads and writes those, where the model's graph has float32.
    """
    found: dict[str, int | None] = {}
    for layer in layers:
        if layer.op == "QuantizeLinear" and layer.reads and layer.writes:
            found[layer.reads[0][0]] = layer.writes[0][1]
        elif layer.op == "DequantizeLinear" and layer.writes:
            found[layer.writes[0][0]] = layer.reads[0][1] if layer.reads else layer.weight_bytes
    return found


def _moved(
    parts: Sequence[Layer], outputs: Collection[str], readers: Mapping[str, set[int]], sizes: Mapping[str, int | None]
) -> int | None:
    """Bytes of weights, of values that come from outside and of values that somebody outside reads, each once.

    sizes: of values that are held in another type than the graph's.
    """
    inside = {id(part) for part in parts}
    written = {value: sizes.get(value, nbytes) for part in parts for value, nbytes in part.writes}
    read = {value: sizes.get(value, nbytes) for part in parts for value, nbytes in part.reads if value not in written}
    leaving = [
        nbytes
        for value, nbytes in written.items()
        if value in outputs or not readers.get(value) or readers[value] - inside
    ]
    return total([*read.values(), *leaving, *(part.weight_bytes for part in parts)])
