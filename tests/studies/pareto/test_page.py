"""The page and the document of a Pareto front."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from hettop.analysis.pareto import DIFFERENCE, LATENCY, SIZE, Choice, Objective, Standing, per_item, standings
from hettop.report.document import to_json
from hettop.report.terminal.blocks import block_text
from hettop.studies.pareto.page import pareto_blocks, pareto_document


def pareto_text(found: list[Standing], objectives: Sequence[Objective], notes: list[str], width: int) -> str:
    return block_text(list(pareto_blocks(found, objectives, notes)), width)


CHOICES = [
    Choice("net fp32", "CPU_ONLY", "none", {"latency": 4.0, "difference": 0.0, "size": 14e6}),
    Choice("net fp16", "CPU_ONLY", "none", {"latency": 5.0, "difference": 0.25, "size": 7e6}),
    Choice("net int8", "CPU_ONLY", "none", {"latency": 2.0, "difference": 0.5, "size": 3.5e6}, simulated=True),
    Choice("net int4", "CPU_ONLY", "none", {"latency": 1.0}),
]


def test_the_front_comes_first_and_the_rest_says_what_beats_it() -> None:
    text = pareto_text(standings(CHOICES, [LATENCY, DIFFERENCE]), [LATENCY, DIFFERENCE], ["a note"], 100)
    rows = [line for line in text.splitlines() if "CPU_ONLY" in line]
    assert [row.split()[:4] for row in rows[:2]] == [["●", "A", "net", "int8"], ["●", "B", "net", "fp32"]]
    assert "net int8 (SIMULATED)" in rows[0]
    assert rows[2].startswith("·")
    assert rows[2].endswith("net fp32 CPU_ONLY")
    assert rows[3].endswith("not compared: difference unknown")
    assert text.splitlines()[-1] == "· a note"
    assert "latency, ms" in text


def test_letters_in_the_plot_are_those_of_the_rows() -> None:
    """Large on the front; int8 is fastest and furthest off, fp32 the other way round, fp16 slowest."""
    lines = pareto_text(standings(CHOICES, [LATENCY, DIFFERENCE]), [LATENCY, DIFFERENCE], [], 80).splitlines()
    plot = lines[1 : next(place for place, line in enumerate(lines) if line.startswith("Upper case"))]
    columns = {letter: next(row.index(letter) for row in plot if letter in row) for letter in "ABc"}
    assert columns["A"] < columns["B"] < columns["c"]
    rows = [line for line in lines if " CPU_ONLY  " in line]
    assert [row.split()[1] for row in rows] == ["A", "B", "c", "int4"], "what is not compared has no letter"


def test_a_row_names_its_file_by_a_number_where_names_are_long_and_nothing_is_wider_than_the_page() -> None:
    long = [replace(each, file=f"{'f' * 50}-{place % 2}.jsonl") for place, each in enumerate(CHOICES)]
    lines = pareto_text(standings(long, [LATENCY]), [LATENCY], [], 80).splitlines()
    assert max(map(len, lines)) <= 80
    # Ascending by latency: int4, int8, fp32, fp16.
    numbers = [re.findall(r"\[\d\]", line) for line in lines if "CPU_ONLY" in line]
    assert numbers == [["[2]"], ["[1]"], ["[1]"], ["[2]"]]
    assert f"· [1] {'f' * 50}-0.jsonl" in lines
    named = [replace(each, label=f"{'m' * 70} {each.label[4:]}") for each in long]
    cut = pareto_text(standings(named, [LATENCY]), [LATENCY], [], 80)
    assert max(map(len, cut.splitlines())) <= 80
    assert "int8 (SIMULATED)" in cut, "both its end and what it is stay"


def test_sizes_are_reported_as_sizes() -> None:
    text = pareto_text(standings(CHOICES, [LATENCY, SIZE]), [LATENCY, SIZE], [], 100)
    assert "14.0 MB" in text


def test_the_document_reports_standing_and_who_beats_whom() -> None:
    objectives = [LATENCY, DIFFERENCE]
    document = json.loads(to_json(pareto_document(standings(CHOICES, objectives), objectives)))
    assert document["front"] == [0, 2]
    assert document["simulated"] is True
    assert document["objectives"][0] == {"name": "latency", "unit": "ms", "goal": "lowest"}
    half, unknown = document["choices"][1], document["choices"][3]
    assert (half["on_front"], half["dominated_by"]) == (False, 0)
    assert (unknown["on_front"], unknown["lacks"], unknown["values"]["difference"]) == (None, ["difference"], None)


def test_rows_of_larger_batches_say_so_and_are_compared_per_item() -> None:
    """A call of 4 takes 8 ms, 2 ms an item: less than the single call of 3 ms."""
    one = Choice("net b1", "CPU_ONLY", "none", {"latency": 3.0, "throughput": 333.0})
    four = Choice("net b4", "CPU_ONLY", "none", {"latency": 8.0, "throughput": 500.0}, items=4)
    whole = Choice("net fp32", "ALL", "none", {"latency": 5.0, "size": 14e6})
    choices, objectives = per_item([one, four, whole], [LATENCY])
    found = standings(choices, objectives)
    lines = pareto_text(found, objectives, [], 140).splitlines()
    assert next(line for line in lines if "model" in line).split()[2:] == (
        ["ms/item", "ms", "per", "call", "items/s", "size", "dominated", "by"]
    )
    rows = [" ".join(line.split()) for line in lines if line.startswith(("●", "·"))]
    assert rows[0].startswith("● A net b4 (4 items per call) CPU_ONLY 2.00 8.00 500")
    assert rows[1].startswith("· b net b1 CPU_ONLY 3.00 3.00 333")
    assert rows[2].startswith("· c net fp32 ALL 5.00 5.00 14.0 MB")
    text = " ".join(" ".join(lines).split())
    assert "compared per item" in text
    assert "rows ran on different units: CPU_ONLY, ALL" in text
    assert "differences are not tested" in text
    document = pareto_document(found, objectives)
    assert document["objectives"][0]["unit"] == "ms/item"
    assert [each["items_per_call"] for each in document["choices"]] == [1, 4, 1]
    assert document["choices"][2]["size_bytes"] == 14e6
    assert any("per item" in note for note in document["notes"])


def test_a_row_is_not_beaten_by_less_than_the_intervals_distinguish() -> None:
    fast, near, slow = (
        Choice(name, "ALL", "none", {"latency": ms}, latency_ci=(ms - 0.2, ms + 0.2))
        for name, ms in (("fast", 1.0), ("near", 1.3), ("slow", 2.0))
    )
    found = standings([fast, near, slow], [LATENCY])
    assert [each.within_noise for each in found] == [False, True, False]
    text = pareto_text(found, [LATENCY], [], 100)
    rows = {line.split()[2]: line for line in text.splitlines() if " ALL " in line}
    assert rows["near"].startswith("~")
    assert rows["near"].endswith("not proven: fast ALL")
    assert rows["slow"].startswith("·")
    assert rows["slow"].endswith("  fast ALL")
    assert "differences are not tested" not in text


def test_one_that_is_better_in_something_else_beats_although_latencies_are_near() -> None:
    small = Choice("small", "ALL", "none", {"latency": 1.0, "size": 1.0}, latency_ci=(0.5, 1.5))
    large = Choice("large", "ALL", "none", {"latency": 1.1, "size": 2.0}, latency_ci=(0.6, 1.6))
    assert not standings([small, large], [LATENCY, SIZE])[1].within_noise
