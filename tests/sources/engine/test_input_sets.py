"""A loaded model is asked about several sets of inputs, for a second at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.worker import Asked, ask
from tests.sources.engine.fakes import MS, FakeBackend, FakeClock

PORTS = (Port("x", "float32", (1,)),)


class Doubling(FakeBackend):
    """y = the seed of its inputs; `made` are the seeds asked for, each of `nbytes`."""

    def __init__(self, latency_ms: int, nbytes: int = 8) -> None:
        super().__init__(FakeClock(), [latency_ms * MS])
        self.made: list[int] = []
        self._nbytes = nbytes
        self._last: dict[str, Any] = {"y": np.array([-1.0])}

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        self.made.append(options.seed)
        return self.feed(options.seed)

    def feed(self, seed: int) -> Feed:
        return {"x": np.full(self._nbytes // 8, float(seed))}

    def predict(self, feed: Feed) -> None:
        super().predict(feed)
        self._last = {"y": feed["x"][:1].copy()}

    def outputs(self) -> dict[str, Any]:
        return self._last


def asked(
    backend: Doubling, *, first_ms: int = 1, options: InputOptions | None = None, most: int = 8, turns: int = 99
) -> Asked:
    left = iter(range(turns))
    return ask(
        backend,
        PORTS,
        options or InputOptions(seed=5),
        backend.feed(5),
        most_sets=most,
        first_ns=first_ms * MS,
        go_on=lambda: next(left, None) is not None,
    )


def answers(found: Asked) -> list[float]:
    return [float(output.values[0]) for outputs in found.sets for output in outputs]


def test_the_last_answer_is_the_first_and_seven_seeds_follow() -> None:
    backend = Doubling(1)
    found = asked(backend)
    assert answers(found) == [-1, 6, 7, 8, 9, 10, 11, 12]
    assert (found.predictions, len(found.feeds)) == (7, 7)


def test_it_takes_no_more_than_a_second() -> None:
    # 300 ms each: three fit, the fourth would end at 1.2 s.
    assert asked(Doubling(300), first_ms=300).predictions == 3


def test_a_model_whose_first_call_took_longer_is_not_asked_again() -> None:
    assert asked(Doubling(1), first_ms=1001).predictions == 0


def test_inputs_that_the_user_gave_are_the_only_ones() -> None:
    backend = Doubling(1)
    assert answers(asked(backend, options=InputOptions(values={"x": "3"}))) == [-1]
    assert backend.made == []


def test_large_inputs_are_not_made_again_and_again() -> None:
    # 64 MiB are allowed beside the first.
    assert asked(Doubling(1, nbytes=24 << 20)).predictions == 2


def test_it_ends_when_something_else_is_to_be_done() -> None:
    assert asked(Doubling(1), turns=2).predictions == 2


def test_a_process_that_is_not_to_ask_does_not() -> None:
    assert asked(Doubling(1), most=0) == Asked()
