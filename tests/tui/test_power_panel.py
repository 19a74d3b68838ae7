"""The power and machine panels as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.session.machine_views import HostView, PowerView
from hettop.tui.charts.lines import text_of, width_of
from hettop.tui.panels.host import draw_host
from hettop.tui.panels.power import draw_power
from tests.tui.fakes import HOST, NO_POWER, POWER, rail


def shown(view: PowerView, width: int) -> list[str]:
    return [text_of(row).rstrip() for row in draw_power(view, width)]


def test_rails_their_sum_energy_and_clusters_stand_below_each_other() -> None:
    text = shown(POWER, 40)
    assert [line.split()[0] for line in text] == ["CPU", "GPU", "ANE", "sum", "17.8", "E", "P", "GPU"]
    assert text[0].startswith("CPU    1.31 ")
    assert text[4] == "17.8 mJ an inference, net 16.9"
    assert text[6].startswith("P       62% 3.30 GHz")


def test_wide_panels_have_mean_and_peak() -> None:
    heading, cpu = shown(POWER, 70)[:2]
    assert heading.split() == ["now", "mean", "peak"]
    assert cpu.split()[:4] == ["CPU", "1.31", "1.20", "2.40"]


def test_no_power_is_a_reason_and_what_mends_it_and_never_a_number() -> None:
    text = shown(NO_POWER, 120)
    assert text == [
        "n/a (powermetrics: macOS tells power to root only: /usr/bin/sudo -v (press p))",
        "press p",
    ]
    assert shown(replace(NO_POWER, state=None), 40) == ["looking for a source …"]


def test_rails_of_a_source_that_has_ended_say_so() -> None:
    gone = replace(POWER, state="expired", reason="power access expired, press p", fix="sudo -v")
    assert "n/a (power access expired, press p)" in "\n".join(shown(gone, 60))


def test_nothing_measured_is_a_gap_and_zero_watts_are_a_bar() -> None:
    half = replace(POWER, rails=(replace(rail("ane", 0.0, 0.0, 0.0), slots=(None, 0.0, 9.8, None)),), estimate=None)
    drawn = shown(half, 5 + 6 + 1 + 8)[0]
    assert drawn == "ANE    0.00   ▁▁██"


@pytest.mark.parametrize("width", [1, 4, 12, 20, 33, 80])
def test_lines_are_never_wider_than_the_panel(width: int) -> None:
    assert all(width_of(row) <= width for row in [*draw_power(POWER, width), *draw_host(HOST, width)])


def test_the_machine_in_three_lines() -> None:
    text = [text_of(row).rstrip() for row in draw_host(HOST, 60)]
    assert text[0] == "cores ▁▃▇▁▅▂▁▃ 32%"
    assert text[1] == "memory 61%  swap 1.2 GB"
    assert text[2] == "battery 80% on battery  frames missed 1.0%"


def test_a_machine_that_tells_little_is_n_a() -> None:
    view = HostView((), None, None, None, None, None, None)
    assert [text_of(row).rstrip() for row in draw_host(view, 60)] == ["cores n/a", "memory n/a  swap n/a"]
    assert text_of(draw_host(None, 60)[0]).rstrip() == "looking …"
