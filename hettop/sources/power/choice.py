"""Chooses the source of power: the best that works here, or the requested one; reports why others were not chosen.

Starts none.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from hettop.errors import HettopError
from hettop.sources.power.file import FileSource
from hettop.sources.power.names import FILE, NONE, SIMULATED, SOURCES
from hettop.sources.power.simulated import SimulatedSource
from hettop.sources.power.source import UNAVAILABLE, Availability, Machine, PowerSource
from hettop.text import clean


@dataclass(frozen=True, slots=True)
class Choice:
    """The source, or None and why: a state of events.POWER_STATES, the reason and what fixes it.

    refused: the sources that were passed over, by name, with the reason. needs_access: one of them would be chosen if
        the user gave access.
    """

    source: PowerSource | None
    refused: Mapping[str, str] = field(default_factory=dict)
    name: str = NONE
    state: str = UNAVAILABLE
    reason: str = ""
    fix: str = ""
    needs_access: bool = False


Chooser = Callable[[Mapping[str, Availability]], Choice]
"""Chooses; may take a while, for it asks the machine. Its argument maps sources known not to work to what they said."""


NOT_ASKED_FOR = ("disabled (--power none)", "")


def chooser(
    name: str | None,
    machine: Machine,
    simulated: SimulatedSource | None = None,
    why_none: tuple[str, str] = NOT_ASKED_FOR,
) -> Chooser:
    """Return the function that chooses the source for `--power NAME`; None selects the best one.

    `why_none`: reason and remedy where the name is `none`. `simulated` is that of a simulated machine, which has no
    other. Raises HettopError (`usage`) for a name that is
    none, and for simulated power beside real inference or the reverse.
    """
    if name == NONE:
        return lambda _: Choice(None, state="stopped", reason=why_none[0], fix=why_none[1])
    if simulated is not None:
        if name not in (None, SIMULATED):
            raise HettopError("usage", "a simulated machine has simulated power", "leave out --power, or --power none")
        return lambda refused: _first([simulated], refused)
    sources = _named(name, machine)
    return lambda refused: _first(sources, refused)


def refuse_impossible(name: str | None, machine: Machine) -> None:
    """Raises HettopError (`usage`) if the requested source can never work on this system."""
    if name in (None, NONE, SIMULATED):
        return
    (source,) = _named(name, machine)
    found = source.probe()
    if found.impossible:
        raise HettopError(
            "usage",
            f"no power from {source.name}: {found.reason}",
            found.fix or "leave out --power to use the best available source",
        )


def make_source(name: str, machine: Machine) -> PowerSource:
    """Import and create the source of that name in `SOURCES`."""
    module, _, made = SOURCES[name].place.partition(":")
    return cast(PowerSource, getattr(importlib.import_module(module), made)(machine))


def _named(name: str | None, machine: Machine) -> list[PowerSource]:
    if name is None:
        return [make_source(each, machine) for each in SOURCES]
    if name in SOURCES:
        return [make_source(name, machine)]
    if name.startswith(FILE) and len(name) > len(FILE):
        return [FileSource(Path(name.removeprefix(FILE)), speed=1.0, wait=machine.wait)]
    if name == SIMULATED:
        raise HettopError("usage", "simulated power is only available for the simulated machine", "hettop --demo")
    raise HettopError(
        "usage",
        f"invalid power source {clean(name, 80)!r}",
        f"valid sources: {', '.join((*SOURCES, NONE))}, {FILE}PATH",
    )


def _first(sources: Sequence[PowerSource], known: Mapping[str, Availability]) -> Choice:
    """The first source that works; later ones are not probed."""
    found: dict[str, Availability] = {}
    for source in sources:
        there = known.get(source.name) or source.probe()
        if there.ok:
            # Where it works in part, what fixes a better one is worth knowing.
            fix = _fix(found) if there.reason else ""
            return Choice(
                source, _reasons(found), source.name, reason=there.reason, fix=fix, needs_access=_needs_access(found)
            )
        found[source.name] = there
    return Choice(
        None,
        _reasons(found),
        sources[0].name if len(sources) == 1 else NONE,
        reason=_why(found),
        fix=_fix(found),
        needs_access=_needs_access(found),
    )


def _reasons(found: Mapping[str, Availability]) -> dict[str, str]:
    return {name: clean(there.reason) for name, there in found.items()}


def _fix(found: Mapping[str, Availability]) -> str:
    return clean(next((there.fix for there in found.values() if there.fix), ""))


def _needs_access(found: Mapping[str, Availability]) -> bool:
    return any(there.needs_access for there in found.values())


def _why(found: Mapping[str, Availability]) -> str:
    """The reasons in one sentence, without those of sources for other systems."""
    reasons = _reasons(found)
    if len(reasons) == 1:
        return next(iter(reasons.values()))
    relevant = {name: why for name, why in reasons.items() if not found[name].foreign} or reasons
    return clean("; ".join(f"{name}: {why}" for name, why in relevant.items()))
