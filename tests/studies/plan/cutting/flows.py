"""Flows for tests, written as text."""

from __future__ import annotations

from hettop.studies.plan.cutting.graph import Flow, Step


def flow(text: str, inputs: str = "x", outputs: str = "y") -> Flow:
    """`a: x -> p; b: p x -> y` is two steps; values are parted by blanks."""
    steps = []
    for index, part in enumerate(text.split(";")):
        name, _, ends = part.strip().partition(":")
        reads, _, writes = ends.partition("->")
        steps.append(Step(name, "Op", index, tuple(reads.split()), tuple(writes.split())))
    return Flow(tuple(steps), tuple(inputs.split()), tuple(outputs.split()))


CHAIN = flow("a: x -> p; b: p -> q; c: q -> y")
# A residual: p goes by b and c to the sum.
RESIDUAL = flow("a: x -> p; b: p -> q; c: q -> r; sum: r p -> y")
