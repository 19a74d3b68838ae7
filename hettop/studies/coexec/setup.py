"""Prepares a co-execution as the user asked for it, and has it measured by a dispatch process.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

import math
import os
import select
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hettop.compute_units import ALL_UNITS
from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.measurement.power import INTERVALS_A_BLOCK, LivePower, PowerHere
from hettop.measurement.setup import Setup, prepare
from hettop.processes.call import COLLECT_S, Call
from hettop.processes.child_process import environment_for_child, module_command
from hettop.processes.reaper import Reaper
from hettop.sources.power.source import this_machine
from hettop.studies.coexec.blocks import BLOCK_NS, REST_NS, kinds_of, workers_of
from hettop.studies.coexec.measure import PowerEvent, TogetherPower
from hettop.studies.coexec.messages import CoexecJob, CoexecProgress, Work
from hettop.studies.coexec.options import FEWEST_UNITS, usual_units
from hettop.studies.coexec.rates import NOTHING_YET, Energy, Result
from hettop.units import NS_PER_S

POWER_INTERVAL_NS = 500_000_000
NOT_ASKED = "power was not measured; use --power SRC"
SIMULATED = "the simulated machine has no power model for concurrent units"


@dataclass(frozen=True, slots=True)
class Listener:
    """Whoever follows: `doing` is called with words and the share that is done, `known` with what is known by now."""

    doing: Callable[[str, float | None], None] = lambda _text, _share: None
    known: Callable[[Result, Energy], None] = lambda _result, _energy: None


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
        hint = f"choose two or more of {', '.join(setup.available)}: --units {','.join(usual_units(setup.available))}"
        raise HettopError("usage", "co-execution needs at least two units", hint)
    return setup


def measure(
    setup: Setup, job: CoexecJob, power: str | None, listener: Listener, ending: Collection[int] = ()
) -> tuple[Result, Energy]:
    """Runs it. `power` is the name of a source, None for none; `ending` as `coexecute` takes it. Raises HettopError."""
    if power is None or setup.simulated:
        unknown = Energy(None, SIMULATED if setup.simulated else NOT_ASKED)
        return coexecute(job, lambda word: _pass_on(word, listener, lambda _: unknown), ending=ending), unknown
    live, spent = (
        LivePower(power, simulated=False, here=PowerHere(this_machine()), now=time.monotonic_ns, origin_ns=0),
        TogetherPower(),
    )

    def energy_by_now(result: Result) -> Energy:
        spent.block(result.together_ns)
        for event in live.drain(time.monotonic_ns()):
            spent.take(event)
        return spent.energy(result.together_per_s)

    try:
        result = coexecute(job, lambda word: _pass_on(word, listener, energy_by_now), ending=ending)
        return result, energy_by_now(result)
    finally:
        live.close()


def _pass_on(word: CoexecProgress, listener: Listener, energy_of: Callable[[Result], Energy]) -> None:
    if word.text:
        listener.doing(word.text, word.share)
    if word.result is not None:
        listener.known(word.result, energy_of(word.result))


def make_job(
    setup: Setup,
    options: ModelOptions,
    *,
    duration_ns: int | None,
    warmup: int,
    depth: int,
    powered: bool,
    block_ns: int | None = None,
) -> CoexecJob:
    """`duration_ns` None: until somebody ends it. `block_ns` None: the usual one, longer where power is measured.

    Raises HettopError (`usage`) for a duration that has no room for a round of blocks as long as that.
    """
    if block_ns is not None and duration_ns is not None:
        _check_room(setup.units, block_ns, duration_ns)
    work = Work(
        backend=setup.backend,
        model=options.model,
        function=setup.function,
        seed=setup.inputs.seed,
        shapes=dict(setup.inputs.shapes),
        values=dict(setup.inputs.values),
        hints=dict(setup.hints),
        warmup=warmup,
        strict=options.strict,
        custom_ops=setup.custom_ops,
    )
    # A power sample must fall wholly into a block.
    usual_ns = INTERVALS_A_BLOCK * POWER_INTERVAL_NS if powered else BLOCK_NS
    return CoexecJob(units=setup.units, work=work, duration_ns=duration_ns, block_ns=block_ns or usual_ns, depth=depth)


def _check_room(units: Sequence[str], block_ns: int, duration_ns: int) -> None:
    """Shorter blocks than were asked for would be another measurement."""
    blocks = kinds_of(units)
    needed = blocks * (block_ns + REST_NS)
    if needed > duration_ns:
        raise HettopError(
            "usage",
            f"blocks of {block_ns / NS_PER_S:g} s do not fit into {duration_ns / NS_PER_S:g} s: "
            f"a round has {blocks}, and rests between them",
            f"use --duration {math.ceil(needed / NS_PER_S)}s, or shorter blocks",
        )


def energy(result: Result, events: Sequence[PowerEvent]) -> Energy:
    """Mean power of the samples that lie in blocks of all units, by the rate there (sum of rates / sum of powers)."""
    spent = TogetherPower()
    spent.block(result.together_ns)
    for event in events:
        spent.take(event)
    return spent.energy(result.together_per_s)


DISPATCH = module_command("hettop.studies.coexec.dispatch")
READ_BYTES = 1 << 16

PARTIAL_S = 5.0
"""How long a dispatch that was asked to end may take to say what it has."""


class EndAskedError(KeyboardInterrupt):
    """Somebody wants it to end."""


def coexecute(
    job: CoexecJob,
    on_progress: Callable[[CoexecProgress], None] = lambda _: None,
    *,
    argv: Sequence[str] = DISPATCH,
    environment: Mapping[str, str] | None = None,
    ending: Collection[int] = (),
) -> Result:
    """What came of it; after an interrupt what came of it until then.

    on_progress: is called with what is going on, and with what is known by now. ending: descriptors; the end of one
    means to end, as an interrupt does. Raises HettopError: as the measuring does, and `interrupted` where one of them
    ended before anything was measured; KeyboardInterrupt, if nothing was measured before it.
    """
    reaper = Reaper()
    try:
        own = environment_for_child(os.environ if environment is None else environment)
        dispatch = Call(
            argv,
            job,
            Result,
            own,
            reaper,
            name="dispatch process",
            progress_type=CoexecProgress,
            on_progress=on_progress,
        )
        try:
            return _result(dispatch, ending)
        finally:
            dispatch.collect(COLLECT_S)
    finally:
        reaper.close()


def _result(dispatch: Call[Result], ending: Collection[int]) -> Result:
    asked: KeyboardInterrupt | None = None
    try:
        while not dispatch.poll():
            dispatch.process.wait(None, ending)
            _look_for_the_end(ending)
    except KeyboardInterrupt as error:
        asked = error
        _await_last_words(dispatch)
    dispatch.collect(COLLECT_S)
    try:
        return dispatch.answer()
    except HettopError as error:
        if isinstance(asked, EndAskedError) and not dispatch.answered:
            raise HettopError("interrupted", NOTHING_YET) from asked
        if asked is not None and not isinstance(asked, EndAskedError):
            raise asked from error
        raise


def _look_for_the_end(ending: Collection[int]) -> None:
    """Raises EndAskedError once one of `ending` has ended."""
    if any(not os.read(each, READ_BYTES) for each in select.select(ending, [], [], 0)[0]):
        raise EndAskedError


def _await_last_words(dispatch: Call[Result]) -> None:
    """What a dispatch that is asked to end has by then, or why it has nothing."""
    dispatch.process.hang_up()
    deadline = time.monotonic() + PARTIAL_S
    while not dispatch.poll() and (left := deadline - time.monotonic()) > 0:
        dispatch.process.wait(left)
