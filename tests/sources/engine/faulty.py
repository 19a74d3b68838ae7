"""A backend that goes wrong on purpose, for tests that need a real engine process to fail in a given way.

Named to the engine as `tests.sources.engine.faulty:FaultyBackend`. The model says what happens: `UNIT FAULT CALL`,
several of them joined by `;`, where call 0 is the load. Units that are not named are well. A call takes 1 ms.
The faults `mark` and `await_mark` are none: they make, or wait for, the file that the variable `MARK` names.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hettop.compute_units import CORE_ML_UNITS
from hettop.errors import HettopError
from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions

NAME = "tests.sources.engine.faulty:FaultyBackend"
CALL_NS = 1_000_000
MARK = "HETTOP_TEST_MARK"


class FaultyBackend:
    name = "faulty"
    simulated = False
    has_native = False

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._faults: dict[int, str] = {}
        """By call."""
        self._calls = 0
        self._call_ns = CALL_NS

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(CORE_ML_UNITS)

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        for entry in filter(None, model.split(";")):
            name, fault, call = entry.split()
            if name == unit:
                self._faults[int(call)] = fault
        self._go_wrong_if_due()
        return Loaded(unit, None, 5, (Port("x", "float32", (1, 3)),), (), note=f"threads {options.threads}")

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        return {port.name: options.seed for port in ports}

    def predict(self, feed: Feed) -> None:
        self._calls += 1
        self._go_wrong_if_due()
        if self._call_ns:
            self.clock.sleep_until(self.clock.now() + self._call_ns)

    def outputs(self) -> dict[str, Any]:
        return {}

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        print("told", condition, file=sys.stderr)

    def _go_wrong_if_due(self) -> None:
        if self._calls in self._faults:
            getattr(self, self._faults[self._calls])()

    def mark(self) -> None:
        Path(os.environ[MARK]).touch()

    def await_mark(self) -> None:
        """Blocks until the file named by MARK exists."""
        while not Path(os.environ[MARK]).exists():
            self.clock.sleep_until(self.clock.now() + CALL_NS)

    def rush(self) -> None:
        self._call_ns = 0

    def refuse(self) -> None:
        raise HettopError("format", "not a model", "use another")

    def misbehave(self) -> None:
        print("a last \x1b[31mword", file=sys.stderr)
        raise ValueError("odd")

    def hang(self) -> None:
        """In a native call that holds the GIL: no other thread of the process runs, as in Core ML's loads."""
        ctypes.PyDLL(None).sleep(3600)

    def segfault(self) -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.string_at(0)

    def vanish(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def exit(self) -> None:
        os._exit(3)

    def babble(self) -> None:
        print("chatter that must not be taken for frames")
        os.write(1, bytes(range(256)) * 100)
