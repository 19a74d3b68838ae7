"""What is to be measured, checked before anything starts: model, backend, units of this machine, inputs, tokens.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from hettop import events
from hettop.compute_units import ALIASES, ALL_UNITS, CORE_ML_COUNTERPARTS, is_provider_unit
from hettop.errors import HettopError
from hettop.events import row_name
from hettop.events.base import TEXT_LIMIT
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.recorder import rfc3339
from hettop.models import tinydecoder
from hettop.models.content import content_sha256
from hettop.models.core_ai import is_core_ai
from hettop.models.decoding import parse_state
from hettop.models.inputs import parse_shape, parse_value
from hettop.models.networks.catalogue import is_built_in
from hettop.models.ports import InputOptions
from hettop.models.resolve import (
    COMPILED_SUFFIX,
    NOTE_ON_CPU,
    ResolvedModel,
    is_core_ml,
    resolve,
)
from hettop.models.served import check_address, is_address
from hettop.processes.cpus import usable_threads
from hettop.session.tokens import ANSWERS, MOST, PREFILL, SETTING, TokensPerCall
from hettop.sources.engine.backend import Backend, Clock, RealClock, split_unit, units_on_request
from hettop.sources.engine.backends import create
from hettop.sources.engine.backends.onnxruntime import thread_units
from hettop.sources.engine.coreml.availability import NEEDS_MACOS
from hettop.sources.engine.custom_ops import check_libraries
from hettop.sources.engine.job import INPUT_SETS, AnswerJob
from hettop.sources.engine.names import BACKENDS, CORE_AI, SERVER
from hettop.sources.engine.providers.known import provider_of
from hettop.sources.engine.providers.probe import LEFT_OUT, VARIABLE, allowed_providers
from hettop.sources.host import describe_host
from hettop.sources.load.parts import parse_load
from hettop.text import clean, nearest

DEFAULT_BACKEND = "onnxruntime"
WITHOUT_HINTS = {DEFAULT_BACKEND: "ONNX Runtime", CORE_AI: "Core AI"}
MOST_THREADS = 1024
PER_CORE = ("cpu", "memory")
"""Loads whose workers each occupy a core."""
PASSED_OVER = "ONNX Runtime runs this model instead of Core ML"


@dataclass(frozen=True, slots=True)
class RowVariant:
    """Another way of running a unit, measured beside it. `words` say what; `job` what is different in its jobs.

    units: by unit, the one that its job names instead, for a backend with units of its own.
    """

    words: str
    job: Mapping[str, Any]
    model: ResolvedModel | None = None
    units: Mapping[str, str] = field(default_factory=dict)

    def job_of(self, unit: str) -> Mapping[str, Any]:
        """What is different in the jobs of this unit's row."""
        return {**self.job, "unit": self.units[unit]} if unit in self.units else self.job


@dataclass(frozen=True, slots=True)
class Setup:
    """`units` are the rows to measure, `available` those that "all" means here, `absent` maps the others to the reason.

    `variants` of units by name: a row may be a variant of a unit. `tokens`: what a call is worth, where that is known.
    `answers`: set where each unit gives answers token by token, instead of single calls.
    `strict`: whether a unit that runs only a part of the model fails. `custom_ops`: libraries of custom operators.
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
    strict: bool = False
    custom_ops: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    answers: AnswerJob | None = None

    def answers_at(self, rate_hz: float | None) -> AnswerJob | None:
        """What each answer is: at a rate, as many may be under way as arrive, unless the user limits them."""
        if self.answers is None or self.answers.concurrency is not None:
            return self.answers
        open_loop = self.backend == SERVER and rate_hz is not None
        return msgspec.structs.replace(self.answers, concurrency=OPEN_LOOP_STREAMS if open_loop else 1)


Make = Callable[[str, Clock], Backend]
"""Makes the backend of a name, as `hettop.sources.engine.backends.create` does."""


def prepare(options: ModelOptions, units: tuple[str, ...] | None, cores: int, make: Make = create) -> Setup:
    """Resolve what the user wrote. `units` None means the first available one.

    Raises HettopError: `usage`, `missing`, `format`, `io`, `unsupported-unit`.
    """
    _check_encoding(options)
    answers = answer_job(options)
    backend, passed_over = (options.backend, None) if options.backend else _choose_backend(options.model, units, make)
    if options.hints and backend in WITHOUT_HINTS:
        hint = "leave out --hint, or add --backend coreml"
        raise HettopError("usage", f"--hint has no effect with {WITHOUT_HINTS[backend]}", hint)
    if options.strict and backend != DEFAULT_BACKEND:
        hint = f"leave out --strict, or add --backend {DEFAULT_BACKEND}"
        raise HettopError("usage", f"backend {clean(backend)} does not report which device runs each operation", hint)
    if options.custom_ops and backend != DEFAULT_BACKEND:
        hint = f"leave out --custom-ops, or add --backend {DEFAULT_BACKEND}"
        raise HettopError("usage", f"backend {clean(backend)} cannot load custom operators", hint)
    _check_format(options.model, backend)
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
    if answers is not None and engine.simulated:
        raise HettopError("usage", "simulated units give no answers token by token", f"use {tinydecoder.NAME}")
    return Setup(
        answers=answers,
        tokens=None if answers is None else _tokens_per_step(options, answers),
        model=_placed(model, available),
        backend=backend,
        simulated=engine.simulated,
        units=rows,
        available=available,
        absent={unit: why for unit, why in absent.items() if why is not None},
        inputs=inputs,
        function=options.function,
        hints=dict(map(_hint, options.hints)),
        strict=options.strict,
        custom_ops=check_libraries(options.custom_ops),
        warnings=(
            *_warnings(passed_over, left_out if ALL_UNITS in (units or ()) else {}),
            *_thread_warnings(rows, cores),
        ),
    )


def _check_format(model: str, backend: str) -> None:
    """Core AI has a format of its own. A simulation loads no model, and a class of another package knows best."""
    asset, name = is_core_ai(Path(model)), clean(Path(model).name)
    if backend == CORE_AI and not asset:
        raise HettopError(
            "format", f"{name} is not an .aimodel, which alone Core AI loads", "convert it with Apple's coreai-torch"
        )
    if asset and backend in BACKENDS and backend != CORE_AI and not BACKENDS[backend].simulated:
        hint = "leave out --backend; plans, rooflines and variants need an ONNX or Core ML model"
        raise HettopError("format", f"{name} is a Core AI asset, which {backend} cannot load", hint)


def gives_answers(options: ModelOptions) -> bool:
    """Whether the model is one that gives answers token by token, or is asked for them."""
    return options.model == tinydecoder.NAME or is_address(options.model) or bool(options.answers.given())


def answer_job(options: ModelOptions) -> AnswerJob | None:
    """What each answer is; None where single calls are measured. Raises HettopError (`usage`)."""
    if not gives_answers(options):
        return None
    given = options.answers.given()
    given.update({"state": dict(map(parse_state, options.answers.state))} if options.answers.state else {})
    if is_address(options.model):
        check_address(options.model, remote=options.answers.remote)
        if options.answers.state:
            raise HettopError("usage", "--state is for model files", "leave it out: a server keeps its own state")
        return AnswerJob(**given)
    for name in FOR_SERVERS:
        if name in given:
            flag = {"served": "model", "remote": "allow-remote"}.get(name, name)
            hint = "write the URL of one, such as http://localhost:8080/v1"
            raise HettopError("usage", f"--{flag} is for servers", hint)
    job = AnswerJob(**given)
    if options.model == tinydecoder.NAME:
        _check_positions(job)
    return job


def _check_positions(job: AnswerJob) -> None:
    """The last token of an answer is not read again: it takes no position."""
    most, asked = tinydecoder.Architecture().longest, job.prompt_tokens + job.max_tokens - 1
    if asked > most:
        message = f"{tinydecoder.NAME} takes at most {most:,} positions: prompt + answer take {asked:,}"
        raise HettopError("usage", message, "lower --prompt-tokens or --max-tokens")


OPEN_LOOP_STREAMS = 64
"""Answers under way at a rate, unless --concurrency says otherwise: arrivals wait for the server, not for hettop."""

FOR_SERVERS = ("served", "prompts", "concurrency", "remote")


def _tokens_per_step(options: ModelOptions, answers: AnswerJob) -> TokensPerCall:
    if is_address(options.model):
        return TokensPerCall(None, 1, "the server's chunks")
    by = "--prompt-tokens" if options.answers.prompt_tokens is not None else "default"
    return TokensPerCall(answers.prompt_tokens, 1, by)


def _warnings(passed_over: str | None, left_out: Mapping[str, str]) -> Iterator[str]:
    """passed_over: why Core ML does not run the model. left_out: units that "all" does not include, with the reason."""
    if passed_over is not None:
        yield clean(f"{PASSED_OVER}: {passed_over}", TEXT_LIMIT)
    for unit, why in left_out.items():
        yield clean(f"--units all skips {unit}: {why} (--units {unit})", TEXT_LIMIT)


def _thread_warnings(rows: Sequence[str], cores: int) -> Iterator[str]:
    for row in rows:
        threads = split_unit(row)[1]
        if threads is not None and threads > cores:
            yield f"more threads than the {cores} CPUs that this process may use: {row}"


def load_warnings(load: str, cores: int) -> list[str]:
    """A warning for each part of a competing load that has more workers than the machine has cores."""
    return [
        f"more workers than the {cores} CPUs that this process may use: {part}"
        for part in parse_load(load)
        if part.what in PER_CORE and part.level > cores
    ]


def usual_backend(model: str, units: tuple[str, ...] | None, make: Make) -> str:
    """Core ML for what it can run, where it is; a unit with a number of threads is ONNX Runtime's own."""
    return _choose_backend(model, units, make)[0]


def _choose_backend(  # noqa: PLR0911 - a case for each kind of model
    model: str, units: tuple[str, ...] | None, make: Make
) -> tuple[str, str | None]:
    """The backend, and on a Mac the reason and the fix where it is not Core ML for a model that Core ML could run."""
    if is_address(model):
        return SERVER, None
    path = Path(model)
    if is_core_ai(path):
        return CORE_AI, None
    built = is_built_in(model) or model == tinydecoder.NAME
    if not (built or is_core_ml(path) or path.suffix.lower() == COMPILED_SUFFIX):
        return DEFAULT_BACKEND, None
    reasons = make("coreml", RealClock()).units().values()
    if None not in reasons:
        why = "; ".join(dict.fromkeys(filter(None, reasons)))
        return DEFAULT_BACKEND, None if why == NEEDS_MACOS else why
    if any(is_provider_unit(unit) for unit in units or ()):
        return DEFAULT_BACKEND, None  # asked for by name
    threaded = next((unit for unit in units or () if "@" in unit), None)
    if threaded is None:
        return "coreml", None
    return DEFAULT_BACKEND, f"{threaded} sets a number of threads, which Core ML does not: name units without @"


def _placed(model: ResolvedModel, available: tuple[str, ...]) -> ResolvedModel:
    """With the CPU in the note of a translated model that runs there only: on a Mac, Core ML may run it, too."""
    on_cpu = all(split_unit(unit)[0] == "CPU_ONLY" for unit in available)
    return replace(model, note=model.note + NOTE_ON_CPU) if on_cpu and model.translated else model


def _hint(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise HettopError("usage", f"invalid hint: {clean(text)!r}", "write --hint reshapeFrequency=Infrequent")
    return name, value


def _check_encoding(options: ModelOptions) -> None:
    """Names go to the engines as UTF-8; one that is not has no place in a recording either."""
    texts = (options.model, options.function or "", *options.shapes, *options.values, *options.hints)
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise HettopError("usage", f"not valid UTF-8: {clean(text)!r}", "rename the file, or link to it") from None


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
        raise HettopError(
            "unsupported-unit", f"this backend cannot run here: {clean(backend)}: {clean(why)}", "run hettop doctor"
        )
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
        provider = provider_of(name)
        if provider is not None and f"{provider.prefix}:{provider.devices[0]}" not in known:
            state, fix = f"{provider.name} is not installed", provider.install
            if provider.prefix not in allowed_providers():
                state, fix = LEFT_OUT, f"unset {VARIABLE}, or add {provider.prefix} to it"
            raise HettopError("unsupported-unit", f"this unit cannot run here: {unit}: {state}", fix)
        raise HettopError(
            "usage", f"unknown unit: {clean(unit)!r}", " ".join(filter(None, (_nearest_unit(unit, known), hint)))
        )
    why = known[name]
    if why is not None:
        raise HettopError("unsupported-unit", f"this unit cannot run here: {unit}: {why}", hint)
    if threads is not None and not any(candidate.startswith(f"{name}@") for candidate in available):
        raise HettopError("unsupported-unit", f"this backend cannot set threads: {unit}", hint)
    if threads is not None and threads > MOST_THREADS:
        raise HettopError("usage", f"too many threads: {unit} (the limit is {MOST_THREADS})", hint)
    return unit


def _nearest_unit(unit: str, known: Mapping[str, str | None]) -> str:
    return nearest(unit.partition("@")[0], (*known, *ALIASES))


CLOSED = "closed"
OTHER = "b"
CLOSED_WORDS = "closed loop: each call as soon as the one before has ended"


def with_closed_loop(setup: Setup) -> Setup:
    """Each unit at its rate and, beside it, without one."""
    return _with(setup, CLOSED, RowVariant(CLOSED_WORDS, {"rate_hz": None}))


def with_other_model(setup: Setup, other: Setup, name: str, units: Mapping[str, str] | None = None) -> Setup:
    """Each unit with the first model and, beside it, with the other one, which was prepared for the same units.

    units: the other one's unit for each, which may be of another backend; outputs are then compared, too.

    Raises HettopError (`usage`) where one of the two would be simulated: such a difference means nothing.
    """
    if setup.simulated != other.simulated:
        raise HettopError("usage", "cannot compare a simulated model with a real one", "use one --backend for both")
    job: dict[str, Any] = {
        "model": other.model.source,
        "sha256": other.model.file_sha256,
        "backend": other.backend,
        "function": other.function,
        "hints": dict(other.hints),
    }
    setup = replace(setup, warnings=tuple(dict.fromkeys((*setup.warnings, *other.warnings))))
    words = f"the same with {clean(name, 100)}"
    if units:
        job |= {"input_sets": INPUT_SETS}
        pairs = [f"{mine} as {its}" for mine, its in units.items() if mine != its]
        words += f" by {other.backend}: {', '.join(pairs)}" if pairs else ""
    return _with(setup, OTHER, RowVariant(words, job, other.model, units or {}))


def prepare_against(setup: Setup, options: ModelOptions, against: str, cores: int, make: Make = create) -> Setup:
    """The same for a model as the user named it; a Core AI asset and another format on units that correspond.

    Raises HettopError as `prepare` does.
    """
    if is_core_ai(Path(against)) == (setup.backend == CORE_AI) or setup.simulated:
        other = prepare(replace(options, model=against), setup.units, cores, make)
        same = {unit: unit for unit in setup.units} if setup.backend == CORE_AI else None
        return with_other_model(setup, other, other.model.name, same)
    other = prepare(replace(options, model=against, backend=None), None, cores, make)
    units = {unit: _counterpart(unit, other) for unit in setup.units}
    return with_other_model(setup, other, other.model.name, units)


def _counterpart(unit: str, other: Setup) -> str:
    """The unit of `other` for this one of Core AI, or the other way round. Raises HettopError: `unsupported-unit`.

    Without Core ML there is no ALL: what Core AI's default unit runs on the CPU is held against CPU_ONLY.
    """
    pairs = CORE_ML_COUNTERPARTS if unit in CORE_ML_COUNTERPARTS else {b: a for a, b in CORE_ML_COUNTERPARTS.items()}
    found = pairs.get(unit, "")
    if found == "ALL" and found not in other.available:
        found = "CPU_ONLY"
    if found not in other.available:
        why = other.absent.get(found, f"{other.backend} has no unit for it")
        raise HettopError("unsupported-unit", f"cannot compare {unit} with {other.model.name}: {why}", "name --units")
    return found


def _with(setup: Setup, name: str, variant: RowVariant) -> Setup:
    rows = tuple(row for unit in setup.units for row in (unit, row_name(unit, name)))
    return replace(setup, units=rows, variants={**setup.variants, name: variant})


SIMULATED_CHIP = "simulated Apple M2"


def make_header(setup: Setup, options: MeasureOptions, wall: datetime) -> events.Header:
    """The first event of a measurement that begins at `wall`."""
    host, cores = describe_host(), usable_threads()
    host = msgspec.structs.replace(
        host,
        warnings=[*host.warnings, *setup.warnings, *(() if setup.simulated else load_warnings(options.load, cores))],
    )
    if setup.simulated:
        host = msgspec.structs.replace(host, chip=SIMULATED_CHIP)
    return events.Header(
        t=0,
        format=events.FORMAT,
        version=events.VERSION,
        wall=rfc3339(wall),
        simulated=setup.simulated,
        host=host,
        model=_model(setup),
        settings={
            "units": list(setup.units),
            "absent": dict(setup.absent),
            "variants": {name: _variant(variant) for name, variant in setup.variants.items()} or None,
            SETTING: None if setup.tokens is None else asdict(setup.tokens),
            ANSWERS: None if setup.answers is None else msgspec.to_builtins(setup.answers),
            "warmup": "auto" if options.until_steady else options.warmup,
            "runs": options.runs,
            "duration_ns": options.duration_ns,
            "least_runs": options.least_runs or None,
            "rest_ns": options.rest_ns or None,
            "rate_hz": options.rate_hz,
            "protocol": options.protocol,
            "budget": options.budget,
            "energy": options.energy,
            "function": setup.function,
            "hints": dict(setup.hints),
            **({"strict": True} if setup.strict else {}),
            **({"custom_ops": [_library(path) for path in setup.custom_ops]} if setup.custom_ops else {}),
            "seed": setup.inputs.seed,
            "shapes": {name: list(shape) for name, shape in setup.inputs.shapes.items()},
            "quantiles": "numpy linear (type 7); std is population std",
        },
    )


def _library(path: str) -> dict[str, str]:
    return {"name": Path(path).name[: events.TEXT_LIMIT], "sha256": content_sha256(Path(path))}


def _variant(variant: RowVariant) -> dict[str, str | None]:
    """What a variant is, and its model if that is another one."""
    model = variant.model
    named = {} if model is None else {"model": model.name[: events.TEXT_LIMIT], "sha256": model.sha256}
    return {"words": variant.words, **named}


def _model(setup: Setup) -> events.ModelInfo:
    model = setup.model
    return events.ModelInfo(
        name=model.name[: events.TEXT_LIMIT],
        sha256=None if setup.backend == SERVER else model.sha256,  # which weights a server runs, nobody can read
        parameters=model.parameters,
        macs=model.macs,
        backend=setup.backend,
        note=model.note or None,
    )


FUNCTION_MARK = "@"
ASK = "set the number of tokens that a call takes: --tokens PREFILL,DECODE such as 128,1"
EXAMPLE = "write @FUNCTION, or the shape of an input: NAME=1,128"

Shapes = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Stage:
    """What prefill or decode runs: a function (None: that of both), with these shapes of inputs. `words`: as given."""

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

    Raises HettopError: as `prepare` does; `usage` where both are the same, where the number of tokens is neither
    given nor certain, or where nothing is computed.
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
        differing = ", ".join(f"{a} and {b} ({where})" for (a, b), where in found.items())
        raise HettopError("usage", f"several lengths differ between prefill and decode: {differing}", ASK)
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
