"""Precision variants in sentences: the fastest first."""

from __future__ import annotations

import msgspec

from hettop.studies.variants.page import across, other_axis, variant_notes, variants_headline
from hettop.studies.variants.result import VariantsResult
from tests.studies.swept import NO_VARIANTS, UNCOMPARED, VARIANTS


def test_speed_size_and_difference_then_the_front_then_what_failed() -> None:
    assert list(variants_headline(VARIANTS)) == [
        (
            "int8 is 2.00 times (not proven: 0.900 to 2.50) as fast as fp32, 25% of the size, output "
            "difference up to 0.500 "
            "(top-1 equal in 88%).",
            "main",
        ),
        ("fp16: 0.800 times (0.700 to 0.900), 50% of the size, output difference up to 0.250.", "more"),
        ("Pareto front of latency and output difference: fp32, int8; dominated: fp16.", "good"),
        ("int4 on CPU_ONLY failed: no tool writes it.", "failed"),
    ]


def test_equal_speed_is_as_fast_and_not_once_as_fast() -> None:
    equal = [
        msgspec.structs.replace(each, speed=1.001, speed_ci=(0.98, 1.02)) if each.precision == "int8" else each
        for each in VARIANTS.variants
    ]
    first, _ = next(variants_headline(msgspec.structs.replace(VARIANTS, variants=equal)))
    assert first.startswith("int8 is as fast as fp32 (not proven: 0.980 to 1.02), 25% of the size")


def test_without_differences_latency_is_held_against_size() -> None:
    assert other_axis(UNCOMPARED) == "size"
    assert [across(UNCOMPARED, each) for each in UNCOMPARED.variants] == [8.0, 2.0]
    assert list(variants_headline(UNCOMPARED))[1] == (
        "Pareto front of latency and size: fp32, int8; none is dominated.",
        "good",
    )
    assert [across(VARIANTS, each) for each in VARIANTS.variants] == [0.0, 0.25, 0.5, None]


def test_several_units_are_named() -> None:
    both = VariantsResult(variants=[*VARIANTS.variants, *UNCOMPARED.variants], rest_n=2)
    sentences = [text for text, _ in variants_headline(both, short=True)]
    assert sentences[0].startswith("int8 on CPU is 2.00 times")
    assert sentences[1] == "int8 on ALL: 1.30 times, 25% of the size."
    assert variant_notes(both)[-2:] == ["fp32: the model as it is", "2 more are only in --json"]


def test_nothing_has_no_headline() -> None:
    assert list(variants_headline(NO_VARIANTS)) == []
