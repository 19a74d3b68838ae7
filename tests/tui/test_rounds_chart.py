"""Rates by round: bars from 0, levels across them, and numbers of rounds below."""

from __future__ import annotations

import pytest

from hettop.report.terminal.lines import text_of, width_of
from hettop.tui.studies.coexec import Rates, draw_rounds


def shown(rounds: list[Rates], last: int, width: int = 27, height: int = 12) -> list[str]:
    return [text_of(each).rstrip() for each in draw_rounds(rounds, last, width, height)]


def test_a_bar_is_as_high_as_its_rate() -> None:
    """Of ten lines for 0 to 100: 50 fills five, 98 all but an eighth or two of the tenth."""
    texts = shown([Rates(50.0, None, None), Rates(98.0, None, None)], 2)
    first = [text[7:12] for text in texts[:10]]
    second = [text[13:18] for text in texts[:10]]
    assert first == ["     "] * 5 + ["█████"] * 5
    assert second[1:] == ["█████"] * 9
    assert set(second[0]) == {"▆"}
    assert texts[10].endswith("└" + "─" * 12)


def test_levels_stand_where_their_rates_are_even_where_a_bar_is_higher() -> None:
    """25 in the line of 20 to 30, the eighth from above; 75 in that of 70 to 80, the third."""
    texts = shown([Rates(98.0, 25.0, 75.0)], 1)
    assert texts[7][7:] == "━━━━━━"
    assert texts[2][7:] == "┄┄┄┄┄┄"


def test_where_both_levels_share_a_line_the_best_alone_is_drawn() -> None:
    texts = shown([Rates(98.0, 71.0, 79.0)], 1)
    assert texts[2][7:] == "━━━━━━"
    assert "┄" not in "".join(texts)


def test_a_round_without_a_rate_is_a_dot() -> None:
    texts = shown([Rates(None, None, None), Rates(98.0, None, None)], 2)
    assert texts[9][7:].split() == ["·····", "█████"]


def test_as_many_rounds_as_find_room_are_shown_the_newest_last() -> None:
    rounds = [Rates(float(i), None, None) for i in range(1, 41)]
    texts = shown(rounds, 140)
    assert len(texts[9]) == 27, "20 columns, a round each"
    assert texts[-1].split() == ["round", "121", "140"]
    assert "█" * 20 in texts[9]


@pytest.mark.parametrize(("width", "height"), [(7, 12), (27, 2), (0, 0)])
def test_without_room_there_is_nothing(width: int, height: int) -> None:
    assert draw_rounds([Rates(1.0, 1.0, 1.0)], 1, width, height) == []


def test_without_rates_there_is_nothing() -> None:
    assert draw_rounds([], 0, 27, 12) == []
    assert draw_rounds([Rates(None, None, None)], 1, 27, 12) == []


@pytest.mark.parametrize(("rate", "label"), [(2_400.0, "2 500"), (24_000.0, "25.0k"), (2.4e6, "2.5M"), (0.4, "0.5")])
def test_a_label_fits_beside_the_axis_however_high_the_rate_is(rate: float, label: str) -> None:
    """Four lines, and only the top one has a label."""
    first = shown([Rates(rate, None, None)], 1, height=6)[0]
    assert first[:7].replace("\u2009", " ") == f"{label:>5} ┤"


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 99, 120])
def test_every_line_has_the_width_that_was_asked_for(n: int) -> None:
    lines = draw_rounds([Rates(5.0, 4.0, 6.0)] * n, 1_000, 70, 9)
    assert {width_of(each) for each in lines} == {70}
    assert len(lines) == 9
