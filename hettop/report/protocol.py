"""The protocol that a measurement followed, and the figures that it reports as the result.

Pure; what a recording's header says is data and may be anything: it is checked and cleaned here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hettop.events import NO_LOAD
from hettop.format import milliseconds
from hettop.session.session import Session
from hettop.session.statistics import Statistics
from hettop.text import clean
from hettop.units import NS_PER_S

FIGURES = {
    "mean_ms": "mean",
    "min_ms": "minimum",
    "p90_ms": "P90",
    "p90_early_stopping_ms": "P90 by early stopping",
}
"""What may be a protocol's figure, and how it is called."""

OPTIONS = {
    "warmup": "--warmup",
    "until_steady": "--warmup auto",
    "runs": "--runs",
    "duration_ns": "--duration",
    "rest_ns": "--rest",
    "rate_hz": "--rate",
    "interleave": "--interleave",
    "load": "--load",
}


@dataclass(frozen=True, slots=True)
class FollowedProtocol:
    """`overridden` has the options that were set against the protocol, by the names of the settings."""

    name: str
    words: str
    figures: tuple[str, ...]
    overridden: dict[str, Any]


def followed(session: Session) -> FollowedProtocol | None:
    """The protocol of a session, if its header names one."""
    told = session.header.settings.get("protocol") if session.header else None
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        return None
    figures, overridden, words = (told.get(key) for key in ("figures", "overridden", "words"))
    return FollowedProtocol(
        name=told["name"],
        words=words if isinstance(words, str) else "",
        figures=tuple(each for each in FIGURES if each in figures) if isinstance(figures, list) else (),
        overridden={key: each for key, each in overridden.items() if key in OPTIONS}
        if isinstance(overridden, dict)
        else {},
    )


def protocol_notes(session: Session, rows: Sequence[Statistics]) -> list[str]:
    """Which protocol, what of it was overridden, and its figures for each unit; nothing without one."""
    protocol = followed(session)
    if protocol is None:
        return []
    name = clean(protocol.name, 20)
    changed = ", ".join(_option(key, value) for key, value in protocol.overridden.items())
    notes = [f"protocol {name} ({clean(protocol.words, 80)})" + (f", overridden by {changed}" if changed else "")]
    results = [f"{_condition(row)} {', '.join(_figures(row, protocol.figures))}" for row in rows if row.n]
    return notes + ([f"results by {name}: {'; '.join(results)}"] if results and protocol.figures else [])


def protocol_document(session: Session, rows: Sequence[Statistics]) -> dict[str, Any] | None:
    """The same for programs; None without a protocol."""
    protocol = followed(session)
    if protocol is None:
        return None
    return {
        "name": protocol.name,
        "figures": list(protocol.figures),
        "overridden": protocol.overridden,
        "results": [
            {"unit": row.unit, "load": row.load, "n": row.n, **{each: getattr(row, each) for each in protocol.figures}}
            for row in rows
        ],
    }


def _condition(row: Statistics) -> str:
    return clean(row.unit, 30) if row.load == NO_LOAD else f"{clean(row.unit, 30)} under {clean(row.load, 30)}"


def _figures(row: Statistics, names: Sequence[str]) -> list[str]:
    return [f"{FIGURES[name]} {milliseconds(getattr(row, name))} ms" for name in names]


def _option(name: str, value: object) -> str:
    """`--runs 20`, `--rest 0s`, `--interleave`."""
    if value is True:
        return OPTIONS[name]
    if name.endswith("_ns") and isinstance(value, int | float):
        return f"{OPTIONS[name]} {value / NS_PER_S:g}s"
    return f"{OPTIONS[name]} {clean(str(value), 40)}"
