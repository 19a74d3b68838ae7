"""The machine panel as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.machine import HostView
from hettop.tui.panels.host import draw_host, large_host
from tests.tui.fakes import HOST

UNKNOWN = HostView((), None, None, None, None, None, None)


def shown(view: HostView | None, width: int = 60) -> list[str]:
    return [text_of(row).rstrip() for row in draw_host(view, width)]


def test_the_machine_in_a_few_lines() -> None:
    # (10 + 35 + 90 + 5 + 60 + 20 + 0 + 40) / 8 = 32.5 %; 1,234 MB; 6 of 600 frames. Reading i of the history has
    # 5 (i mod 8) + 8 k percent on core k: means of 28 + 5 (i mod 8) percent; 16 steps of 5 s are 80 s.
    assert shown(HOST) == [
        "cores ▁▃▇▁▅▂▁▃ 32%",
        "mean  ▂▃▃▃▄▄▅▅▂▃▃▃▄▄▅▅▂ 80 s",
        "memory 61%  swap 1.2 GB  pressure 0%  clock 2.79 GHz  47 °C",
        "hettop 6.2% 82 MB  engine 24% 310 MB",
        "battery 80% on battery  frames missed 1.0%",
    ]


def test_cores_are_grouped_by_kind_where_it_is_known() -> None:
    kinds = ("E", "E", "E", "E", "P", "P", "P", "P")
    # E: (10 + 35 + 90 + 5) / 4 = 35 %, P: (60 + 20 + 0 + 40) / 4 = 30 %
    assert shown(replace(HOST, kinds=kinds))[0] == "E ▁▃▇▁ 35%  P ▅▂▁▃ 30%"
    assert shown(replace(HOST, kinds=kinds[:3]))[0].startswith("cores "), "of other cores"


def test_of_many_cores_the_busiest_of_each_few_is_drawn_and_the_mean_stays() -> None:
    many = replace(HOST, cores=(0.0, 1.0) * 64)
    assert shown(many, 36)[0].startswith("cores ████")
    assert shown(many, 36)[0].endswith(" 50%")


def test_the_instruments_weight_and_the_engines_are_told_apart_and_absent_where_unknown() -> None:
    assert shown(HOST, 30)[4:6] == ["hettop 6.2% 82 MB", "engine 24% 310 MB"]
    alone = replace(HOST, engine_cpu=None, engine_memory_mb=None)
    assert "hettop 6.2% 82 MB" in shown(alone)
    old = replace(HOST, own_cpu=None, own_memory_mb=None, engine_cpu=None, engine_memory_mb=None)
    assert not any("hettop" in text for text in shown(old))


def test_pressure_above_a_tenth_is_in_the_ink_of_what_disturbs() -> None:
    assert ("12%", "high") in draw_host(replace(HOST, pressure=0.12), 60)[2]
    assert ("10%", "text") in draw_host(replace(HOST, pressure=0.10), 60)[2]


def test_few_readings_are_no_history() -> None:
    assert not any(text.startswith("load") for text in shown(replace(HOST, history=HOST.history[:2])))
    assert shown(replace(HOST, history=HOST.history[:3]))[1] == "mean  ▂▃▃ 10 s"


def large(view: HostView, width: int = 60, height: int = 40) -> list[str]:
    return [text_of(row).rstrip() for row in large_host(view, width, height, braille=True)]


def test_the_zoomed_panel_has_a_curve_for_each_core_and_for_what_hettop_took() -> None:
    text = large(HOST)
    heads = [line.split()[:2] for line in text if line.endswith(tuple("⠀⣿")) or "┤" in line or "│" in line]
    assert ["core", "0"] in heads
    assert ["core", "7"] in heads
    assert any(line.startswith("hettop   6.2%") for line in text)
    assert any(line.startswith("engine    24%") for line in text)
    assert any(line.startswith("0–100%        -80 s ─") and line.endswith("─ now") for line in text)


def test_the_zoomed_panel_gives_the_reason_for_what_is_not_known() -> None:
    text = "\n".join(large(UNKNOWN, 90))
    assert "cores n/a: psutil reports none" in text
    assert "temperature   n/a: psutil finds no temperature sensor" in text
    assert "clock         n/a: psutil reads no current frequency" in text
    assert "hettop        n/a: not in this recording" in text
    known = "\n".join(large(HOST))
    assert "temperature   47.0 °C" in known
    assert "clock         2.79 GHz, mean of the cores" in known
    assert "missed        1.0% of 600 due at 60 Hz" in known


def test_cores_that_do_not_fit_are_counted() -> None:
    many = replace(HOST, cores=(0.5,) * 64, history=())
    assert any(line == "57 more cores" for line in large(many, 60, 26)), large(many, 60, 26)


@pytest.mark.parametrize("size", [(0, 1), (10, 5), (40, 10), (200, 60)])
def test_the_zoomed_panel_is_exactly_as_large_as_it_is_to_be(size: tuple[int, int]) -> None:
    for view in (HOST, UNKNOWN):
        rows = large_host(view, *size, braille=False)
        assert len(rows) == size[1]
        assert all(width_of(row) <= size[0] for row in rows)


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
    assert shown(slower, 40)[2:4] == ["clock 12% slower than at the start", "memory 61%  swap 1.2 GB  pressure 0%"]
    assert draw_host(slower, 60)[2][0] == ("clock 12% slower than at the start", "warning")


def test_what_disturbs_measurements_is_in_its_colour() -> None:
    cores, *_, rest = draw_host(HOST, 60)
    assert [ink for text, ink in cores if text == "▇"] == ["high"]  # the one core beyond 85 %
    assert ("on battery", "warning") in rest
    assert ("1.0%", "high") in rest
    calm = draw_host(replace(HOST, on_battery=False, canary_missed=0), 60)[-1]
    assert {ink for _, ink in calm} == {"muted", "text"}


@pytest.mark.parametrize("width", [0, 1, 4, 12, 20, 33, 80])
def test_lines_are_never_wider_than_the_panel(width: int) -> None:
    many = replace(HOST, cores=(1.0,) * 128)
    assert all(width_of(row) <= width for view in (many, UNKNOWN, None) for row in draw_host(view, width))
