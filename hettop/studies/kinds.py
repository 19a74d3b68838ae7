"""Which studies there are for a model on these units, and how each is called.

Knows command lines, nothing of what comes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import DEFAULT_BACKEND
from hettop.studies.coexec.usual_units import FEWEST_UNITS, usual_units
from hettop.units import NS_PER_MS

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
    pair = ",".join(units[:2])
    together = (
        *coexecution(units, how),
        Kind("plan", "which layers on which of two units, and what that gains", ("plan", "--devices", pair, "--run")),
    )
    granularities = (
        Kind(
            "granularities",
            "parallel within operators, between them, by sub-graph, by task",
            ("coexec", "--granularities"),
        ),
    )
    return (
        Kind("layers", "time by layer, and the share of each type of operation", ("layers", "--unit", unit)),
        Kind("roofline", "what this machine can do, and how near each layer comes", ("roofline", "--unit", unit)),
        Kind(
            "sweep", "items a second and latency by batch, 1 to 16", ("sweep", "--units", unit, "--batch", "1,2,4,8,16")
        ),
        Kind("variants", "fp32, fp16, int8: speed, size, output difference", ("variants", "--units", unit)),
        *(together if len(units) > 1 else ()),
        *(granularities if backend in (None, DEFAULT_BACKEND) else ()),
    )


def model_arguments(model: ModelOptions) -> list[str]:
    """The model as the user wrote it, for another command line."""
    told = [model.model]
    for option, value in (("--backend", model.backend), ("--function", model.function)):
        told += [option, value] if value is not None else []
    for option, values in (("--shape", model.shapes), ("--input", model.values), ("--hint", model.hints)):
        told += [part for value in values for part in (option, value)]
    return [*told, "--seed", str(model.seed)] if model.seed else told
