"""Answers of a token-by-token model, one token after another: the state carried, the token found fed back.

The framework is behind `Stateful`; nothing here is measured or published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hettop.models.decoding import Roles, StatePair
from hettop.models.inputs import make_inputs
from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.backend import Answer, Stateful
from hettop.sources.engine.job import AnswerJob

Tokens = npt.NDArray[np.int64]


class Decoder:
    """Runs answers on a loaded model. Each begins with an empty state and a prompt of its own, both by its number.

    tokens: of the answer that runs, or ran last.
    """

    streamed = False

    def __init__(
        self, backend: Stateful, roles: Roles, job: AnswerJob, inputs: InputOptions, now: Callable[[], int]
    ) -> None:
        self._backend = backend
        self._roles = roles
        self._job = job
        self._inputs = inputs
        self._others: Feed = {}
        self._now = now
        self.words = roles.describe()
        self.tokens: list[int] = []
        backend.carry({pair.input.name: pair.output for pair in roles.pairs})
        self._vocabulary = self._find_vocabulary()

    def answer(self, number: int) -> Answer:
        """An answer of as many tokens as the job asks for; the first step is the whole prompt."""
        return Answer(self._steps(number), self._job.prompt_tokens, self._job.max_tokens, "length")

    def _steps(self, number: int) -> Iterator[tuple[int, bool]]:
        prompt = self.prompt(number)
        rng = np.random.default_rng([self._inputs.seed, number, 1])
        self._begin(number)
        self.tokens, done = [], 0
        while len(self.tokens) < self._job.max_tokens:
            while done < prompt.size:
                step = self._roles.most(prompt.size - done)
                scores = self._advance(prompt[done : done + step], done)
                done += step
            self.tokens.append(self._pick(scores, rng))
            yield self._now(), True
            prompt = np.append(prompt, self.tokens[-1])

    def prompt(self, number: int) -> Tokens:
        rng = np.random.default_rng([self._inputs.seed, number, 0])
        return rng.integers(0, self._vocabulary, self._job.prompt_tokens)

    def _begin(self, number: int) -> None:
        self._backend.begin_state({pair.input.name: _zeros(pair) for pair in self._roles.pairs})
        if self._roles.others:
            self._others = make_inputs(self._roles.others, replace(self._inputs, seed=self._inputs.seed + number))

    def _advance(self, tokens: Tokens, done: int) -> npt.NDArray[Any]:
        """What the output of tokens gave after these, which follow `done` others."""
        feed = step_feed(self._roles, tokens, done)
        feed.update(self._others)
        outputs = self._backend.advance(feed)
        return np.asarray(outputs[self._roles.logits.name])

    def _pick(self, scores: npt.NDArray[Any], rng: np.random.Generator) -> int:
        """The most likely token, or one drawn in proportion to exp(score / temperature)."""
        if scores.dtype.kind in "iu":
            return int(scores.reshape(-1)[-1])
        last = scores.reshape(-1, scores.shape[-1])[-1].astype(np.float64)
        if self._job.temperature > 0:
            # The largest of scores plus Gumbel noise is such a draw (Gumbel 1954).
            last = last / self._job.temperature + rng.gumbel(size=last.size)
        return int(np.argmax(last))

    def _find_vocabulary(self) -> int:
        """By the shape of the output of scores; asked of the model where that leaves it open."""
        last = self._roles.logits.shape[-1] if self._roles.logits.shape else None
        if isinstance(last, int) and last > 1 and self._roles.logits.dtype.startswith("float"):
            return last
        self._begin(0)
        scores = self._advance(np.zeros(self._roles.most(self._job.prompt_tokens), np.int64), 0)
        return scores.shape[-1] if scores.dtype.kind == "f" and scores.shape[-1] > 1 else 2


def step_feed(roles: Roles, tokens: Tokens, done: int) -> Feed:
    """Tokens, positions, masks and flags of a call that reads `tokens` after `done` others."""
    feed: Feed = {roles.tokens.name: _shaped(roles.tokens, tokens)}
    positions = np.arange(done, done + tokens.size)
    for port in roles.positions:
        feed[port.name] = _shaped(port, positions if _many(port) else positions[:1])
    for port in roles.masks:
        feed[port.name] = _mask(port, positions)
    for port in roles.flags:
        feed[port.name] = np.full(_sizes(port), done > 0)
    return feed


def _mask(port: Port, positions: Tokens) -> npt.NDArray[Any]:
    """1 for each position up to the last one; with axes for queries and keys, what each query may see.

    A mask of floats is added to scores: 0 where a key may be seen, else the least number of its type.
    """
    last = port.shape[-1] if port.shape else None
    length = last if isinstance(last, int) and last > 1 else int(positions[-1]) + 1
    keys = np.arange(length)
    if len(port.shape) < 3:
        return _shaped(port, keys <= positions[-1])
    seen = keys <= positions[:, None]
    if port.dtype.startswith("float"):
        least = np.finfo(port.dtype).min
        return np.where(seen, 0, least).astype(port.dtype).reshape(*[1] * (len(port.shape) - 2), *seen.shape)
    return seen.astype(port.dtype).reshape(*[1] * (len(port.shape) - 2), *seen.shape)


def _shaped(port: Port, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The values along the last axis, in as many axes as the port has."""
    if not port.shape:
        return np.array(values.reshape(-1)[-1], port.dtype)
    shaped: npt.NDArray[Any] = values.astype(port.dtype).reshape(*[1] * (len(port.shape) - 1), -1)
    return shaped


def _many(port: Port) -> bool:
    return bool(port.shape) and port.shape[-1] != 1


def _sizes(port: Port) -> tuple[int, ...]:
    return tuple(axis if isinstance(axis, int) else 1 for axis in port.shape)


def _zeros(pair: StatePair) -> npt.NDArray[Any]:
    return np.zeros(pair.begin(), dtype=pair.input.dtype)
