"""Has an ML Program cut and measured on Core ML's units by processes that may be lost, and makes sense of the answers.

Runs in hettop's own process, which imports no framework: each unit's first load is a process of its own, so that one
that a framework takes down is reported as what the unit cannot hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hettop.errors import HettopError
from hettop.models.cache import default_cache
from hettop.models.mil.package import open_package
from hettop.models.networks.catalogue import is_built_in
from hettop.models.resolve import core_ml_file
from hettop.processes.call import Called, ChildLostError, call
from hettop.processes.child_process import module_command
from hettop.studies.plan.cutting.child import OnProgress
from hettop.studies.plan.cutting.coreml_layers import (
    Fit,
    fallbacks,
    layers_of,
    megabytes,
    planned,
    surveyed,
    times,
    tried,
    without_estimates,
    without_plan,
)
from hettop.studies.plan.cutting.coreml_messages import (
    PATIENCE_S,
    Common,
    FitJob,
    Fitted,
    MeasureJob,
    PrepareJob,
    ProgramJob,
    ProgramRunJob,
    Timed,
    Trial,
)
from hettop.studies.plan.cutting.coreml_program import Program
from hettop.studies.plan.cutting.graph import Part
from hettop.studies.plan.cutting.messages import MeasuringProgress, Piece, Subject
from hettop.studies.plan.cutting.result import Ran, Survey
from hettop.text import clean

WORKER = module_command("hettop.studies.plan.cutting.coreml_worker")
REFERENCE = "CPU_ONLY"
REFUSALS = frozenset({"load", "predict", "crashed", "timeout"})
"""How a unit shows that it cannot hold a model; anything else is about the model, or the machine."""

MOST_REFUSALS = 8
"""Loads that may fail on one unit before the rest is given up: each may take minutes."""

FITTING, MEASURING = 0.4, 0.6

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Surveyed:
    """limits_mb: MB of the largest part that each unit loaded, of those that did not load the whole model."""

    survey: Survey
    limits_mb: dict[str, float]


@dataclass(slots=True)
class _Unit:
    name: str
    fits: list[Fit] = field(default_factory=list)
    refused: str = ""
    log_warnings: list[str] = field(default_factory=list)


class CoreML:
    """Asks processes about a subject's model."""

    def __init__(
        self,
        subject: Subject,
        hints: Mapping[str, str],
        on_progress: OnProgress,
        *,
        argv: Sequence[str] = WORKER,
        environment: Mapping[str, str] | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Raises HettopError: `format`, `input`, `unsupported-op` for a model that cannot be cut."""
        self._common = Common(subject=subject, hints=dict(hints), patience_s=patience_s)
        self._on_progress, self._argv, self._environment = on_progress, argv, environment
        if is_built_in(subject.model):
            self._call(PrepareJob(common=self._common), type(None), 0.0, 0.0)
        package = open_package(core_ml_file(subject.model, default_cache()))
        self.program = Program(package, subject.function)
        _check_cuts(self.program, self._cuttable())

    def survey(self) -> Surveyed:
        """What the layers and cuts cost by estimate and measurement. Raises HettopError: `load` if no unit holds
        anything of the model, `plan` if nothing is estimated; as measuring does."""
        devices = self._common.subject.devices
        units = [self._fitted(name, index / len(devices)) for index, name in enumerate(devices)]
        if not any(unit.fits for unit in units):
            raise HettopError("load", f"no unit can load any part of the model: {units[0].name}: {units[0].refused}")
        fits = [fit for unit in units for fit in unit.fits]
        if not planned(fits):
            raise HettopError("plan", f"cannot read the compute plan: {fits[0].plan_lost}", "see hettop doctor")
        parts = layers_of(self.program, [fit.facts for fit in planned(fits)])
        _check_cuts(self.program, parts)
        trials = [
            Trial(device=index, first=around.first, after=after, last=around.last, nbytes=nbytes)
            for index, unit in enumerate(units)
            for after, around, nbytes in tried(self.program, parts, planned(unit.fits))
        ]
        pieces = [
            Piece(first=fit.part.first, last=fit.part.last, device=unit.name) for unit in units for fit in unit.fits
        ]
        steps = len(self.program.flow.steps)
        job = MeasureJob(common=self._common, pieces=tuple(pieces), trials=tuple(trials), steps=steps)
        answer = self._call(job, Timed, FITTING, MEASURING).answer
        timed = iter(answer.piece_ms)
        for unit in units:
            unit.fits = [replace(fit, ms=next(timed)) for fit in unit.fits]
        layers = tuple(
            surveyed(self.program, parts, [times(self.program, parts, unit.name, unit.fits) for unit in units])
        )
        sizes = {Part(each.first, each.last): each.weight_bytes + each.output_bytes for each in layers}
        limits = {
            unit.name: max(megabytes(sizes, fit.part) for fit in unit.fits)
            for unit in units
            if unit.refused and unit.fits
        }
        survey = Survey(
            layers=layers,
            end_to_end_ms=tuple(None if unit.refused else unit.fits[0].ms for unit in units),
            moved=answer.moved,
            notes=tuple(note for unit in units for note in _notes(unit, limits)),
            estimated=True,
        )
        return Surveyed(survey, limits)

    def run(self, survey: Survey, pieces: Sequence[Piece], on_progress: OnProgress | None = None) -> Ran:
        """Raises HettopError: `load` if no unit holds the whole model; as measuring does."""
        self._on_progress = on_progress or self._on_progress
        devices = self._common.subject.devices
        whole = tuple(unit for unit, ms in zip(devices, survey.end_to_end_ms, strict=True) if ms is not None)
        if not whole:
            raise HettopError("load", "no unit can load the whole model: there is no baseline for the plan")
        reference = REFERENCE if REFERENCE in whole else whole[0]
        job = ProgramRunJob(common=self._common, pieces=tuple(pieces), whole=whole, reference=reference)
        return self._call(job, Ran, 0.0, 1.0).answer

    def _fitted(self, name: str, share: float) -> _Unit:
        """What the unit loads: the whole model, or halves of it, and halves of what it does not load of these."""
        unit = _Unit(name)
        last = len(self.program.flow.steps) - 1
        waiting, refusals = [Part(0, last)], 0
        while waiting and refusals < MOST_REFUSALS:
            part = waiting.pop(0)
            whole = part == Part(0, last)
            job = FitJob(common=self._common, unit=name, first=part.first, last=part.last, whole=whole)
            try:
                fitted = self._call(job, Fitted, share * FITTING, FITTING / len(self._common.subject.devices))
            except HettopError as error:
                if error.kind not in REFUSALS:
                    raise
                refusals += 1
                unit.refused = unit.refused or error.message
                waiting = [*self._halves(part), *waiting]
            else:
                unit.log_warnings += fitted.warnings
                unit.fits.append(Fit(part, fitted.answer.facts, plan_lost=fitted.answer.plan_lost))
        unit.fits.sort(key=lambda fit: fit.part.first)
        return unit

    def _halves(self, part: Part) -> list[Part]:
        """Both sides of the cut that parts the weights most evenly; none where there is no cut."""
        edges = [each.last for each in self._cuttable() if part.first <= each.last < part.last]
        if not edges:
            return []
        whole = self.program.weight_bytes(part)
        middle = min(edges, key=lambda after: abs(2 * self.program.weight_bytes(Part(part.first, after)) - whole))
        return [Part(part.first, middle), Part(middle + 1, part.last)]

    def _cuttable(self) -> tuple[Part, ...]:
        """Layers by their operations alone, before any plan is known: `layers_of` cuts here and nowhere else."""
        return layers_of(self.program, None)

    def _call(self, job: ProgramJob, answer_type: type[A], begin: float, share: float) -> Called[A]:
        doing = "starting"

        def on_progress(progress: MeasuringProgress) -> None:
            nonlocal doing
            doing = clean(progress.doing)
            self._on_progress(MeasuringProgress(doing=progress.doing, share=begin + progress.share * share))

        try:
            return call(
                self._argv,
                job,
                answer_type,
                environment=self._environment,
                scratch="slices",
                progress_type=MeasuringProgress,
                on_progress=on_progress,
            )
        except ChildLostError as error:
            if error.kind == "timeout":
                raise HettopError("timeout", f"the measuring process hung {doing}", "see hettop doctor") from error
            raise HettopError("crashed", f"the measuring process {error.ending} while {doing}", error.hint) from error


def _check_cuts(program: Program, parts: Sequence[Part]) -> None:
    if len(parts) == 1:
        name = clean(program.package.name)
        hint = "use hettop bench --units all to find the best unit"
        raise HettopError("input", f"{name} cannot be cut: it is a single layer", hint)


def _notes(unit: _Unit, limits: Mapping[str, float]) -> list[str]:
    found = []
    if unit.refused:
        limit = limits.get(unit.name)
        held = (
            "it loaded none of the tried parts"
            if limit is None
            else (f"its limit is the largest part it loaded, {limit:.3g} MB")
        )
        found.append(f"{unit.name} cannot load the whole model ({unit.refused}): {held}")
    return [
        *found,
        *fallbacks(unit.name, unit.fits),
        *without_estimates(unit.name, unit.fits),
        *without_plan(unit.name, unit.fits),
        *(f"{unit.name}: {warning}" for warning in dict.fromkeys(unit.log_warnings)),
    ]
