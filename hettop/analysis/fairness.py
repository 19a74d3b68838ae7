"""What else differs between two sessions, so that a difference in latency need not be the model's or the system's.

Pure; compares headers and states, never latencies.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hettop.analysis.unit_samples import Measured
from hettop.events import Header
from hettop.session.session import Session


@dataclass(frozen=True, slots=True)
class Difference:
    """`what` is `a` in the first session and `b` in the second; None where a session does not tell."""

    what: str
    a: str | None
    b: str | None


POWER_MODE, POWER_SUPPLY = "power mode", "power supply"
SETTINGS = ("rate_hz", "warmup", "shapes", "seed")


def differences(
    a: Session, b: Session, on_battery_a: frozenset[bool], on_battery_b: frozenset[bool]
) -> Iterator[Difference]:
    """Everything known to differ. What only one session tells counts as different: nobody knows."""
    if a.header is not None and b.header is not None:
        for what, first, second in _told(a.header, b.header):
            if first != second:
                yield Difference(what, _text(first), _text(second))
    if on_battery_a and on_battery_b and on_battery_a != on_battery_b:
        yield Difference(POWER_SUPPLY, _supply(on_battery_a), _supply(on_battery_b))
    if a.dropped or b.dropped:
        yield Difference("dropped samples", str(a.dropped), str(b.dropped))


def thermal_difference(a: Measured, b: Measured) -> Difference | None:
    """The thermal states under which the samples were taken, if they are not the same."""
    first, second = (set(side.thermal) for side in (a, b))
    return None if first == second else Difference("thermal state", _states(first), _states(second))


def _told(a: Header, b: Header) -> Iterator[tuple[str, object, object]]:
    yield "simulated", a.simulated, b.simulated
    for what, name in (("chip", "chip"), ("OS", "os"), ("cores", "cores"), (POWER_MODE, "power_mode")):
        yield what, getattr(a.host, name), getattr(b.host, name)
    for name in sorted({*a.host.frameworks, *b.host.frameworks}):
        yield name, a.host.frameworks.get(name), b.host.frameworks.get(name)
    yield "backend", a.model.backend, b.model.backend
    yield "model", a.model.name, b.model.name
    yield "model's sha256", a.model.sha256, b.model.sha256
    for name in SETTINGS:
        yield name.removesuffix("_hz"), a.settings.get(name), b.settings.get(name)


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name}={each}" for name, each in value.items()) or "none"
    return str(value)


def _supply(states: frozenset[bool]) -> str:
    return " and ".join("battery" if state else "mains" for state in sorted(states))


def _states(states: set[str | None]) -> str:
    return ", ".join(sorted(state or "unknown" for state in states))
