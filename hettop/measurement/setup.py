"""What is to be measured, checked before anything starts: model, backend, units of this machine, inputs.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.events import row_name
from hettop.events.base import TEXT_LIMIT
from hettop.measurement.options import ModelOptions
from hettop.models.inputs import parse_shape, parse_value
from hettop.models.mobilenetv2 import is_default_name
from hettop.models.ports import InputOptions
from hettop.models.resolve import (
    COMPILED_SUFFIX,
    TRANSLATED,
    TRANSLATED_NOTE,
    ResolvedModel,
    is_core_ml,
    resolve,
)
from hettop.session.tokens import TokensPerCall
from hettop.sources.engine.backend import Backend, Clock, RealClock, split_unit, units_on_request
from hettop.sources.engine.backends import create
from hettop.sources.engine.backends.onnxruntime import thread_units
from hettop.sources.engine.coreml.availability import NEEDS_MACOS
from hettop.text import clean

ALL_UNITS = "all"
DEFAULT_BACKEND = "onnxruntime"
MOST_THREADS = 1024
PASSED_OVER = "ONNX Runtime runs this model instead of Core ML"


@dataclass(frozen=True, slots=True)
class RowVariant:
    """Another way of running a unit, measured beside it. `words` say what; `job` what is different in its jobs."""

    words: str
    job: Mapping[str, Any]
    model: ResolvedModel | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """`units` are the rows to measure, `available` those that "all" means here, `absent` maps the others to the reason.

    `variants` of units by name: a row may be a variant of a unit. `tokens`: what a call is worth, where that is known.
    `warnings`: what the user should know of this choice before reading any result.
    """

    model: ResolvedModel
    backend: str
    simulated: bool
    units: tuple[str, ...]
    available: tuple[str, ...]
    absent: Mapping[str, str]
    inputs: InputOptions
    function: str | None
    hints: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, RowVariant] = field(default_factory=dict)
    tokens: TokensPerCall | None = None
    warnings: tuple[str, ...] = ()


Make = Callable[[str, Clock], Backend]
"""Makes the backend of a name, as `hettop.sources.engine.backends.create` does."""


def prepare(options: ModelOptions, units: tuple[str, ...] | None, cores: int, make: Make = create) -> Setup:
    """Resolve what the user wrote. `units` None means the first available one.

    Raises HettopError: `usage`, `missing`, `format`, `io`, `unsupported-unit`.
    """
    _check_encoding(options)
    backend, passed_over = (options.backend, None) if options.backend else _choose_backend(options.model, units, make)
    if options.hints and backend == DEFAULT_BACKEND:
        raise HettopError("usage", "ONNX Runtime takes no optimisation hints", "--hint is for --backend coreml")
    engine = make(backend, RealClock())
    known, on_request = engine.units(), units_on_request(engine)
    available = tuple(unit for unit in _available(known, backend, cores) if unit not in on_request)
    model = resolve(options.model, translated=backend == DEFAULT_BACKEND)
    inputs = InputOptions(
        seed=options.seed,
        shapes=dict(map(parse_shape, options.shapes)),
        values=dict(map(parse_value, options.values)),
    )
    rows = _requested(units, available, known, backend)
    left_out = {unit: why for unit, why in on_request.items() if unit not in rows}
    absent = {unit: why or left_out.get(unit) for unit, why in known.items()}
    return Setup(
        model=_placed(model, available),
        backend=backend,
        simulated=engine.simulated,
        units=rows,
        available=available,
        absent={unit: why for unit, why in absent.items() if why is not None},
        inputs=inputs,
        function=options.function,
        hints=dict(map(_hint, options.hints)),
        warnings=tuple(_warnings(passed_over, left_out if ALL_UNITS in (units or ()) else {})),
    )


def _warnings(passed_over: str | None, left_out: Mapping[str, str]) -> Iterator[str]:
    """passed_over: why Core ML does not run the model. left_out: units that "all" does not include, with the reason."""
    if passed_over is not None:
        yield clean(f"{PASSED_OVER}: {passed_over}", TEXT_LIMIT)
    for unit, why in left_out.items():
        yield clean(f"--units all skips {unit}: {why} (--units {unit})", TEXT_LIMIT)


def usual_backend(model: str, units: tuple[str, ...] | None, make: Make) -> str:
    """Core ML for what it can run, where it is; a unit with a number of threads is ONNX Runtime's own."""
    return _choose_backend(model, units, make)[0]


def _choose_backend(model: str, units: tuple[str, ...] | None, make: Make) -> tuple[str, str | None]:
    """The backend, and on a Mac the reason and the fix where it is not Core ML for a model that Core ML could run."""
    path = Path(model)
    if not (is_default_name(model) or is_core_ml(path) or path.suffix.lower() == COMPILED_SUFFIX):
        return DEFAULT_BACKEND, None
    reasons = make("coreml", RealClock()).units().values()
    if None not in reasons:
        why = "; ".join(dict.fromkeys(filter(None, reasons)))
        return DEFAULT_BACKEND, None if why == NEEDS_MACOS else why
    threaded = next((unit for unit in units or () if "@" in unit), None)
    if threaded is None:
        return "coreml", None
    return DEFAULT_BACKEND, f"{threaded} sets a number of threads, which Core ML does not: name units without @"


def _placed(model: ResolvedModel, available: tuple[str, ...]) -> ResolvedModel:
    """With a note that is true of every unit: on a Mac, ONNX Runtime may hand a translation to Core ML again."""
    on_cpu = all(split_unit(unit)[0] == "CPU_ONLY" for unit in available)
    return model if on_cpu or model.note != TRANSLATED_NOTE else replace(model, note=TRANSLATED)


def _hint(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise HettopError("usage", f"{clean(text)!r} is no hint", "write --hint reshapeFrequency=Infrequent")
    return name, value


def _check_encoding(options: ModelOptions) -> None:
    """Names go to the engines as UTF-8; one that is not has no place in a recording either."""
    texts = (options.model, options.function or "", *options.shapes, *options.values, *options.hints)
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise HettopError("usage", f"{clean(text)!r} is not UTF-8", "rename the file, or link to it") from None


def _available(known: Mapping[str, str | None], backend: str, cores: int) -> tuple[str, ...]:
    here = [unit for unit, why in known.items() if why is None]
    if backend == DEFAULT_BACKEND:
        here += [unit for unit in thread_units(cores) if unit not in here]
    return tuple(here)


def _requested(
    units: tuple[str, ...] | None, available: tuple[str, ...], known: Mapping[str, str | None], backend: str
) -> tuple[str, ...]:
    if not available:
        why = "; ".join(dict.fromkeys(filter(None, known.values())))
        raise HettopError("unsupported-unit", f"{clean(backend)} cannot run here: {clean(why)}", "see hettop doctor")
    if units is None:
        return available[:1]
    named = [name for unit in units for name in (available if unit == ALL_UNITS else (unit,))]
    return tuple(dict.fromkeys(_checked(unit, available, known) for unit in named))


def _checked(unit: str, available: tuple[str, ...], known: Mapping[str, str | None]) -> str:
    hint = f"units of this machine: {', '.join(available)}"
    try:
        name, threads = split_unit(unit)
    except ValueError as error:
        raise HettopError("usage", clean(str(error)), hint) from error
    if name not in known:
        raise HettopError("usage", f"unknown unit {clean(unit)!r}", hint)
    why = known[name]
    if why is not None:
        raise HettopError("unsupported-unit", f"{unit} cannot run here: {why}", hint)
    if threads is not None and not any(candidate.startswith(f"{name}@") for candidate in available):
        raise HettopError("unsupported-unit", f"{unit}: this backend cannot set threads", hint)
    if threads is not None and threads > MOST_THREADS:
        raise HettopError("usage", f"{unit}: at most {MOST_THREADS} threads", hint)
    return unit


CLOSED = "closed"
OTHER = "b"
CLOSED_WORDS = "closed loop: each call as soon as the one before has ended"


def with_closed_loop(setup: Setup) -> Setup:
    """Each unit at its rate and, beside it, without one."""
    return _with(setup, CLOSED, RowVariant(CLOSED_WORDS, {"rate_hz": None}))


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
    return _with(setup, OTHER, RowVariant(f"the same with {clean(name, 100)}", job, other.model))


def prepare_against(setup: Setup, options: ModelOptions, against: str, cores: int) -> Setup:
    """The same for a model as the user named it. Raises HettopError as `prepare` does."""
    other = prepare(replace(options, model=against), setup.units, cores)
    return with_other_model(setup, other, other.model.name)


def _with(setup: Setup, name: str, variant: RowVariant) -> Setup:
    rows = tuple(row for unit in setup.units for row in (unit, row_name(unit, name)))
    return replace(setup, units=rows, variants={**setup.variants, name: variant})
