"""Times whole calls of a model on a backend that has plans, and tells its layers by the plan's estimates.

For the measuring process; what reads the plan is passed in, as a framework may take down the process that does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hettop.errors import HettopError
from hettop.format import milliseconds
from hettop.processes.call import ChildLostError
from hettop.sources.engine.backend import Backend, LoadOptions, split_unit
from hettop.studies.layers.planned import by_facts
from hettop.studies.layers.profile import mean_of_the_middle
from hettop.text import clean
from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    from hettop.models.cache import ModelCache
    from hettop.models.inspection.graph import Layer
    from hettop.sources.engine.backends import PlanReader
    from hettop.studies.layers.job import LayersJob
    from hettop.studies.layers.result import LayersResult


def estimate(job: LayersJob, backend: Backend, read_plan: PlanReader, cache: ModelCache) -> LayersResult:
    """The job's layers by the plan of its unit. Raises HettopError: as the backend does; `plan`."""
    name, threads = split_unit(job.unit)
    loaded = backend.load(job.model, name, LoadOptions(threads, job.function, hints=job.hints))
    if loaded.compiled is None:
        raise HettopError("plan", f"{job.unit}: the framework has no plan of this model", "see hettop doctor")
    feed = backend.make_inputs(loaded.inputs, job.inputs())
    times = []
    for _ in range(job.warmup + job.runs):
        begin = backend.clock.now()
        backend.predict(feed)
        times.append(backend.clock.now() - begin)
    mean_ms = mean_of_the_middle(times[job.warmup :]) / NS_PER_MS
    try:
        facts = read_plan(loaded.compiled, job.unit, job.function)
    except ChildLostError as error:
        told = f"{job.unit} ran the model in {milliseconds(mean_ms)} ms, but there is no plan to share that out by"
        raise HettopError("plan", f"{told}: {error.message}", error.hint) from error
    measured = by_facts(job.unit, facts, _work(job, cache), mean_ms, job.runs)
    shapes = [
        f"{clean(port)} {'x'.join(map(str, array.shape))}" for port, array in feed.items() if hasattr(array, "shape")
    ]
    notes = [*measured.notes, clean(loaded.note)] if loaded.note else measured.notes
    return replace(measured, shapes=shapes, notes=notes)


def _work(job: LayersJob, cache: ModelCache) -> Mapping[str, Layer]:
    """The program's layers by name, as far as its file tells; without them the rows have no MACs."""
    from hettop.models.inspection.mil_graph import read_program
    from hettop.models.mil.package import open_package
    from hettop.models.resolve import core_ml_file

    try:
        package = open_package(core_ml_file(job.model, cache))
        layers = read_program(package, job.function, {}).layers if package.kind == "mlprogram" else ()
    except HettopError:
        return {}
    return {layer.name: layer for layer in layers}
