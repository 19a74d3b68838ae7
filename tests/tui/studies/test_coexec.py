"""A co-execution on the screen: the verdict, rates by round as bars and levels, each unit's part."""

from __future__ import annotations

import pytest

from hettop.events import FoundCoexec, Study
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import INKS, Line, text_of, width_of
from hettop.tui.studies import answer
from tests.session.coexecuted import BEGUN, DIED, DISORDERED, EVERY, FIRST, LONG, UNEVEN, UNTRUE, WELL


def drawn(found: FoundCoexec, width: int, height: int) -> list[Line]:
    return answer(Study(t=1, name="coexec", state="running", elapsed_ns=1, found=found), width, height)


def shown(found: FoundCoexec, width: int = 76, height: int = 18) -> list[str]:
    return [text_of(each).rstrip() for each in drawn(found, width, height)]


@pytest.mark.parametrize(("width", "height"), [(76, 18), (116, 34), (196, 54), (20, 5), (1, 1)])
@pytest.mark.parametrize("found", EVERY)
def test_every_line_fits_and_no_text_reaches_the_terminal_raw(found: FoundCoexec, width: int, height: int) -> None:
    lines = drawn(found, width, height)
    assert {width_of(each) for each in lines} <= {width}
    assert {ink for each in lines for _, ink in each} <= set(INKS)
    assert not any(character in text_of(each) for each in lines for character in "\x1b\x9b\u202e\u200b")
    assert all(to_ascii(text_of(each)).isascii() for each in lines)


def test_the_verdict_is_first_and_everything_is_in_sight() -> None:
    texts = shown(WELL)
    assert texts[0] == "Together 120/s: +20% over CPU_AND_NE alone, 80% of the sum of each alone."
    assert len(texts) <= 18
    assert any(text.startswith("energy n/a: no power was measured") for text in texts)
    assert texts[-1] == "· the units are in each other's way"


@pytest.mark.parametrize("found", [FIRST, UNEVEN, UNTRUE])
def test_what_does_not_stand_has_not_the_ink_of_a_gain(found: FoundCoexec) -> None:
    assert drawn(WELL, 116, 34)[0][0][1] == "good"
    assert drawn(found, 116, 34)[0][0][1] == "strong"


def test_each_round_is_a_bar_with_the_levels_of_the_best_alone_and_of_the_ideal() -> None:
    texts = shown(UNEVEN)
    plot = [text[7:] for text in texts if text[6:7] in ("│", "┤")]
    # Rounds of 110, 90 and 160 a second, each 6 cells wide, on an axis to 200; 100 is the best alone, 150 the ideal.
    assert len(plot) == 4
    assert plot[0].split() == ["▂▂▂▂▂"], "160 alone is above 150"
    assert plot[1] == "┄" * 18
    assert plot[2] == "━" * 18
    assert plot[3] == "█████ █████ █████"
    (numbers,) = [text for text in texts if text.startswith("round")]
    assert (numbers.index("1"), numbers.index("3")) == (7, 23), "below the first cell of the first bar, and the last"


def test_a_round_below_the_best_alone_has_another_colour() -> None:
    """The second of three: 90 a second, where the best alone does 100."""
    lines = [each for each in drawn(UNEVEN, 116, 34) if text_of(each)[6:7] in ("│", "┤")]
    lowest = [(text, ink) for text, ink in lines[-1] if text.startswith("█")]
    assert lowest == [("█████", "good"), ("█████", "low"), ("█████", "good")]


def test_a_long_course_shows_its_newest_rounds() -> None:
    texts = shown(LONG)
    (numbers,) = [text for text in texts if text.startswith("round")]
    assert numbers.split() == ["round", "932", "1000"], "69 columns, a round each"


def test_units_are_told_with_their_share_and_the_best_is_marked() -> None:
    texts = shown(WELL, 116, 34)
    cpu, ne = (text for text in texts if "%" in text and "/s" not in text)
    assert cpu.split()[:6] == ["CPU_ONLY", "50.0", "30.0", "60%", "25%", cpu.split()[5]]
    assert ne.split()[:6] == ["↑", "CPU_AND_NE", "100", "90.0", "90%", "75%"]
    assert ne.count("█") == pytest.approx(3 * cpu.count("█"), abs=1)


def test_a_death_is_told_with_its_reason_in_the_ink_of_errors() -> None:
    lines = drawn(DIED, 116, 34)
    texts = [text_of(each).rstrip() for each in lines]
    assert texts[0].startswith("CPU_AND_NE died: the other goes on, with 49.0/s in the last round.")
    assert lines[0][0][1] == "error"
    assert any(text.startswith("✗ CPU_AND_NE: worker process killed by SIGKILL; 2 numbers") for text in texts)
    (row,) = [text for text in texts if text.startswith("✗  CPU_AND_NE")]
    assert row.split()[-1] == "NE"
    assert " 2 " in row[-12:], "its numbers that were done again"


def test_a_broken_order_is_an_error() -> None:
    (told,) = [each for each in drawn(DISORDERED, 116, 34) if "NOT IN ORDER" in text_of(each)]
    assert told[0][1] == "error"


def test_before_the_first_round_is_over_there_is_no_plot() -> None:
    texts = shown(BEGUN)
    assert texts[0] == "Together not yet measured: CPU_ONLY alone 50.0/s."
    assert not any("┤" in text for text in texts)
