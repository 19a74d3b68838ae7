"""A study of variants' result: made of samples and outputs, as `--json` prints it, and as a line of a recording."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Study
from hettop.models.precision import CORE_ML_PRECISIONS, ONNX_PRECISIONS, note_of
from hettop.report.document import to_json
from hettop.session.statistics import Reason, Statistics
from hettop.studies.registry import read_document
from hettop.studies.variants.measure import QUICK_SAMPLES, MeasuredVariant, reference_of, speed, variants_result
from hettop.studies.variants.result import MOST_VARIANTS, VariantsResult
from tests.processes.waiting import REPOSITORY
from tests.studies.sweep.test_measure import LINE, missing_or_changed
from tests.studies.variants.measured import RESULTS, TWO_UNITS, difference, outputs, result

GONE = Reason(kind="crashed", message="gone", hint="")


def row(precision: str, p50: float | None, max_abs: float | None = None, **more: Any) -> MeasuredVariant:
    """On CPU_ONLY; without a P50 it failed, without a difference it is not compared."""
    unit = more.pop("unit", "CPU_ONLY")
    told = Statistics(
        unit=unit,
        load="none",
        n=0 if p50 is None else 100,
        p50_ms=p50,
        energy_mj_per_inference=more.pop("energy", None),
        error=GONE if p50 is None else None,
    )
    off = None if max_abs is None else outputs(unit, difference(max_abs=max_abs))
    return MeasuredVariant(precision, told, outputs=off, size_bytes=more.pop("size_bytes", 1000), **more)


def kept(found: VariantsResult) -> VariantsResult:
    """As a recording has it."""
    return VariantsResult.from_line(json.loads(msgspec.json.encode(found.line())))


def front(*rows: MeasuredVariant) -> list[str]:
    return [f"{each.precision} {each.unit}" for each in variants_result(rows).variants if each.front]


def document(found: VariantsResult) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = json.loads(to_json(found.document()))["variants"]
    return told


REFERENCE = row("fp32", 4.0, reference=True)


def test_the_document_has_every_field_that_the_first_version_had() -> None:
    before = json.loads((REPOSITORY / "tests/golden/studies/variants.json").read_text())
    after = json.loads(to_json(variants_result(TWO_UNITS, ["a note"]).document()))
    assert missing_or_changed(before, after) == []


def test_speed_is_the_ratio_of_medians_with_its_interval() -> None:
    found = speed(result("fp32", 10.0), result("int8", 4.0), np.random.default_rng(1))
    assert found is not None
    assert found.ratio == pytest.approx(2.5, rel=0.01)
    assert found.interval is not None
    low, high = found.interval
    assert low < found.ratio < high
    assert high - low < 0.05
    quick = speed(result("fp32", 10.0), result("int8", 4.0), None)
    assert quick is not None
    assert (quick.ratio, quick.interval) == (found.ratio, None)


def test_too_few_samples_report_no_speed() -> None:
    assert speed(result("fp32", 10.0), result("int8", 4.0, n=9), np.random.default_rng(1)) is None


def test_the_reference_is_that_of_the_unit() -> None:
    rows = [result("fp32", 1.0, reference=True), result("fp32", 2.0, unit="ALL", reference=True), result("fp16", 1.0)]
    assert reference_of(rows, "ALL") is rows[1]
    assert reference_of(rows, "CPU_AND_NE") is None


def test_the_worst_of_all_outputs_is_what_counts() -> None:
    first = difference("a", 0.5, cosine=0.9, top1=1.0, not_finite=1)
    second = difference("b", 0.25, cosine=0.99, top1=0.5, not_finite=2)
    far, untold = variants_result(
        [result("fp16", 1.0, outputs=outputs("ALL", first, second)), result("fp32", 1.0)]
    ).variants
    assert (far.max_abs, far.cosine, far.top1, far.not_finite) == (0.5, 0.9, 0.5, 3)
    assert (untold.max_abs, untold.cosine, untold.top1, untold.not_finite) == (None, None, None, None)


def test_the_document_has_null_for_what_is_unknown() -> None:
    rows = document(variants_result(RESULTS))
    assert [(each["precision"], each["reference"], each["size_bytes"]) for each in rows] == [
        ("fp32", True, 14_000_000),
        ("fp16", False, 7_000_000),
        ("int8", False, None),
    ]
    assert (rows[0]["speed"], rows[0]["max_abs"]) == (None, None)
    assert round(rows[1]["speed"], 1) == 2.0
    assert rows[1]["speed_ci"][0] < rows[1]["speed"] < rows[1]["speed_ci"][1]
    assert (rows[1]["max_abs"], rows[1]["top1"], rows[1]["compared_with"]) == (0.5, 0.875, "fp32 on CPU_ONLY")
    assert rows[2]["statistics"]["error"]["kind"] == "missing"
    assert (rows[2]["speed"], rows[2]["cosine"]) == (None, None)


def test_under_way_no_interval_of_many_samples_is_worked_out() -> None:
    many = QUICK_SAMPLES + 1
    measured = [result("fp32", 10.0, many, reference=True), result("fp16", 5.0, many)]
    quick, whole = (variants_result(measured, quick=each).variants[1] for each in (True, False))
    assert quick.speed == whole.speed
    assert quick.speed_ci is None
    assert whole.speed_ci is not None
    assert variants_result(RESULTS, quick=True).variants[1].speed_ci is not None


def test_notes_say_what_was_compared_and_what_else_must_be_known() -> None:
    notes = variants_result(RESULTS, ["interrupted"]).notes
    assert notes[0] == "interrupted"
    assert notes[1].startswith("differences to fp32 on CPU_ONLY over 8 sets")
    assert len(notes) == 2, "reasons of failures are in the rows"
    sampled = variants_result([result("fp16", 1.0, outputs=outputs("CPU_ONLY", difference(), sampled=True))])
    assert sampled.notes[0].endswith("some values of large outputs")


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
    gone = kept(variants_result([REFERENCE, row("int8", None, size_bytes=None)])).variants[1]
    assert (gone.front, gone.n, gone.p50_ms, gone.max_abs, gone.error) == (False, 0, None, None, "gone")


def test_the_one_that_others_are_compared_with_differs_from_itself_by_nothing() -> None:
    """In a line, that is; the document has null there."""
    uncompared = row("fp32", 4.5, unit="ALL", reference=True)
    found = variants_result([REFERENCE, row("fp16", 5.0, 0.25), uncompared])
    assert [each.max_abs for each in kept(found).variants] == [0.0, 0.25, None]
    assert [each["max_abs"] for each in document(found)] == [None, 0.25, None]


def test_a_line_has_short_figures_and_no_details() -> None:
    found = variants_result([REFERENCE, row("int8", 2.123456789, 0.123456789, note="n" * 500)])
    _, told = kept(found).variants
    assert (told.max_abs, told.p50_ms) == (0.123457, 2.12346)
    assert told.note is not None
    assert len(told.note) == TEXT_LIMIT
    assert (told.statistics, told.outputs, told.compared_with, told.inputs_compared) == (None, [], None, None)


def test_many_variants_fit_a_line_and_the_rest_is_counted() -> None:
    long = row("p" * 100, 1.23456789, 0.123456789, unit="U" * 90, note="n" * 500)
    found = variants_result([long] * (MOST_VARIANTS + 2))
    told = kept(found)
    assert (len(told.variants), told.rest_n) == (MOST_VARIANTS, 2)
    study = Study(t=1, name="variants", state="running", elapsed_ns=1, found=found.line())
    assert len(msgspec.json.encode(study)) < 2 * LINE


def test_no_note_of_a_precision_is_cut_in_a_line() -> None:
    notes = [note_of(name, core_ml=False) for name in ONNX_PRECISIONS]
    notes += [note_of(name, core_ml=True) for name in CORE_ML_PRECISIONS]
    found = variants_result([row("a", 1.0, note=note) for note in notes])
    assert [each.note for each in kept(found).variants] == notes


def test_the_document_is_read_as_the_result() -> None:
    found = variants_result(TWO_UNITS, ["a note"])
    assert read_document("variants", json.loads(to_json(found.document()))) == found
    with pytest.raises(HettopError, match="variants returned an invalid result"):
        read_document("variants", {"variants": [{"precision": "fp16"}]})
