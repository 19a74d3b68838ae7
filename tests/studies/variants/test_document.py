"""What `hettop variants` printed, as one line of the stream, and what of it nothing else beats."""

from __future__ import annotations

from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.studies.reading import found_of
from hettop.studies.variants.document import MOST_VARIANTS
from hettop.studies.variants.result import VariantRow, VariantsResult


def row(precision: str, p50: float | None, max_abs: float | None = None, **more: Any) -> dict[str, Any]:
    error = None if p50 is not None else {"kind": "crashed", "message": "gone", "hint": ""}
    return {
        "precision": precision,
        "unit": more.pop("unit", "CPU_ONLY"),
        "reference": more.pop("reference", False),
        "size_bytes": more.pop("size_bytes", 1000),
        "speed": None,
        "speed_ci": None,
        "max_abs": max_abs,
        "cosine": None,
        "top1": None,
        "compared_with": None if max_abs is None else "fp32 on CPU_ONLY",
        "note": None,
        "statistics": {
            "n": 0 if p50 is None else 100,
            "p50_ms": p50,
            "p90_ms": p50,
            "mean_ms": p50,
            "energy_mj_per_inference": more.pop("energy", None),
            "error": error,
        },
        **more,
    }


def found(*rows: dict[str, Any], **more: Any) -> list[VariantRow]:
    told = found_of("variants", {"variants": list(rows), **more})
    assert isinstance(told, VariantsResult)
    return told.variants


def front(*rows: dict[str, Any]) -> list[str]:
    return [f"{each.precision} {each.unit}" for each in found(*rows) if each.front]


REFERENCE = row("fp32", 4.0, reference=True)


def test_the_front_is_what_nothing_beats_in_latency_and_difference() -> None:
    """fp16 is slower and off; int8 is faster; a unit that is as fast and further off is beaten."""
    half, eighth = row("fp16", 5.0, 0.25), row("int8", 2.0, 0.5)
    assert front(REFERENCE, half, eighth) == ["fp32 CPU_ONLY", "int8 CPU_ONLY"]
    other = row("fp32", 2.0, 0.75, unit="ALL", reference=True)
    assert front(REFERENCE, half, eighth, other) == ["fp32 CPU_ONLY", "int8 CPU_ONLY"]


def test_energy_counts_where_all_have_it() -> None:
    reference, half = row("fp32", 4.0, reference=True, energy=9.0), row("fp16", 5.0, 0.25, energy=3.0)
    assert front(reference, half) == ["fp32 CPU_ONLY", "fp16 CPU_ONLY"]
    assert front(reference, row("fp16", 5.0, 0.25)) == ["fp32 CPU_ONLY"], "unknown is not 0"
    assert front(REFERENCE, row("fp16", 5.0, 0.25, energy=3.0)) == ["fp32 CPU_ONLY"], "nor does it put anything aside"


def test_without_any_difference_the_size_counts() -> None:
    """Under way nothing may have been compared yet."""
    assert front(row("fp32", 4.0, reference=True), row("int8", 5.0, size_bytes=250), row("fp16", 6.0)) == [
        "fp32 CPU_ONLY",
        "int8 CPU_ONLY",
    ]


def test_what_failed_is_on_no_front_and_says_why() -> None:
    _, gone = found(REFERENCE, row("int8", None, size_bytes=None))
    assert (gone.front, gone.n, gone.p50_ms, gone.max_abs, gone.error) == (False, 0, None, None, "gone")


def test_the_one_that_others_are_compared_with_differs_from_itself_by_nothing() -> None:
    reference, other, uncompared = found(
        REFERENCE, row("fp16", 5.0, 0.25), row("fp32", 4.5, unit="ALL", reference=True)
    )
    assert (reference.max_abs, other.max_abs, uncompared.max_abs) == (0.0, 0.25, None)


def test_figures_and_texts_are_kept_short() -> None:
    noted = row("int8", 2.0, 0.123456789, speed=1.23456789, speed_ci=[1.0, 1.5], note="n" * 500, top1=1.0)
    _, told = found(REFERENCE, noted, notes=["compared"])
    assert (told.max_abs, told.speed, told.speed_ci, told.top1) == (0.123457, 1.23457, (1.0, 1.5), 1.0)
    assert told.note is not None
    assert len(told.note) <= 120
    many = found_of("variants", {"variants": [REFERENCE] * (MOST_VARIANTS + 2)})
    assert isinstance(many, VariantsResult)
    assert (len(many.variants), many.rest_n) == (MOST_VARIANTS, 2)


def test_what_is_no_such_document_is_refused() -> None:
    with pytest.raises(HettopError, match="variants told what cannot be read"):
        found_of("variants", {"variants": [{"precision": "fp16"}]})
