"""Variants of a model in other precisions as a table for a terminal and as a JSON document.

Pure text and plain data; numbers come from `analysis.variants`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from hettop.analysis.variants import Speed, VariantResult, reference_of, speed
from hettop.format import UNKNOWN, count, milliseconds, percent, significant, size
from hettop.report.grid import grid, wrapped
from hettop.stats.resampling import SEED
from hettop.text import clean

HEADING = (
    "unit",
    "precision",
    "n",
    "P50",
    "P90",
    "speed",
    "95% of speed",
    "size",
    "max diff",
    "cosine",
    "top-1",
    "why not",
)
LEFT = ("unit", "precision", "why not")
DISPENSABLE = ("n", "95% of speed", "P90")
LONGEST_WHY = 60

QUICK_SAMPLES = 2_000
"""An interval of as many takes a twentieth of a second; of a hundred thousand, two."""

UNTOLD = "of made-up inputs: how often the largest entry is the same tells of agreement, not of accuracy"


def variants_text(title: str, results: Sequence[VariantResult], width: int, more: Sequence[str] = ()) -> str:
    """A row for each variant and unit, and notes."""
    rows = [_row(result, results) for result in results]
    lines = [*wrapped(title, width), "", *grid(HEADING, rows, left=LEFT, width=width, drop=DISPENSABLE), ""]
    for note in (*_method(results), *_findings(results), *_failures(results), *more):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def variants_document(
    results: Sequence[VariantResult], more: Sequence[str] = (), *, quick: bool = False
) -> dict[str, Any]:
    """`variants`, each with the statistics object and its differences, and `notes`; for one with host and model.

    quick: without intervals that take long to work out, those of many samples.
    """
    return {
        "variants": [_document(result, results, quick=quick) for result in results],
        "notes": [*more, *_compared(results), *_findings(results)],
    }


def _document(result: VariantResult, results: Sequence[VariantResult], *, quick: bool) -> dict[str, Any]:
    faster, outputs = _speed(result, results, quick=quick), result.outputs
    return {
        "precision": result.precision,
        "unit": result.unit,
        "reference": result.reference,
        "size_bytes": result.size_bytes,
        "speed": None if faster is None else faster.ratio,
        "speed_ci": None if faster is None or faster.interval is None else list(faster.interval),
        "max_abs": result.max_abs,
        "cosine": result.cosine,
        "top1": result.top1,
        "not_finite": result.not_finite,
        "compared_with": None if outputs is None else outputs.reference,
        "inputs_compared": None if outputs is None else outputs.inputs,
        "outputs": [msgspec.to_builtins(each) for each in result.differences],
        "outputs_error": None if outputs is None or outputs.error is None else outputs.error.message,
        "note": result.note or None,
        "statistics": msgspec.to_builtins(result.statistics),
    }


def _speed(result: VariantResult, results: Sequence[VariantResult], *, quick: bool = False) -> Speed | None:
    reference = reference_of(results, result.unit)
    if reference is None or result is reference or not result.statistics.n:
        return None
    slow = max(reference.statistics.n, result.statistics.n) > QUICK_SAMPLES
    return speed(reference, result, None if quick and slow else np.random.default_rng(SEED))


def _row(result: VariantResult, results: Sequence[VariantResult]) -> tuple[str, ...]:
    row, faster = result.statistics, _speed(result, results)
    largest = max((each.largest for each in result.differences if each.largest is not None), default=None)
    far = "" if not largest or result.max_abs is None else f" of {significant(largest)}"
    unknown = "" if result.reference and result.outputs is None else UNKNOWN
    return (
        clean(row.unit, 30),
        clean(result.precision, 30),
        count(row.n),
        milliseconds(row.p50_ms),
        milliseconds(row.p90_ms),
        "" if result.reference else UNKNOWN if faster is None else f"{significant(faster.ratio)}x",
        "" if faster is None or faster.interval is None else "..".join(map(significant, faster.interval)),
        size(result.size_bytes),
        unknown if result.max_abs is None else f"{significant(result.max_abs)}{far}",
        unknown if result.cosine is None else f"{result.cosine:.6f}",
        unknown if result.top1 is None else percent(result.top1),
        clean(row.error.message, LONGEST_WHY) if row.error is not None else "",
    )


def _method(results: Sequence[VariantResult]) -> Iterator[str]:
    """What is meant by the words of the page."""
    yield "variants took turns on each unit; speed: the median of the model as it is by the variant's, on the same unit"
    yield from _compared(results)
    yield from dict.fromkeys(clean(result.note, 300) for result in results if result.note)


def _compared(results: Sequence[VariantResult]) -> Iterator[str]:
    compared = next((result.outputs for result in results if result.outputs is not None), None)
    if compared is not None:
        sampled = ", some values of large outputs" if compared.sampled else ""
        yield f"differences to {compared.reference} over {compared.inputs} sets {UNTOLD}{sampled}"


def _findings(results: Sequence[VariantResult]) -> Iterator[str]:
    """What must be known of these variants beside their figures."""
    for result in results:
        if result.not_finite:
            yield f"{_called(result)}: {count(result.not_finite)} values are no numbers"
        if result.outputs is not None and result.outputs.error is not None:
            yield f"{_called(result)}: not compared: {clean(result.outputs.error.message, 200)}"


def _failures(results: Sequence[VariantResult]) -> Iterator[str]:
    for result in results:
        error = result.statistics.error
        if error is not None:
            hint = f" ({error.hint})" if error.hint else ""
            yield f"{_called(result)}: {clean(error.message + hint, 400)}"


def _called(result: VariantResult) -> str:
    return f"{clean(result.unit, 30)} {clean(result.precision, 30)}"
