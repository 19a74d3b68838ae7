"""Units beside themselves: each paced unit in a closed loop too, or each unit with another model, in turns.

Makes rows of units; what a variant's process does differently is said here, and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace

from hettop.errors import HettopError
from hettop.events import row_name
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import Setup, Variant, prepare
from hettop.text import clean

CLOSED = "closed"
OTHER = "b"
CLOSED_WORDS = "closed loop: each call as soon as the one before has ended"


def with_closed_loop(setup: Setup) -> Setup:
    """Each unit at its rate and, beside it, without one."""
    return _with(setup, CLOSED, Variant(CLOSED_WORDS, {"rate_hz": None}))


def with_other_model(setup: Setup, other: Setup, name: str) -> Setup:
    """Each unit with the first model and, beside it, with the other one, which was prepared for the same units.

    Raises HettopError (`usage`) where one of the two would be simulated: such a difference means nothing.
    """
    if setup.simulated != other.simulated:
        raise HettopError("usage", "a simulated model cannot be held against a real one", "name one backend for both")
    job = {
        "model": other.model.source,
        "backend": other.backend,
        "function": other.function,
        "hints": dict(other.hints),
    }
    setup = replace(setup, warnings=tuple(dict.fromkeys((*setup.warnings, *other.warnings))))
    return _with(setup, OTHER, Variant(f"the same with {clean(name, 100)}", job, other.model))


def prepare_against(setup: Setup, options: ModelOptions, against: str, cores: int) -> Setup:
    """The same for a model as the user named it. Raises HettopError as `prepare` does."""
    other = prepare(replace(options, model=against), setup.units, cores)
    return with_other_model(setup, other, other.model.name)


def _with(setup: Setup, name: str, variant: Variant) -> Setup:
    rows = tuple(row for unit in setup.units for row in (unit, row_name(unit, name)))
    return replace(setup, units=rows, variants={**setup.variants, name: variant})
