"""A slicing plan on the screen: the sentence, the strip, slices, bars, on narrow and on wide terminals."""

from __future__ import annotations

import msgspec
import pytest

from hettop.events import FoundPlan, FoundSlice, Study
from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import INKS, Line, text_of, width_of
from hettop.tui.studies import answer
from hettop.tui.studies.strip import letters
from tests.session.planned import EMPTY_PLAN, HOSTILE_PLAN, NOT_RUN, ONE_DEVICE, PLAN, RUN, TORN

SIZES = [(76, 18), (116, 34), (196, 54), (20, 5), (1, 1)]


def drawn(found: FoundPlan, width: int, height: int) -> list[Line]:
    return answer(Study(t=1, name="plan", state="done", elapsed_ns=1, found=found), width, height)


def shown(found: FoundPlan, width: int = 76, height: int = 18) -> list[str]:
    return [text_of(each).rstrip() for each in drawn(found, width, height)]


def row(texts: list[str], start: str, occurrence: int = 0) -> str:
    return [text for text in texts if text.startswith(start)][occurrence]


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("found", [PLAN, NOT_RUN, ONE_DEVICE, EMPTY_PLAN, HOSTILE_PLAN, TORN])
def test_every_line_fits_and_no_text_reaches_the_terminal_raw(found: FoundPlan, width: int, height: int) -> None:
    lines = drawn(found, width, height)
    assert {width_of(each) for each in lines} <= {width}
    assert {ink for each in lines for _, ink in each} <= set(INKS)
    assert not any(character in text_of(each) for each in lines for character in "\x1b\x9b\u202e\u200b")


def test_the_gain_comes_first_then_the_notation_then_the_strip() -> None:
    texts = shown(PLAN)
    assert texts[0].startswith("The plan: 3 slices, on 2 devices; predicted gain +10% over B alone")
    assert "Measured gain +10% over B alone (+5.0% to +15%, 95%)." in texts
    place = texts.index("A_1, B_2, A_3")
    # Four cells a layer, 2, 3 and 5 ms: 4, 5 and 8 eighths, and a gap between columns.
    assert texts[place + 2 : place + 5] == ["▄▄▄ ▅▅▅ ███", "AAAABBBBAAAA", "1   2   3"]


def test_which_way_an_error_is_off_is_said() -> None:
    words = "error: below 0 too little was predicted, above 0 too much"
    assert words in " ".join(shown(PLAN, 196, 54))
    assert words not in " ".join(shown(NOT_RUN, 196, 54))


def test_costs_that_contradict_each_other_are_a_warning_above_all_else() -> None:
    lines = drawn(TORN, 196, 54)
    assert text_of(lines[0]).startswith("Costs contradict each other: the whole model on A took 1.40 ms")
    assert lines[0][0][1] == "warning"


def test_a_plan_of_one_device_is_said_plainly_before_all_else() -> None:
    assert shown(ONE_DEVICE)[0] == "The plan is one device, B: moving costs more than it gains."


def test_a_slice_tells_predicted_and_measured_and_how_far_off() -> None:
    texts = shown(PLAN, 196, 54)
    assert row(texts, "A  A")[:110].split() == ["A", "A", "1", "stem_conv", "2.50", "2.00", "+25%", "+10%"]
    assert row(texts, "B  B")[:110].split()[3:6] == ["middle", "3.20", "3.00"]
    assert not any("measured ms" in text for text in shown(NOT_RUN, 196, 54)), "nothing is shown of what did not run"


def test_the_plan_stands_beside_what_it_is_compared_with() -> None:
    texts = shown(PLAN)
    plan, cheaper, dearer = (row(texts, name) for name in ("this plan", "without communication", "A preferred"))
    assert "11.0" in plan
    assert cheaper.endswith("the same")
    assert dearer.endswith("-17%"), "11 / 13.2 - 1"
    assert row(texts, "N preferred").endswith("it cannot run")
    assert plan.count(glyphs.FULL) < dearer.count(glyphs.FULL)
    assert "10.0" in row(texts, "this plan", 1), "and as measured"
    assert row(texts, "B alone").endswith("-9.1%"), "10 / 11 - 1"


def test_only_the_cheapest_is_drawn_as_good() -> None:
    def ink(found: FoundPlan) -> str:
        (bar,) = [each for each in drawn(found, 76, 18) if text_of(each).startswith("this plan")]
        return next(ink for text, ink in bar if glyphs.FULL in text)

    assert ink(NOT_RUN) == "good"
    assert ink(msgspec.structs.replace(NOT_RUN, cost=20.0)) == "warning"


def test_the_line_of_communication_tells_how_well_it_fits() -> None:
    texts = shown(PLAN)
    on_a = next(text for text in texts if "0.500 ms per MB - 0.100 ms" in text)
    on_b = next(text for text in texts if "0.250 ms per MB + 0.125 ms" in text)
    assert on_a.split()[:2] == ["A", "A"]
    assert on_a.split()[-3:] == ["R²", "0.930", "2"]
    assert on_b.split()[-3:] == ["R²", "n/a", "1"]


def test_a_wide_screen_has_the_cuts_that_were_tried_too() -> None:
    assert any("MB across a cut" in text for text in shown(PLAN, 116, 34))
    assert not any("MB across a cut" in text for text in shown(PLAN))


def test_wrong_outputs_stand_above_all_figures() -> None:
    wrong = msgspec.structs.replace(RUN, outputs_equal=False, output_difference=0.5)
    texts = shown(msgspec.structs.replace(PLAN, run=wrong))
    place = next(i for i, text in enumerate(texts) if "NOT those of the whole model" in text)
    assert place < texts.index("A_1, B_2, A_3")


def test_more_layers_than_cells_share_them_and_a_slice_keeps_its_letter() -> None:
    """200 layers in 50 cells: layer 100 alone on B is in cell 24, from 0."""
    many = msgspec.structs.replace(
        NOT_RUN,
        slices=[FoundSlice(1, 99, "A", 1.0), FoundSlice(100, 100, "B", 1.0), FoundSlice(101, 200, "A", 1.0)],
        strip=[0] * 99 + [1] + [0] * 100,
        layer_cost=[1.0] * 200,
        layers=200,
    )
    texts = shown(many, 50)
    band = row(texts, "AAAA")
    assert band == "A" * 24 + "B" + "A" * 25
    assert texts[texts.index(band) + 1] == "1" + " " * 23 + "100", "101 would cover it"


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        (["CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"], ["C", "G", "N", "A"]),
        (["CPU_ONLY@1", "CPU_ONLY@2"], ["1", "2"]),
        (["CPU_ONLY@1", "CPU_ONLY@16"], ["A", "B"]),
        (["N^960", "G"], ["N", "G"]),
        (["\x1b", "漢"], ["A", "B"]),
        ([], []),
    ],
)
def test_letters_are_the_papers_where_they_can_be(devices: list[str], expected: list[str]) -> None:
    assert letters(devices) == expected


def test_all_of_it_can_be_told_in_ascii() -> None:
    text = "\n".join(to_ascii(each) for each in shown(PLAN, 116, 34))
    assert "?" not in text
