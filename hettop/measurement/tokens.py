"""Token-by-token models: each unit's decode and, beside it, its prefill; and how many tokens a call of each takes in.

Reads what the model says of its inputs, and no more of it; a number of tokens that is not certain is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hettop.errors import HettopError
from hettop.events import row_name
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import RowVariant, Setup, prepare
from hettop.models.inputs import parse_shape
from hettop.models.resolve import COMPILED_SUFFIX, ResolvedModel, is_core_ml
from hettop.session.tokens import MOST, PREFILL, TokensPerCall
from hettop.text import clean

FUNCTION_MARK = "@"
ASK = "tell how many tokens of a sequence a call takes in: --tokens PREFILL,DECODE such as 128,1"
EXAMPLE = "write @FUNCTION, or the shape of an input: NAME=1,128"

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Stage:
    """What prefill or decode runs: a function (None: that of both), with these shapes of inputs. `words`: as told."""

    function: str | None
    shapes: Shapes
    words: str


def parse_stage(texts: Sequence[str], option: str) -> Stage:
    """`@function` and `NAME=1,128`, any number of them. Raises HettopError: `usage`."""
    functions = [text[1:] for text in texts if text.startswith(FUNCTION_MARK)]
    shaped = [text for text in texts if not text.startswith(FUNCTION_MARK)]
    if len(functions) > 1 or "" in functions or not texts:
        raise HettopError("usage", f"{option} wants one function at most, and shapes", EXAMPLE)
    try:
        shapes = dict(map(parse_shape, shaped))
    except HettopError as error:
        raise HettopError("usage", f"{option} {clean(' '.join(shaped))}: not a shape", EXAMPLE) from error
    return Stage(functions[0] if functions else None, shapes, clean(" ".join(texts), 80))


def parse_tokens(text: str) -> tuple[int, int]:
    """`128,1`: tokens in a call of prefill, and of decode. Raises HettopError: `usage`."""
    found = re.fullmatch(r"([1-9][0-9]{0,8}),([1-9][0-9]{0,8})", text.strip())
    if found is None or max(map(int, found.groups())) > MOST:
        raise HettopError("usage", f"--tokens {clean(text)}: not two numbers of tokens", "write --tokens 128,1")
    return int(found[1]), int(found[2])


def prepare_tokens(
    options: ModelOptions,
    units: tuple[str, ...],
    cores: int,
    *,
    prefill: Stage,
    decode: Stage,
    tokens: tuple[int, int] | None,
) -> Setup:
    """Each unit with decode and, as its variant, with prefill.

    Raises HettopError: as `prepare` does; `usage` where both are the same, where the number of tokens is neither told
    nor certain, or where nothing is computed.
    """
    setup = prepare(replace(options, function=decode.function or options.function), units, cores)
    if setup.simulated:
        raise HettopError("usage", "simulated units know neither functions nor shapes", "name a model and its backend")
    both = [replace(each, function=each.function or options.function) for each in (prefill, decode)]
    shapes = [{**setup.inputs.shapes, **each.shapes} for each in both]
    if both[0].function == both[1].function and shapes[0] == shapes[1]:
        raise HettopError("usage", "--prefill and --decode are the same", EXAMPLE)
    described = shapes_of(setup.model)
    known = [{**described(each.function), **given} for each, given in zip(both, shapes, strict=True)]
    per_call = TokensPerCall(*tokens, "--tokens") if tokens is not None else counted(*known)
    job = {"function": both[0].function, "shapes": shapes[0], "fresh_state": True}
    words = f"prefill with {prefill.words}; the unit itself is decode, with {decode.words}"
    return replace(
        setup,
        units=tuple(row for unit in setup.units for row in (unit, row_name(unit, PREFILL))),
        variants={**setup.variants, PREFILL: RowVariant(words, job)},
        inputs=replace(setup.inputs, shapes=shapes[1]),
        tokens=per_call,
    )


def counted(prefill: Shapes, decode: Shapes) -> TokensPerCall:
    """Tokens per call by the axis in which the shapes of the two differ. Raises HettopError: `usage`.

    Several inputs may differ, and several axes, as long as all of them give the same two lengths.
    """
    found: dict[tuple[int, int], str] = {}
    for name in prefill.keys() & decode.keys():
        if len(prefill[name]) != len(decode[name]):
            raise HettopError("usage", f"{clean(name)} has another number of axes in prefill than in decode", ASK)
    for name in sorted(prefill.keys() & decode.keys()):
        for axis, lengths in enumerate(zip(prefill[name], decode[name], strict=True)):
            if lengths[0] != lengths[1]:
                found.setdefault(lengths, f"axis {axis} of {clean(name, 60)}")
    if not found:
        raise HettopError("usage", "no shape that is known of both prefill and decode differs between them", ASK)
    if len(found) > 1:
        told = ", ".join(f"{a} and {b} ({where})" for (a, b), where in found.items())
        raise HettopError("usage", f"several lengths differ between prefill and decode: {told}", ASK)
    ((lengths, where),) = found.items()
    return TokensPerCall(*lengths, where)


def shapes_of(model: ResolvedModel) -> Callable[[str | None], dict[str, tuple[int, ...]]]:
    """The shapes that the inputs of a function always have, by its name; none where the model does not say."""
    path = model.path
    if path is None or not (is_core_ml(path) or path.suffix.lower() == COMPILED_SUFFIX):
        return lambda _: {}
    return lambda function: _fixed_shapes(path, function)


def _fixed_shapes(path: Path, function: str | None) -> dict[str, tuple[int, ...]]:
    if path.suffix.lower() == COMPILED_SUFFIX:
        from hettop.sources.engine.coreml.metadata import read_metadata

        ports = read_metadata(path).function(function, path)
    else:
        from hettop.models.mil.package import open_package

        ports = open_package(path).function(function)
    arrays = [port for port in ports.inputs if port.kind == "array" and not port.flexible]
    return {port.name: tuple(axis or 0 for axis in port.shape) for port in arrays}
