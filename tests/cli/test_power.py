"""`hettop power --replay` prints a capture as a table, a document or lines, and refuses in a few lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import assert_refused, called, hettop_process, one_document
from tests.sources.power.captures import CHIPS, plist, stream, truth_of

TRUTH = truth_of(CHIPS["M1"], elapsed_ns=2_000_000_000)


@pytest.fixture
def capture(tmp_path: Path) -> str:
    path = tmp_path / "capture.plist"
    path.write_bytes(stream(plist(TRUTH), plist(TRUTH)))
    return str(path)


def test_the_document_is_the_contracts(capture: str) -> None:
    done = called("power", "--replay", capture, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert set(document) == {"schema", "hettop", "source", "samples", "notes", "skipped"}
    assert document["schema"] == "hettop.power/1"
    assert document["source"] == "powermetrics"
    assert len(document["samples"]) == 2
    sample = document["samples"][0]
    clusters = sample.pop("clusters")
    assert sample == {
        "elapsed_ns": 2_000_000_000,
        "mw": {"cpu": 1500.0, "gpu": 250.0, "ane": 40.0, "dram": None, "package": None, "combined": 1790.0},
        "gpu": {"mhz": 720.0, "busy": 0.25},
        "thermal": "Nominal",
        "flags": [],
        "accelerators": [],
    }
    assert [(cluster["name"], cluster["mhz"]) for cluster in clusters] == [("E-Cluster", 1000.0), ("P-Cluster", 1010.0)]
    assert [cluster["busy"] for cluster in clusters] == [pytest.approx(0.025), pytest.approx(0.035)]
    assert document["skipped"] == {}


def test_lines_are_the_documents_samples_one_by_one(capture: str) -> None:
    samples = one_document(called("power", "--replay", capture, "--json").stdout)["samples"]
    lines = [json.loads(line) for line in called("power", "--replay", capture, "--jsonl").stdout.splitlines()]
    assert lines == [{"source": "powermetrics", **sample} for sample in samples]


def test_people_get_a_table(capture: str) -> None:
    done = hettop_process("power", "--replay", capture, COLUMNS="120")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 samples" in done.stdout
    assert "mean" in done.stdout
    assert "n/a, not in this capture: dram, package" in done.stdout


def test_what_was_dropped_is_reported_beside_the_samples(capture: str) -> None:
    path = Path(capture)
    path.write_bytes(path.read_bytes()[:-30])
    assert one_document(called("power", "--replay", capture, "--json").stdout)["skipped"] == {"torn": 1}
    done = called("power", "--replay", capture, "--jsonl")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert "1 torn" in done.stderr


@pytest.mark.parametrize("shape", [(), ("--json",), ("--jsonl",)])
def test_a_file_that_is_no_capture_is_refused(tmp_path: Path, shape: tuple[str, ...]) -> None:
    for name, data, words in (
        ("empty", b"", "empty capture"),
        ("junk", bytes(range(256)) * 40, "is binary data"),
        ("denied", b"powermetrics must be invoked as the superuser\n", "must be run with sudo"),
        ("bomb", b'<!DOCTYPE plist [<!ENTITY a "b">]><plist><dict><key>&a;</key></dict></plist>', "1 unreadable"),
    ):
        (tmp_path / name).write_bytes(data)
        assert_refused(called("power", "--replay", str(tmp_path / name), *shape), words)
    assert_refused(called("power", "--replay", str(tmp_path / "nowhere"), *shape), "file not found: nowhere")


def test_a_capture_has_its_own_times(capture: str) -> None:
    assert_refused(called("power", "--replay", capture, "--duration", "5s"), "--duration has no effect with --replay")


def test_one_shape_at_a_time(capture: str) -> None:
    assert_refused(called("power", "--replay", capture, "--json", "--jsonl"), "output formats exclude each other")
