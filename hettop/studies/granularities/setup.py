"""Joins what the user asked for to a comparison of granularities: threads, and competing loads one after another.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hettop.errors import HettopError
from hettop.events import NO_LOAD
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import DEFAULT_BACKEND, MOST_THREADS, Setup, prepare
from hettop.processes.child_process import environment_for_child
from hettop.processes.reaper import Reaper
from hettop.sources.load.parts import LoadPart, condition_of, parse_load
from hettop.sources.load.source import ProcessLoad, unavailable
from hettop.studies.plan.cutting.child import compare_in_child
from hettop.studies.plan.cutting.messages import MeasuringProgress, Subject
from hettop.studies.plan.cutting.result import Compared

FEWEST_THREADS = 2
ONE = "CPU_ONLY@1"
CONFIRM_S = 10.0
"""How long workers of a load may take to be there; a hundredth of a second is usual."""

LOOK_S = 0.05


Say = Callable[[str, float | None], None]
"""What is going on, and the share of all that is done, 0..1, None where that is not known."""


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """What was compared while `load` competed, or why it was not."""

    load: str
    compared: Compared | None
    why: str = ""


def prepare_model(options: ModelOptions, threads: int) -> Setup:
    """Raises HettopError: as `prepare` does, and `usage`."""
    if options.backend not in (None, DEFAULT_BACKEND):
        raise HettopError("usage", f"granularities are compared on {DEFAULT_BACKEND}", "leave out --backend")
    if not FEWEST_THREADS <= threads <= MOST_THREADS:
        raise HettopError(
            "usage",
            f"--threads {threads}: from {FEWEST_THREADS}, for less is not parallel, to {MOST_THREADS}",
            f"use --threads {FEWEST_THREADS}",
        )
    return prepare(replace(options, backend=DEFAULT_BACKEND), (ONE,), os.cpu_count() or 1)


def parse_loads(text: str) -> tuple[tuple[LoadPart, ...], ...]:
    """A comma list of loads, each once. Raises HettopError: `usage`, `load-unavailable`."""
    loads = tuple(dict.fromkeys(parse_load(part.strip()) for part in text.split(",")))
    for parts in loads:
        if (why := unavailable(parts)) is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
    return loads


def compare_under(
    setup: Setup,
    model: str,
    loads: Sequence[tuple[LoadPart, ...]],
    *,
    threads: int,
    duration_ns: int,
    warmup: int,
    say: Say,
    known: Callable[[list[UnderLoad]], None] = lambda _found: None,
) -> tuple[list[UnderLoad], bool]:
    """A comparison for each load, and whether it was interrupted; `known` takes what is measured by now.

    Raises HettopError, and KeyboardInterrupt where nothing was measured before it.
    """
    subject = Subject(
        model=model,
        devices=(ONE,),
        function=setup.function,
        seed=setup.inputs.seed,
        shapes=dict(setup.inputs.shapes),
        values=dict(setup.inputs.values),
        warmup=warmup,
    )
    found: list[UnderLoad] = []
    under = _Comparing(len(loads), say, lambda now: known([*found, now]))
    reaper = Reaper()
    competing = ProcessLoad(reaper, _nobody_to_tell, environment_for_child(os.environ))
    try:
        for parts in loads:
            name = condition_of(parts)
            under.begin(name)
            competing.set(parts)
            why = _await_load(competing)
            compared = None if why else compare_in_child(subject, threads, duration_ns, under.on_progress)
            why = why or _failure(competing)
            found.append(UnderLoad(name, None if why else compared, why))
            known(found)
    except KeyboardInterrupt:
        found += filter(None, [under.partial])
        if not found:
            raise
        return found, True
    finally:
        competing.close()
        reaper.close()
    return found, False


class _Comparing:
    """Hears how far the comparison under one of several loads is, and what is known of it by now."""

    def __init__(self, loads: int, say: Say, known: Callable[[UnderLoad], None]) -> None:
        self._loads, self._say, self._known = loads, say, known
        self._number, self._load = -1, ""
        self.partial: UnderLoad | None = None

    def begin(self, load: str) -> None:
        self._number, self._load = self._number + 1, load
        self.partial = None
        self._say(f"load {load}: waiting for it" if load != NO_LOAD else "starting", self._number / self._loads)

    def on_progress(self, told: MeasuringProgress) -> None:
        where = f" · load {self._load}" if self._loads > 1 or self._load != NO_LOAD else ""
        self._say(f"{told.doing}{where}", (self._number + told.share) / self._loads)
        if told.compared is not None and told.compared.rows:
            self.partial = UnderLoad(self._load, told.compared)
            self._known(self.partial)


def _nobody_to_tell(condition: str, *, confirmed: bool) -> None:
    pass


def _await_load(competing: ProcessLoad) -> str:
    """Empty once the load is there, else why it is not."""
    if not competing.parts:
        return ""
    deadline = time.monotonic() + CONFIRM_S
    while time.monotonic() < deadline:
        for event in competing.drain(time.monotonic_ns()):
            if event.state == "confirmed":
                return ""
            if event.error is not None:
                return event.error.message
        time.sleep(LOOK_S)
    return "the load never came to be"


def _failure(competing: ProcessLoad) -> str:
    """Why what was measured was not under the load all the time; empty if it was."""
    errors = [event.error for event in competing.drain(time.monotonic_ns()) if event.error is not None]
    return errors[0].message if errors else ""
