"""A comparison as a page, a document and JUnit XML."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from hettop.analysis.comparison import Comparison, compare
from hettop.analysis.environment_diff import Circumstance, Difference
from hettop.analysis.runs import run_of
from hettop.analysis.unit_samples import in_order_of
from hettop.report.comparison import comparison_blocks, comparison_document, comparison_junit
from hettop.report.terminal.blocks import block_text
from hettop.session.session import Session
from tests.analysis.material import session_of, stream_of
from tests.report.sessions import failure, widest

NORMAL = np.random.default_rng(1).normal(2.0, 0.1, 100)


def compared(a: Session, b: Session) -> Comparison:
    return compare([run_of(a, in_order_of(a))], [run_of(b, in_order_of(b))], np.random.default_rng(0))


def mixed() -> Comparison:
    """One unit that regressed, one that did not, one with too few samples, one that failed, one that is gone."""
    a = {"SLOW": NORMAL, "SAME": NORMAL, "FEW": NORMAL[:5], "BROKEN": NORMAL, "GONE": NORMAL}
    b = {"SLOW": 1.5 * NORMAL, "SAME": NORMAL, "FEW": NORMAL[:5]}
    return compared(session_of(stream_of(a)), session_of(stream_of(b), [failure("BROKEN", "a\x1b[31m & b < c")]))


def comparison_text(comparison: Comparison, names: tuple[str, str], width: int) -> str:
    return block_text(list(comparison_blocks(comparison, names)), width)


def test_the_page_names_regressions_and_what_was_not_compared() -> None:
    text = comparison_text(mixed(), ("old.jsonl", "new.jsonl"), 160)
    assert text.startswith("A is old.jsonl, B is new.jsonl")
    assert "+50%" in text
    assert text.count("REGRESSION") == 3, "P50 and P90 of one unit, and the failure"
    assert "FEW not compared: insufficient data: A has 5 samples" in text
    assert "BROKEN: " in text
    assert "only in A: GONE under none" in text
    assert "2 regressions" in text
    assert "\x1b" not in text


def test_what_was_not_compared_takes_no_room_from_the_figures_beside_it() -> None:
    (heading,) = [
        line for line in comparison_text(mixed(), ("old.jsonl", "new.jsonl"), 100).splitlines() if "change" in line
    ]
    assert " A " in heading
    assert " B " in heading


def busier() -> Comparison:
    """One unit that regressed while the machine did more, and one that did not."""
    found = compared(
        session_of(stream_of({"SLOW": NORMAL, "SAME": NORMAL})),
        session_of(stream_of({"SLOW": 1.5 * NORMAL, "SAME": NORMAL})),
    )
    told = Circumstance("busy cores, its own included", 0.54, 1.94, "SLOW", "none", "cores", "b")
    return replace(found, circumstances=(told,), untold=())


def test_circumstances_stand_above_the_result_beside_it_and_in_every_form() -> None:
    text = " ".join(comparison_text(busier(), ("a", "b"), 160).split())
    assert "other circumstances: SLOW under none: busy cores, its own included: 0.5 in A, 1.9 in B" in text
    assert "REGRESSION (B under worse circumstances)" in text
    assert "B was measured under worse circumstances" in text
    document = comparison_document(busier())
    assert document["regressions"] == 1, "which they do not change"
    assert document["circumstances"] == [
        {
            "what": "busy cores, its own included",
            "unit": "SLOW",
            "load": "none",
            "a": 0.54,
            "b": 1.94,
            "measure": "cores",
            "worse": "b",
        }
    ]
    suite = ElementTree.fromstring(comparison_junit(busier()))
    assert any(each.get("name") == "circumstances" for each in suite.iter("property"))


def test_circumstances_of_another_unit_do_not_excuse_a_regression() -> None:
    told = Circumstance("busy cores, its own included", 0.54, 1.94, "SAME", "none", "cores", "b")
    text = comparison_text(replace(busier(), circumstances=(told,)), ("a", "b"), 160)
    assert "of a B that was worse off" not in text
    assert "B was measured under worse circumstances" not in text


def test_a_worse_off_a_may_hide_a_regression() -> None:
    told = Circumstance("frames that the canary missed", 0.2, 0.0, "SAME", "none", "share", "a")
    text = " ".join(comparison_text(replace(busier(), circumstances=(told,)), ("a", "b"), 160).split())
    assert "frames that the canary missed: 20% in A, 0% in B" in text
    assert "which may hide that B is slower" in text


def test_a_regression_of_which_nobody_knows_how_busy_the_machine_was_says_so() -> None:
    silent = replace(busier(), circumstances=(), untold=("a", "b"))
    assert "background activity of A and B" in " ".join(comparison_text(silent, ("a", "b"), 160).split())


def test_the_page_is_as_wide_as_it_is_told() -> None:
    session = session_of(stream_of({"CPU_ONLY": NORMAL}))
    assert widest(comparison_text(compared(session, session), ("a", "b"), 100).splitlines()) <= 100


def test_the_document_has_the_agreed_form() -> None:
    document = comparison_document(mixed())
    assert document["regressions"] == 2
    rows = {row["unit"]: row for row in document["conditions"]}
    assert set(rows["SLOW"]["quantiles"]) == {"p50", "p90"}
    p50 = rows["SLOW"]["quantiles"]["p50"]
    assert {"a_ms", "b_ms", "diff_ms", "ci_ms"} <= set(p50)
    assert p50["ci_ms"][0] <= p50["diff_ms"] <= p50["ci_ms"][1]
    assert {unit: row["regression"] for unit, row in rows.items()} == {
        "SLOW": True,
        "SAME": False,
        "FEW": False,
        "BROKEN": True,
    }
    assert document["only_a"] == [{"unit": "GONE", "load": "none"}]


def test_junit_has_a_case_for_each_condition() -> None:
    suite = ElementTree.fromstring(comparison_junit(mixed()))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "5",
        "failures": "2",
        "skipped": "2",
    }
    cases = {case.get("name"): [child.tag for child in case] for case in suite.iter("testcase")}
    assert cases == {"SLOW": ["failure"], "SAME": [], "FEW": ["skipped"], "BROKEN": ["failure"], "GONE": ["skipped"]}
    (message,) = [case[0].get("message") for case in suite.iter("testcase") if case.get("name") == "SLOW"]
    assert message is not None
    assert message.startswith("P50 +50%, in this run at least: +4")


def three(factor: float) -> Comparison:
    """Three runs a side, half a percent apart."""
    steps = (0.995, 1.0, 1.005)
    a, b = ([session_of(stream_of({"CPU": by * step * NORMAL})) for step in steps] for by in (1.0, factor))
    before, after = ([run_of(each, in_order_of(each), keep_samples=False) for each in side] for side in (a, b))
    return compare(before, after, np.random.default_rng(0))


def test_several_runs_say_what_is_proven_in_every_form() -> None:
    for factor, words in (
        (1.5, "REGRESSION, proven"),
        (1.0, "the same within ±5.0%, proven"),
        (0.5, "faster, proven"),
        (1.05, "slower, proven; regression undecided"),
    ):
        assert words in comparison_text(three(factor), ("a", "b"), 200)
    document = comparison_document(three(1.5))
    assert (document["runs"], document["proven"], document["equivalent"]) == ({"a": 3, "b": 3}, True, False)
    (condition,) = document["conditions"]
    assert (condition["runs"], condition["regression"], condition["proven"]) == ([3, 3], True, True)
    p50 = condition["quantiles"]["p50"]
    assert p50["change"] == pytest.approx(0.5)
    assert p50["change_ci"][0] <= 0.5 <= p50["change_ci"][1]
    assert (p50["proven"], p50["equivalent"]) == (True, False)
    suite = ElementTree.fromstring(comparison_junit(three(1.5)))
    assert {each.get("name"): each.get("value") for each in suite.iter("property")}["runs of B"] == "3"
    (failed,) = suite.iter("failure")
    assert str(failed.get("message")).startswith("P50 +50%, proven: +4")


def test_one_run_a_side_never_says_proven() -> None:
    session = session_of(stream_of({"CPU_ONLY": NORMAL}))
    for comparison in (mixed(), busier(), compared(session, session)):
        assert "proven" not in comparison_text(comparison, ("a", "b"), 160)
        assert comparison_document(comparison)["proven"] is False


def test_what_is_undecided_is_skipped_in_junit_and_failed_where_a_proof_is_required() -> None:
    suite = ElementTree.fromstring(comparison_junit(three(1.05)))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    (skipped,) = suite.iter("skipped")
    assert str(skipped.get("message")).startswith("undecided: ")
    suite = ElementTree.fromstring(comparison_junit(three(1.05), require_proof=True))
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")
    (failed,) = suite.iter("failure")
    assert failed.get("type") == "undecided"
    suite = ElementTree.fromstring(comparison_junit(three(1.0), require_proof=True))
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "0")


def test_another_model_is_a_fact_and_another_backend_an_alarm() -> None:
    differences = (
        Difference("backend", "onnxruntime", "coreml"),
        Difference("model", "old.onnx", "new.onnx"),
        Difference("model's sha256", "0123456789abcdef", "fedcba9876543210"),
    )
    found = replace(three(1.0), differences=differences)
    text = comparison_text(found, ("a", "b"), 200)
    fact = "compares two models: old.onnx sha256 0123456789ab in A, new.onnx sha256 fedcba987654 in B"
    assert fact in text
    assert text.count("not like for like") == 1
    assert "not like for like: backend is onnxruntime in A" in text
    properties = [
        (each.get("name"), each.get("value"))
        for each in ElementTree.fromstring(comparison_junit(found)).iter("property")
    ]
    assert ("models", fact) in properties
    assert [name for name, _ in properties].count("unfair") == 1
    assert len(comparison_document(found)["differences"]) == 3
