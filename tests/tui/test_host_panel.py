"""The machine panel as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.machine import HostView
from hettop.tui.panels.host import draw_host
from tests.tui.fakes import HOST

UNKNOWN = HostView((), None, None, None, None, None, None)


def shown(view: HostView | None, width: int = 60) -> list[str]:
    return [text_of(row).rstrip() for row in draw_host(view, width)]


def test_the_machine_in_three_lines() -> None:
    # (10 + 35 + 90 + 5 + 60 + 20 + 0 + 40) / 8 = 32.5 %; 1,234 MB; 6 of 600 frames
    assert shown(HOST) == [
        "cores ▁▃▇▁▅▂▁▃ 32%",
        "memory 61%  swap 1.2 GB",
        "battery 80% on battery  frames missed 1.0%",
    ]


def test_a_machine_that_reports_little_is_n_a() -> None:
    assert shown(UNKNOWN) == ["cores n/a", "memory n/a  swap n/a"]


def test_before_anything_was_reported_it_is_looking() -> None:
    assert shown(None) == ["no reading yet"]


def test_zero_is_said_where_it_was_measured() -> None:
    idle = HostView((0.0, 0.0), 0.0, 0.0, 0.0, on_battery=False, canary_missed=0, canary_due=60)
    assert shown(idle) == ["cores ▁▁ 0%", "memory 0%  swap 0 B", "battery 0% on AC  frames missed 0%"]


def test_a_canary_without_a_frame_due_yet_has_missed_none_of_nothing() -> None:
    assert shown(replace(UNKNOWN, canary_missed=0, canary_due=0))[2:] == []


def test_a_slower_clock_is_a_warning_before_the_memory() -> None:
    slower = replace(HOST, clock_loss=0.12)
    assert shown(slower)[1:3] == ["clock 12% slower than at the start", "memory 61%  swap 1.2 GB"]
    assert draw_host(slower, 60)[1][0] == ("clock 12% slower than at the start", "warning")


def test_what_disturbs_measurements_is_in_its_colour() -> None:
    cores, _, rest = draw_host(HOST, 60)
    assert [ink for text, ink in cores if text == "▇"] == ["high"]  # the one core beyond 85 %
    assert ("on battery", "warning") in rest
    assert ("1.0%", "high") in rest
    calm = draw_host(replace(HOST, on_battery=False, canary_missed=0), 60)[2]
    assert {ink for _, ink in calm} == {"muted", "text"}


@pytest.mark.parametrize("width", [0, 1, 4, 12, 20, 33, 80])
def test_lines_are_never_wider_than_the_panel(width: int) -> None:
    many = replace(HOST, cores=(1.0,) * 128)
    assert all(width_of(row) <= width for view in (many, UNKNOWN, None) for row in draw_host(view, width))
