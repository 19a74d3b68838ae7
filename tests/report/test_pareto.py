"""The page and the document of a Pareto front."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from hettop.analysis.pareto import DIFFERENCE, LATENCY, SIZE, Choice, standings
from hettop.report.document import to_json
from hettop.report.pareto import pareto_document, pareto_text
from hettop.report.points_plot import MARGIN

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
    assert text.splitlines()[-1] == "a note"
    assert "latency, ms" in text


def test_letters_in_the_plot_are_those_of_the_rows() -> None:
    """Large on the front; int8 is fastest and furthest off, fp32 the other way round, fp16 slowest."""
    lines = pareto_text(standings(CHOICES, [LATENCY, DIFFERENCE]), [LATENCY, DIFFERENCE], [], 80).splitlines()
    plot = [line[MARGIN:] for line in lines if line[MARGIN - 1 : MARGIN] in "│┤"]
    columns = {letter: next(row.index(letter) for row in plot if letter in row) for letter in "ABc"}
    assert columns["A"] < columns["B"] < columns["c"]
    rows = [line for line in lines if "CPU_ONLY" in line]
    assert [row.split()[1] for row in rows] == ["A", "B", "c", "int4"], "what is not compared has no letter"


def test_a_row_names_its_file_by_a_number_where_names_are_long_and_nothing_is_wider_than_the_page() -> None:
    long = [replace(each, file=f"{'f' * 50}-{place % 2}.jsonl") for place, each in enumerate(CHOICES)]
    lines = pareto_text(standings(long, [LATENCY]), [LATENCY], [], 80).splitlines()
    assert max(map(len, lines)) <= 80
    # Ascending by latency: int4, int8, fp32, fp16.
    numbers = [re.findall(r"\[\d\]", line) for line in lines if "CPU_ONLY" in line]
    assert numbers == [["[2]"], ["[1]"], ["[1]"], ["[2]"]]
    assert f"[1] {'f' * 50}-0.jsonl" in lines
    named = [replace(each, label=f"{'m' * 70} {each.label[4:]}") for each in long]
    cut = pareto_text(standings(named, [LATENCY]), [LATENCY], [], 80)
    assert max(map(len, cut.splitlines())) <= 80
    assert "int8 (SIMULATED)" in cut, "both its end and what it is stay"


def test_sizes_are_told_as_sizes() -> None:
    text = pareto_text(standings(CHOICES, [LATENCY, SIZE]), [LATENCY, SIZE], [], 100)
    assert "14.0 MB" in text


def test_the_document_tells_standing_and_who_beats_whom() -> None:
    objectives = [LATENCY, DIFFERENCE]
    document = json.loads(to_json(pareto_document(standings(CHOICES, objectives), objectives)))
    assert document["front"] == [0, 2]
    assert document["simulated"] is True
    assert document["objectives"][0] == {"name": "latency", "unit": "ms", "goal": "lowest"}
    half, unknown = document["choices"][1], document["choices"][3]
    assert (half["on_front"], half["dominated_by"]) == (False, 0)
    assert (unknown["on_front"], unknown["lacks"], unknown["values"]["difference"]) == (None, ["difference"], None)
