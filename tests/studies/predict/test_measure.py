"""Networks under loads, with a load and a measurement that a test controls."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.sources.load.parts import LoadPart, parse_load
from hettop.studies.layers.job import LayersJob
from hettop.studies.layers.result import LayerRow, LayersResult
from hettop.studies.predict.estimators import Work
from hettop.studies.predict.measure import Measure, chosen_loads, measure_network

JOB = LayersJob(model="", unit="CPU_ONLY@1", warmup=1, runs=2)
LOADS = [(), parse_load("cpu:1"), parse_load("memory:1")]


class PlannedLoad:
    """A load that confirms at once, or fails as planned."""

    def __init__(self, fails: str = "") -> None:
        self.parts: tuple[LoadPart, ...] = ()
        self.history: list[str] = []
        self._fails = fails

    def set(self, parts: tuple[LoadPart, ...]) -> None:
        self.parts = parts
        self.history.append("+".join(map(str, parts)) or "none")

    def drain(self, t: int) -> list[events.Load]:
        condition = self.history[-1]
        failed = events.Failure(kind="crashed", message="a worker died") if condition == self._fails else None
        return [events.Load(t=t, what="cpu", state="confirmed", condition=condition, error=failed)]

    def close(self) -> None:
        pass


def measured_by(load: PlannedLoad, seen: list[tuple[str, str, bool]]) -> Measure:
    def measure(job: LayersJob) -> LayersResult:
        seen.append((job.model, load.history[-1], job.roofs))
        if load.history[-1] == "memory:1":
            raise HettopError("crashed", "out of memory")
        rows = [LayerRow("c", "Conv", 3.0, 0.75, 7, 9), LayerRow("t", "Transpose", 1.0, 0.25, None, None)]
        return LayersResult.of_layers(rows, unit=job.unit, end_to_end_ms=5.0 * len(seen))

    return measure


def test_each_load_has_its_time_and_the_layers_are_those_without_load() -> None:
    load, seen = PlannedLoad(), list[tuple[str, str, bool]]()
    found = measure_network("squeezenet1.1", LOADS, JOB, load, measured_by(load, seen))
    assert seen == [("squeezenet1.1", each, False) for each in ("none", "cpu:1", "memory:1")]
    assert load.history == ["none", "cpu:1", "memory:1", "none"], "nothing is left running"
    assert found.ms == {"none": 5.0, "cpu:1": 10.0}
    assert found.layers == [Work("Conv", 7, 9, 3.0), Work("Transpose", 0, 0, 1.0)]
    assert found.failed == {"memory:1": "out of memory"}
    assert found.macs == 349_151_936


def test_a_load_that_fails_meanwhile_leaves_no_time() -> None:
    load = PlannedLoad(fails="cpu:1")
    found = measure_network("squeezenet1.1", LOADS[:2], JOB, load, measured_by(load, []))
    assert (dict(found.ms), dict(found.failed)) == ({"none": 5.0}, {"cpu:1": "a worker died"})


def test_none_is_measured_first_whatever_is_asked_for() -> None:
    assert chosen_loads("cpu:1,none,cpu:1") == [(), parse_load("cpu:1")]
    with pytest.raises(HettopError, match="invalid load"):
        chosen_loads("frobnicate")
