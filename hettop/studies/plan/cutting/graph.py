"""A model as steps that run one after another, the layers that they make up, and what crosses a cut between two.

Pure; knows names of values alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Step:
    """An operation by its place `node` in the model's list; `reads` without constants."""

    name: str
    op: str
    node: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """The steps of a model in order, each after all that it reads.

    inputs, outputs: of the model. Steps that depend on constants alone are none: each slice that needs them has them.
    """

    steps: tuple[Step, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """Steps `first` to `last`, counted from 0, both included."""

    first: int
    last: int


def useful(flow: Flow) -> Flow:
    """Without steps whose values nobody reads: a slice of them alone would have nothing to give."""
    wanted = set(flow.outputs)
    kept = []
    for step in reversed(flow.steps):
        if not wanted.isdisjoint(step.writes):
            wanted.update(step.reads)
            kept.append(step)
    return Flow(tuple(reversed(kept)), flow.inputs, flow.outputs)


def layers(flow: Flow, together: Iterable[Collection[int]]) -> tuple[Part, ...]:
    """The finest parts that hold each of these sets of steps whole: what a runtime runs as one cannot be cut.

    A cut that no value crosses is none, for a device would have nothing to wait for.
    """
    inner: set[int] = set()
    for steps in together:
        if steps:
            inner.update(range(min(steps), max(steps)))
    cuts = [after for after, values in enumerate(crossings(flow)) if values and after not in inner]
    edges = [-1, *cuts, len(flow.steps) - 1]
    return tuple(Part(before + 1, last) for before, last in pairwise(edges))


def crossings(flow: Flow) -> tuple[tuple[str, ...], ...]:
    """For a cut after each step but the last: the values made before it that are read behind it. All of them cross."""
    last_read = {value: index for index, step in enumerate(flow.steps) for value in step.reads}
    alive: dict[str, int] = {}
    found = []
    for index, step in enumerate(flow.steps[:-1]):
        alive.update((value, last_read[value]) for value in step.writes if value in last_read)
        alive = {value: last for value, last in alive.items() if last > index}
        found.append(tuple(alive))
    return tuple(found)


def ends(flow: Flow, part: Part) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a slice of these steps takes in, and what it gives to later ones or as outputs of the model."""
    inside = flow.steps[part.first : part.last + 1]
    made = [value for step in inside for value in step.writes]
    taken = dict.fromkeys(value for step in inside for value in step.reads if value not in made)
    later = {value for step in flow.steps[part.last + 1 :] for value in step.reads} | set(flow.outputs)
    return tuple(taken), tuple(value for value in made if value in later)


def step_of(flow: Flow, aliases: Mapping[str, str]) -> dict[str, int]:
    """Steps by the names under which they may be known: their own, their values', and `aliases` of these."""
    found: dict[str, int] = {}
    for index, step in enumerate(flow.steps):
        for name in (step.name, *step.writes):
            found.setdefault(name, index)
    for alias, name in aliases.items():
        if name in found:
            found.setdefault(alias, found[name])
    return found


def gather(names: Sequence[Sequence[str]], known: Mapping[str, int]) -> Iterator[list[int]]:
    """The steps in each row of names, as far as they are known."""
    for row in names:
        yield sorted({known[name] for name in row if name in known})
