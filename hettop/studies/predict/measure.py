"""Measures networks one after another, each without load and under every load in turn."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from hettop.errors import HettopError
from hettop.events import NO_LOAD
from hettop.models.networks.catalogue import network, parse_variant
from hettop.processes.child_process import environment_for_child
from hettop.processes.reaper import Reaper
from hettop.sources.load.parts import LoadPart, condition_of, parse_load
from hettop.sources.load.source import CompetingLoad, ProcessLoad, await_load, failure_of, nobody_to_tell, unavailable
from hettop.studies.layers.job import LayersJob, measure_in_child
from hettop.studies.layers.result import LayersResult
from hettop.studies.predict.estimators import Work
from hettop.studies.predict.findings import Measured

Measure = Callable[[LayersJob], LayersResult]
Say = Callable[[str, float], None]
"""What is going on, and the share of all that is done, 0..1."""


def chosen_loads(text: str) -> list[tuple[LoadPart, ...]]:
    """The loads of a comma list, each once, none first: predictors are fitted to that.

    Raises HettopError: `usage`, `load-unavailable`.
    """
    loads = dict.fromkeys([(), *(parse_load(part.strip()) for part in text.split(","))])
    for parts in loads:
        if (why := unavailable(parts)) is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
    return list(loads)


def measure_networks(
    networks: Sequence[str],
    loads: Sequence[tuple[LoadPart, ...]],
    job: LayersJob,
    say: Say,
    measure: Measure = measure_in_child,
) -> tuple[list[Measured], bool]:
    """Each network under each load, and whether it was interrupted: then without the last network.

    job: with the unit and the number of calls. Raises KeyboardInterrupt where nothing was measured before it.
    """
    found: list[Measured] = []
    reaper = Reaper()
    competing = ProcessLoad(reaper, nobody_to_tell, environment_for_child(os.environ))
    try:
        for place, name in enumerate(networks):
            say(name, place / len(networks))
            found.append(measure_network(name, loads, job, competing, measure))
    except KeyboardInterrupt:
        if not found:
            raise
        return found, True
    finally:
        competing.close()
        reaper.close()
    return found, False


def measure_network(
    name: str, loads: Sequence[tuple[LoadPart, ...]], job: LayersJob, competing: CompetingLoad, measure: Measure
) -> Measured:
    """One network under each load; a load or a measurement that fails is kept with its reason."""
    layers: list[Work] = []
    ms: dict[str, float] = {}
    failed: dict[str, str] = {}
    for parts in loads:
        load = condition_of(parts)
        try:
            competing.set(parts)
            why = await_load(competing)
            result = None if why else measure(_job_of(job, name))
            why = why or failure_of(competing)
        except HettopError as error:
            result, why = None, error.message
        if result is None or why:
            failed[load] = why
            continue
        ms[load] = result.end_to_end_ms
        if load == NO_LOAD:
            layers = [Work(row.op, row.macs or 0, row.nbytes or 0, row.ms) for row in result.layers]
    competing.set(())
    return Measured(name, network(parse_variant(name)).macs, layers, ms, failed)


def _job_of(job: LayersJob, name: str) -> LayersJob:
    return LayersJob(model=name, unit=job.unit, warmup=job.warmup, runs=job.runs, roofs=False)
