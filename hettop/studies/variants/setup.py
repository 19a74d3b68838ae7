"""Variants of a model in other precisions: written by a process of its own, kept in the cache, ready to measure.

Joins the model's file to what writes variants; measures nothing.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hettop.compute_units import is_reference_unit
from hettop.errors import HettopError
from hettop.events import Failure, Outputs
from hettop.measurement.options import ModelOptions
from hettop.measurement.rounds import Candidate, Trial
from hettop.measurement.setup import Make, Setup, prepare
from hettop.models.cache import ModelCache
from hettop.models.content import content_sha256
from hettop.models.precision import (
    CORE_ML_PRECISIONS,
    FP32,
    OF_DTYPES,
    ONNX_PRECISIONS,
    VariantJob,
    note_of,
)
from hettop.models.resolve import ResolvedModel, core_ml_file, is_core_ml, model_file
from hettop.models.translated import translated_file
from hettop.processes.call import call
from hettop.processes.child_process import module_command
from hettop.sources.engine.backends import create
from hettop.sources.engine.names import CORE_AI
from hettop.sources.engine.outputs import compare
from hettop.text import clean

WORKER = module_command("hettop.studies.variants.worker")
RECIPE = "2"
"""Changes whenever the same precision would be written otherwise."""

TOOLS = ("coremltools", "numpy", "onnx", "onnxruntime")
ORIGINAL = "original"
"""The name of a model in a precision that has no name here."""

AS_IT_IS = "{name}: the model as it is"

Write = Callable[[VariantJob], None]
"""Writes the variant of a job. Raises HettopError."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A model in one precision: a candidate with its file. `reference`: it is the model as it is."""

    precision: str
    candidate: Candidate
    path: Path | None = None
    size_bytes: int | None = None
    note: str = ""
    reference: bool = False


def make_variants(
    options: ModelOptions,
    units: tuple[str, ...],
    cores: int,
    precisions: Sequence[str],
    cache: ModelCache,
    *,
    write: Write,
    make: Make = create,
) -> tuple[Setup, list[Variant]]:
    """What all variants have in common, and the variants: the model as it is first, whether asked for or not.

    One that cannot be written has the reason for a candidate. Raises HettopError: as `prepare` does; `usage` for a
    precision that is unknown to the backend, and for a simulated machine.
    """
    setup = prepare(options, units, cores, make)
    if setup.simulated:
        raise HettopError("usage", "the simulated machine has only one precision")
    if setup.backend == CORE_AI:
        hint = "convert the original model once per precision with coreai-torch, and use --against"
        raise HettopError("format", "variants are made from ONNX and Core ML models", hint)
    known = CORE_ML_PRECISIONS if setup.backend == "coreml" else ONNX_PRECISIONS
    for precision in precisions:
        if precision not in known:
            hint = f"with {setup.backend}: {', '.join(known)}"
            raise HettopError("usage", f"unknown precision {clean(precision)!r}", hint)
    source = _source(setup, options.model, cache)
    own = _own_precision(source, setup)
    base = replace(setup, function=setup.function if setup.backend == "coreml" else None)
    found = [_as_it_is(base, own, source)]
    for precision in dict.fromkeys(precisions):
        if precision == own:
            continue
        why = None if is_core_ml(source) else _not_from(own, precision)
        found.append(_refused(precision, why) if why is not None else _written(base, source, precision, cache, write))
    return setup, found


def write_in_child(
    job: VariantJob, *, argv: Sequence[str] = WORKER, environment: Mapping[str, str] | None = None
) -> None:
    """As `Write`, by a process of its own: it may be killed for its memory, and its frameworks stay out of this one."""
    call(argv, job, type(None), name="writing process", environment=environment, scratch="variants")


def compared(trials: Sequence[tuple[Variant, Trial]]) -> dict[tuple[str, str], Outputs]:
    """How far each variant's answers are from those of the model as it is, by precision and unit.

    The reference is its answers on the CPU, else on the first unit that gave any; itself it is not compared.
    """
    reference = _reference(trials)
    if reference is None or reference.answers is None:
        return {}
    name = f"{reference.candidate.name} on {reference.unit}"
    return {
        (variant.precision, trial.unit): compare(trial.unit, name, trial.answers, reference.answers)
        for variant, trial in trials
        if trial is not reference and trial.answers is not None
    }


def _reference(trials: Sequence[tuple[Variant, Trial]]) -> Trial | None:
    known = [trial for variant, trial in trials if variant.reference and trial.answers is not None]
    on_cpu = [trial for trial in known if is_reference_unit(trial.unit)]
    return next(iter(on_cpu or known), None)


def copy_to(folder: Path, stem: str, variants: Sequence[Variant], *, force: bool) -> list[Path]:
    """Copies what was written to `folder` as `STEM-PRECISION.suffix`; returns the copies.

    Raises HettopError: `usage` for a name that is taken, `io`.
    """
    pairs = [
        (each.path, folder / f"{stem}-{each.precision}{each.path.suffix}") for each in variants if each.path is not None
    ]
    for _, target in pairs:
        if target.exists() and not force:
            raise HettopError("usage", f"{clean(str(target))} already exists", "use --force to overwrite it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source, target in pairs:
            if source.is_dir():
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(source, target)
            else:
                shutil.copyfile(source, target)
    except OSError as error:
        reason = error.strerror or str(error)
        raise HettopError("io", f"cannot write variants to {clean(str(folder))}: {reason}") from error
    return [target for _, target in pairs]


def file_stem(model: ResolvedModel) -> str:
    """How the names of files begin that are made of a model: a network's dot (`squeezenet1.1`) begins no suffix."""
    return model.name.replace(":", "-") if model.path is None else Path(model.name).stem


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a package."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size


def _source(setup: Setup, model: str, cache: ModelCache) -> Path:
    """What variants are written from: what the backend itself would load."""
    if setup.backend == "coreml":
        return core_ml_file(model, cache)
    path = model_file(model, cache)
    return translated_file(path, setup.function, cache) if is_core_ml(path) else path


def _own_precision(source: Path, setup: Setup) -> str:
    """By the type that the model computes in."""
    from hettop.models.inspection.reading import inspect

    totals = inspect(source, shapes=setup.inputs.shapes, function=setup.function if is_core_ml(source) else None).totals
    dtype = (totals.precision if totals is not None else None) or ""
    return OF_DTYPES.get(dtype, ORIGINAL)


def _as_it_is(setup: Setup, own: str, source: Path) -> Variant:
    candidate = Candidate(own, _loading(setup, source, own))
    return Variant(own, candidate, source, size_of(source), AS_IT_IS.format(name=own), reference=True)


def _not_from(own: str, precision: str) -> HettopError | None:
    """Why an ONNX model in its own precision cannot be had in that one: ONNX Runtime's tools start from float32."""
    if own == FP32:
        return None
    message = f"cannot convert from {own} to {precision}: the tools need float32"
    return HettopError("input", message, "export the model in float32")


def _refused(precision: str, error: HettopError) -> Variant:
    why = Failure(kind=error.kind, message=clean(error.message), hint=clean(error.hint))
    return Variant(precision, Candidate(precision, None, why))


def _written(setup: Setup, source: Path, precision: str, cache: ModelCache, write: Write) -> Variant:
    core_ml = is_core_ml(source)
    built_anew = setup.model.path is None and core_ml and precision in OF_DTYPES.values()

    def build(path: Path) -> None:
        write(
            VariantJob(
                source=setup.model.name if built_anew else str(source),
                target=str(path),
                precision=precision,
                seed=setup.inputs.seed,
                shapes=dict(setup.inputs.shapes),
                values=dict(setup.inputs.values),
            )
        )

    try:
        path = cache.file(_cached_name(setup, source, precision), build)
    except HettopError as error:
        return _refused(precision, error)
    candidate = Candidate(precision, _loading(setup, path, precision))
    return Variant(precision, candidate, path, size_of(path), note_of(precision, core_ml=core_ml))


def _loading(setup: Setup, path: Path, precision: str) -> Setup:
    """What loads the variant."""
    model = replace(
        setup.model,
        name=f"{setup.model.name} {precision}",
        path=path,
        sha256=content_sha256(path),
        note="; ".join(filter(None, (setup.model.note, precision))),
        translated=setup.model.translated and is_core_ml(path),
    )
    return replace(setup, model=model)


def _cached_name(setup: Setup, source: Path, precision: str) -> str:
    """By all that decides what is in the file, the tools' versions included."""
    parts = [RECIPE, content_sha256(source), precision, *(f"{tool} {_version(tool)}" for tool in TOOLS)]
    if precision.startswith("int8"):
        parts.append(f"{setup.inputs.seed} {sorted(setup.inputs.shapes.items())} {sorted(setup.inputs.values.items())}")
    digest = hashlib.sha256("\n".join(parts).encode(errors="surrogateescape")).hexdigest()[:16]
    return f"{clean(file_stem(setup.model), 60)}-{precision}-{digest}{source.suffix}"


def _version(tool: str) -> str:
    try:
        return version(tool)
    except PackageNotFoundError:
        return ""
