"""Start-up on a page: sentences, parts, tables, and reasons where there is no figure."""

from __future__ import annotations

from hettop.report.page import Items, Paragraph, Stack, Table, words_of
from hettop.report.terminal.blocks import block_text
from hettop.studies.cold.page import blocks
from hettop.studies.cold.result import ColdResult
from tests.studies.started import (
    ALL_FAILED,
    CACHED,
    FULL,
    GPU,
    IN_SIMULATION,
    LATER_FAILED,
    NE,
    NOTHING,
    UNPROVEN,
    UNSTEADY,
    WELL,
)


def sentences(found: ColdResult) -> list[str]:
    told = []
    for block in blocks(found):
        if not isinstance(block, Paragraph):
            break
        told.append(block.text)
    return told


def tables(found: ColdResult) -> list[Table]:
    return [block.shown() for block in blocks(found) if isinstance(block, Table)]


def notes(found: ColdResult) -> list[str]:
    return [text for block in blocks(found) if isinstance(block, Items) for text in block.texts]


def test_it_begins_with_the_unit_that_answers_first_and_from_when_on_another_wins() -> None:
    assert sentences(WELL) == [
        "CPU_ONLY answers first, 4,000 ms after its process starts; CPU_AND_NE 12,000 ms.",
        "From 802 calls on (95% interval 700 to 912), CPU_AND_NE takes less time in total than CPU_ONLY, start-up "
        "included.",
        "CPU_ONLY starts and calls faster than CPU_AND_GPU: there is no break-even.",
    ]


def test_a_break_even_that_is_not_proven_has_its_reason_in_the_sentence() -> None:
    found = ColdResult(rows=[NE, GPU], break_even=[UNPROVEN], repeat=4)
    assert sentences(found)[1] == (
        "Break-even of CPU_AND_NE and CPU_AND_GPU: n/a (not proven: 60% of resamples agree)."
    )


def test_every_pair_is_in_a_table_with_the_reason_where_there_is_no_number() -> None:
    _, pairs = tables(WELL)
    cells = [[words_of(cell) for cell in row] for row in pairs.rows]
    assert cells == [
        ["CPU_ONLY", "CPU_AND_NE", "802", "700–912", ""],
        ["CPU_ONLY", "CPU_AND_GPU", "none", "", "CPU_ONLY is faster in both"],
        ["CPU_AND_NE", "CPU_AND_GPU", "n/a", "", "not proven: 60% of resamples agree"],
    ]
    assert any(note.startswith("not proven: fewer than 95%") for note in notes(WELL))


def test_a_row_has_the_medians_of_its_parts_and_the_range_of_the_whole() -> None:
    rows = tables(WELL)[0]
    cells = dict(zip(rows.heading, map(words_of, rows.rows[0]), strict=True))
    assert {name: cells[name] for name in ("process", "load", "first call", "other", "ready", "range")} == {
        "process": "100",
        "load": "1,940",
        "first call": "20.0",
        "other": "1,940",
        "ready": "4,000",
        "range": "3,000–6,000",
    }
    assert (cells["compile"], cells["steady"], cells["call"]) == ("n/a", "5,200", "20.0")


def test_a_time_that_was_not_had_is_not_reported() -> None:
    rows = tables(UNSTEADY)[0]
    cells = dict(zip(rows.heading, map(words_of, rows.rows[0]), strict=True))
    assert (cells["steady"], cells["warm-ups"]) == ("n/a", "n/a")


def test_starts_with_and_without_an_earlier_compilation_are_apart() -> None:
    rows = tables(CACHED)[0]
    assert [words_of(row[rows.heading.index("compiled")]) for row in rows.rows] == ["before", "anew"]
    assert sentences(CACHED)[0].startswith("ALL, compiled before, answers first, 1,000 ms")


def test_the_parts_are_a_bar_under_the_name_of_its_unit() -> None:
    page = list(blocks(CACHED))
    bars = [(page[place - 1], block) for place, block in enumerate(page) if isinstance(block, Stack)]
    names, shares = zip(*bars[1][1].parts, strict=True)
    assert names == ("process", "compile", "load", "first call", "other")
    # 100 of process, 7,500 of compiling, 690 of loading, 20 of the first call, 690 of the rest: 9,000 ms.
    assert [round(share * 9_000) for share in shares] == [100, 7_500, 690, 20, 690]
    above = bars[1][0]
    assert isinstance(above, Paragraph)
    assert above.text.startswith("ALL, compiled anew: parts of the 9,000 ms")


def test_simulated_start_up_is_said_first() -> None:
    first = next(iter(blocks(IN_SIMULATION)))
    assert isinstance(first, Paragraph)
    assert first.warning
    assert first.text.startswith("SIMULATED")


def test_a_failure_has_its_message_and_hint_and_nothing_is_reported_of_times() -> None:
    page = list(blocks(ALL_FAILED))
    assert page == [
        Paragraph(
            "CPU_ONLY failed: engine process killed by SIGKILL while loading "
            "(the system kills processes when memory runs out)",
            "error",
        )
    ]
    assert any(text.startswith("CPU_AND_NE failed after 4 starts: ") for text in sentences(LATER_FAILED))
    assert list(blocks(NOTHING)) == []


def test_what_a_line_left_out_is_counted() -> None:
    assert any(note.startswith("31 more rows") for note in notes(FULL.summary()))


def test_at_80_columns_the_unit_the_first_answer_and_the_call_stay() -> None:
    text = block_text(list(blocks(CACHED)), 80)
    heading = next(line for line in text.splitlines() if line.startswith("unit"))
    assert {"unit", "compiled", "compile", "ready", "steady", "call"} <= set(heading.split())


def test_where_no_compilation_is_reported_other_columns_stay_longer() -> None:
    text = block_text(list(blocks(WELL)), 80)
    heading = next(line for line in text.splitlines() if line.startswith("unit"))
    assert "load" in heading
    assert "compile" not in heading
