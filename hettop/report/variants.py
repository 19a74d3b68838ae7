"""Variants of a model in other precisions as a table for a terminal and as a JSON document.

Pure text and plain data; numbers come from `analysis.variants`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np

from hettop.analysis.variants import VariantResult, reference_of, speed
from hettop.format import UNKNOWN, count, milliseconds, percent, significant, size
from hettop.report.grid import grid, wrapped
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
SEED = 20_250_601  # of the resamples: the same samples give the same interval

UNTOLD = "of made-up inputs: how often the largest entry is the same tells of agreement, not of accuracy"


def variants_text(title: str, results: Sequence[VariantResult], width: int) -> str:
    """A row for each variant and unit, and notes."""
    rows = [_row(result, results) for result in results]
    lines = [*wrapped(title, width), "", *grid(HEADING, rows, left=LEFT, width=width, drop=DISPENSABLE), ""]
    for note in _notes(results):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def variants_document(results: Sequence[VariantResult]) -> dict[str, Any]:
    """`variants`, each with the statistics object and its differences; for a document that has host and model."""
    return {"variants": [_document(result, results) for result in results]}


def _document(result: VariantResult, results: Sequence[VariantResult]) -> dict[str, Any]:
    faster, outputs = _speed(result, results), result.outputs
    return {
        "precision": result.precision,
        "unit": result.unit,
        "reference": result.reference,
        "size_bytes": result.size_bytes,
        "speed": None if faster is None else faster.ratio,
        "speed_ci": None if faster is None else [faster.low, faster.high],
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


def _speed(result: VariantResult, results: Sequence[VariantResult]) -> Any:
    reference = reference_of(results, result.unit)
    if reference is None or result is reference or not result.statistics.n:
        return None
    return speed(reference, result, np.random.default_rng(SEED))


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
        "" if faster is None else f"{significant(faster.low)}..{significant(faster.high)}",
        size(result.size_bytes),
        unknown if result.max_abs is None else f"{significant(result.max_abs)}{far}",
        unknown if result.cosine is None else f"{result.cosine:.6f}",
        unknown if result.top1 is None else percent(result.top1),
        clean(row.error.message, LONGEST_WHY) if row.error is not None else "",
    )


def _notes(results: Sequence[VariantResult]) -> Iterator[str]:
    yield "variants took turns on each unit; speed: the median of the model as it is by the variant's, on the same unit"
    compared = next((result.outputs for result in results if result.outputs is not None), None)
    if compared is not None:
        sampled = ", some values of large outputs" if compared.sampled else ""
        yield f"differences to {compared.reference} over {compared.inputs} sets {UNTOLD}{sampled}"
    yield from dict.fromkeys(clean(result.note, 300) for result in results if result.note)
    for result in results:
        called = f"{clean(result.unit, 30)} {clean(result.precision, 30)}"
        if result.not_finite:
            yield f"{called}: {count(result.not_finite)} values are no numbers"
        if result.outputs is not None and result.outputs.error is not None:
            yield f"{called}: not compared: {clean(result.outputs.error.message, 200)}"
        error = result.statistics.error
        if error is not None:
            hint = f" ({error.hint})" if error.hint else ""
            yield f"{called}: {clean(error.message + hint, 400)}"
