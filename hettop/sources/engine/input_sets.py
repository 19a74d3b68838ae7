"""Asks a loaded model about several sets of inputs, so that its answers can be held against those of other units.

Runs in an engine process, before its warm-up; knows neither the other units nor how answers are compared.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.backend import Backend
from hettop.sources.engine.published import VALUES_LIMIT, OutputSet, thin

EXTRA_NS = 10**9
"""Further sets of inputs may take this long in all: a second more before the first sample is hardly noticed."""

EXTRA_BYTES = 64 << 20
"""Further inputs stay in memory for the life of the process, so that no framework can miss them; more are not made."""


@dataclass(frozen=True, slots=True)
class Asked:
    """`predictions` that were made for it, and the `feeds` of them, to be kept as long as the model is in use."""

    sets: tuple[OutputSet, ...] = ()
    predictions: int = 0
    feeds: tuple[Feed, ...] = ()


def ask(
    backend: Backend,
    ports: Sequence[Port],
    options: InputOptions,
    feed: Feed,
    *,
    most_sets: int,
    first_ns: int,
    go_on: Callable[[], bool],
) -> Asked:
    """The answers to `feed`, which was run last and took `first_ns`, and to inputs of the seeds that follow.

    At most `most_sets` of them, one if the user gave all inputs; none if the backend returns none. A set that fails
    ends it: what the model refuses there is no fault of what is measured, and is told in the log alone.
    """
    wanted = 1 if all(port.name in options.values or port.kind == "state" for port in ports) else most_sets
    sets: list[OutputSet] = []
    feeds: list[Feed] = []
    if not wanted:
        return Asked()
    room = VALUES_LIMIT // wanted
    now = backend.clock.now
    end, usual_ns = now() + EXTRA_NS, first_ns
    try:
        sets.append(thin(backend.outputs(), room))
        while sets[0] and len(sets) < wanted and go_on():
            if now() + usual_ns > end or (len(sets) * _nbytes(feed)) > EXTRA_BYTES:
                break
            feeds.append(backend.make_inputs(ports, replace(options, seed=options.seed + len(sets))))
            start = now()
            backend.predict(feeds[-1])
            usual_ns = now() - start
            sets.append(thin(backend.outputs(), room))
    except Exception:  # noqa: BLE001 (a framework may raise anything)
        traceback.print_exc(file=sys.stderr)
    return Asked(tuple(each for each in sets if each), len(feeds), tuple(feeds))


def _nbytes(feed: Feed) -> int:
    """Bytes of the arrays; an image object does not tell, and is small."""
    return sum(getattr(value, "nbytes", 0) for value in feed.values())
