"""The power panel as text."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

import pytest

from hettop.events import Accelerator
from hettop.report.terminal.lines import text_of, width_of
from hettop.session.views.machine import ClusterRow, PowerView
from hettop.tui.panels.header import header_line
from hettop.tui.panels.power import Drawing, PowerPanel, draw_power, large_power
from tests.tui.fakes import HOSTILE, LIVE, NO_POWER, POWER, POWERED, FakeFeed, frame_state, rail, row
from tests.tui.screens import running, screen_text, settled


def shown(view: PowerView, width: int) -> list[str]:
    return [text_of(row).rstrip() for row in draw_power(view, Drawing(width))]


def test_rails_their_sum_energy_and_clusters_stand_below_each_other() -> None:
    text = shown(POWER, 40)
    assert [line.split()[0] for line in text] == ["CPU", "GPU", "ANE", "sum", "17.8", "E", "P", "GPU"]
    assert text[0].startswith("CPU    1.31 ")
    assert text[4] == "17.8 mJ per inference, net 16.9"
    assert text[6].startswith("P       62% 3.30 GHz")


def test_wide_panels_have_mean_and_peak() -> None:
    heading, cpu = shown(POWER, 70)[:2]
    assert heading.split() == ["now", "mean", "peak"]
    assert cpu.split()[:4] == ["CPU", "1.31", "1.20", "2.40"]


def test_no_power_is_a_reason_and_what_repairs_it_and_never_a_number() -> None:
    text = shown(NO_POWER, 120)
    assert text == [
        "n/a: powermetrics: macOS tells power to root only, press p",
        "sudo -v, in this very terminal",
    ]
    assert shown(replace(NO_POWER, state=None), 40) == ["looking for a power source …"]


def test_rails_of_a_source_that_has_ended_say_so() -> None:
    gone = replace(POWER, state="expired", reason="power access expired", fix="sudo -v")
    assert "n/a: power access expired" in "\n".join(shown(gone, 60))
    could = replace(gone, needs_access=True)
    assert "n/a: power access expired, press p" in "\n".join(shown(could, 60))


def test_nothing_measured_is_a_gap_and_zero_watts_are_a_bar() -> None:
    half = replace(POWER, rails=(replace(rail("ane", 0.0, 0.0, 0.0), slots=(None, 0.0, 9.8, None)),), estimate=None)
    drawn = shown(half, 5 + 6 + 1 + 8)[0]
    assert drawn == "ANE    0.00   ▁▁██"


def test_all_rails_are_drawn_on_the_one_scale_that_is_printed() -> None:
    # The highest value is 5.5 W, so that the scale ends at 6 W: 6 W is a full bar, 3 W half of one, 0.75 W an eighth.
    slots = (0.75, 3.0, 5.5, 0.75, 3.0, 5.5, 3.0, 3.0)
    view = replace(
        POWER,
        rails=(
            replace(rail("cpu", 1.0, 1.0, 5.5), slots=slots),
            replace(rail("ane", 0.7, 0.7, 0.8), slots=(0.75,) * 8),
        ),
        top_w=5.5,
    )
    cpu, ane = shown(view, 5 + 6 + 1 + 8)[:2]
    assert cpu == "CPU    1.00 ▁▄▇▁▄▇▄▄"
    assert ane == "ANE    0.70 ▁▁▁▁▁▁▁▁"
    foot = text_of(PowerPanel().foot(frame_state(replace(POWERED, power=view))))
    assert foot == " 0–6 W · powermetrics every 0.5 s"


def test_a_rail_without_a_fresh_sample_is_n_a_and_keeps_its_mean() -> None:
    stale = replace(POWER, rails=(rail("cpu", None, 1.2, 2.4),), estimate=None)
    assert shown(stale, 40)[0].startswith("CPU     n/a ")
    assert shown(stale, 70)[1].split()[:4] == ["CPU", "n/a", "1.20", "2.40"]


def test_net_energy_is_said_with_a_baseline_alone_and_else_how_to_get_it() -> None:
    without = replace(POWER, net_mj=None, baseline_w=None)
    assert shown(POWER, 70)[5] == "17.8 mJ per inference, net 16.9"
    assert "net 16.9 (idle baseline 0.20 W)" in shown(POWER, 118)[5]
    assert shown(without, 70)[5] == "17.8 mJ per inference (b: idle baseline, for net)"
    assert shown(without, 40)[4] == "17.8 mJ per inference"
    assert not any("mJ" in text for text in shown(replace(without, energy_mj=None), 70))


def test_doubt_and_thermal_state_are_in_the_title() -> None:
    doubtful = replace(POWER, flags=("suspect-zero", "partial"), thermal="Heavy")
    title = PowerPanel().title(frame_state(replace(POWERED, power=doubtful)))
    assert text_of(title) == "power W · Heavy · suspect-zero, partial"
    assert (" · suspect-zero, partial", "warning") in title
    assert text_of(PowerPanel().title(frame_state(LIVE))) == "power W"


def test_without_power_there_is_no_scale_to_read() -> None:
    assert PowerPanel().foot(frame_state(LIVE)) == ()


def test_a_source_that_runs_and_has_reported_nothing_usable_says_that() -> None:
    note = replace(NO_POWER, state="running", reason="a sample every 500 ms, not 100 ms as asked for", fix="")
    assert shown(note, 80) == ["n/a: no usable sample yet"]


def test_rails_whose_source_said_nothing_of_itself_are_not_being_looked_for() -> None:
    assert "looking" not in "\n".join(shown(replace(POWER, state=None), 60))


def test_a_cluster_that_reports_no_clock_is_n_a() -> None:
    unknown = replace(POWER, clusters=(ClusterRow("P-Cluster", None, None),))
    assert shown(unknown, 40)[-1].split() == ["P", "n/a", "n/a"]


def test_hostile_words_stay_words() -> None:
    hostile = replace(NO_POWER, state=HOSTILE, reason=HOSTILE, fix=HOSTILE)
    text = "".join(shown(hostile, 80) + shown(replace(POWER, rails=(rail(HOSTILE, 1.0, 1.0, 1.0),)), 80))
    assert "[/bold][red]x" in text
    assert not {c for c in text if unicodedata.category(c) in ("Cc", "Cf")}


@pytest.mark.parametrize("width", [0, 1, 4, 12, 20, 33, 80])
def test_lines_are_never_wider_than_the_panel(width: int) -> None:
    for view in (POWER, NO_POWER, replace(POWER, state="failed", reason="it stood still")):
        assert all(width_of(row) <= width for row in draw_power(view, Drawing(width)))


async def test_a_zoomed_panel_asks_for_as_many_slots_as_it_draws() -> None:
    feed = FakeFeed(POWERED)
    async with running(feed) as (_, pilot):
        await pilot.press("5", "z")
        await settled(pilot)
        # Two dots a cell of 120 less the frame, the numbers and the axis with its labels.
        assert feed.requests[-1].power_slots == 2 * (120 - 4 - 34 - 6)


def test_two_lines_per_rail_are_a_curve_on_an_axis_in_watts() -> None:
    # 12 W is the highest value: the axis ends there. Values stand in the middle of their slots, two dots wide each.
    flat = replace(rail("cpu", 12.0, 6.0, 12.0), slots=(12.0,) * 8)
    low = replace(rail("ane", 0.0, 0.0, 0.0), slots=(0.0,) * 8)
    view = replace(POWER, rails=(flat, low), estimate=None, top_w=12.0, clusters=(), energy_mj=None)
    text = [text_of(row) for row in draw_power(view, Drawing(5 + 6 + 6 + 8, rail_rows=2))]
    assert text == [
        "CPU    12.0   12┤⠈⠉⠉⠉⠉⠉⠉⠉",
        "               0┤        ",
        "ANE    0.00   12┤        ",
        "               0┤⢀⣀⣀⣀⣀⣀⣀⣀",
    ]
    blocks = [text_of(row) for row in draw_power(view, Drawing(25, rail_rows=2, braille=False))]
    assert [text[17:] for text in blocks] == ["████████", "████████", "        ", "▁▁▁▁▁▁▁▁"]


@pytest.mark.parametrize(("lines", "each"), [(37, 1), (38, 2), (56, 3)])
async def test_taller_screens_have_taller_curves(lines: int, each: int) -> None:
    async with running(FakeFeed(POWERED), size=(120, lines)) as (app, _):
        shown = [line[78:] for line in screen_text(app).splitlines()]
    cpu, gpu = (next(y for y, text in enumerate(shown) if f"│ {name} " in text) for name in ("CPU", "GPU"))
    assert gpu - cpu == each


def test_curves_of_a_layout_with_a_tall_panel_use_its_height() -> None:
    panel = PowerPanel()
    panel.frame_state = frame_state(POWERED)
    lines = [text_of(row) for row in panel.lines(60, 40)]
    cpu, gpu, ane = (next(y for y, text in enumerate(lines) if f"│ {name} " in text) for name in ("CPU", "GPU", "ANE"))
    # 38 lines inside, of which a screen that is on none has one a rail: heading, three rails, sum, energy, clusters.
    spare = 38 - len(draw_power(POWER, Drawing(56), POWERED.units.rows))
    assert gpu - cpu == ane - gpu == 1 + spare // 3


def test_the_sum_stands_below_the_curves_and_begins_where_they_do() -> None:
    text = [text_of(row) for row in draw_power(POWER, Drawing(40, rail_rows=2))]
    assert text[6].startswith("sum    7.57 ")
    assert len(text[6]) == 40
    assert text[6][:17].endswith("     "), "as wide as the axis above it"


def test_energy_per_inference_of_every_unit_stands_in_one_place() -> None:
    rows = (
        row("CPU_AND_NE", 2.2, energy_mj=5.5, net_mj=4.2, active=True),
        row("CPU_AND_GPU", 3.1, energy_mj=17.8),
        row("CPU_ONLY", 5.0, energy_lacking="power samples cover 12% of it"),
        row("ALL", state="loading"),
    )
    text = [text_of(line).rstrip() for line in draw_power(POWER, Drawing(37), rows)]
    assert text[4:8] == [
        "mJ/inf (net) NE 5.50 (4.20)  GPU 17.8",
        "             CPU n/a",
        "n/a: power samples cover 12% of it",
        "E       17% 1.21 GHz " + "█" * 3,
    ]
    gross = [text_of(line).rstrip() for line in draw_power(POWER, Drawing(60), rows[1:3])]
    assert "mJ/inf GPU 17.8  CPU n/a" in gross
    assert not any("mJ/inf" in text for text in shown(NO_POWER, 60)), "nothing without power"


def zoomed(view: PowerView, width: int = 120, height: int = 36) -> list[str]:
    rows = (row("CPU_AND_NE", 2.2, energy_mj=5.0, net_mj=4.0, active=True), row("CPU_ONLY", 5.0, energy_lacking="why"))
    return [text_of(line).rstrip() for line in large_power(view, rows, (width, height), braille=True)]


def test_the_zoomed_panel_has_totals_an_axis_for_each_curve_and_energy_by_unit() -> None:
    whole = replace(POWER, estimate=replace(rail("sum", 7.57, 7.3, 9.8), energy_j=604.0, covered_ns=82_000_000_000))
    text = zoomed(whole)
    assert text[0].split()[:4] == ["now", "mean", "peak", "J"]
    assert text[1].split()[:6] == ["CPU", "1.31", "1.20", "2.40", "n/a", "10┤"]
    heads = [line.split()[0] for line in text if "┤" in line and not line.startswith(" ")]
    assert heads == ["CPU", "GPU", "ANE", "sum", "E", "P", "GPU"]
    assert sum("100%┤" in line for line in text) == 3, "busy shares have an axis of their own"
    assert any(line.startswith("604 J in 82 s of power samples since the start; idle baseline 0.20 W") for line in text)
    below = [line.split() for line in text[-6:] if line]
    assert ["mJ/inf", "net", "inf/J"] in below
    assert ["CPU_AND_NE", "5.00", "4.00", "200"] in below  # 1000 / 5
    assert ["CPU_ONLY", "n/a", "n/a", "n/a", "why"] in below
    assert any(line.strip().startswith("-30 s ─") and line.endswith("─ now") for line in text)


@pytest.mark.parametrize("size", [(0, 3), (24, 6), (76, 20), (196, 56)])
def test_the_zoomed_panel_is_exactly_as_large_as_it_is_to_be(size: tuple[int, int]) -> None:
    for view in (POWER, replace(POWER, capture=True), replace(POWER, state="failed", reason="it stood still")):
        rows = large_power(view, (), size, braille=False)
        assert len(rows) == size[1]
        assert all(width_of(row) <= size[0] for row in rows)


async def test_the_real_machine_is_distinguished_from_the_simulated_one() -> None:
    async with running(FakeFeed(POWERED)) as (app, _):
        assert "machine · real" in screen_text(app)
    real = replace(POWERED, header=replace(POWERED.header, simulated=False))
    async with running(FakeFeed(real)) as (app, _):
        assert "the real one" not in screen_text(app)


def test_a_capture_has_a_badge_in_panel_and_header_and_says_what_it_is() -> None:
    captured = replace(POWERED, power=replace(POWER, capture=True, energy_mj=None, net_mj=None))
    assert (" CAPTURE ", "simulated") in PowerPanel().title(frame_state(captured))
    assert (" POWER: CAPTURE ", "simulated") in header_line(frame_state(captured), 40)
    assert shown(captured.power, 50)[0] == "from a capture: no energy per inference"
    assert " CAPTURE " not in text_of(PowerPanel().title(frame_state(POWERED)))
    assert "CAPTURE" not in text_of(header_line(frame_state(POWERED), 160))


def test_gpus_and_npus_stand_below_with_what_they_did_or_why_that_is_unknown() -> None:
    npu = Accelerator(name="NPU", driver="intel_vpu", busy=0.25, engine_busy=0.2, mhz=1400.0)
    card = Accelerator(name="NVIDIA0", driver="nvidia", why="suspended: not read, because reading would wake it")
    view = replace(POWER, accelerators=(npu, card), made_of=("package", "NVIDIA0"))
    lines = shown(view, 80)
    assert lines[-2].split() == ["NPU", "25%", "1.40", "GHz", "engines", "20%"]
    assert lines[-1].startswith("NV0     n/a      n/a  suspended: not read")
    assert any("sum: PKG+NV0 (estimate)" in text for text in shown(view, 120))
    alone = replace(
        view, rails=(), estimate=None, energy_mj=None, state="running", reason="utilization only", fix="sudo chmod"
    )
    assert [text.strip() for text in shown(alone, 80)[:2]] == ["n/a: utilization only", "sudo chmod"]
