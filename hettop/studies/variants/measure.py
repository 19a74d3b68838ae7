"""The result of a study of precision variants, made of samples and outputs: how much faster each is, how far off.

Pure; variants are known by their precision, whoever wrote and measured them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from hettop.analysis.pareto import DIFFERENCE, ENERGY, LATENCY, SIZE, Choice, standings
from hettop.analysis.unit_samples import Measured
from hettop.events import Outputs
from hettop.format import count
from hettop.session.statistics import Statistics
from hettop.stats.quantiles import CONFIDENCE
from hettop.stats.resampling import MIN_SAMPLES, SEED, block_length, resampled_levels, resamples_for
from hettop.studies.variants.result import VariantRow, VariantsResult
from hettop.text import clean

MEDIAN = 0.5

QUICK_SAMPLES = 2_000
"""An interval of as many takes a twentieth of a second; of a hundred thousand, two."""

AGREEMENT = "of random inputs: equal top-1 measures agreement, not accuracy"


@dataclass(frozen=True, slots=True)
class Speed:
    """The reference's median by the variant's: above 1 the variant is faster. With its 95% interval, if asked for."""

    ratio: float
    interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class MeasuredVariant:
    """One variant on one unit. `reference`: it is what the others are held against, on that unit.

    size_bytes: of its file or package; None if there is none. outputs: how far off it is; None where nothing was
        compared, as for the reference itself on the unit that is compared with.
    """

    precision: str
    statistics: Statistics
    reference: bool = False
    size_bytes: int | None = None
    note: str = ""
    outputs: Outputs | None = None
    measured: Measured | None = None

    @property
    def unit(self) -> str:
        return self.statistics.unit


def variants_result(
    variants: Sequence[MeasuredVariant], notes: Iterable[str] = (), *, quick: bool = False
) -> VariantsResult:
    """quick: without intervals that take long to work out, those of many samples."""
    rows = [_row(each, _speed_of(each, variants, quick=quick)) for each in variants]
    result = VariantsResult(variants=rows, notes=[*notes, *_compared(variants), *_findings(variants)])
    front = _front(result.with_reference().variants)
    return msgspec.structs.replace(
        result, variants=[msgspec.structs.replace(row, front=on) for row, on in zip(rows, front, strict=True)]
    )


def _speed_of(variant: MeasuredVariant, variants: Sequence[MeasuredVariant], *, quick: bool = False) -> Speed | None:
    """Over the model as it is on the same unit; None where that is unknown, and of that itself."""
    reference = reference_of(variants, variant.unit)
    if reference is None or variant is reference or not variant.statistics.n:
        return None
    slow = max(reference.statistics.n, variant.statistics.n) > QUICK_SAMPLES
    return speed(reference, variant, None if quick and slow else np.random.default_rng(SEED))


def reference_of(variants: Sequence[MeasuredVariant], unit: str) -> MeasuredVariant | None:
    """What the others on that unit are held against; None where it was not measured."""
    return next((each for each in variants if each.unit == unit and each.reference and each.statistics.n), None)


def speed(reference: MeasuredVariant, variant: MeasuredVariant, rng: np.random.Generator | None) -> Speed | None:
    """How much faster the variant is, by medians; None with too few samples to report.

    `rng` draws the resamples of the interval; None: that is not asked, and costs nothing.
    """
    a, b = reference.measured, variant.measured
    if a is None or b is None or min(a.samples_ms.size, b.samples_ms.size) < MIN_SAMPLES:
        return None
    ratio = a.p50_ms / b.p50_ms
    if rng is None:
        return Speed(ratio, None)
    samples = [a.samples_ms, b.samples_ms]
    resamples = resamples_for(*(each.size for each in samples))
    medians = [resampled_levels(each, (MEDIAN,), block_length(each), resamples, rng) for each in samples]
    low, high = np.quantile(medians[0] / medians[1], ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Speed(ratio, (float(low), float(high)))


def _row(variant: MeasuredVariant, faster: Speed | None) -> VariantRow:
    """Of several outputs it has the worst figures."""
    statistics, outputs = variant.statistics, variant.outputs
    differences = [] if outputs is None else outputs.outputs
    return VariantRow(
        precision=variant.precision,
        unit=variant.unit,
        reference=variant.reference,
        size_bytes=variant.size_bytes,
        n=statistics.n,
        p50_ms=statistics.p50_ms,
        p90_ms=statistics.p90_ms,
        mean_ms=statistics.mean_ms,
        energy_mj=statistics.energy_mj_per_inference,
        speed=None if faster is None else faster.ratio,
        speed_ci=None if faster is None else faster.interval,
        max_abs=_worst(max, (each.max_abs for each in differences)),
        largest=_worst(max, (each.largest for each in differences)),
        cosine=_worst(min, (each.cosine for each in differences)),
        top1=_worst(min, (each.top1 for each in differences)),
        top5=_worst(min, (each.top5 for each in differences)),
        error=None if statistics.error is None else statistics.error.message,
        note=variant.note or None,
        not_finite=sum(each.not_finite for each in differences) if differences else None,
        compared_with=None if outputs is None else outputs.reference,
        inputs_compared=None if outputs is None else outputs.inputs,
        outputs=list(differences),
        outputs_error=None if outputs is None or outputs.error is None else outputs.error.message,
        statistics=statistics,
    )


def _worst(of: Callable[[list[float]], float], values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return of(known) if known else None


def _front(rows: Sequence[VariantRow]) -> list[bool]:
    """Of latency, energy where all have it, and output difference; of size where no difference is known at all."""
    choices = [Choice(row.precision, row.unit, "none", _values(row)) for row in rows]
    measured = [choice for choice in choices if LATENCY.name in choice.values]
    objectives = [LATENCY]
    if measured and all(ENERGY.name in choice.values for choice in measured):
        objectives.append(ENERGY)
    objectives.append(SIZE if all(row.max_abs is None for row in rows) else DIFFERENCE)
    return [standing.on_front for standing in standings(choices, objectives)]


def _values(row: VariantRow) -> dict[str, float]:
    """What is known of a row; without a latency it is compared with nothing."""
    known = {
        LATENCY.name: row.p50_ms,
        ENERGY.name: row.energy_mj,
        DIFFERENCE.name: row.max_abs,
        SIZE.name: row.size_bytes,
    }
    return {name: float(value) for name, value in known.items() if value is not None}


def _compared(variants: Iterable[MeasuredVariant]) -> Iterator[str]:
    compared = next((each.outputs for each in variants if each.outputs is not None), None)
    if compared is not None:
        sampled = ", some values of large outputs" if compared.sampled else ""
        yield f"differences to {compared.reference} over {compared.inputs} sets {AGREEMENT}{sampled}"


def _findings(variants: Iterable[MeasuredVariant]) -> Iterator[str]:
    """What must be known of these variants beside their figures."""
    for variant in variants:
        called, outputs = f"{variant.unit} {variant.precision}", variant.outputs
        not_finite = 0 if outputs is None else sum(each.not_finite for each in outputs.outputs)
        if not_finite:
            yield f"{called}: {count(not_finite)} values are NaN or infinite"
        if outputs is not None and outputs.error is not None:
            yield f"{called}: not compared: {clean(outputs.error.message)}"
