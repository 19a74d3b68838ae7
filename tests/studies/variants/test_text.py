"""The page and the document of variants."""

from __future__ import annotations

import json

from hettop.analysis.variants import VariantResult
from hettop.events import OutputDifference, Outputs
from hettop.report.document import to_json
from hettop.session.statistics import Reason, Statistics
from hettop.studies.variants.text import QUICK_SAMPLES, variants_document, variants_text
from tests.analysis.test_variants import result

OUTPUTS = Outputs(
    t=0,
    unit="CPU_ONLY",
    reference="fp32 on CPU_ONLY",
    inputs=8,
    outputs=[OutputDifference(name="y", values=4, max_abs=0.5, largest=4.0, cosine=0.999, top1=0.875)],
)
RESULTS = [
    result("fp32", 10.0, reference=True, size_bytes=14_000_000, note="fp32: the model as it is"),
    result("fp16", 5.0, outputs=OUTPUTS, size_bytes=7_000_000),
    VariantResult(
        "int8",
        Statistics(unit="CPU_ONLY", load="none", error=Reason(kind="missing", message="no tool", hint="get one")),
    ),
]


def test_a_row_has_speed_size_and_how_far_off_it_is() -> None:
    lines = variants_text("a model", RESULTS, 140).splitlines()
    half = next(line for line in lines if " fp16 " in line)
    assert "2.00x" in half
    assert "7.0 MB" in half
    assert "0.500 of 4.00" in half
    assert "88%" in half
    missing = next(line for line in lines if line.startswith("CPU_ONLY  int8"))
    assert missing.endswith("no tool")
    assert "CPU_ONLY int8: no tool (get one)" in lines
    assert any("differences to fp32 on CPU_ONLY over 8 sets" in line for line in lines)
    assert not any("0 B" in line for line in lines)


def test_the_document_has_null_for_what_is_unknown() -> None:
    rows = json.loads(to_json(variants_document(RESULTS)))["variants"]
    assert [(row["precision"], row["reference"], row["size_bytes"]) for row in rows] == [
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
    results = [result("fp32", 10.0, many, reference=True), result("fp16", 5.0, many)]
    quick, whole = (variants_document(results, quick=each)["variants"][1] for each in (True, False))
    assert quick["speed"] == whole["speed"]
    assert (quick["speed_ci"], len(whole["speed_ci"])) == (None, 2)
    few = variants_document(RESULTS, quick=True)["variants"][1]
    assert few["speed_ci"] is not None


def test_notes_of_the_document_say_what_was_compared_and_what_else_must_be_known() -> None:
    notes = variants_document(RESULTS, ["interrupted"])["notes"]
    assert notes[0] == "interrupted"
    assert notes[1].startswith("differences to fp32 on CPU_ONLY over 8 sets")
    assert len(notes) == 2, "reasons of failures are in the rows"
