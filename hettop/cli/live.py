"""`hettop` itself: the live view, or ten seconds of measurement without a terminal.

The engine is imported in functions: the screen is painted before numpy and the codec are there.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hettop.cli.commands import LIVE, parse, refuse
from hettop.cli.screen import check_theme, on_terminal, screen_options, serve, show, whole_name
from hettop.compute_units import ALL_UNITS
from hettop.console.messages import print_error, print_note, print_warning
from hettop.console.signals import ScreenSignals, stop_signals_ignored
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_WRONG_USE, WRONG_USE_KINDS
from hettop.format import group_names
from hettop.measurement.arguments import TABLE, check_force, model_arguments, model_options, wants_canary
from hettop.measurement.options import ANSWER_WARMUP, DEFAULT_WARMUP, MeasureOptions, ModelOptions
from hettop.processes.cpus import usable_threads
from hettop.studies.kinds import Together
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.app.live import LiveFeed
    from hettop.events import Failure
    from hettop.measurement.measurement import Measurement
    from hettop.measurement.setup import Setup
    from hettop.record.writer import Closed
    from hettop.studies.kinds import Together

VARIANT_MARK = "~"
HEADLESS_NS = 10 * 10**9
FOR_SCREEN = ("theme", "fps", "ascii", "budget", "energy", "follow_advice")


def run(arguments: argparse.Namespace) -> int:
    if arguments.serve is not None:
        return serve(arguments.command, arguments.serve)
    model = model_options(arguments)
    if arguments.demo:
        if arguments.backend not in (None, "simulated"):
            raise HettopError(
                "usage",
                f"options exclude each other: --demo, --backend {clean(arguments.backend)}",
                "leave out --backend",
            )
        model = replace(model, backend="simulated")
    _check_budgets(arguments)
    check_force(arguments)
    units = arguments.units
    if not on_terminal() or os.environ.get("TERM") == "dumb":
        return _without_terminal(arguments, model, units)
    return _on_screen(arguments, model, units)


def co_execute(argv: list[str], together: Together) -> int:
    """The live view with units co-executing, in the view that shows it. Raises HettopError without a terminal."""
    if not on_terminal() or os.environ.get("TERM") == "dumb":
        raise HettopError("usage", "the live view needs a terminal", "use --until-ended --stream")
    arguments = parse(LIVE, argv)
    return _on_screen(arguments, model_options(arguments), None, together)


def _check_budgets(arguments: argparse.Namespace) -> None:
    """Raises HettopError (`usage`) before anything is started. What checks them is not loaded unless there are any."""
    if arguments.budget is None and arguments.energy is None:
        return
    from hettop.analysis.budget import parse_budgets, parse_energy

    parse_budgets(arguments.budget, None)
    if arguments.energy is not None:
        parse_energy(arguments.energy)


def _without_terminal(arguments: argparse.Namespace, model: ModelOptions, units: tuple[str, ...] | None) -> int:
    from hettop.cli.bench import measure_and_print
    from hettop.measurement.setup import prepare

    setup = prepare(model, units or (("all",) if arguments.demo else None), usable_threads())
    setup = _with_other(setup, model, arguments.against)
    if arguments.theme is not None:
        check_theme(whole_name(arguments.theme) or "")
    for name, flag in arguments.given.items():
        if name in FOR_SCREEN:
            print_warning(f"{flag} has no effect without a terminal")
    print_note(f"no terminal: measuring for {HEADLESS_NS // 10**9} s")
    measure = MeasureOptions(
        warmup=DEFAULT_WARMUP if setup.answers is None else ANSWER_WARMUP,
        duration_ns=HEADLESS_NS // len(setup.units),
        rate_hz=arguments.rate,
        interleave=arguments.against is not None,
        load=arguments.load,
        power=arguments.power,
        canary=wants_canary(arguments, otherwise=False),
        record=arguments.record,
        prometheus=arguments.prometheus,
        force=arguments.force,
    )
    return measure_and_print(setup, measure, form=TABLE)


def _on_screen(
    arguments: argparse.Namespace,
    model: ModelOptions,
    units: tuple[str, ...] | None,
    together: Together | None = None,
) -> int:
    from hettop.processes.qos import set_screen_qos

    set_screen_qos()  # this thread draws; what is measured goes first
    opened: list[LiveFeed] = []

    def begin() -> LiveFeed:
        from hettop.app.live import LiveFeed
        from hettop.studies.kinds import USUAL

        measurement = _measurement(arguments, model, units, arguments.power or screen.power)
        opened.append(LiveFeed(measurement, model, together or USUAL, follow_advice=arguments.follow_advice))
        if together is not None:
            opened[0].study("coexec")
            return opened[0]
        _first_units(
            opened[0],
            named=units or (),
            interleave=arguments.demo and units is None,
            usual=None if units else screen.unit,
        )
        return opened[0]

    failures: dict[str, Failure] = {}
    with ScreenSignals() as signals:
        screen = screen_options(arguments)
        if together is not None:
            screen = replace(screen, preferences=replace(screen.preferences, screen="studies"))
        try:
            code = show(begin, screen, signals=signals)
            failures = {unit: why for feed in opened for unit, why in all_failed(feed).items()}
        finally:
            with stop_signals_ignored():
                closed = [feed.close("quit") for feed in opened]
        for recording in closed:
            _print_recorded(recording)
        asked_for = closed[0] if closed and arguments.record is not None else None
        lost = asked_for is not None and _is_incomplete(asked_for, opened[0])
        return code or _code_of(failures) or (EXIT_FAILED if lost else 0)


def _is_incomplete(closed: Closed, feed: LiveFeed) -> bool:
    from hettop.console.measuring import is_incomplete

    return is_incomplete(closed, feed.session)


def all_failed(feed: LiveFeed) -> dict[str, Failure]:
    """Why each unit failed that was started, if all of them did and nothing was measured; else nothing."""
    session, states = feed.session, feed.measurement.engine.states
    if not states or session.conditions or any(state != "failed" for state in states.values()):
        return {}
    found = {unit: session.units[unit].error for unit in states if unit in session.units}
    return {unit: why for unit, why in found.items() if why is not None}


def _code_of(failures: Mapping[str, Failure]) -> int:
    """The exit code of a session that measured nothing because of these, which are printed; 0 without any."""
    if not failures:
        return 0
    for units, (message, hint) in group_names(
        (clean(unit, 60), (why.message, why.hint)) for unit, why in failures.items()
    ):
        print_error(f"{units}: {message}", hint)
    return EXIT_WRONG_USE if all(why.kind in WRONG_USE_KINDS for why in failures.values()) else EXIT_FAILED


def _measurement(
    arguments: argparse.Namespace, model: ModelOptions, units: tuple[str, ...] | None, power: str | None
) -> Measurement:
    """A measurement with a row for every unit of this machine, the first of which is to run first."""
    from hettop.measurement.measurement import Measurement
    from hettop.measurement.setup import prepare

    setup = prepare(model, units, usable_threads())
    setup = replace(setup, units=tuple(dict.fromkeys((*setup.units, *setup.available))))
    setup = _with_other(setup, model, arguments.against)
    measure = MeasureOptions(
        warmup=DEFAULT_WARMUP if setup.answers is None else ANSWER_WARMUP,
        rate_hz=arguments.rate,
        load=arguments.load,
        power=power,
        budget=arguments.budget,
        energy=arguments.energy,
        canary=wants_canary(arguments, otherwise=True),
        record=arguments.record,
        prometheus=arguments.prometheus,
        force=arguments.force,
    )
    return Measurement(setup, measure, rows=setup.units, raw_limit=0)


def _with_other(setup: Setup, model: ModelOptions, against: str | None) -> Setup:
    """With the rows of another model beside those of the first, if there is one."""
    if against is None:
        return setup
    from hettop.measurement.setup import prepare_against

    return prepare_against(setup, model, against, usable_threads())


def _first_units(feed: LiveFeed, *, named: Sequence[str], interleave: bool, usual: str | None) -> None:
    """Run the named units in turns, or all, or the one of the user's settings, or the first, with its variants."""
    rows = list(feed.session.units)
    several = rows if ALL_UNITS in named else [row for row in rows if row.partition(VARIANT_MARK)[0] in named]
    if interleave or len(named) > 1 or ALL_UNITS in named:
        feed.interleave(several or None)
        return
    if usual is not None and usual not in rows:
        feed.warn(f"the unit of your settings cannot run here: {clean(usual)}")
    chosen = usual if usual in rows else rows[0]
    beside = [row for row in rows if row.startswith(f"{chosen}{VARIANT_MARK}")]
    if beside:
        feed.interleave([rows[rows.index(chosen)], *beside])
    else:
        feed.switch(rows[rows.index(chosen)])


def _print_recorded(closed: Closed | None) -> None:
    from hettop.console.measuring import print_recorded

    if closed is not None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            print_recorded(closed)


WITHOUT_SCREEN = ("format", "output", "stream", "block")


def run_coexec(arguments: argparse.Namespace) -> int:
    """Without a screen as any study, with `--live` in the live view."""
    from hettop.studies.coexec import command
    from hettop.studies.coexec.command import refuse_mixtures

    refuse_mixtures(arguments)
    return _coexec_on_screen(arguments) if arguments.live else command.run(arguments)


def _coexec_on_screen(arguments: argparse.Namespace) -> int:
    """Raises HettopError (`usage`) for what has no place on a screen."""
    from hettop.studies.coexec.blocks import unit_of
    from hettop.studies.coexec.setup import prepare_units

    refuse(arguments, WITHOUT_SCREEN, "with --live")
    model, named = model_options(arguments), arguments.units
    units = prepare_units(model, named, usable_threads()).units
    options = ["--warmup", str(arguments.warmup), *(["--depth", str(arguments.depth)] if arguments.depth else [])]
    argv = model_arguments(model)
    for option in ("power", "record"):
        value = getattr(arguments, option)
        argv += [f"--{option}", value] if value is not None else []
    if arguments.force:
        argv.append("--force")
    return co_execute(argv, Together(tuple(map(unit_of, units)), tuple(options)))
