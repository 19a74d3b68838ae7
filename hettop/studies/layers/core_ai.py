"""Times of a Core AI model's operations by Core AI's own profiler, in turns with plain calls."""

from __future__ import annotations

import math

from hettop.errors import HettopError
from hettop.sources.engine.backend import Clock, LoadOptions
from hettop.sources.engine.backends.coreai import CoreAiBackend
from hettop.studies.layers.job import LayersJob
from hettop.studies.layers.profile import mean_of_the_middle
from hettop.studies.layers.result import LayerRow, LayersResult
from hettop.text import clean
from hettop.units import NS_PER_MS

WORK_NOTE = "MACs and bytes are unknown: Core AI reports no shapes of operations"


def measure_core_ai(job: LayersJob, backend: CoreAiBackend, clock: Clock) -> LayersResult:
    """A row for each operation of the job's model. Raises HettopError: as the backend does; `plan` if none is reported.

    A model with a state is refused: the profiled calls would have none.
    """
    loaded = backend.load(job.model, job.unit, LoadOptions(None, job.function))
    if backend.has_state:
        raise HettopError("plan", "models with a state cannot be profiled", "use hettop bench")
    feed = backend.make_inputs(loaded.inputs, job.inputs())
    profiler = backend.profiler(feed)
    times: list[int] = []
    ran: dict[tuple[int, str], list[int]] = {}
    for turn in range(job.warmup + job.runs):
        begin = clock.now()
        backend.predict(feed)
        took, operations = clock.now() - begin, profiler.call()
        if turn >= job.warmup:
            times.append(took)
            for each in operations:
                ran.setdefault((each.number, each.op), []).append(each.ns)
    if not ran:
        raise HettopError("plan", f"{job.unit}: Core AI reported no times of operations")
    means = {key: mean_of_the_middle(values) * len(values) / job.runs / NS_PER_MS for key, values in ran.items()}
    whole = math.fsum(means.values())
    rows = [
        LayerRow(clean(f"{op} {number}"), clean(op), ms, ms / whole if whole > 0 else 0.0)
        for (number, op), ms in means.items()
    ]
    shapes = [f"{clean(port)} {'x'.join(map(str, array.shape))}" for port, array in feed.items()]
    return LayersResult.of_layers(
        rows,
        unit=job.unit,
        end_to_end_ms=mean_of_the_middle(times) / NS_PER_MS,
        runs=job.runs,
        notes=[WORK_NOTE, clean(loaded.note)],
        shapes=shapes,
    )
