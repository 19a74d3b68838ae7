"""The table of power samples for people."""

from __future__ import annotations

import pytest

from hettop.sources.power.file import notes_of
from hettop.sources.power.page import page
from hettop.sources.power.sample import ClusterFigures, PowerSample, make_sample
from tests.sources.power.captures import CHIPS, Truth, plist, stream, truth_of
from tests.sources.power.reading import read_plist

TWO = [make_sample("x", 1_000_000_000, {"cpu": 1000.0}), make_sample("x", 3_000_000_000, {"cpu": 3000.0})]


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line]


def test_watts_are_absolute_and_the_mean_is_over_time() -> None:
    table = rows(page("x", TWO, []))
    assert table[0][:5] == ["x", "·", "2", "samples", "·"]
    assert table[1] == ["window", "s", "cpu"]
    assert table[2:] == [["1", "1.00", "1.00"], ["2", "3.00", "3.00"], ["mean", "2.50"], ["peak", "3.00"]]


def test_without_any_window_all_samples_weigh_the_same() -> None:
    table = rows(page("x", [make_sample("x", None, {"cpu": mw}) for mw in (1000.0, 2000.0)], []))
    assert ["1", "n/a", "1.00"] in table
    assert ["mean", "1.50"] in table


def test_an_absent_figure_reads_so_and_is_in_no_mean() -> None:
    table = rows(page("x", [*TWO, make_sample("x", 9_000_000_000, {}, flags=["partial"])], []))
    assert ["3", "9.00", "n/a", "partial"] in table
    assert ["mean", "2.50"] in table


def test_clusters_and_gpu_show_frequency_and_share() -> None:
    text = page("powermetrics", read_plist(plist(truth_of(CHIPS["M1"]))), [], width=200)
    assert "E-Cluster MHz" in text
    assert "1000  2.5%" in text  # mean of 1, 2, 3 and 4 %
    assert "720   25%" in text
    assert "Nominal" in text


def test_a_zero_that_was_not_measured_stands_in_its_row_and_in_no_mean() -> None:
    samples = [make_sample("x", 10**9, {"cpu": mw, "gpu": 0.0}) for mw in (0.0, 3_000.0)]
    rows = {words[0]: words for line in page("x", samples, []).splitlines() if (words := line.split())}
    assert rows["1"][2:] == ["0", "0", "suspect-zero"]
    assert (rows["mean"][1:], rows["peak"][1:]) == (["3.00", "0"], ["3.00", "0"])
    assert "n/a" in page("x", samples[:1] * 2, []).splitlines()[-2], "nothing was measured, so there is no mean"


def test_a_sum_of_which_a_part_was_not_measured_is_in_no_mean() -> None:
    there = make_sample("x", 10**9, {"cpu": 5_000.0, "gpu": 100.0, "ane": 0.0, "combined": 5_100.0})
    lacking = make_sample("x", 10**9, {"cpu": 0.0, "gpu": 100.0, "ane": 0.0, "combined": 100.0})
    wrong = make_sample("x", 10**9, {"cpu": 5_000.0, "gpu": 100.0, "ane": 0.0, "combined": 50.0})
    rows = {words[0]: words for line in page("x", [there, lacking, wrong], []).splitlines() if (words := line.split())}
    assert rows["mean"][1:] == rows["peak"][1:] == ["5.00", "0.100", "0", "5.10"]


def test_what_finds_no_room_is_left_out_and_named() -> None:
    samples = read_plist(plist(truth_of(CHIPS["M1 Ultra"])))
    narrow = page("powermetrics", samples, [], width=80)
    assert max(map(len, narrow.splitlines())) <= 80
    assert "columns not shown: E0-Cluster MHz, E1-Cluster MHz," in narrow.replace("\n  ", " ")
    assert "1.50" in narrow


def clusters(*figures: tuple[str, float, float | None]) -> list[ClusterFigures]:
    return [ClusterFigures(name, mhz, busy) for name, mhz, busy in figures]


ULTRA = clusters(("E0", 1000, 0.1), ("E1", 1000, 0.1), ("P0", 3000, 0.9), ("P1", 3000, 0.9))


def shown(samples: list[PowerSample], width: int) -> list[str]:
    heading = page("x", samples, [], width).splitlines()[2]
    return [word for word in heading.split() if word[0] in "EPS"]


@pytest.mark.parametrize(
    ("width", "names"), [(68, ["E0", "E1", "P0", "P1"]), (67, ["E1", "P0", "P1"]), (44, ["P0", "P1"])]
)
def test_a_narrow_table_keeps_the_clusters_that_did_most(width: int, names: list[str]) -> None:
    assert shown([make_sample("x", 10**9, {"cpu": 1000.0}, clusters=ULTRA)], width) == names


def test_a_busy_cluster_is_kept_before_a_faster_one_that_rests() -> None:
    figures = clusters(("E", 1000, 0.9), ("P", 0, 0.0), ("S", 4000, 0.01))
    samples = [make_sample("x", 10**9, {"cpu": 1000.0}, clusters=figures)]
    assert (shown(samples, 44), shown(samples, 32)) == (["E", "S"], ["E"])


def test_what_counts_is_the_whole_capture() -> None:
    moments = [clusters(("E", 1000, 0.9), ("P", 3000, 0.1)), clusters(("E", 1000, 0.2), ("P", 3000, 0.9))]
    assert shown([make_sample("x", 10**9, {"cpu": 1000.0}, clusters=each) for each in moments], 32) == ["P"]


def test_of_clusters_that_did_the_same_the_faster_one_is_kept() -> None:
    figures = clusters(("E", 1000, None), ("P", 3000, None))
    assert shown([make_sample("x", 10**9, {"cpu": 1000.0}, clusters=figures)], 32) == ["P"]


def test_how_many_clusters_are_not_shown_is_said() -> None:
    text = page("x", [make_sample("x", 10**9, {"cpu": 1000.0}, clusters=ULTRA)], [], 44)
    assert "2 of 4 clusters not shown" in text
    assert "columns not shown: E0 MHz, E1 MHz;" in text
    many = [
        make_sample("x", 10**9, {"cpu": 1000.0}, clusters=clusters(*[(f"{n}-{k}", 1, 1) for k in range(50)]))
        for n in "ab"
    ]
    assert "36 of 100 clusters not shown" in page("x", many, [], 10_000)
    assert "not shown" not in page("x", many[:1], [], 10_000)


def test_names_from_a_file_cannot_steer_the_terminal() -> None:
    evil = plist(truth_of(CHIPS["M1"], thermal="\u202e\u009b31m")).replace(b"E-Cluster", "E\u009b2J".encode())
    text = page("powermetrics", read_plist(evil), [], width=200)
    assert "\u009b" not in text
    assert "\u202e" not in text


def test_notes_say_what_is_absent_and_what_is_in_doubt() -> None:
    machine = read_plist(plist(Truth()).replace(b"processor", b"nothing"))
    assert any("virtual machine" in note for note in notes_of(machine, {}))
    unreadable = [make_sample("powermetrics", 5, {"gpu": 1.0}, flags=["partial"])]
    assert not any("virtual machine" in note for note in notes_of(unreadable, {}))
    far = [make_sample("powermetrics", 5, {"cpu": 100.0, "gpu": 50.0, "ane": 0.0, "combined": 9150.0})]
    assert any("contradicts the sum" in note for note in notes_of(far, {}))
    intel = [make_sample("powermetrics", 5, {"package": 8530.0})]
    assert "an Intel Mac reports package power only" in notes_of(intel, {})
    doubtful = read_plist(stream(plist(truth_of(CHIPS["M1"], mw={"cpu": 0.0, "gpu": 1.0, "ane": 0.0})), plist(Truth())))
    assert [note for note in notes_of(doubtful, {}) if "suspect-zero" in note] == [
        "1 of 2 samples read 0 W for the CPU, or for a busy GPU (suspect-zero): not a measurement, "
        "since both draw power while running; seen on macOS 27 and in very short windows"
    ]
    assert notes_of(doubtful, {"torn": 1, "unreadable": 2})[-1] == "dropped from the capture: 1 torn, 2 unreadable"
    assert notes_of(doubtful, {})[0] == "n/a, not in this capture: dram, package"
    assert notes_of([], {}) == []
