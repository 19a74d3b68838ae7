"""Joins what the user asked for to a co-execution: checks units, names those to take by default, adds power.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from hettop.coexec.blocks import BLOCK_NS
from hettop.coexec.child import coexecute
from hettop.coexec.copies import workers_of
from hettop.coexec.messages import Job, Work
from hettop.coexec.result import Energy, Result
from hettop.engine.backend import split_unit
from hettop.errors import HettopError
from hettop.events import Baseline, Power, PowerStatus, is_capture
from hettop.session.power_summary import CAPTURE_WORDS, without_keys
from hettop.session.rails import estimate, measured
from hettop.wiring.options import ModelOptions
from hettop.wiring.power import INTERVALS_A_BLOCK, LivePower
from hettop.wiring.setup import ALL_UNITS, Setup, prepare

FEWEST_UNITS = 2
POWER_INTERVAL_NS = 500_000_000
NOT_ASKED = "no power was measured; --power SRC measures it"
SIMULATED = "the simulated machine knows no power of units that work together"

PowerEvent = Power | PowerStatus | Baseline


def prepare_units(options: ModelOptions, units: tuple[str, ...] | None, cores: int) -> Setup:
    """What is to be measured; without `units` the backend's own, each kind of processor once.

    A unit that is named twice has two workers. Raises HettopError: as `prepare` does, and `usage` for fewer than two.
    """
    setup = prepare(options, units or ("all",), cores)
    if units is None:
        setup = prepare(options, usual_units(setup.available), cores)
    elif ALL_UNITS not in units:
        setup = replace(setup, units=workers_of(units))
    if len(setup.units) < FEWEST_UNITS:
        hint = f"name two or more of {', '.join(setup.available)}: --units {','.join(usual_units(setup.available))}"
        raise HettopError("usage", "co-execution takes two units at least", hint)
    return setup


def usual_units(available: Sequence[str]) -> tuple[str, ...]:
    """Units that compete least: one for each kind of processor, or two numbers of threads where there is only one."""
    kinds = [unit for unit in available if split_unit(unit)[1] is None and unit != "ALL"]
    threaded = [unit for unit in available if split_unit(unit)[1] is not None]
    return tuple(kinds if len(kinds) >= FEWEST_UNITS else [*threaded, *kinds][:FEWEST_UNITS])


def measure(setup: Setup, job: Job, power: str | None, tell: Callable[[str], None]) -> tuple[Result, Energy]:
    """Runs it. `power` is the name of a source, None for none. Raises HettopError."""
    if power is None or setup.simulated:
        return coexecute(job, tell), Energy(None, SIMULATED if setup.simulated else NOT_ASKED)
    live = LivePower(power, simulated=False, chip=None, now=time.monotonic_ns, origin_ns=0)
    try:
        result = coexecute(job, tell)
        events = live.drain(time.monotonic_ns())
    finally:
        live.close()
    return result, energy(result, events)


def make_job(setup: Setup, options: ModelOptions, *, duration_ns: int, warmup: int, depth: int, powered: bool) -> Job:
    work = Work(
        backend=setup.backend,
        model=options.model,
        function=setup.function,
        seed=setup.inputs.seed,
        shapes=dict(setup.inputs.shapes),
        values=dict(setup.inputs.values),
        hints=dict(setup.hints),
        warmup=warmup,
    )
    # A power sample must fall wholly into a block.
    block_ns = INTERVALS_A_BLOCK * POWER_INTERVAL_NS if powered else BLOCK_NS
    return Job(units=setup.units, work=work, duration_ns=duration_ns, block_ns=block_ns, depth=depth)


def energy(result: Result, events: Sequence[PowerEvent]) -> Energy:
    """Mean power of the samples that lie in blocks of all units, by the rate there (sum of rates / sum of powers)."""
    source, covered, spent = None, 0, 0.0
    for event in events:
        window = measured(event) if isinstance(event, Power) and not is_capture(event.source) else None
        if window is None or not any(a <= window.start_ns and window.end_ns <= b for a, b in result.together_ns):
            continue
        mw = estimate(window.mw)
        if isinstance(event, Power) and mw is not None:
            source, covered, spent = event.source, covered + window.elapsed_ns, spent + mw * window.elapsed_ns
    if covered and result.together_per_s:
        mean = spent / covered
        return Energy(mean / result.together_per_s, "", mean, source)
    if any(is_capture(event.source) for event in events):
        return Energy(None, CAPTURE_WORDS)
    told = [without_keys(event.reason) for event in events if isinstance(event, PowerStatus) and event.reason]
    why = told[-1] if told else "no power sample fell into a block of all units: measure longer"
    return Energy(None, why)
