"""A backend that computes, has plans, wears out and leaks, for tests of what the engine tells about a unit.

Named to the engine as `tests.sources.engine.answering:AnsweringBackend`. The model is JSON: what holds for every unit,
and under a unit's name what holds for that one. A call takes 1 ms.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from hettop.compute_units import CORE_ML_UNITS
from hettop.models.inputs import make_inputs
from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions
from hettop.sources.engine.placement import OpFacts

NAME = "tests.sources.engine.answering:AnsweringBackend"
CALL_NS = 1_000_000
INPUTS = (Port("x", "float32", (1, 4)),)


class AnsweringBackend:
    """scores = 2 x + `offset`, labels = whole numbers. `nan`: the first score is none; `plan`: what reading one does.

    `load_s`: how long a load takes; `recycle_after`: as in `Loaded`; `odd_call`: the number of a call that it
    refuses; `labels`: how many there are.
    """

    name = "answering"
    simulated = False
    has_native = False

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._does: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}
        self._calls = 0

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(CORE_ML_UNITS)

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        self._does = told(model, unit)
        time.sleep(self._does.get("load_s", 0))
        compiled = model if "plan" in self._does else None
        return Loaded(unit, None, 5, INPUTS, (), compiled=compiled, recycle_after=self._does.get("recycle_after"))

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        return make_inputs(ports, options)

    def predict(self, feed: Feed) -> None:
        self._calls += 1
        if self._calls == self._does.get("odd_call"):
            raise ValueError("this input is odd")
        scores = 2 * feed["x"] + self._does.get("offset", 0.0)
        if self._does.get("nan"):
            scores[0, 0] = np.nan
        labels = np.arange(self._does.get("labels", 3), dtype=np.int64)
        self._outputs = {"scores": scores, "labels": labels, "text": np.array(["a"], dtype=object)}
        self.clock.sleep_until(self.clock.now() + CALL_NS)

    def outputs(self) -> dict[str, Any]:
        return self._outputs

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        pass

    @staticmethod
    def read_plan(compiled: str, unit: str, function: str | None) -> list[OpFacts]:
        getattr(Reading, told(compiled, unit)["plan"])()
        return [
            OpFacts("a", "const"),
            OpFacts("b", "conv", "Neural Engine", ("CPU", "Neural Engine"), 0.75),
            OpFacts("c", function or "softmax", "CPU", ("CPU",), 0.25),
        ]


def told(model: str, unit: str) -> dict[str, Any]:
    everything = json.loads(model)
    return {**everything, **everything.get(unit, {})}


class Reading:
    """What reading a plan may do besides."""

    @staticmethod
    def well() -> None:
        pass

    @staticmethod
    def slowly() -> None:
        time.sleep(0.5)

    @staticmethod
    def noisily() -> None:
        print("chatter that must not be taken for a plan", flush=True)
        os.write(1, b'{"k":"plan","t":0,"unit":"ALL"}')
        print("a last word", file=sys.stderr)

    @staticmethod
    def hang() -> None:
        ctypes.PyDLL(None).sleep(3600)

    @staticmethod
    def abort() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        print("assertion failed: \x1b[31mpackage", file=sys.stderr, flush=True)
        os.abort()

    @staticmethod
    def vanish() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    @staticmethod
    def run_out_of_time() -> None:
        os.kill(os.getpid(), signal.SIGALRM)

    @staticmethod
    def refuse() -> None:
        raise ValueError("odd")
