"""`hettop power` as it measures: on a Mac of stand-ins, on a PC, and played from a capture; its ends and exit codes."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from hettop.cli.power import Request, _Printer, measure
from hettop.events import Power
from tests.cli.running import called, one_document, started
from tests.processes.waiting import wait_for
from tests.sources.power.captures import CHIPS, plist, stream, truth_of
from tests.sources.power.machines import RAPL_FILES, Bench, mac, pc, write_tree

MS = 10**6
SECOND = 10**9


class Done:
    """A measurement, to its end."""

    def __init__(self, bench: Bench, **request: Any) -> None:
        stdout, stderr = io.StringIO(), io.StringIO()
        self.code = measure(Request(**request), bench.machine, stdout, stderr)
        self.stdout, self.stderr = stdout.getvalue(), stderr.getvalue()
        assert bench.alive == []


def capture(folder: Path, windows: int, ms: int = 50) -> Path:
    path = folder / "capture.plist"
    path.write_bytes(stream(*[plist(truth_of(CHIPS["M1"], elapsed_ns=ms * MS))] * windows))
    return path


def test_a_document_ends_by_itself_and_names_its_source() -> None:
    done = Done(mac(interval="0.01"), shape="json")
    document = one_document(done.stdout)
    assert (done.code, done.stderr) == (0, "")
    assert (document["source"], len(document["samples"])) == ("powermetrics", 10)  # 5 s of 500 ms
    assert document["samples"][0]["mw"]["cpu"] == 1500.0
    assert (document["refused"], document["skipped"]) == ({}, {})


def test_sources_that_were_passed_over_are_reported() -> None:
    done = Done(mac(sudo="password", interval="0.01"), shape="json", duration_ns=100 * MS)
    document = one_document(done.stdout)
    assert document["source"] == "macmon"
    assert document["refused"]["powermetrics"] == "macOS reports power to root only"


def test_another_interval_than_powermetrics_keeps_is_reported() -> None:
    done = Done(mac(interval="0.01"), shape="json", interval_ns=100 * MS, duration_ns=SECOND)
    document = one_document(done.stdout)
    assert "a sample every 500 ms, not the requested 100 ms" in document["notes"]
    assert len(document["samples"]) == 2


def test_lines_come_one_by_one() -> None:
    done = Done(mac(interval="0.01"), shape="jsonl", duration_ns=SECOND)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["source"], line["elapsed_ns"]) for line in lines] == [("powermetrics", 500 * MS)] * 2


def test_on_a_terminal_rows_come_as_they_are_and_mean_and_peak_in_the_end() -> None:
    done = Done(mac(interval="0.01"), on_terminal=True, duration_ns=SECOND)
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["s", "cpu", "W", "gpu", "W", "ane", "W", "combined", "W"]
    assert [row[0] for row in rows[1:]] == ["0.5", "1.0", "mean", "peak"]
    assert rows[1][1:] == ["1.50", "0.250", "0.0400", "1.79", "Nominal"]
    assert done.stderr == "power from powermetrics\n"


def test_without_a_terminal_there_is_the_table_of_a_replay() -> None:
    done = Done(mac(interval="0.01"), duration_ns=SECOND, width=120)
    assert "powermetrics · 2 samples · 1 s · power in W" in done.stdout
    assert "n/a, not in this capture: dram, package" in done.stdout


def test_no_source_is_exit_2_with_every_reason(tmp_path: Path) -> None:
    done = Done(pc(tmp_path))
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: no power source works here",
        "  powermetrics: macOS only",
        "  macmon: macOS only",
        "  zeus: macOS only",
        f"  rapl: no energy counters in {tmp_path}/class/powercap",
        f"  hwmon: no power sensor in {tmp_path}/class/hwmon",
        "  accelerators: no GPU or NPU whose driver is known",
    ]


@pytest.mark.parametrize("shape", ["json", "jsonl", "table"])
def test_a_source_that_is_named_and_does_not_work_is_exit_2_with_its_repair(shape: str) -> None:
    done = Done(mac(sudo="password"), source="powermetrics", shape=shape)
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: no power from powermetrics: macOS reports power to root only",
        "hint: run sudo -v in this terminal",
    ]


def test_one_that_fails_again_and_again_is_exit_3() -> None:
    done = Done(mac(macmon="broken"), source="macmon", duration_ns=SECOND)
    assert (done.code, done.stdout) == (3, "")
    assert done.stderr.count("macmon failed: macmon ended (exit 1) without a sample") == 3


def test_one_that_is_lost_on_the_way_leaves_what_it_gave(tmp_path: Path) -> None:
    tickets = tmp_path / "tickets"
    tickets.write_bytes(b"!")
    done = Done(mac(powermetrics="finite", sudo=str(tickets), interval="0.01"), shape="json", source="powermetrics")
    assert (done.code, len(one_document(done.stdout)["samples"])) == (0, 3)
    assert done.stderr.splitlines()[-1] == "warning: powermetrics expired: power access expired"


def printer(**request: Any) -> tuple[_Printer, io.StringIO]:
    said = io.StringIO()
    return _Printer(Request(interval_ns=100 * MS, **request), io.StringIO(), said), said


def test_the_time_that_was_asked_for_passes_on_the_clock_too() -> None:
    printing, said = printer(duration_ns=SECOND)
    assert not printing.out_of_time(0)
    printing.receive(Power(t=0, source="x", elapsed_ns=1, mw={"cpu": 1.0}))
    assert not printing.out_of_time(300 * MS)  # the first sample is there
    assert not printing.out_of_time(1_400 * MS)
    assert not printing.enough
    assert printing.out_of_time(1_401 * MS)
    assert said.getvalue() == "warning: ended after 1.1 s: samples cover 1e-09 s\n"


def test_a_first_sample_that_does_not_come_is_not_waited_for_for_ever() -> None:
    printing, said = printer(duration_ns=SECOND)
    assert not printing.out_of_time(5 * SECOND)
    assert not printing.out_of_time(26 * SECOND)
    assert printing.out_of_time(26 * SECOND + 1)
    assert said.getvalue() == "error: no sample within 21 s\n"


def test_without_a_limit_no_time_is_up() -> None:
    printing, _ = printer(shape="jsonl")
    assert not any(printing.out_of_time(hour * 3600 * SECOND) for hour in range(100))


def test_a_pc_reports_its_package(tmp_path: Path) -> None:
    bench = pc(write_tree(tmp_path, RAPL_FILES))
    done = Done(bench, shape="json", interval_ns=50 * MS, duration_ns=100 * MS)
    document = one_document(done.stdout)
    assert document["source"] == "rapl"
    assert {rail for rail, mw in document["samples"][0]["mw"].items() if mw is not None} == {"package", "cpu"}


def test_a_capture_is_played_to_its_end(tmp_path: Path) -> None:
    done = called("power", "--source", f"file:{capture(tmp_path, 3)}", "--json")
    document = one_document(done.stdout)
    assert (done.returncode, document["source"], len(document["samples"])) == (0, "file", 3)
    assert "not measured on this machine now" in document["notes"][0]


@pytest.mark.parametrize(
    ("name", "words"), [("file:nowhere", "file not found: nowhere"), ("battery", "invalid power source 'battery'")]
)
def test_what_is_no_source_is_exit_2(name: str, words: str) -> None:
    done = called("power", "--source", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("shape", ["--json", "--jsonl"])
def test_an_interrupt_prints_what_was_gathered(number: signal.Signals, shape: str, tmp_path: Path) -> None:
    path = capture(tmp_path, 1000)
    process = started("power", "--source", f"file:{path}", shape, "--duration", "1h")
    reads: list[str] = []
    if shape == "--jsonl":
        assert process.stdout is not None
        reads.append(process.stdout.readline())
    else:
        _wait_until_it_plays(process)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    if shape == "--json":
        assert one_document(stdout)["samples"]
    else:
        assert all(json.loads(line)["source"] == "file" for line in (*reads, *stdout.splitlines()))


def _wait_until_it_plays(process: subprocess.Popen[str]) -> None:
    """Nothing is printed before the end: an open capture shows, and then its first windows pass."""
    folder = Path(f"/proc/{process.pid}/fd")
    if not folder.exists():
        pytest.skip("needs /proc to see that the capture is open")
    wait_for(lambda: any("capture.plist" in os.path.realpath(link) for link in folder.glob("*")), "the capture is open")
    time.sleep(0.5)
