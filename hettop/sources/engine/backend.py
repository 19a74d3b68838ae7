"""The seam between the engine and what runs a model: the `Backend` protocol and the data that crosses it.

Each backend imports its framework inside its methods, in the engine process alone.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from hettop.events import ProviderNodes
from hettop.models.ports import Feed, InputOptions, Port
from hettop.units import NS_PER_S

_THREADS = re.compile(r"[1-9][0-9]{0,8}")


def _tell_nobody(_state: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How to load: `threads` is the N of `UNIT@N` (None: the framework's default), `function` one of several.

    tell: called with what the load is about to do, `compiling` or `loading`; either can take minutes.
    hints: optimisation hints of the framework, as it names them and their values.
    fresh_state: whether a model's state will be made anew before each call, where the backend can (`Renewing`).
    strict: whether a model that the unit does not run as a whole is an error, where the backend reports it.
    custom_ops: libraries of custom operators, for ONNX Runtime.
    """

    threads: int | None = None
    function: str | None = None
    tell: Callable[[str], None] = _tell_nobody
    hints: Mapping[str, str] = field(default_factory=dict)
    fresh_state: bool = False
    strict: bool = False
    custom_ops: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready to run. `placed` is what is known to run it, None until that is known.

    load_ns: None where it was loaded before, by others, as by a server.
    compile_ns: what compiling it took, before the load; cached: whether an earlier compilation was used instead. Both
        None where nothing is compiled.
    compiled: where the compiled model lies from which the framework's plan can be read; None where there are no plans.
    stateful: whether the framework itself carries a state from call to call, beside the inputs.
    provider_nodes: how the nodes are assigned to execution providers; None where that is not known.
    recycle_after: after so many predictions the process had better be replaced by a new one; None: never.
    """

    requested: str
    placed: str | None
    load_ns: int | None
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    note: str = ""
    compile_ns: int | None = None
    cached: bool | None = None
    compiled: str | None = None
    recycle_after: int | None = None
    stateful: bool = False
    provider_nodes: Sequence[ProviderNodes] | None = None


class Clock(Protocol):
    """The clock samples are taken with, in nanoseconds; monotonic and the same in every process of this machine."""

    def now(self) -> int: ...

    def sleep_until(self, moment: int) -> None: ...


class Backend(Protocol):
    """Runs one model on one unit. Only `predict` is timed; `native_ns` is the framework's own time of the last call."""

    name: str
    simulated: bool
    has_native: bool
    clock: Clock

    def units(self) -> dict[str, str | None]:
        """Every unit this backend knows, with None if it can run here, else why not."""
        ...

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded: ...

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed: ...

    def predict(self, feed: Feed) -> None: ...

    def outputs(self) -> Mapping[str, Any]:
        """What the last `predict` returned, as numpy arrays by name; empty where nothing was computed."""
        ...

    def native_ns(self) -> int | None: ...

    def told_load(self, condition: str) -> None:
        """The active competing load, as the condition string; only a simulation has any use for it."""
        ...


@runtime_checkable
class Renewing(Protocol):
    """A backend that can forget what earlier calls left in the model's state; without a state it does nothing."""

    def renew_state(self) -> None: ...


@runtime_checkable
class Stateful(Protocol):
    """A backend that carries a state from call to call: what an output gave is fed to its input in the next call."""

    def carry(self, pairs: Mapping[str, str]) -> None:
        """From now on these inputs are fed what these outputs gave; a state of the framework's own needs no pair."""
        ...

    def begin_state(self, state: Feed) -> None:
        """What the next call is fed, by the names of the inputs of the pairs; a state of its own is made anew."""
        ...

    def advance(self, feed: Feed) -> Mapping[str, Any]:
        """One call of these inputs with the state that it carries; returns the other outputs as numpy arrays."""
        ...


@dataclass(slots=True)
class Answer:
    """One answer under way. `chunks` gives each moment (ns) at which something came, and whether it was one token.

    prompt_tokens, tokens: as they were counted by who answers, None where nobody does. finish: why it ended, known once
    `chunks` has: `stop`, `length`, `content_filter`, `tool_calls`, or `other`. contradicted: whether a count of tokens
    was discarded, as it cannot be true of what came. cached_tokens: of the prompt, read before, as the server counts.
    """

    chunks: Iterator[tuple[int, bool]]
    prompt_tokens: int | None = None
    tokens: int | None = None
    finish: str = ""
    contradicted: bool = False
    cached_tokens: int | None = None


class Answering(Protocol):
    """What gives answers token by token, each with a prompt of its own by its number.

    streamed: whether tokens come from elsewhere, whether or not they are waited for: a token's time then counts from
    the arrival before it, and several answers may be under way at once.
    words: what is to be known of it, for people.
    """

    streamed: bool

    @property
    def words(self) -> str: ...

    def answer(self, number: int) -> Answer: ...


@runtime_checkable
class Selective(Protocol):
    """A backend with units that can run, but that are to be measured only if they are named."""

    def units_on_request(self) -> dict[str, str]:
        """These units, each with the reason."""
        ...


def units_on_request(backend: Backend) -> dict[str, str]:
    """The units of `backend` that "all units" do not include, each with the reason."""
    return backend.units_on_request() if isinstance(backend, Selective) else {}


def split_unit(unit: str) -> tuple[str, int | None]:
    """`CPU_ONLY@2` -> (`CPU_ONLY`, 2); a bare unit has None. Raises ValueError for a malformed thread count."""
    name, at, threads = unit.partition("@")
    if not at:
        return name, None
    # One spelling each: a recording knows units by their names, and would take `@01` for another one than `@1`.
    if not _THREADS.fullmatch(threads):
        raise ValueError(f"invalid unit {unit}: threads must be an integer of at least 1, as in CPU_ONLY@2")
    return name, int(threads)


class RealClock:
    """The monotonic clock of this machine."""

    # The bare builtin: one call less on either side of every timed inference.
    now = staticmethod(time.monotonic_ns)

    def sleep_until(self, moment: int) -> None:
        """Sleeps until `moment` (ns), not at all when it has passed."""
        left = moment - time.monotonic_ns()
        if left > 0:
            time.sleep(left / NS_PER_S)
