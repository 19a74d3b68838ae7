"""Granularities on the screen: what is best, and bars of latency and speed-up under each load."""

from __future__ import annotations

import pytest

from hettop.events import FoundGranularities, Study
from hettop.report.terminal import glyphs
from hettop.report.terminal.glyphs import to_ascii
from hettop.report.terminal.lines import INKS, Line, text_of, width_of
from hettop.tui.studies import answer
from tests.session.planned import EMPTY_WAYS, HOSTILE_WAYS, ONE_WAY, WAYS

BOTH = f"{glyphs.RECORD}{glyphs.UP}"


def drawn(found: FoundGranularities, width: int, height: int) -> list[Line]:
    return answer(Study(t=1, name="granularities", state="done", elapsed_ns=1, found=found), width, height)


def shown(found: FoundGranularities, width: int = 76, height: int = 18) -> list[str]:
    return [text_of(each).rstrip() for each in drawn(found, width, height)]


@pytest.mark.parametrize(("width", "height"), [(76, 18), (116, 34), (196, 54), (20, 5), (1, 1)])
@pytest.mark.parametrize("found", [WAYS, EMPTY_WAYS, ONE_WAY, HOSTILE_WAYS])
def test_every_line_fits_and_no_text_reaches_the_terminal_raw(
    found: FoundGranularities, width: int, height: int
) -> None:
    lines = drawn(found, width, height)
    assert {width_of(each) for each in lines} <= {width}
    assert {ink for each in lines for _, ink in each} <= set(INKS)
    assert not any(character in text_of(each) for each in lines for character in "\x1b\x9b\u202e\u200b")


def test_what_is_best_comes_first_then_a_table_for_each_load() -> None:
    texts = shown(WAYS)
    assert texts[0].startswith("Without load: for latency one thread alone (10.0 ms), for rate task (160")
    places = [texts.index(next(t for t in texts if t.startswith(f"load {load}"))) for load in ("none", "cpu:1")]
    assert [text.split()[:3] for text in texts[places[0] + 2 : places[0] + 5]] == [
        [glyphs.RECORD, "single", "10.0"],
        ["intra-operator", "12.5", texts[places[0] + 3].split()[2]],
        [glyphs.UP, "task", "15.0"],
    ]
    assert texts[places[1] + 3].startswith(BOTH), "best for both"


def test_bars_of_all_loads_have_one_scale_and_a_mark_where_one_thread_ends() -> None:
    """At 76 cells a bar has 15: the slowest, 15 ms, takes all of them, 9 ms take 9; 0.8 of 1.6 takes 7.5."""
    texts = shown(WAYS)
    task, both = (next(text for text in texts if text.startswith(mark)) for mark in (glyphs.UP, BOTH))
    assert task.split()[3] == glyphs.FULL * 15
    assert both.split()[3] == glyphs.FULL * 9
    slower = next(text for text in texts if "0.800x" in text)
    assert slower.endswith(f"{glyphs.FULL * 7}▌ {glyphs.GUIDE}")


def test_a_load_that_failed_says_why_and_an_end_before_its_time_is_told() -> None:
    texts = shown(WAYS)
    assert f"{glyphs.FAILED} not measured: 1 load worker ended unasked" in texts
    assert any(text.startswith("Ended before its time") for text in shown(ONE_WAY))
    assert not any(text.startswith("Ended before its time") for text in texts)


def test_wide_screens_have_the_range_by_round_and_what_runs() -> None:
    wide = "\n".join(shown(WAYS, 196, 54))
    assert "1.50–1.75" in wide
    assert "2 inputs side by side, a thread each" in wide
    assert "1.50–1.75" not in "\n".join(shown(WAYS))


def test_all_of_it_can_be_told_in_ascii() -> None:
    assert "?" not in "\n".join(to_ascii(each) for each in shown(WAYS, 196, 54))
