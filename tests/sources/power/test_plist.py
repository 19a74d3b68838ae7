"""The parser of `powermetrics -f plist`: what it reads, when it reports, what it survives."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop.sources.power.plist import PlistParser
from tests.sources.power.captures import (
    CHIPS,
    SYSTEMS,
    ClusterTruth,
    Core,
    Truth,
    document,
    integer,
    plist,
    real,
    states,
    stream,
    truth_of,
)
from tests.sources.power.reading import assert_clusters, one, read, read_plist

SMALL = [
    plist(Truth(elapsed_ns=n * 100_000_000, clusters=(ClusterTruth("E-Cluster", 600, (Core(0.9),)),)))
    for n in (1, 2, 3)
]
PROCESSOR = "<key>processor</key><dict>{}</dict>"


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", CHIPS)
def test_every_chip_on_every_macos_is_read(name: str, system: int) -> None:
    chip = CHIPS[name]
    truth = truth_of(chip)
    sample = one(read_plist(plist(truth, system)))
    assert (sample.source, sample.elapsed_ns, sample.thermal) == ("powermetrics", 500_000_000, "Nominal")
    early = system <= 12  # package and DRAM are gone since 13; the sum is printed since 13
    assert sample.mw == {
        "cpu": 1500.0,
        "gpu": 250.0,
        "ane": 40.0,
        "dram": 120.0 if early else None,
        "package": 2100.0 if early else None,
        "combined": None if early else 1790.0,
    }
    assert sample.flags == (("estimated",) if early else ())  # energies were divided by the window
    assert sample.gpu is not None
    assert (sample.gpu.mhz, sample.gpu.busy) == (720.0, 0.25)
    assert_clusters(sample, chip, truth, 1e-9)


def test_busy_is_the_mean_of_the_cores_and_a_parked_core_is_not_busy() -> None:
    parked, half, idle = Core(0.0, 1.0), Core(0.3, 0.2), Core(1.0, 0.0)
    truth = Truth(clusters=(ClusterTruth("P-Cluster", 3000, (parked, half, idle)),))
    assert one(read_plist(plist(truth))).clusters[0].busy == pytest.approx(0.5 / 3)


def test_without_cores_the_clusters_own_ratio_is_used_and_flagged() -> None:
    cluster = f"<dict><key>name</key><string>E-Cluster</string>{real('freq_hz', 1e9)}{real('idle_ratio', 0.75)}</dict>"
    sample = one(read_plist(document(PROCESSOR.format(f"<key>clusters</key><array>{cluster}</array>"))))
    assert (sample.clusters[0].busy, sample.clusters[0].mhz, sample.flags) == (0.25, 1000.0, ("estimated",))


def test_the_gpu_alone_reports_its_power_by_its_energy() -> None:
    body = integer("elapsed_ns", 4_000_000_000)
    body += f"<key>gpu</key><dict>{real('freq_hz', 426.5)}{real('idle_ratio', 0.98)}{integer('gpu_energy', 20)}</dict>"
    sample = one(read_plist(document(body)))
    assert sample.mw["gpu"] == 5.0  # 20 mJ in 4 s
    assert [rail for rail, value in sample.mw.items() if value is not None] == ["gpu"]
    assert (sample.clusters, sample.thermal, sample.flags) == ((), None, ("estimated",))


def test_energy_without_a_window_is_no_power() -> None:
    sample = one(read_plist(document(PROCESSOR.format(integer("cpu_energy", 20)))))
    assert (sample.mw["cpu"], sample.elapsed_ns, sample.flags) == (None, None, ())


def test_a_virtual_machine_without_processor_gives_a_sample_without_figures() -> None:
    sample = one(read_plist(document(integer("elapsed_ns", 1000))))
    assert set(sample.mw.values()) == {None}
    assert (sample.elapsed_ns, sample.clusters, sample.gpu, sample.flags) == (1000, (), None, ())


def test_intels_package_is_reported_in_watts() -> None:
    sample = one(read_plist(document(PROCESSOR.format(real("package_watts", 8.53)))))
    assert sample.mw["package"] == pytest.approx(8530)
    assert (sample.mw["cpu"], sample.mw["combined"]) == (None, None)


@pytest.mark.parametrize(("watts", "mw", "flags"), [("1.5", 1500.0, ()), ("nan", None, ("partial",))])
def test_a_package_reported_in_watts_is_not_worked_out_from_its_energy(
    watts: str, mw: float | None, flags: tuple[str, ...]
) -> None:
    body = f"<key>package_watts</key><real>{watts}</real>{integer('package_energy', 500)}"
    sample = one(read_plist(document(integer("elapsed_ns", 500_000_000) + PROCESSOR.format(body))))
    assert (sample.mw["package"], sample.flags) == (mw, flags)


def test_figures_since_the_system_started_are_no_sample() -> None:
    parser = PlistParser()
    initial = SMALL[0].replace(b"<key>is_delta</key><true/>", b"<key>is_delta</key><false/>")
    assert read(parser, stream(initial, SMALL[1])) == read_plist(SMALL[1])
    assert parser.lost == {"summary": 1}


def test_readings_of_the_battery_alone_are_no_sample() -> None:
    battery = (
        integer("elapsed_ns", 5000) + "<key>battery</key><dict><key>percent_charge</key><integer>85</integer></dict>"
    )
    parser = PlistParser()
    assert read(parser, document(battery)) == []
    assert parser.lost == {"battery only": 1}
    assert len(read_plist(document(battery + "<key>tasks</key><array/>"))) == 1  # as in a virtual machine


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (real("freq_hz", 1e20), "gpu"),
        (real("freq_hz", -1), "cluster"),
        (real("idle_ratio", 1.5), "gpu"),
        (real("idle_ratio", -0.5), "cluster"),
        (real("idle_ratio", 0.5) + real("down_ratio", 3), "core"),
        (real("package_watts", -8.5), "processor"),
        (integer("elapsed_ns", -5), "root"),
    ],
)
def test_what_cannot_be_is_dropped_and_the_sample_partial(body: str, where: str) -> None:
    def body_of(part: str) -> str:
        return body if part == where else ""

    core = f"<key>cpus</key><array><dict>{body_of('core')}</dict></array>"
    cluster = f"<dict><key>name</key><string>E</string>{body_of('cluster')}{core}</dict>"
    processor = f"<key>clusters</key><array>{cluster}</array>{real('cpu_power', 5)}{body_of('processor')}"
    root = f"{PROCESSOR.format(processor)}<key>gpu</key><dict>{body_of('gpu')}</dict>{body_of('root')}"
    sample = one(read_plist(document(root)))
    assert (sample.mw["cpu"], sample.flags) == (5.0, ("partial",))
    assert (sample.gpu, sample.clusters[0].mhz, sample.clusters[0].busy) == (None, None, None)


@pytest.mark.parametrize("printed", ["nan", "-nan", "inf", "-5", "1e30", "", "much"])
def test_a_rail_that_is_printed_but_no_figure_is_absent_and_the_sample_partial(printed: str) -> None:
    body = f"<key>cpu_power</key><real>{printed}</real>{real('gpu_power', 7)}"
    sample = one(read_plist(document(PROCESSOR.format(body))))
    assert (sample.mw["cpu"], sample.mw["gpu"], sample.flags) == (None, 7.0, ("partial",))


def test_a_locales_comma_is_a_decimal_point() -> None:
    body = "<key>cpu_power</key><real>1234,5</real><key>gpu_power</key><real>1,5e+02</real>"
    mw = one(read_plist(document(PROCESSOR.format(body)))).mw
    assert (mw["cpu"], mw["gpu"]) == (1234.5, 150.0)


@pytest.mark.parametrize("busy", [0.5, 0.04])
def test_a_cpu_at_no_watts_is_suspect_whatever_its_busy_share(busy: float) -> None:
    truth = Truth(
        mw={"cpu": 0.0, "gpu": 10.0, "ane": 0.0}, clusters=(ClusterTruth("E-Cluster", 600, (Core(1 - busy),)),)
    )
    sample = one(read_plist(plist(truth)))
    assert (sample.mw["cpu"], sample.flags) == (0.0, ("suspect-zero",))


def test_no_watts_with_a_busy_gpu_is_suspect_and_an_idle_ane_is_not() -> None:
    truth = Truth(mw={"cpu": 10.0, "gpu": 0.0, "ane": 0.0}, gpu_busy=0.8)
    assert one(read_plist(plist(truth))).flags == ("suspect-zero",)


def test_a_sample_is_reported_at_its_end_not_at_the_next_ones_nul() -> None:
    parser = PlistParser()
    assert parser.feed(SMALL[0].rstrip()[:-1]) == []
    assert len(parser.feed(b">")) == 1


def test_a_split_at_any_byte_changes_nothing() -> None:
    data = stream(*SMALL[:2])
    whole = read_plist(data)
    for cut in range(len(data)):
        assert read(PlistParser(), data[:cut], data[cut:]) == whole


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(stream(*SMALL))), max_size=40))
def test_any_splits_change_nothing(cuts: list[int]) -> None:
    data = stream(*SMALL)
    parts = [data[a:b] for a, b in pairwise([0, *sorted(cuts), len(data)])]
    assert read(PlistParser(), *parts) == read_plist(data)


def test_byte_by_byte_is_the_same_as_at_once() -> None:
    data = stream(*SMALL)
    assert read(PlistParser(), *(data[at : at + 1] for at in range(len(data)))) == read_plist(data)


def test_a_stream_cut_at_any_byte_gives_its_whole_documents_and_no_other() -> None:
    data = stream(*SMALL)
    whole = read_plist(data)
    ends = [data.find(b"</plist>", len(stream(*SMALL[:n]))) + len(b"</plist>") for n in range(3)]
    for cut in range(len(data)):
        parser = PlistParser()
        samples = read(parser, data[:cut])
        assert samples == whole[: sum(end <= cut for end in ends)]
        begun = data[:cut].count(b"<plist") - len(samples)
        assert parser.lost["torn"] == begun


@settings(max_examples=60, deadline=None)
@given(st.lists(st.binary(max_size=60), min_size=4, max_size=4))
def test_noise_between_documents_is_survived(noise: list[bytes]) -> None:
    parts = [part.replace(b"<", b"(") for part in noise]
    data = parts[0] + b"".join(
        document_ + b"Second underflow occured.\n\0" + part for document_, part in zip(SMALL, parts[1:], strict=True)
    )
    assert read_plist(data) == read_plist(stream(*SMALL))


def test_a_document_torn_by_a_restart_is_counted_and_the_next_one_read() -> None:
    parser = PlistParser()
    samples = read(parser, SMALL[0][:400] + SMALL[1] + b"\0" + SMALL[2])
    assert [sample.elapsed_ns for sample in samples] == [200_000_000, 300_000_000]
    assert parser.lost == {"torn": 1}


def test_a_capture_that_begins_within_a_document_loses_that_one() -> None:
    parser = PlistParser()
    assert len(read(parser, SMALL[0][300:] + b"\0" + SMALL[1])) == 1
    assert parser.lost == {"torn": 1}


def test_bytes_that_xml_forbids_are_survived() -> None:
    body = b"<key>kern_bootargs</key><string>\x01\xff\xfe \xc3</string>"
    data = SMALL[0].replace(b"<key>is_delta</key>", body + b"<key>is_delta</key>")
    assert read_plist(data) == read_plist(SMALL[0])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<plist><dict><key>cpu</dict></plist>", "unreadable"),
        (b"<plist><dict>" * 3 + b"&boom;</plist>", "unreadable"),
        (b"<plist>" + b"<array>" * 70 + b"</array>" * 70 + b"</plist>", "unreadable"),
        (b"<plist><dict>" + b"<key>dvfm_states</key><array>" * 2000 + b"</dict></plist>", "unreadable"),
        (b"<plist><array/></plist>", "foreign"),
        (b"<plist><dict><key>CFBundleName</key><string>x</string></dict></plist>", "foreign"),
        (b"<plist></plist>", "foreign"),
    ],
)
def test_what_is_no_sample_is_counted_and_left_behind(data: bytes, reason: str) -> None:
    parser = PlistParser()
    assert len(read(parser, data + b"\0" + SMALL[0])) == 1
    assert parser.lost[reason] == 1


def test_entities_cannot_expand() -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE plist [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    parser = PlistParser()
    assert (
        len(read(parser, bomb + b"<plist><dict><key>hw_model</key><string>&b;</string></dict></plist>" + SMALL[0])) == 1
    )
    assert parser.lost == {"unreadable": 1}


def test_memory_is_bounded_whatever_comes() -> None:
    endless = PlistParser(limit=5000)
    for part in (b"\0" * 1000, b"<plist><dict>", b"<key>x</key><string>y</string>"):
        for _ in range(300):
            assert endless.feed(part) == []
            assert len(endless._buffer) <= 5000 + len(part)
    assert endless.lost["too long"] >= 1
    assert len(read(endless, b"</plist>" + SMALL[0][:4000])) == len(read_plist(SMALL[0][:4000]))


def test_a_document_beyond_the_limit_is_dropped_and_the_next_one_read() -> None:
    long = document(integer("elapsed_ns", 5) + "<key>tasks</key><array>" + "<string>x</string>" * 500 + "</array>")
    for step in (100, 100_000):
        data = long + SMALL[0]
        parser = PlistParser(limit=len(SMALL[0]))
        samples = read(parser, *(data[at : at + step] for at in range(0, len(data), step)))
        assert [sample.elapsed_ns for sample in samples] == [100_000_000]
        assert parser.lost == {"too long": 1}


def test_residencies_that_are_no_plain_list_do_no_harm() -> None:
    odd = "<key>dvfm_states</key><array><array><integer>5</integer></array></array>"
    core = f"<dict>{odd}{real('idle_ratio', 0.5)}</dict>"
    cluster = f"<dict><key>name</key><string>E</string>{odd}<key>cpus</key><array>{core}</array></dict>"
    sample = one(read_plist(document(PROCESSOR.format(f"<key>clusters</key><array>{cluster}</array>"))))
    assert sample.clusters[0].busy == 0.5


def test_the_order_of_printing_stays_where_frequencies_are_unknown() -> None:
    clusters = "".join(
        f"<dict><key>name</key><string>{name}</string>{listed}</dict>"
        for name, listed in (("S", states("dvfm_states", (4600,))), ("E", ""))
    )
    sample = one(read_plist(document(PROCESSOR.format(f"<key>clusters</key><array>{clusters}</array>"))))
    assert [cluster.name for cluster in sample.clusters] == ["S", "E"]


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=400))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    read_plist(data)
    read_plist(b"<plist><dict><key>elapsed_ns</key>" + data + b"</dict></plist>")


def test_no_change_of_one_byte_makes_it_fail() -> None:
    data = SMALL[0]
    for at in range(len(data)):
        for value in (b"\0", b"<", b"&", b"\xff"):
            assert len(read_plist(data[:at] + value + data[at + 1 :])) <= 1
