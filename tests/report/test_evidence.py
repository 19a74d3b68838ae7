"""The picture of a verdict: its sentence, how each unit stands, and the intervals as they are drawn."""

from __future__ import annotations

from dataclasses import replace

from hettop.analysis.budget import Budget
from hettop.analysis.unit_samples import RESPONSE
from hettop.analysis.verdict import Question
from hettop.report.evidence import (
    FASTEST,
    LEADING,
    MISSED,
    PROVEN,
    SLOWER,
    UNDECIDED,
    Bound,
    Evidence,
    UnitEvidence,
    evidence_lines,
    evidence_of,
    interval_text,
)
from hettop.report.page import Items
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import text_of
from hettop.report.verdict import verdict_blocks
from hettop.report.verdict_words import flip_lines
from tests.analysis.material import session_of, stream_of
from tests.report.test_verdict import TABLE, judged

EVIDENCE = Evidence(
    "A is proven to meet P90 at most 5 ms.",
    (
        UnitEvidence("A", (Bound(0.9, 2.0, 1.0, 3.0), Bound(0.99, 4.0, 3.0, None)), PROVEN),
        UnitEvidence("B", (Bound(0.9, 9.0, 7.0, 9.5),), MISSED),
    ),
    5.0,
    0.9,
)


def test_intervals_are_drawn_on_one_axis_with_the_budget_through_them() -> None:
    """1 to 9.5 ms is more than 8 times: logarithmic, with 4% free at each end. Of 43 columns 1 ms is in floor(43 x
    (log 1 - log low) / (log high - log low)), low = 1 / 9.5^0.04 = 0.914, high = 10.40: 1.59 -> 1; 2 ms: 13.85 -> 13;
    3 ms: 21.0 -> 21; 4 ms: 26.1 -> 26; 5 ms: 30.06 -> 30; 7 ms: 36.0 -> 35 or 36; 9 ms: 40.4 -> 40."""
    rows = [text_of(line) for line in evidence_lines(EVIDENCE, 100)]
    first, second, third = (row[12:55] for row in rows[:3])
    assert (first.index("├"), first.index("◆"), first.index("┤"), first.index("┃")) == (1, 13, 21, 30)
    assert (second.index("├"), second.index("○"), second.index("»"), second.index("┃")) == (21, 26, 27, 30)
    assert (third.index("┃"), third.index("◆"), third.index("┤")) == (30, 40, 41)
    assert rows[0].startswith("A  ")
    assert rows[0].rstrip().endswith("P90 2.00 (1.00-3.00)       ✓ proven")
    assert rows[1].rstrip().endswith("P99 4.00 (from 3.00)")
    assert rows[2].rstrip().endswith("✗ misses it")
    assert rows[-1].rstrip() == "◆ P90  ○ P99  with interval, » its end not known yet   ┃ budget P90 at most 5.00 ms"


def test_both_percentiles_have_marks_of_their_own_in_ascii() -> None:
    drawn = to_ascii(text_of(evidence_lines(EVIDENCE, 100)[-1]))
    assert drawn.startswith("* P90  o P99  with interval, > its end not known yet   | budget")


def test_every_width_is_kept() -> None:
    for width in (20, 40, 60, 76, 120):
        assert {len(text_of(line)) for line in evidence_lines(EVIDENCE, width)} == {width}


def test_nothing_measured_draws_nothing() -> None:
    assert evidence_lines(Evidence("", ()), 80) == []


def test_ends_that_are_not_known_are_not_invented() -> None:
    assert [interval_text(*ends) for ends in ((2.0, 3.0), (2.0, None), (None, 3.0), (None, None))] == [
        " (2.00-3.00)",
        " (from 2.00)",
        " (to 3.00)",
        "",
    ]


def test_without_a_budget_the_fastest_leads_and_what_is_not_proven_is_undecided() -> None:
    """Table 4's units with 100 samples each in ten turns: too few for a proof of the order of ALL and CPU_AND_NE."""
    found = evidence_of(judged(TABLE))
    names = [row.unit for row in found.rows]
    assert names == list(judged(TABLE).ranks.latency)
    assert found.rows[0].standing == LEADING
    assert f"{names[0]} is the fastest so far" in found.sentence
    assert "not proven" in found.sentence


def test_a_budget_that_all_miss_is_said_in_the_sentence() -> None:
    found = evidence_of(judged(TABLE, Question(budget=Budget(0.01, 0.9))))
    assert found.sentence == "No unit meets P90 at most 0.0100 ms: proven for all of them."
    assert {row.standing for row in found.rows} == {MISSED}


def test_a_budget_that_is_open_says_what_may_decide() -> None:
    found = evidence_of(judged(TABLE, Question(budget=Budget(1000.0, 0.99))))
    assert found.sentence.startswith("No unit is proven to meet P99 at most 1,000 ms yet: ")
    assert "more samples" in found.sentence
    assert {row.standing for row in found.rows} == {UNDECIDED}


def test_a_unit_alone_has_no_ranks_and_no_standing() -> None:
    session = session_of(stream_of({"CPU_ONLY": [2.0] * 100}))
    verdict = judged(session)
    found = evidence_of(verdict)
    assert found.sentence == "CPU_ONLY alone was measured: mean 2.00 ms, P90 2.00 ms."
    assert [row.standing for row in found.rows] == [""]
    assert not any(
        "best first" in text for b in verdict_blocks(verdict, session) if isinstance(b, Items) for text in b.texts
    )


def test_a_unit_alone_under_load_is_not_compared_with_itself() -> None:
    session = session_of(
        stream_of({"CPU_ONLY": [2.0] * 100}), stream_of({"CPU_ONLY": [3.0] * 100}, load="cpu:2", t0=10**10)
    )
    verdict = judged(session, Question(load="cpu:2"))
    assert evidence_of(verdict).sentence == "CPU_ONLY alone was measured under cpu:2: mean 3.00 ms, P90 3.00 ms."
    assert list(flip_lines(verdict)) == []


def test_a_unit_is_proven_slower_only_by_a_chain_without_a_gap() -> None:
    """Four units have three pairs of neighbours: proven, open, proven. Beyond the open one nothing is proven."""
    verdict = judged(TABLE)
    proven = [(0.1, 0.3), (-0.1, 0.3), (0.1, 0.3)]
    order = tuple(replace(pair, interval_ms=ends) for pair, ends in zip(verdict.order, proven, strict=True))
    assert [row.standing for row in evidence_of(replace(verdict, order=order)).rows] == [
        FASTEST,
        SLOWER,
        UNDECIDED,
        UNDECIDED,
    ]


def test_a_budget_of_response_times_is_not_drawn_beside_those_of_calls() -> None:
    verdict = judged(TABLE, Question(budget=Budget(16.0, 0.99)))
    answers = {name: replace(each, series=RESPONSE) for name, each in verdict.judgements.items()}
    assert [bound.level for bound in evidence_of(verdict).rows[0].bounds] == [0.9, 0.99]
    assert [bound.level for bound in evidence_of(replace(verdict, judgements=answers)).rows[0].bounds] == [0.99]
