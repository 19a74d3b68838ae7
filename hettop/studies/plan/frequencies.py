"""Profiles a model at the lowest and the highest frequency of the CPU, and runs preferred devices under governors.

As MOSAIC's profiler does (section V.A), and its evaluation (section VI.A).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from hettop.errors import HettopError
from hettop.sources.cpufreq import ON_DEMAND, PERFORMANCE, CpuFrequency
from hettop.studies.plan.cutting.child import OnProgress, run_in_child, survey_in_child
from hettop.studies.plan.cutting.messages import MeasuringProgress, Piece, Subject
from hettop.studies.plan.cutting.result import Survey, SurveyedLayer
from hettop.studies.plan.slicing import baselines
from hettop.studies.plan.slicing.costs import FREQUENCY, CostTable
from hettop.studies.plan.slicing.levels import Levels, levels_of
from hettop.studies.plan.slicing.planner import Slice

GOVERNORS = {PERFORMANCE: baselines.PERFORMANCE, ON_DEMAND: baselines.ON_DEMAND}


@dataclass(frozen=True, slots=True)
class Profiled:
    """What was measured at both frequencies; `devices` are first those at the highest, then at the lowest one.

    levels: by the name of a device without frequency.
    """

    survey: Survey
    devices: tuple[str, ...]
    levels: Mapping[str, Levels]

    def of(self, by_device: Mapping[str, float]) -> dict[str, float]:
        """What holds for a device, for it at each of both frequencies."""
        return {device: by_device[name] for device in self.devices if (name := device.split(FREQUENCY)[0]) in by_device}


def profiled(subject: Subject, cpu: CpuFrequency, on_progress: OnProgress) -> Profiled:
    """Raises HettopError: as `levels_mhz` and the survey do."""
    mhz = cpu.levels_mhz()
    ends = (mhz[-1], mhz[0])
    surveys = []
    for number, each in enumerate(ends):
        with cpu.fixed(each):
            surveys.append(survey_in_child(subject, staged(on_progress, number, len(ends), f"at {each:g} MHz: ")))
    devices = tuple(f"{device}{FREQUENCY}{each:g}" for each in ends for device in subject.devices)
    steps = [(0.0, each) for each in mhz]
    return Profiled(joined(*surveys), devices, {device: levels_of(device, steps) for device in subject.devices})


def joined(one: Survey, other: Survey) -> Survey:
    """Both as one survey of twice as many devices. Raises HettopError: `plan` where they have different layers."""
    if [(each.first, each.last) for each in one.layers] != [(each.first, each.last) for each in other.layers]:
        raise HettopError("plan", "the model has other layers at its second profile", "run the command again")
    return replace(
        one,
        layers=tuple(map(_both, one.layers, other.layers)),
        end_to_end_ms=one.end_to_end_ms + other.end_to_end_ms,
        moved=one.moved + tuple(replace(each, device=each.device + len(one.end_to_end_ms)) for each in other.moved),
        notes=tuple(dict.fromkeys(one.notes + other.notes)),
        profiled_ms=one.profiled_ms + other.profiled_ms,
    )


def _both(one: SurveyedLayer, other: SurveyedLayer) -> SurveyedLayer:
    return replace(one, ms=one.ms + other.ms)


def governed(
    subject: Subject,
    cpu: CpuFrequency,
    table: CostTable,
    cut: Callable[[Sequence[Slice]], Sequence[Piece]],
    on_progress: OnProgress,
) -> dict[str, float]:
    """The measured ms of each device preferred, by the name of the baseline, under each governor that can be set.

    table: in ms, with the subject's devices; cut: slices as pieces of the model.
    """
    plans = list(_preferred(table))
    known = [(name, words) for name, words in GOVERNORS.items() if name in cpu.governors()]
    found = {}
    for number, (governor, words) in enumerate(known):
        with cpu.governed(governor):
            for place, (device, slices) in enumerate(plans):
                stage = staged(on_progress, number * len(plans) + place, len(known) * len(plans), f"{words}: ")
                found[f"{device} preferred, {words}"] = run_in_child(subject, cut(slices), stage).plan_ms
    return found


def _preferred(table: CostTable) -> Iterator[tuple[str, Sequence[Slice]]]:
    for device, name in enumerate(table.devices):
        slices = baselines.preferred(table, device)
        if slices is not None:
            yield name, slices


def staged(on_progress: OnProgress, stage: int, stages: int, words: str) -> OnProgress:
    """Progress of a stage as a share of all."""

    def listen(progress: MeasuringProgress) -> None:
        share = (stage + progress.share) / stages
        on_progress(MeasuringProgress(doing=f"{words}{progress.doing}", share=share))

    return listen
