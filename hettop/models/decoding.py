"""Which inputs and outputs of a token-by-token model do what: tokens, positions, masks, and the state it carries.

State is found by the names that exporters use and by shape; what is found is shown, and `--state IN=OUT` overrides it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hettop.errors import HettopError
from hettop.models.ports import Port
from hettop.text import clean

BEFORE = frozenset({"past", "old", "prev", "previous", "in", "input"})
AFTER = frozenset({"present", "new", "next", "updated", "after", "out", "output"})
CARRIED = frozenset({"past", "old", "prev", "previous", "present", "updated", "after"})
"""Marks that no ordinary input or output has."""

STATE_WORDS = frozenset({"cache", "state", "states", "hidden", "memory", "kv", "h", "c"})
"""Names of state that need no mark: `cache_in` and `cache_out`."""

WITH_N = {"hn": "h", "cn": "c", "staten": "state"}
"""Outputs of recurrent layers, and the input that they are fed back to."""

CACHE_RANK, CACHE_AXIS = 4, 2
"""Of a cache (batch, heads, positions, width), the axis of the positions."""

EXAMPLE = "write --state past_key_values.0.key=present.0.key"
INTEGERS = ("int32", "int64")


@dataclass(frozen=True, slots=True)
class StatePair:
    """An input that is fed what the output gave in the call before. `axis`: the one that grows, None for a ring."""

    input: Port
    output: str
    axis: int | None

    def begin(self) -> tuple[int, ...]:
        """The shape before the first token: nothing yet along the growing axis, 1 for any other free length."""
        return tuple(
            0 if at == self.axis else length if isinstance(length, int) else 1
            for at, length in enumerate(self.input.shape)
        )

    def describe(self) -> str:
        """`past.0.key -> present.0.key (grows)`."""
        return f"{self.input.name} -> {self.output} ({'fixed size' if self.axis is None else 'grows'})"


@dataclass(frozen=True, slots=True)
class Roles:
    """The ports of a decoder. `logits`: the output a token is taken from; `others` are inputs with values of their own.

    `lengths`: the numbers of tokens for one call (least, greatest or None); `choices`: the only ones, if any.
    """

    tokens: Port
    logits: Port
    pairs: tuple[StatePair, ...]
    positions: tuple[Port, ...] = ()
    masks: tuple[Port, ...] = ()
    flags: tuple[Port, ...] = ()
    others: tuple[Port, ...] = ()
    lengths: tuple[int, int | None] = (1, None)
    choices: tuple[int, ...] = ()

    def most(self, left: int) -> int:
        """How many of `left` tokens the next call takes. Raises HettopError (`input`) where none fit."""
        if self.choices:
            fitting = [length for length in self.choices if length <= left]
        else:
            longest = left if self.lengths[1] is None else min(left, self.lengths[1])
            fitting = [longest] if longest >= self.lengths[0] else []
        if not fitting:
            least = min(self.choices, default=self.lengths[0])
            raise HettopError(
                "input",
                f"{clean(self.tokens.name)} takes {least} tokens per call: it cannot go on token by token",
                "use --prefill and --decode for models with fixed lengths",
            )
        return max(fitting)

    def describe(self) -> str:
        """Which input does what, for people."""
        parts = [f"tokens {self.tokens.name}", f"next token from {self.logits.name}"]
        parts += [
            f"{what} {port.name}"
            for what, ports in (("positions", self.positions), ("mask", self.masks))
            for port in ports
        ]
        return "; ".join([*parts, summary(self.pairs)])


def summary(pairs: Sequence[StatePair]) -> str:
    """`state 8 of 8 pairs, past.0.key -> present.0.key (grows), …`."""
    if not pairs:
        return "no state pairs"
    more = f" and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    return f"state {pairs[0].describe()}{more}"


def find_pairs(
    inputs: Iterable[Port], outputs: Iterable[Port], given: Mapping[str, str] | None = None
) -> tuple[StatePair, ...]:
    """The pairs by name and shape, in the order of the inputs; those of `given` (input to output) come first.

    Raises HettopError (`usage`) for a given name that does not exist, or a pair whose types or shapes differ.
    """
    ins, outs = {port.name: port for port in inputs}, {port.name: port for port in outputs}
    given = given or {}
    for name, output in given.items():
        if name not in ins or output not in outs:
            what, known = ("input", ins) if name not in ins else ("output", outs)
            missing = name if name not in ins else output
            raise HettopError("usage", f"--state: no {what} {clean(missing)}", f"{what}s: {clean(', '.join(known))}")
        if not _fits(ins[name], outs[output]):
            raise HettopError(
                "usage",
                f"--state: {clean(ins[name].describe())} and {clean(outs[output].describe())} differ in type or shape",
                EXAMPLE,
            )
    free = [port for port in outs.values() if port.name not in given.values()]
    found: dict[str, str] = dict(given)
    for port in ins.values():
        if port.name not in found:
            fitting = [other for other in free if _belong(port, other)]
            if len(fitting) == 1:
                found[port.name] = fitting[0].name
    return tuple(
        StatePair(port, found[port.name], growing_axis(port, outs[found[port.name]]))
        for port in ins.values()
        if port.name in found
    )


def parse_state(text: str) -> tuple[str, str]:
    """`IN=OUT`. Raises HettopError (`usage`)."""
    name, equals, output = text.partition("=")
    if not (name and equals and output):
        raise HettopError("usage", f"invalid --state {clean(text)}", EXAMPLE)
    return name, output


def find_roles(
    inputs: Sequence[Port], outputs: Sequence[Port], given: Mapping[str, str] | None = None, *, stateful: bool = False
) -> Roles:
    """What each port does. `stateful`: the framework itself carries a state, beside the ports.

    Raises HettopError (`input`) for a model that has no tokens to read, nothing to take a token from, or no state.
    """
    pairs = find_pairs(inputs, outputs, given)
    held, kept = {pair.input.name for pair in pairs}, {pair.output for pair in pairs}
    rest = [port for port in inputs if port.name not in held and port.kind != "state"]
    positions = tuple(port for port in rest if port.dtype in INTEGERS and "pos" in port.name.lower())
    masks = tuple(port for port in rest if "mask" in port.name.lower())
    flags = tuple(port for port in rest if port.dtype == "bool" and not len(_plain(port)) and port not in masks)
    named = {port.name for port in (*positions, *masks, *flags)}
    tokens = _tokens([port for port in rest if port.dtype in INTEGERS and port.name not in named])
    logits = _logits([port for port in outputs if port.name not in kept])
    if not pairs and not stateful:
        raise HettopError(
            "input",
            "no state is carried from call to call: no input and output belong together by name and shape",
            f"name them: {EXAMPLE.removeprefix('write ')}",
        )
    others = tuple(port for port in rest if port.name not in {*named, tokens.name})
    return Roles(tokens, logits, pairs, positions, masks, flags, others, *_lengths(tokens))


def _tokens(ports: Sequence[Port]) -> Port:
    named = [port for port in ports if re.search(r"(^|_)(ids?|tokens?)$", port.name.lower())]
    found = named or list(ports)
    if len(found) != 1:
        why = (
            "no input takes token numbers"
            if not found
            else f"several inputs may take tokens: {', '.join(port.name for port in found)}"
        )
        raise HettopError("input", clean(why), "a decoder has one integer input such as input_ids")
    return found[0]


def _logits(ports: Sequence[Port]) -> Port:
    """The output named so, an integer one that is the token itself, else the one with the longest last axis."""
    named = [port for port in ports if "logit" in port.name.lower() or "token" in port.name.lower()]
    arrays = [port for port in named or ports if port.dtype.startswith(("float", "int"))]
    if not arrays:
        raise HettopError("input", "no output to take a token from", "a decoder has an output such as logits")
    return max(arrays, key=lambda port: port.shape[-1] if port.shape and isinstance(port.shape[-1], int) else 0)


def _lengths(tokens: Port) -> tuple[tuple[int, int | None], tuple[int, ...]]:
    if tokens.choices:
        return (1, None), tuple(sorted({choice[-1] for choice in tokens.choices}))
    last = tokens.shape[-1] if tokens.shape else 1
    if isinstance(last, int):
        return (last, last), ()
    if tokens.ranges:
        low, high = tokens.ranges[-1]
        return (max(1, low), high), ()
    return (1, None), ()


def growing_axis(before: Port, after: Port) -> int | None:
    """The axis whose length is free and is not the same one in both, as by its name; None where all are fixed."""
    free = [at for at, length in enumerate(before.shape) if not isinstance(length, int)]
    other = [at for at in free if after.shape[at] != before.shape[at] or before.shape[at] is None]
    if len(other) > 1 and CACHE_AXIS in other and len(before.shape) == CACHE_RANK:
        return CACHE_AXIS
    if before.usual is not None and not other:
        return None
    return other[-1] if other else None


def _belong(before: Port, after: Port) -> bool:
    if not before.dtype.startswith("float") or before.kind not in ("array", "state") or not _fits(before, after):
        return False
    if after.name == f"{before.name}/after":  # as a translation names them
        return True
    key, marks = _key(before.name, BEFORE)
    other, after_marks = _key(after.name, AFTER)
    stateful = bool((marks | after_marks) & CARRIED) or bool(set(key) & STATE_WORDS)
    return key == other and stateful and before.name != after.name


def _fits(before: Port, after: Port) -> bool:
    return (
        before.dtype == after.dtype
        and len(before.shape) == len(after.shape)
        and all(
            a == b or not (isinstance(a, int) and isinstance(b, int))
            for a, b in zip(before.shape, after.shape, strict=True)
        )
    )


def _key(name: str, marks: frozenset[str]) -> tuple[tuple[str, ...], frozenset[str]]:
    """The words of a name without its marks, and those."""
    plain = re.sub(r"(past|present)_key_values", r"\1", name.lower())
    words = [word for word in re.split(r"[^a-z0-9]+", plain) if word]
    return (
        tuple(WITH_N.get(word, word) for word in words if word not in marks),
        frozenset(word for word in words if word in marks),
    )


def _plain(port: Port) -> tuple[int | str | None, ...]:
    """The axes that are longer than 1."""
    return tuple(axis for axis in port.shape if axis != 1)
