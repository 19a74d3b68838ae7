"""The parser of powermetrics' text: labels of every macOS, torn ends, Intel, and what cannot be read."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop.sources.power.sample import PowerSample
from hettop.sources.power.text import LINE_LIMIT, PRESSURE_LEVELS, TextParser
from tests.sources.power.captures import (
    CHIPS,
    SYSTEMS,
    ClusterTruth,
    Core,
    Truth,
    pasted,
    summary,
    text,
    text_head,
    truth_of,
)
from tests.sources.power.reading import assert_clusters, one, read, read_text

HEADER = "*** Sampled system activity (Fri Jan  2 03:04:05 2026 +0100) ({}ms elapsed) ***\n"
SMALL = Truth(clusters=(ClusterTruth("E-Cluster", 1023, (Core(0.9), Core(0.7))),))
CAPTURE = text_head() + text(SMALL) + text(SMALL)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", CHIPS)
def test_every_chip_on_every_macos_is_read(name: str, system: int) -> None:
    chip = CHIPS[name]
    truth = truth_of(chip, elapsed_ns=104_510_000)
    sample = one(read_text(text_head() + text(truth, system)))
    assert (sample.source, sample.elapsed_ns, sample.thermal) == ("powermetrics", 104_510_000, "Nominal")
    early = system <= 12
    assert sample.mw == {
        "cpu": 1500.0,
        "gpu": 250.0,
        "ane": 40.0,
        "dram": 120.0 if early else None,
        "package": 2100.0 if early else None,
        "combined": None if early else 1790.0,
    }
    assert sample.flags == ()
    assert sample.gpu is not None
    assert (sample.gpu.mhz, sample.gpu.busy) == (720.0, 0.25)
    assert_clusters(sample, chip, truth, 1e-4)


def test_busy_is_the_mean_of_the_cores() -> None:
    assert one(read_text(text(SMALL))).clusters[0].busy == pytest.approx(0.2)


def test_a_parked_cluster_is_idle_at_no_frequency() -> None:
    parked = Truth(clusters=(ClusterTruth("P1-Cluster", 0, (Core(0.0, 1.0), Core(0.0, 1.0))),))
    cluster = one(read_text(text(parked))).clusters[0]
    assert (cluster.mhz, cluster.busy) == (0.0, 0.0)


def test_an_intel_mac_reports_its_package_only() -> None:
    lines = (
        "Machine model: MacBookPro99,1\nEFI version: 1.2.3\nOS version: 99Z99\n\n"
        + HEADER.format("1003.45")
        + "\n**** Processor usage ****\n\n"
        + "Intel energy model derived package power (CPUs+GT+SA): 8.53W\n\nLLC flushed residency: 34.4%\n\n"
        + "System Average frequency as fraction of nominal: 61.25% (1409.75 Mhz)\n"
        + "Package 0 C-state residency: 52.33% (C2: 9.1% C3: 4.2%)\nCPU 0 duty cycles/s: active/idle [< 16 us: 1/2]\n"
        + "CPU 0 idle residency: 80.00%\n"
    )
    sample = one(read_text(lines))
    assert {rail: value for rail, value in sample.mw.items() if value is not None} == {"package": pytest.approx(8530)}
    assert (sample.clusters, sample.gpu, sample.flags, sample.elapsed_ns) == ((), None, (), 1_003_450_000)


@pytest.mark.parametrize(
    ("printed", "mw"), [("1,5 mW", 1.5), ("1.5 W", 1500.0), (".5 mW", 0.5), ("12 mW", 12.0), ("2e+01 mW", 20.0)]
)
def test_units_and_a_locales_comma_are_understood(printed: str, mw: float) -> None:
    sample = one(read_text(HEADER.format("500,25") + f"ANE Power: {printed}\nCPU Power: 1 mW\n"))
    assert (sample.mw["ane"], sample.elapsed_ns, sample.flags) == (mw, 500_250_000, ())


@pytest.mark.parametrize("printed", ["nan mW", "-nan mW", "-5 mW", "1e30 mW"])
def test_what_is_no_figure_is_absent_and_the_sample_partial(printed: str) -> None:
    sample = one(read_text(HEADER.format("500.00") + f"CPU Power: {printed}\nGPU Power: 7 mW\n"))
    assert (sample.mw["cpu"], sample.mw["gpu"], sample.flags) == (None, 7.0, ("partial",))


def test_a_cpu_at_no_watts_is_suspect() -> None:
    mw = {"cpu": 0.0, "gpu": 10.0, "ane": 0.0}
    assert one(read_text(text(Truth(mw=mw, clusters=SMALL.clusters)))).flags == ("suspect-zero",)


def test_a_virtual_machine_gives_a_sample_without_figures() -> None:
    sample = one(read_text(text_head() + HEADER.format("500.00") + "\n\n"))
    assert set(sample.mw.values()) == {None}
    assert (sample.elapsed_ns, sample.clusters, sample.gpu) == (500_000_000, (), None)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", ["M1", "M1 Ultra"])
def test_the_summary_at_the_end_leaks_into_no_sample(name: str, system: int) -> None:
    sample = text(truth_of(CHIPS[name], gpu_busy=0.0), system)
    mw = {"cpu": 900.0, "gpu": 800.0, "ane": 77.0, "dram": 5.0, "package": 5.0}
    parser = TextParser()
    end = summary(truth_of(CHIPS[name], gpu_mhz=1.0, thermal="Heavy", mw=mw), system)
    assert read(parser, (text_head() + sample + end).encode()) == read_text(sample)
    assert parser.lost == {"summary": 1}


def test_what_a_sample_lacks_is_not_taken_from_the_summary() -> None:
    sample = one(read_text(HEADER.format("1000.00") + "GPU Power: 0 mW\n" + summary(SMALL)))
    assert {rail for rail, value in sample.mw.items() if value is not None} == {"gpu"}
    assert (sample.clusters, sample.gpu, sample.thermal, sample.flags) == ((), None, None, ())


def test_samples_after_a_summary_are_read() -> None:
    assert read_text(text(SMALL) + summary(truth_of(CHIPS["M1"])) + text(SMALL)) == read_text(text(SMALL) * 2)


def without_cores(mw: str = "0") -> str:
    return (
        HEADER.format("1000.00") + "E-Cluster HW active frequency: 2064 MHz\nE-Cluster HW active residency: 75.00%\n"
        f"E-Cluster idle residency: 25.00%\nCPU Power: {mw} mW\n"
    )


def test_a_cluster_without_cores_is_busy_as_it_says_itself_which_is_an_estimate() -> None:
    sample = one(read_text(without_cores("5")))
    assert [(each.name, each.mhz, each.busy) for each in sample.clusters] == [("E-Cluster", 2064.0, 0.75)]
    assert sample.flags == ("estimated",)


def test_no_watts_with_a_busy_cluster_is_suspect_also_without_cores() -> None:
    assert one(read_text(without_cores("0"))).flags == ("suspect-zero", "estimated")


def test_a_cluster_is_idle_where_it_reports_no_active_residency() -> None:
    lines = "E-Cluster idle residency: 30.00%\nE-Cluster down residency: 50.00%\nCPU Power: 5 mW\n"
    assert one(read_text(HEADER.format("1000.00") + lines)).clusters[0].busy == pytest.approx(0.2)


def test_a_line_of_digits_is_no_figure() -> None:
    sample = one(read_text(HEADER.format("1000.00") + f"CPU Power: {'1' * 10_000}\nGPU Power: 5 mW\n"))
    assert (sample.mw["cpu"], sample.mw["gpu"], sample.flags) == (None, 5.0, ("partial",))


@pytest.mark.parametrize("level", sorted(PRESSURE_LEVELS))
def test_a_known_pressure_level_needs_no_line_feed(level: str) -> None:
    cut = HEADER.format("1000.00") + f"CPU Power: 5 mW\nCurrent pressure level: {level}"
    sample = one(read_text(cut))
    assert (sample.thermal, sample.flags) == (level, ())
    for at in range(1, len(level) + 1):
        sample = one(read_text(cut[:-at]))
        assert (sample.thermal, sample.flags) == (None, ("partial",))


def test_levels_are_distinguished_though_cut_off() -> None:
    assert not [(a, b) for a in PRESSURE_LEVELS for b in PRESSURE_LEVELS if a != b and b.startswith(a)]


def undated(samples: list[PowerSample]) -> list[PowerSample]:
    return [replace(sample, elapsed_ns=None) for sample in samples]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", ["M1", "M1 Ultra", "M5"])
def test_samples_pasted_without_their_heading_are_read_with_the_time_unknown(name: str, system: int) -> None:
    first, second = truth_of(CHIPS[name]), truth_of(CHIPS[name], thermal="Heavy", gpu_mhz=1.0)
    whole = read_text(text(first, system) + text(second, system))
    assert read_text(pasted(first, system) + pasted(second, system)) == undated(whole)


@pytest.mark.parametrize("system", SYSTEMS)
def test_samples_of_which_only_powers_were_copied_are_distinguished(system: int) -> None:
    figures = [Truth(mw={"cpu": n, "gpu": 10 * n, "ane": 0.0, "dram": 3 * n, "package": 99.0}) for n in (7, 8, 9)]
    lines = "".join(text(truth, system) for truth in figures).split("\n")
    powers = "\n".join(line for line in lines if " Power" in line and "Cluster " not in line)
    samples = read_text(powers)
    assert [(sample.mw["cpu"], sample.mw["gpu"], sample.mw["ane"]) for sample in samples] == [
        (7.0, 70.0, 0.0),
        (8.0, 80.0, 0.0),
        (9.0, 90.0, 0.0),
    ]
    assert {sample.elapsed_ns for sample in samples} == {None}


COMBINED = "Combined Power (CPU + GPU + ANE)"


def rails(**mw: int) -> str:
    """Lines of powers in this order: `rails(cpu=5)`."""
    labels = {"cpu": "CPU Power", "gpu": "GPU Power", "ane": "ANE Power", "combined": COMBINED}
    return "".join(f"{labels[rail]}: {value} mW\n" for rail, value in mw.items())


def present(samples: list[PowerSample]) -> list[dict[str, float]]:
    return [{rail: value for rail, value in sample.mw.items() if value is not None} for sample in samples]


SECOND = {"cpu": 400, "gpu": 30, "ane": 0, "combined": 430}


@pytest.mark.parametrize(
    "torn",
    [
        rails(ane=700, combined=1720),
        rails(combined=1720),
        rails(gpu=320, ane=700, combined=1720),
        rails(gpu=320),
        rails(combined=1720, gpu=320),
        rails(ane=700) + "Current pressure level: Heavy\n",
        "GPU HW active frequency: 900 MHz\nGPU idle residency: 20.00%\n" + rails(gpu=321),
        rails(ane=700, combined=1720) + "\n**** Processor usage ****\n\n",
        rails(gpu=320) + "\n**** Processor usage ****\n\n",
    ],
)
def test_a_capture_without_headings_that_begins_inside_a_sample_mixes_no_two(torn: str) -> None:
    parser = TextParser()
    (sample,) = read(parser, (torn + rails(**SECOND)).encode())
    assert present([sample]) == [SECOND]
    assert (sample.thermal, sample.gpu, sample.flags) == (None, None, ())
    assert parser.lost == {"torn": 1}


def test_a_cluster_printed_after_powers_is_of_the_next_sample() -> None:
    frequency = "E-Cluster HW active frequency: {} MHz\n"
    torn = "E-Cluster idle residency: 5.00%\n" + rails(cpu=7, gpu=8)
    samples = read_text(torn + frequency.format(1023) + rails(cpu=1, gpu=2) + frequency.format(600) + rails(cpu=3))
    assert present(samples) == [{"cpu": 1, "gpu": 2}, {"cpu": 3}]
    assert [sample.clusters[0].mhz for sample in samples] == [1023.0, 600.0]
    assert [sample.flags for sample in samples] == [(), ("partial",)]


def test_a_sample_that_lacks_the_figure_the_next_one_begins_with_is_partial() -> None:
    samples = read_text(
        rails(cpu=1, ane=2, combined=3) * 2 + rails(ane=9, combined=9) + rails(cpu=1, ane=2, combined=3)
    )
    assert [sample.mw["cpu"] for sample in samples] == [1.0, 1.0, None, 1.0]
    assert [sample.flags for sample in samples] == [(), (), ("partial",), ()]


@pytest.mark.parametrize("heading", ["", "\n**** Processor usage ****\n\n"])
@pytest.mark.parametrize("before", [text(SMALL), text(SMALL) + summary(SMALL)])
def test_samples_pasted_below_one_with_a_heading_are_read(before: str, heading: str) -> None:
    parser = TextParser()
    one_more, two_more = rails(**SECOND), rails(cpu=5, gpu=6, ane=7, combined=18)
    first, *others = read(parser, (before + heading + one_more + two_more).encode())
    assert [first] == read_text(text(SMALL))
    assert present(others) == [SECOND, {"cpu": 5, "gpu": 6, "ane": 7, "combined": 18}]
    assert {sample.elapsed_ns for sample in others} == {None}
    assert parser.lost == ({"summary": 1} if "Summary" in before else {})


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([{"gpu": 1}, {"gpu": 2}, {"gpu": 3}], [{"gpu": 1}, {"gpu": 2}, {"gpu": 3}]),
        ([{"gpu": 1, "combined": 9}, {"gpu": 2, "combined": 8}],
         [{"gpu": 1, "combined": 9}, {"gpu": 2, "combined": 8}]),
        ([{"combined": 9}, {"gpu": 2, "combined": 8}], [{"combined": 9}, {"gpu": 2, "combined": 8}][1:]),
        ([{"gpu": 1, "ane": 9}, {"gpu": 2, "ane": 8}], [{"gpu": 1, "ane": 9}, {"gpu": 2, "ane": 8}]),
        # With the line of the GPU's own section:
        ([{"gpu": 1, "combined": 9}, {"gpu": 5}, {"gpu": 2, "combined": 8}, {"gpu": 6}],
         [{"gpu": 1, "combined": 9}, {"gpu": 2, "combined": 8}]),
    ],
)  # fmt: skip
def test_powers_of_the_gpu_stay_with_their_sample(lines: list[dict[str, int]], expected: list[dict[str, int]]) -> None:
    parser = TextParser()
    assert present(read(parser, "".join(rails(**each) for each in lines).encode())) == expected
    assert parser.lost["repeated"] == 0


def test_powers_of_the_gpu_that_belong_to_no_sample_are_counted() -> None:
    parser = TextParser()
    assert len(read(parser, (text(SMALL) + rails(gpu=1) + rails(gpu=2)).encode())) == 1
    assert parser.lost == {"repeated": 2}


def test_a_sample_without_heading_is_read_before_others_where_its_first_section_is_there() -> None:
    parser = TextParser()
    assert read(parser, (pasted(SMALL) + text(SMALL)).encode()) == [
        *undated(read_text(text(SMALL))),
        *read_text(text(SMALL)),
    ]
    assert parser.lost == {}


def test_the_end_of_a_sample_before_the_first_is_counted_as_torn() -> None:
    parser = TextParser()
    assert read(parser, (pasted(SMALL).partition("CPU 1")[2] + CAPTURE).encode()) == read_text(CAPTURE)
    assert parser.lost == {"torn": 1}


@pytest.mark.parametrize(
    "line",
    [
        "E-Cluster HW active frequency: 99999999 MHz",
        "E-Cluster HW active frequency: fast",
        "CPU 0 active residency: 300%",
        "CPU 0 idle residency: -20%",
        "GPU idle residency: 120%",
        "GPU HW active frequency: -5 MHz",
        "Combined Power (CPU + GPU + ANE): 99999999999 mW",
        "ANE Power: much",
    ],
)
def test_what_cannot_be_is_dropped_and_the_sample_partial(line: str) -> None:
    begin = HEADER.format("1000.00") + "CPU Power: 5 mW\nE-Cluster down residency: 0.00%\n"
    assert one(read_text(begin)).flags == ()
    assert one(read_text(begin + line + "\n")).flags == ("partial",)


def test_a_window_that_cannot_be_is_dropped_and_the_sample_partial() -> None:
    sample = one(read_text(HEADER.format("-5") + "CPU Power: 5 mW\n"))
    assert (sample.elapsed_ns, sample.flags) == (None, ("partial",))


@pytest.mark.parametrize("line", ["E-Cluster HW active frequency: nan MHz", "GPU idle residency: -nan%"])
def test_where_nothing_could_be_measured_no_load_is_lacking(line: str) -> None:
    assert one(read_text(HEADER.format("1000.00") + f"CPU Power: 5 mW\n{line}\n")).flags == ()


def test_readings_of_the_battery_alone_are_no_sample() -> None:
    battery = HEADER.format("1000.00") + "\n**** Battery and backlight usage ****\n\nBattery: percent_charge: 85\n"
    parser = TextParser()
    assert read(parser, (battery * 2).encode()) == []
    assert parser.lost == {"battery only": 2}
    assert one(read_text(battery + "**** GPU usage ****\nGPU Power: 5 mW\n")).mw["gpu"] == 5.0
    heading, _, sections = battery.partition("\n")
    for mixed in (battery + "**** Network activity ****\n", f"{heading}\n**** Network activity ****\n{sections}"):
        assert len(read_text(mixed)) == 1  # as in a virtual machine


def test_noise_even_right_before_a_sample_is_survived() -> None:
    noisy = CAPTURE.replace("*** Sampled", "Second underflow occured.*** Sampled").replace(
        "\n\n", "\nSecond underflow occured.\n"
    )
    assert read_text(noisy) == read_text(CAPTURE)


def test_what_stands_before_the_first_sample_belongs_to_none() -> None:
    assert read_text("CPU Power: 5 mW\nE-Cluster idle residency: 5.00%\n" + CAPTURE) == read_text(CAPTURE)


def test_line_feeds_of_any_kind_are_the_same() -> None:
    assert read_text(CAPTURE.replace("\n", "\r\n")) == read_text(CAPTURE)


def test_a_split_at_any_byte_changes_nothing() -> None:
    data = CAPTURE.encode()
    whole = read(TextParser(), data)
    assert len(whole) == 2
    for cut in range(len(data)):
        assert read(TextParser(), data[:cut], data[cut:]) == whole


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, len(CAPTURE)), max_size=40))
def test_any_splits_change_nothing(cuts: list[int]) -> None:
    data = CAPTURE.encode()
    parts = [data[a:b] for a, b in pairwise([0, *sorted(cuts), len(data)])]
    assert read(TextParser(), *parts) == read(TextParser(), data)


def test_wherever_a_file_is_cut_off_no_figure_is_wrong_and_what_lacks_is_said() -> None:
    first, second = read_text(CAPTURE)
    begin = CAPTURE.rindex("*** Sampled")
    for cut in range(begin + 1, len(CAPTURE)):
        head, *rest = read_text(CAPTURE[:cut])
        assert head == first
        for torn in rest:
            assert all(value in (None, second.mw[rail]) for rail, value in torn.mw.items())
            assert torn.thermal in (None, second.thermal)
            assert torn.elapsed_ns in (None, second.elapsed_ns)
            assert all(cluster.mhz in (None, 1023.0) for cluster in torn.clusters)
            if torn.mw != second.mw or torn.gpu is None or not torn.clusters or torn.thermal is None:
                assert torn.flags == ("partial",)


def test_a_lone_sample_that_ends_among_its_clusters_is_partial() -> None:
    lone = text(SMALL)
    assert one(read_text(lone[: lone.index("ANE Power")])).flags == ("partial",)


def test_an_endless_line_is_dropped_and_reading_goes_on() -> None:
    parser = TextParser()
    for _ in range(10):
        assert parser.feed(b"x" * LINE_LIMIT) == []
        assert len(parser._line) <= LINE_LIMIT
    assert len(read(parser, b"\n" + CAPTURE.encode())) == 2
    assert parser.lost == {"too long": 1}


def test_clusters_and_cores_without_number_do_not_fill_memory() -> None:
    clusters = "".join(f"X{n}-Cluster idle residency: 5.00%\n" for n in range(1000))
    idle = "".join(f"CPU {n} idle residency: 100.00%\n" for n in range(5000))
    parser = TextParser()
    parser.feed((HEADER.format("5.00") + clusters + idle).encode())
    assert parser._window is not None
    assert sum(len(cluster.cores) for cluster in parser._window.clusters) <= 1000
    assert len(one(parser.finish()).clusters) == 64


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=400), st.binary(max_size=40))
def test_no_bytes_make_it_fail(data: bytes, value: bytes) -> None:
    read(TextParser(), data)
    labels = (b"CPU Power:", b"E-Cluster HW active frequency:", b"CPU 0 idle residency:", b"GPU idle residency:")
    lines = b"\n".join(label + value.replace(b"\n", b"").replace(b"*", b"") for label in labels)
    assert len(read(TextParser(), HEADER.encode() + lines)) <= 1
