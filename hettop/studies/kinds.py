"""Which studies the live view offers for a model on these units, and how each is called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.measurement.setup import DEFAULT_BACKEND
from hettop.studies.coexec.options import FEWEST_UNITS, usual_units
from hettop.studies.registry import STUDIES
from hettop.units import NS_PER_MS

if TYPE_CHECKING:
    pass


COEXEC = "coexec"


@dataclass(frozen=True, slots=True)
class Kind:
    """A command by name, what it finds out, and its arguments beside the model.

    together: units that all run at once until the user ends it; none where inference just rests for the study.
    """

    name: str
    words: str
    arguments: tuple[str, ...]
    together: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Together:
    """How units are to co-execute: which (none: the usual ones), with what other options, in blocks of at least so many
    ns (None: as long as usual)."""

    units: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    block_ns: int | None = None


USUAL = Together()


def coexecution(units: Sequence[str], how: Together = USUAL) -> tuple[Kind, ...]:
    """That of these units, or of those that `how` names; none of fewer than two."""
    chosen = how.units or usual_units(units)
    if len(chosen) < FEWEST_UNITS:
        return ()
    block = () if how.block_ns is None else ("--block", f"{how.block_ns // NS_PER_MS}ms")
    arguments = (COEXEC, "--until-ended", "--units", ",".join(chosen), *block, *how.options)
    return (Kind(COEXEC, f"{' + '.join(chosen)} on one stream, with work stealing", arguments, chosen),)


def kinds(unit: str, units: Sequence[str], how: Together = USUAL, backend: str | None = None) -> tuple[Kind, ...]:
    """What can be asked of a model that runs on these units; `unit` is the one that is looked at.

    backend: as the user chose it, None where any will do: granularities can be compared on the default one alone.
    """
    found: list[Kind] = []
    for study in STUDIES.values():
        offer = study.live
        if study.name == COEXEC:
            found += coexecution(units, how)
        elif offer is not None and len(units) >= offer.units and (not offer.default_only or _is_default(backend)):
            arguments = tuple(word.format(unit=unit, pair=",".join(units[:2])) for word in offer.arguments)
            found.append(Kind(study.name, offer.words, arguments))
    return tuple(found)


def _is_default(backend: str | None) -> bool:
    return backend in (None, DEFAULT_BACKEND)
